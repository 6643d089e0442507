r"""Stochastic gradient descent: the gradient of a few terms in place of all.

.. math:: f = \frac1n \sum_i f_i, \qquad w^{t+1} = w^t - \alpha_t \frac1k \sum_{i \in B_t} \nabla f_i(w^t), \qquad
          \mathbb{E}\Big[\frac1k \sum_{i \in B_t} \nabla f_i(w)\Big] = \nabla f(w)

An update costs :math:`k` gradients whatever :math:`n` is; :math:`k = 1` is stochastic gradient descent, :math:`k = n`
the batch method. The variance of the gradient falls as :math:`1/k` (times :math:`(n-k)/(n-1)` when the rows of a
batch are distinct). With a constant step the iterates end up in a cloud around the minimum, unless all terms share
it; a falling step, or the average of the iterates, gets closer. The fair clock is the *epoch*,
:math:`\lceil n/k \rceil` updates.

Robbins and Monro (1951), A stochastic approximation method; Polyak and Juditsky (1992), Acceleration of stochastic
approximation by averaging.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, boolean, choice, integer
from qed.base.random import generator
from qed.base.running.steps import Ending, Reason, Step
from qed.optim.functions.objective import FiniteSum, Objective, Terms
from qed.optim.searches.step_rules import step_length, step_parameter
from qed.optim.solvers.method import Method

CHUNK = 256


@dataclass(frozen=True)
class StochasticGradient(Method):
    """Stochastic gradient descent on a `FiniteSum`, by single terms or by mini-batches.

    Parameters
    ----------
    step : float, StepRule, callable or None
        The step of update t = 1, 2, ...: a number, ``Diminishing(...)`` or a function of t. By default it begins at
        half of what the largest curvature seen in a few batches allows, and falls with the square root of the epochs.
    batch : int
        How many rows an update uses.
    draw : {"subset", "replacement", "shuffle"}
        Distinct rows anew for each update; rows that may come twice; or each row once per epoch, in a random order.
    average : bool
        Whether the answer is the mean of the iterates in place of the last one.
    skip : int
        How many updates to leave out of the mean.
    every : int, optional
        How many updates make a step; by default an epoch. A step costs a pass over all rows besides, for the value
        and the gap.
    seed : int
        The draws of update t depend on the seed and on t only.

    Examples
    --------
    >>> from itertools import islice
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 4.0, 6.0])
    >>> squares = FiniteSum(
    ...     lambda w, rows: ((X[rows] @ w - y[rows]) ** 2).mean(),
    ...     lambda w, rows: 2 * X[rows].T @ (X[rows] @ w - y[rows]) / len(y[rows]),
    ...     n=3,
    ... )
    >>> steps = StochasticGradient(0.05, draw="shuffle").steps(squares, [0.0])
    >>> [round(float(step.point[0]), 3) for step in islice(steps, 4)]
    [0.0, 1.892, 1.994, 2.0]
    """

    step: Any = None
    batch: int = 1
    draw: str = "subset"
    average: bool = False
    skip: int = 0
    every: int | None = None
    seed: int = 0

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "step": step_parameter() | choice(None),
        "batch": integer(1),
        "draw": choice("subset", "replacement", "shuffle"),
        "average": boolean(),
        "skip": integer(0),
        "every": integer(1) | choice(None),
        "seed": integer(0),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        total = self._finite(objective)
        first = None if self.step is not None else self._first_length(total, point)
        return total.at(point, iterate=point, mean=point, updates=0, epochs=0.0, first_length=first)

    def advance(self, objective: Objective, step: Step) -> Step:
        """Make the updates of one step."""
        total = self._finite(objective)
        point, mean, used = step.iterate, step.mean, step.epochs * total.n
        updates = self.every or iterations_per_epoch(total.n, self.batch)
        for t in range(step.updates + 1, step.updates + updates + 1):
            rows = self.rows(t, total.n)
            gradient = total.gradient_of(point, rows)
            point = point - self._length(total, t, point, gradient, step.first_length) * gradient
            mean = mean + (point - mean) / max(1, t - self.skip)
            used += total.n if isinstance(rows, slice) else len(rows)
        answer = mean if self.average else point
        state = {
            "iterate": point,
            "mean": mean,
            "updates": t,
            "epochs": used / total.n,
            "first_length": step.first_length,
        }
        return total.at(answer, after=step, **state)

    def advice(self, objective: Objective, ending: Ending) -> str:
        """Say what a constant step can not do."""
        if ending.reason is Reason.DIVERGED:
            return "The step is too long for single batches: try a tenth of it, or a larger batch."
        if not callable(self.step) and isinstance(self.step, (int, float)) and not self.average:
            return (
                "A constant step keeps the iterates in a cloud around the minimum: try average=True or "
                f"step=Diminishing({self.step:g})."
            )
        return ""

    def rows(self, t: int, n: int) -> Terms:
        """Give the rows of update t = 1, 2, ...: a sorted array, or all of them."""
        if self.batch > n:
            raise InputError(f"batch is {self.batch}, and there are only {n} rows: use at most that many.")
        if self.batch == n and self.draw != "replacement":
            return slice(None)
        if self.draw == "shuffle":
            epoch, place = divmod(t - 1, iterations_per_epoch(n, self.batch))
            return np.sort(_order(self.seed, epoch, n)[place * self.batch : (place + 1) * self.batch])
        chunk, place = divmod(t - 1, CHUNK)
        return _drawn(self.seed, chunk, n, self.batch, self.draw == "replacement")[place]

    def _length(self, total: FiniteSum, t: int, point: np.ndarray, gradient: np.ndarray, first: float | None) -> float:
        if first is not None:
            return first / float(np.sqrt(1 + (t - 1) // iterations_per_epoch(total.n, self.batch)))
        if callable(self.step) or not isinstance(self.step, (int, float)):
            return step_length(self.step, total, Step(0.0, number=t - 1, point=point, gradient=gradient), -gradient)
        return float(self.step)

    def _first_length(self, total: FiniteSum, point: np.ndarray) -> float:
        """Give half of what the largest curvature along the gradients of a few batches allows."""
        largest = 0.0
        for t in range(1, 11):
            rows = self.rows(t, total.n)
            gradient = total.gradient_of(point, rows)
            size = float(np.linalg.norm(gradient))
            if size > 0:
                way = 1e-4 * max(1.0, float(np.linalg.norm(point))) * gradient / size
                change = total.gradient_of(point + way, rows) - gradient
                largest = max(largest, float(np.linalg.norm(change) / np.linalg.norm(way)))
        return 0.5 / largest if largest > 0 else 1.0

    def _finite(self, objective: Objective) -> FiniteSum:
        if not isinstance(objective, FiniteSum):
            raise InputError(
                "Stochastic gradients need a FiniteSum, which can be asked about some of its terms; this is a single "
                "function."
            )
        return objective


def iterations_per_epoch(n: int, batch: int) -> int:
    """Give the number of updates that use as many rows as there are.

    Parameters
    ----------
    n : int
        The number of rows.
    batch : int
        How many of them an update uses; the last one of a pass uses those that are left.

    Examples
    --------
    >>> [iterations_per_epoch(1000, k) for k in (1000, 50, 1, 300)]
    [1, 20, 1000, 4]
    """
    return -(-n // batch)


@lru_cache(maxsize=4)
def _order(seed: int, epoch: int, n: int) -> np.ndarray:
    return generator(seed, "epoch", epoch).permutation(n)


@lru_cache(maxsize=4)
def _drawn(seed: int, chunk: int, n: int, batch: int, replacement: bool) -> list[np.ndarray]:
    """Draw the rows of a chunk of updates at once: a generator for each would cost more than a small update does."""
    draws = generator(seed, "batches", chunk)
    if replacement or batch == 1:
        return list(np.sort(draws.integers(n, size=(CHUNK, batch)), axis=1))
    return [np.sort(draws.choice(n, batch, replace=False, shuffle=False)) for _ in range(CHUNK)]
