r"""How far above its minimum a likelihood can be at most, with all that rounding may have hidden.

All probabilities :math:`q_i` in the place of the model's :math:`p_i` give a lower bound of the minimum. Those that Newton's exact step
:math:`d = -A^{-1} g` predicts, :math:`q_i = p_i + D_i\, d^\top \tilde x_i`, show that

.. math:: F(\theta) - \min F \;\le\; C \sum_i w_i \operatorname{KL}(q_i \,\|\, p_i) + \tfrac12\, d^\top \Lambda\, d \;\le\; g^\top A^{-1} g,

if they are probabilities at all: if no score moves by more than one. Nothing here has to be computed exactly. With a lower bound of
the Hessian (:mod:`qed.classification.logistic.hessian_bound`) the right side is at most

.. math:: \Bigl( \|W g\| + \sum_j \varepsilon_j \|W e_j\| + \bigl(C \sum_i w_i\, \delta_i^\top D_i\, \delta_i\bigr)^{1/2} \Bigr)^2,

where :math:`\varepsilon_j` bounds what the sums over rows have lost, and :math:`\delta_i` what the scores of a row have lost: an error
of the scores moves the gradient by :math:`C \sum w_i D_i \delta_i \tilde x_i`, whose length in this norm is at most that of its
coordinates. Rows that Newton's step would move too far keep their :math:`p_i`; what curvature they had is taken away.

Boyd and Vandenberghe (2004), Convex Optimization, section 5; Higham (2002), Accuracy and Stability of Numerical Algorithms, chapter 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from qed.base.numbers import largest
from qed.base.sources.block import Block, as_dense
from qed.classification.logistic.hessian_bound import UNIT, LowerBound
from qed.optim.functions.softmax import SoftmaxLoss, coding_of
from qed.stats.classes.cross_entropy import cross_entropy, others


@dataclass(frozen=True)
class Rounding:
    """What rounding may have done to scores and sums.

    Attributes
    ----------
    square : float
        The sum of the weighted squares of what the scores may have lost, in the norm of the curvature.
    worst : float
        The most that a score may have lost.
    terms : ndarray of shape (q,)
        The sum of the sizes of what was added up for the gradient, by column.
    reach : float
        How much Newton's step moves the score of a row, at most, for a length of one.
    dropped : float
        The share of the curvature that belonged to rows which keep their probabilities.
    """

    square: float
    worst: float
    terms: np.ndarray
    reach: float
    dropped: float = 0.0

    def __add__(self, other: Rounding) -> Rounding:
        return Rounding(
            self.square + other.square,
            max(self.worst, other.worst),
            self.terms + other.terms,
            max(self.reach, other.reach),
            self.dropped + other.dropped,
        )

    def length(self, base: float, bound: LowerBound, errors: np.ndarray, moved: float, solved: float) -> float:
        """Bound the length of Newton's step; infinite where it may be too long to prove anything.

        Parameters
        ----------
        base : float
            The length for the gradient that was computed.
        bound : LowerBound
            Of the curvature.
        errors : ndarray of shape (m, q)
            What the gradient may be off by, but for errors of the scores.
        moved, solved : float
            By how much the step that was computed moves a score at most, and how long it is; infinite, and zero, where it is not known.
        """
        if not (self.worst <= 0.1 and self.dropped <= 0.5):
            return np.inf
        less = 1 / np.sqrt(1 - self.dropped)
        found = (base + bound.spread(errors) + np.sqrt(self.square)) * np.exp(4 * self.worst) * less
        # The exact step differs from the computed one by what rounding did, and by the slack of the bound.
        apart = found - solved + (bound.slack**2 - 1) * solved
        reach = less * self.reach * found if self.dropped > 0 else min(self.reach * found, moved + self.reach * apart)
        return float(found) if reach <= 1 else np.inf


def roughly(
    loss: SoftmaxLoss, missed: float, squares: np.ndarray, magnitude: np.ndarray, sizes: np.ndarray, factor: float
) -> Rounding:
    """Bound what rounding may have done without a look at the rows: no value is larger than one.

    Parameters
    ----------
    loss : SoftmaxLoss
        The loss.
    missed : float
        The sum of the chances of other classes than those seen.
    squares : ndarray of shape (q,)
        At least the weighted sums of squares of the columns.
    magnitude : ndarray of shape (q,)
        The largest rounding error of a score that each column can bring, for a value of one.
    sizes : ndarray of shape (m, q)
        Those of the lower bound of the curvature.
    factor : float
        The weight of the loss.
    """
    worst = float(magnitude.sum())
    reach = float(_spread(loss.coding, sizes).sum())
    return Rounding(_ways(loss) * factor * missed * worst**2, worst, factor * np.sqrt(missed * squares), reach)


def _ways(loss: SoftmaxLoss) -> float:
    """Give how large the square of a difference of scores is, at most, when each may be off by one; of two classes one score is exact."""
    return 1.0 if len(loss.coding) == 1 else 4.0


def _spread(coding: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Bound by how much the scores of two classes can move apart, by column."""
    each = np.sort(np.abs(coding).T @ sizes, axis=0)
    return np.asarray(each[-2:].sum(axis=0))


