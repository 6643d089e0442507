"""A cheap stand-in for the inverse Hessian of a likelihood, which conjugate gradients are preconditioned with.

Where there are many columns it is the diagonal; else a block for each class. The blocks come from some of the rows, or, where even that
would cost more than the products it saves, from the products of the columns, once for all, times the mean curvature of the class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from qed.base.sources.rows import Rows
from qed.classification.products import Sums
from qed.optim.functions.softmax import Curve, SoftmaxLoss

# Blocks may cost as much as so many products with the Hessian, times four.
PRODUCTS_WORTH = 32
MANY_CLASSES = 32
Factor = tuple[np.ndarray, bool]


class Objective(Protocol):
    """What is asked of a likelihood."""

    kind: str
    count: int
    total: float
    factor: float
    ridge: np.ndarray
    loss: SoftmaxLoss
    sums: Sums
    rows: Rows
    part: Rows | None


class Place(Protocol):
    """What is asked of a point."""

    @property
    def theta(self) -> np.ndarray:
        """The parameters."""

    @property
    def curve(self) -> Curve:
        """The loss there."""


class StandIn:
    """Makes stand-ins for one likelihood; what does not depend on the point is kept."""

    def __init__(self) -> None:
        self._products: np.ndarray | None = None

    def __call__(self, objective: Objective, point: Place) -> Callable[[np.ndarray], np.ndarray]:
        """Give the function that multiplies with the stand-in at a point."""
        if objective.kind == "diagonal":
            diagonal = objective.factor * objective.sums.diagonal(point.theta) + objective.ridge
            inverse = 1.0 / np.where(diagonal > 0, diagonal, 1.0)
            return lambda residual: residual * inverse
        factors, coding = self._factors(objective, point), objective.loss.coding

        def precondition(residual: np.ndarray) -> np.ndarray:
            parts = coding.T @ residual if len(coding) > 1 else residual
            found = np.empty_like(parts)
            for factor, classes in factors:
                found[classes] = cho_solve(factor, parts[classes].T).T
            return np.asarray(coding @ found if len(coding) > 1 else found)

        return precondition

    def _factors(self, objective: Objective, point: Place) -> list[tuple[Factor, np.ndarray]]:
        """Factorise a stand-in for each class's block of the Hessian; give the factors, each with the classes that it is for."""
        loss, some = objective.loss, objective.rows if objective.part is None else objective.part
        n_some = objective.count if objective.part is None else some.count()
        more = objective.count / max(1, n_some)
        few = len(loss.coding) < MANY_CLASSES
        if few and loss.shape[1] * n_some <= PRODUCTS_WORTH * objective.count:
            blocks = some.fold(loss.of, point.theta, "blocks").blocks
            factors = (_factor(more * objective.factor * block, objective.ridge) for block in blocks.values())
            return [(factor, np.array([number])) for number, factor in enumerate(factors)]
        if self._products is None:
            self._products = more * some.fold(loss.products)
        # Classes whose share of the curvature is about the same have a factor in common.
        share = np.clip(point.curve.bent / objective.total, 1e-12, 1.0)
        rounded = np.exp2(np.round(np.log2(share)))[-len(loss.pairs("blocks")) :]
        return [
            (_factor(objective.factor * value * self._products, objective.ridge), np.flatnonzero(rounded == value))
            for value in np.unique(rounded)
        ]


def _factor(block: np.ndarray, ridge: np.ndarray) -> Factor:
    total = block + np.diag(ridge)
    total[np.diag_indices_from(total)] += 1e-10 * total.diagonal() + 1e-300
    lower, below = cho_factor(total, lower=True)
    return np.asarray(lower), bool(below)
