r"""The planes that least squares fits without each row in turn, from the one fit to all rows.

With the leverage :math:`h_i` of a row (:mod:`qed.optim.least_squares.leave_one_out`) the coefficients without it are

.. math:: w_{-i} = w - \frac{s_i\, e_i}{1 - s_i h_i} (S_{xx} + \alpha I)^{-1} (x_i - \bar x), \qquad e_i = y_i - \hat y(x_i),

and the constant changes by the same multiple of :math:`1/W - \bar x^\top (S_{xx} + \alpha I)^{-1} (x_i - \bar x)`.
So n more models cost :math:`O(np^2)`, about as much as the first. A row whose leverage is so near to one that digits would be lost is
fitted without, once more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.numbers import EPS, largest_share
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.least_squares.evidence import about_zero
from qed.optim.least_squares.precise import DIGITS_WANTED, lazy_factor
from qed.optim.least_squares.ridge_basis import coefficients, diagonals, intercepts
from qed.stats.moments import Moments
from qed.stats.parts import Part
from qed.stats.products import dense

# So many columns at most: beyond, the sums of their products take longer than a few fits.
MOST_COLUMNS = 1000
# So many rows at most are fitted without once more: with as many rows as columns, all of them would be.
MOST_AGAIN = 32
TOLERANCE = 1e-8


@savable
@dataclass(frozen=True, eq=False)
class LeftOutPlanes:
    """The planes without each row, and the error of each at the row that it has not seen."""

    attributes: ClassVar = {"coef": floats("_", "_"), "intercept": floats("_"), "errors": floats("_")}
    coef: np.ndarray  # (n, p)
    intercept: np.ndarray  # (n,)
    errors: np.ndarray  # (n,): target less prediction

    def predictions(self, model: object, block: Block) -> np.ndarray:
        """Predict the rows of a block by every plane: of shape (m, n)."""
        found = np.asarray(block.X @ self.coef.T)
        return found + self.intercept

    def apart(self, other: LeftOutPlanes) -> float:
        """Say how far other planes are from these, relative to the largest number of each kind."""
        pairs = [(getattr(self, name), getattr(other, name)) for name in ("coef", "intercept", "errors")]
        if any(np.shape(mine) != np.shape(theirs) for mine, theirs in pairs):
            return np.inf
        sizes = [np.abs(theirs).max(initial=EPS) for _, theirs in pairs]
        return max(largest_share(mine, theirs, size) for (mine, theirs), size in zip(pairs, sizes))


def left_out_planes(
    rows: Rows, coef: np.ndarray, intercept: float, alpha: float, *, centered: bool
) -> LeftOutPlanes | None:
    """Give the planes without each row of weight above zero; None where too few digits would be left of them.

    >>> from qed.base.sources.open import rows
    >>> data = rows(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0]))
    >>> found = left_out_planes(data, np.array([0.5]), 7 / 6, 0.0, centered=True)
    >>> found.coef.ravel().round(9) + 0.0, found.errors.round(9)
    (array([0. , 0.5, 1. ]), array([-1. ,  0.5, -1. ]))
    """
    if rows.n_features > MOST_COLUMNS or rows.n_targets > 1:
        return None
    moments = rows.fold(Moments.of)
    seen = moments if centered else about_zero(moments)
    ((basis, _, digits), *_) = diagonals(seen.xx, np.array([alpha]))
    if digits[0] < DIGITS_WANTED or moments.count < 2:
        return None
    inverse = basis.basis * basis.weights(np.array([alpha]))[:, 0]
    block = rows.array()
    there = np.ones(len(block), dtype=bool) if block.weight is None else np.asarray(block.weight) > 0
    weight = np.ones(len(block)) if block.weight is None else np.asarray(block.weight, dtype=np.float64)
    X = np.asarray(dense(block.X), dtype=np.float64)[there]
    centred, weight, y = X - seen.x_mean, weight[there], np.asarray(block.y, dtype=np.float64).reshape(-1)[there]
    influence = (centred @ basis.basis) @ inverse.T
    share = 1 / moments.weight if centered else 0.0
    leverage = weight * (np.einsum("ij,ij->i", influence, centred) + share)
    doubtful = np.flatnonzero(leverage * 10.0 ** -digits[0] / TOLERANCE > 1 - leverage)
    if len(doubtful) > MOST_AGAIN:
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = (y - X @ coef - intercept) / (1 - leverage)
    step = (weight * errors)[:, None] * influence
    constant = intercept - weight * errors * share + step @ seen.x_mean if centered else np.zeros(len(X))
    planes, places = coef - step, np.flatnonzero(there)
    for row in doubtful:
        planes[row], constant[row] = _fitted_without(rows, int(places[row]), alpha, centered=centered)
        errors[row] = y[row] - X[row] @ planes[row] - constant[row]
    return LeftOutPlanes(planes, constant, errors)


def _fitted_without(rows: Rows, row: int, alpha: float, *, centered: bool) -> tuple[np.ndarray, float]:
    others = Part(rows, np.arange(rows.count()) != row)
    moments = others.fold(Moments.of)
    coef = coefficients(moments, np.array([[alpha]]), lazy_factor(others), centered=centered)
    return coef[0, :, 0], float(intercepts(moments, coef, centered=centered)[0, 0])