def sharply(
    block: Block,
    loss: SoftmaxLoss,
    theta: np.ndarray,
    magnitude: np.ndarray,
    sizes: np.ndarray,
    factor: float,
    length: float,
) -> Rounding:
    """Bound what rounding may have done to the rows of a block, one by one; see `roughly`.

    Parameters
    ----------
    block, loss, theta
        The rows, and the parameters that they are looked at with.
    magnitude : ndarray of shape (q,)
        The largest rounding error of a score that each column can bring, for a value of one.
    sizes : ndarray of shape (m, q)
        Those of the lower bound of the curvature.
    factor : float
        The weight of the loss.
    length : float
        At least the length of Newton's step.
    """
    spread = _spread(loss.coding, sizes)
    total = Rounding(0.0, 0.0, np.zeros(loss.shape[1]), 0.0)
    for x, codes, weight in loss.tiles(block):
        _, chance, residual = cross_entropy(loss.scores(x, theta), codes)
        own = -residual[np.arange(len(codes)), codes]
        size = abs(x)
        lost = loss.columns_times(size, magnitude)
        curvature = factor * weight * (others(chance).min(axis=1))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            reach = loss.columns_times(size, spread)
            # Alone, a row of two classes has a curvature that bounds how far its score can move.
            alone = 1 / np.sqrt(factor * weight * chance.prod(axis=1)) if chance.shape[1] == 2 else np.inf
            near = np.minimum(reach, alone)
            far = near * length > 0.5
            dropped = np.where(curvature > 0, curvature * reach**2, 0.0)[far].sum()
        total += Rounding(
            _ways(loss) * factor * float((weight * own) @ lost**2),
            largest(lost, 0.0),
            loss.rows_times(size, (factor * weight * own)[:, None])[0],
            largest(near[~far], 0.0),
            float(dropped),
        )
    return total


def magnitudes(loss: SoftmaxLoss, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Give, by column, what rounding can do to the score of a row whose scaled values are all one."""
    # Scores are sums of q products; of more than two classes, coefficients go through the coding and back.
    coded = 2 * len(coef) * _coding_length(len(coef)) if len(coef) > 1 else 0.0
    units = UNIT * (loss.shape[1] + 4 + coded)
    found = units * np.linalg.norm(coef, axis=0) * loss.scale
    if loss.intercept:
        constant = np.abs(intercept) + np.abs(coef) @ np.abs(loss.shift)
        found = np.append(found, units * np.linalg.norm(constant))
    return np.asarray(found)


@lru_cache(maxsize=16)
def _coding_length(n_classes: int) -> float:
    """Give how much longer the coding of so many classes can make what has no sign; that takes as long as a pass where they are many."""
    return float(np.linalg.norm(np.abs(coding_of(n_classes)), 2))


def summed(loss: SoftmaxLoss, count: int, sparse: bool) -> float:
    """Bound the relative rounding of a sum over so many rows, tile by tile."""
    tile = count if sparse else min(count, loss.tile_rows)
    return float((tile + count / max(tile, 1) + 64 + 2 * len(loss.coding)) * UNIT)


def triangle_of(block: Block, loss: SoftmaxLoss, theta: np.ndarray, factor: float) -> Triangle:
    """Give the triangle of a QR decomposition of a block's rows, weighted by the root of their curvature."""
    m, q = loss.shape
    found = np.zeros((0, m * q))
    for x, codes, weight in loss.tiles(block):
        chance = cross_entropy(loss.scores(x, theta), codes)[1]
        rest, root = others(chance), np.sqrt(chance)
        x = as_dense(x) / loss.scale
        x = np.column_stack([x, np.ones(len(x))]) if loss.intercept else x
        parts = [found]
        for l in range(chance.shape[1]):
            # The columns of a root of the scores' Hessian, diag(p) - p p'.
            column = -chance * root[:, [l]]
            column[:, l] = root[:, l] * rest[:, l]
            values = np.sqrt(factor * weight)[:, None] * (column @ loss.coding.T)
            parts.append((values[:, :, None] * x[:, None, :]).reshape(len(x), m * q))
        found = np.asarray(np.linalg.qr(np.vstack(parts), mode="r"))
    return Triangle(found)


@dataclass(frozen=True)
class Triangle:
    """The triangle of a QR decomposition; those of parts are stacked."""

    R: np.ndarray

    def __add__(self, other: Triangle) -> Triangle:
        return Triangle(np.asarray(np.linalg.qr(np.vstack([self.R, other.R]), mode="r")))
