r"""Value iteration: Bellman's equation read as a recipe, until it holds.

.. math:: V \leftarrow \max_a \sum_{s'} p(s' \mid s, a)\,\bigl(r + \gamma V(s')\bigr)

A sweep costs as much as there are outcomes, and shrinks the error by :math:`\gamma`. The certificate bounds the error of every value by the
residual of the equation (:mod:`qed.reinforcement.bounds`), with a discount by :math:`\max |TV - V| / (1 - \gamma)`. Bellman (1957), Dynamic
programming.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from qed.base.numbers import EPS
from qed.base.running.steps import Halt, Reason, Step
from qed.reinforcement.planning import Known, Planner

# Without a discount the bound costs many sweeps: it is asked for after so many.
BETWEEN = 64


class ValueIteration(Planner):
    """The best policy of a known world, by sweeps over its states.

    Parameters
    ----------
    gamma : float, default=0.99
        The discount: what a reward is worth one step later. One means none, for worlds that end.
    tol : float
        The run ends when every value is proven to be within this of the best one, relative to the largest.
    max_iter : int
        The most sweeps.

    Attributes
    ----------
    values_ : ndarray of shape (n_states,)
        What each state is worth; zero where no episode can come to.
    q_values_ : ndarray of shape (n_states, n_actions)
        What each action in each state is worth.
    policy_ : ndarray of shape (n_states,)
        The best action in each state.
    return_ : float
        What an episode is worth on average, at its start.

    Examples
    --------
    >>> import qed
    >>> lake = qed.GridWorld(["S...", ".H.H", "...H", "H..G"], slip=2 / 3)
    >>> plan = qed.ValueIteration(gamma=0.99).fit(lake)
    >>> round(plan.return_, 4), bool(plan.certificate_)
    (0.542, True)
    """

    def __init__(self, gamma: float = 0.99, *, tol: float = 1e-8, max_iter: int = 100_000) -> None:
        self.gamma, self.tol, self.max_iter = gamma, tol, max_iter

    def _steps(self, problem: Known, start: Step | None = None) -> Generator[Step, None, Halt]:
        values = np.zeros(problem.world.n_states) if start is None else self._swept(problem, start.values)
        sweeps = 0 if start is None else start.sweeps + 1
        while True:
            swept = self._swept(problem, values)
            residual = float(np.abs(swept - values).max(initial=0.0))
            rest = residual <= 8 * EPS * problem.scale(values)
            near = residual <= self.tol * problem.scale(values) and sweeps % BETWEEN == 0
            looked = self.gamma < 1 or rest or near
            gap = problem.gap(values)[0] if looked else np.inf
            yield Step(objective=residual, gap=gap, values=values, sweeps=sweeps)
            if rest:
                return Halt(Reason.STALLED, "The values solve the equations up to rounding.", self._advice())
            values, sweeps = swept, sweeps + 1

    @staticmethod
    def _swept(problem: Known, values: np.ndarray) -> np.ndarray:
        return problem.worth(values).max(axis=1)
