r"""Other ways to the same minimum, to be compared with: proximal gradients, subgradients, reweighted least squares.

Each is a general method of :mod:`qed.optim` that sees the problem as :math:`f(w) + \lambda_1\|w\|_1` with a quadratic :math:`f` known by
its Gram matrix, and is judged by the same duality gap. Proximal gradients (FISTA) take :math:`O(1/\sqrt\epsilon)` iterations and
make coefficients exactly zero; reweighted least squares take few, :math:`O(p^3)` each, and make them small; subgradients take
:math:`O(1/\epsilon^2)` and do neither.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.running.steps import Step
from qed.optim.functions.composite import Composite
from qed.optim.functions.objective import Objective
from qed.optim.functions.penalties import L1L2
from qed.optim.solvers.method import Method
from qed.optim.solvers.proximal import ProximalGradient
from qed.optim.solvers.reweighted import AbsoluteSum, Reweighted
from qed.optim.solvers.subgradient import Subgradient
from qed.optim.sparse.quadratic import SparseQuadratic

Found = tuple[np.ndarray, np.ndarray, np.ndarray, list[Step]]


def method_rounds(
    outputs: Sequence[SparseQuadratic], penalty: L1L2, solver: str, start: Sequence[Step] | None
) -> Iterator[Found]:
    """Go one iteration at a time, for all outputs side by side.

    Yields, of each output, the objective and a bound on how far it is above its minimum; the coefficients, of shape (p,
    q); and the steps of the method, from which it can go on.
    """
    begun: Sequence[Step | None] = start or [None] * len(outputs)
    runs = [_run(output, penalty, solver, before) for output, before in zip(outputs, begun)]
    last: list[Any] = list(begun)
    while True:
        new = [next(run, None) for run in runs]
        if all(step is None for step in new):
            return
        last = [old if step is None else step for step, old in zip(new, last)]
        for output, step in zip(outputs, last):
            output.begin_at(step.point)
        found = np.array([output.gap(penalty) for output in outputs]).T
        yield found[0], found[1], np.column_stack([output.coef for output in outputs]), last


def _run(output: SparseQuadratic, penalty: L1L2, solver: str, start: Step | None) -> Iterator[Step]:
    method: Method
    objective: Objective
    if solver == "irls":
        if penalty.positive:
            raise ParameterError("solver='irls' can not keep coefficients positive: use solver='auto'.")
        objective = AbsoluteSum(np.eye(len(output.right)), 0.0, penalty.l1, _squares(output, penalty.l2))
        method = Reweighted()
    elif solver == "proximal":
        objective, method = Composite(_squares(output, 0.0), penalty), ProximalGradient()
    else:
        objective, method = Composite(_squares(output, 0.0), penalty), _subgradient(output, penalty)
    return method.steps(objective, np.zeros(len(output.right)), start)


def _squares(output: SparseQuadratic, l2: float) -> Objective:
    """Give half the residual sum of squares, and half the squared length of the coefficients times `l2`."""
    gram = output.gram + l2 * np.eye(len(output.right))
    largest = float(np.linalg.eigvalsh(gram)[-1])
    return Objective(
        lambda w: 0.5 * (output.square + w @ (gram @ w - 2 * output.right)),
        lambda w: gram @ w - output.right,
        lambda w: gram,
        smoothness=largest if largest > 0 else None,
    )


def _subgradient(output: SparseQuadratic, penalty: L1L2) -> Subgradient:
    """Choose steps for a minimum that is about as far away as one sweep of coordinate descent is, or further."""
    output.begin_at(np.zeros(len(output.right)))
    output.sweep(penalty, 3)
    radius = float(np.linalg.norm(output.coef)) or 1.0
    return Subgradient(radius=radius, project=(lambda w: np.maximum(w, 0.0)) if penalty.positive else None)
