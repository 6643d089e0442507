r"""L-BFGS: Newton's method with a Hessian learnt from the last few gradients.

A move :math:`s = w^{t+1} - w^t` and the change :math:`y = \nabla f(w^{t+1}) - \nabla f(w^t)` of the gradient along it
say :math:`\nabla^2 f\, s \approx y`. Of all inverse Hessians that agree, BFGS takes the one nearest to the last,

.. math:: H \leftarrow \left(I - \frac{s y^\top}{s^\top y}\right) H \left(I - \frac{y s^\top}{s^\top y}\right) + \frac{s s^\top}{s^\top y},
          \qquad \Delta = -H \nabla f,

and L-BFGS never forms it: from the last :math:`k` pairs, :math:`\Delta` is found in two loops of :math:`O(kd)`. A
search for the strong Wolfe conditions keeps :math:`s^\top y > 0`, so :math:`H` stays positive definite. In practice
convergence is faster than linear for about one gradient an iteration, which makes it the usual choice for smooth
functions of many variables.

Liu and Nocedal (1989), On the limited memory BFGS method for large scale optimization.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.models.parameters import Parameter, integer
from qed.base.numbers import EPS
from qed.base.running.steps import Halt, Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.flat import safe_length
from qed.optim.searches.methods import Wolfe
from qed.optim.searches.step_rules import step_parameter
from qed.optim.solvers.gradient_descent import no_way_down
from qed.optim.solvers.method import Method

FULL_STEP_FIRST = Wolfe(first=1.0)


@dataclass(frozen=True)
class LBFGS(Method):
    """L-BFGS.

    Parameters
    ----------
    memory : int
        How many pairs of moves and gradient changes are kept.
    step : float, StepRule or callable
        The length along the direction; a search for the Wolfe conditions by default.

    Examples
    --------
    >>> from qed.optim import minimize
    >>> valley = lambda w: (1 - w[0]) ** 2 + 100 * (w[1] - w[0] ** 2) ** 2
    >>> minimize(valley, [-1.2, 1.0], method=LBFGS(memory=5)).point.round(5)
    array([1., 1.])
    """

    memory: int = 10
    step: Any = FULL_STEP_FIRST

    parameters: ClassVar[Mapping[str, Parameter]] = {"memory": integer(1), "step": step_parameter()}

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Begin without any memory."""
        none = np.empty((0, len(point)))
        return objective.at(point, moves=none, changes=none)

    @np.errstate(over="ignore", invalid="ignore")
    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        """Go along the direction that the memory gives; where that leads nowhere, forget and go against the gradient."""
        for moves, changes in ((step.moves, step.changes), (step.moves[:0], step.changes[:0])):
            direction = two_loops(step.gradient, moves, changes)
            leads_down = step.gradient @ direction < 0
            length = safe_length(self.step, objective, step, direction) if leads_down else 0.0
            if length > 0:
                break
        else:
            return no_way_down()
        point = step.point + length * direction
        found = objective.at(point, after=step)
        move, change = point - step.point, found.gradient - step.gradient
        if move @ change > EPS * np.linalg.norm(move) * np.linalg.norm(change):
            moves, changes = np.vstack([moves, move])[-self.memory :], np.vstack([changes, change])[-self.memory :]
        found.state.update(moves=moves, changes=changes, length=length)
        return found


def two_loops(gradient: np.ndarray, moves: np.ndarray, changes: np.ndarray) -> np.ndarray:
    """Give the quasi-Newton direction from the pairs remembered, oldest first; without any, a unit step against the gradient.

    >>> two_loops(np.array([2.0, 0.0]), np.array([[1.0, 0.0]]), np.array([[4.0, 0.0]]))
    array([-0.5,  0. ])
    """
    if len(moves) == 0:
        return -gradient / (np.linalg.norm(gradient) or 1.0)
    share = 1 / np.einsum("ij,ij->i", moves, changes)
    weight = np.empty(len(moves))
    direction = -gradient
    for i in reversed(range(len(moves))):
        weight[i] = share[i] * (moves[i] @ direction)
        direction = direction - weight[i] * changes[i]
    direction = direction / (share[-1] * (changes[-1] @ changes[-1]))
    for i in range(len(moves)):
        direction = direction + (weight[i] - share[i] * (changes[i] @ direction)) * moves[i]
    return direction
