r"""Coordinate descent: minimise exactly along one coordinate at a time.

.. math:: w_j \leftarrow \arg\min_{z} f(w_1, \dots, w_{j-1}, z, w_{j+1}, \dots, w_d)

Right after its update a coordinate's partial derivative is zero. On a quadratic
:math:`\tfrac12 w^\top H w - b^\top w` the cyclic order is the method of Gauss and Seidel, and converges to
:math:`H^{-1} b`. For functions that are smooth and jointly convex, or such a function plus a convex term for each
coordinate, the limit is the global minimum. It need not be for others: :math:`|x + y| + 3|x - y|` is stuck at
:math:`(1, 1)` with the value 2, and :math:`x^2 + y^2 - 4xy`, convex in each coordinate but not jointly, runs away. A
sweep costs :math:`d` searches.

Wright (2015), Coordinate descent algorithms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.models.parameters import Parameter, choice, integer
from qed.base.random import generator
from qed.base.running.steps import Step
from qed.optim.functions.objective import Objective
from qed.optim.searches.methods import Exact, GoldenSection, Search
from qed.optim.solvers.line_search import SEARCH, search_both_ways, step_at
from qed.optim.solvers.method import Method


@dataclass(frozen=True)
class CoordinateDescent(Method):
    """Coordinate descent.

    Parameters
    ----------
    order : {"cyclic", "random"}
        Each coordinate in turn, or one drawn at random.
    search : Search, optional
        How the minimum along a coordinate is found. By default ``Exact()`` when the objective knows its gradient,
        ``GoldenSection()`` otherwise.
    update : callable, optional
        ``update(point, j)`` gives the best value of coordinate j in closed form, in place of a search.
    every : int, optional
        How many updates make a step; by default d, a sweep.
    seed : int
        For the random order.

    Examples
    --------
    >>> from itertools import islice
    >>> H, b = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([3.0, 4.0])
    >>> quadratic = Objective(lambda w: w @ H @ w / 2 - b @ w, lambda w: H @ w - b)
    >>> [step.point.round(3).tolist() for step in islice(CoordinateDescent().steps(quadratic, [0.0, 0.0]), 3)]
    [[0.0, 0.0], [1.5, 0.833], [1.083, 0.972]]
    """

    order: str = "cyclic"
    search: Search | None = None
    update: Callable[[np.ndarray, int], float] | None = None
    every: int | None = None
    seed: int = 0

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "order": choice("cyclic", "random"),
        "search": SEARCH | choice(None),
        "update": Parameter("a function of the point and the coordinate", callable) | choice(None),
        "every": integer(1) | choice(None),
        "seed": integer(0),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        return step_at(objective, point, None, objective.knows("gradient"), coordinate=-1)

    def advance(self, objective: Objective, step: Step) -> Step:
        """Minimise along one coordinate after another."""
        size = len(step.point)
        updates = self.every or size
        point = step.point.copy()
        for update in range(step.number * updates, (step.number + 1) * updates):
            j = self._choose(update, size)
            point[j] = self._best(objective, point, j)
        return step_at(objective, point, step, objective.knows("gradient"), coordinate=j)

    def _choose(self, update: int, size: int) -> int:
        if self.order == "cyclic":
            return update % size
        return int(generator(self.seed, "coordinate", update).integers(size))

    def _best(self, objective: Objective, point: np.ndarray, j: int) -> float:
        """Give the value of coordinate j that minimises the function while the others stay."""
        if self.update is not None:
            return float(self.update(point.copy(), j))
        search = self.search or (Exact() if objective.knows("gradient") else GoldenSection())
        here = Step(objective.value(point), point=point.copy())
        return float(point[j] + search_both_ways(search, objective, here, np.eye(len(point))[j]))
