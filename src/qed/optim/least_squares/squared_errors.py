r"""The squared error of many linear models on a set of rows, from the moments of those rows.

.. math:: \sum_i s_i (y_i - x_i^\top w - b)^2 = v^\top S v + W (\bar y - \bar x^\top w - b)^2, \qquad v = (-w, 1),

with the rows' weight :math:`W`, means and scatter :math:`S`: :math:`O(p^2)` for a model, however many rows there are. The form
cancels when a fit is nearly perfect, as :math:`S` is known to rounding only; so it comes with a bound on that
error, and who needs more takes one pass over the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.stats.moments import Moments

STRIP = 1024


def from_moments(moments: Moments, coef: np.ndarray, intercept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the weighted sum of squared errors of each model, and a bound on what rounding did to it.

    There are m models with q outputs, with coefficients of shape (m, p, q).

    >>> from qed.base.sources.open import rows
    >>> seen = rows(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0])).fold(Moments.of)
    >>> error, noise = from_moments(seen, np.array([[[1.0]]]), np.array([[1.0]]))
    >>> error.round(12), bool(noise.max() < 1e-13)
    (array([[1.]]), True)
    """
    m, p, q = coef.shape
    flat = coef.transpose(1, 0, 2).reshape(p, m * q)
    image = (moments.xx @ flat).reshape(p, m, q)
    wide = flat.reshape(p, m, q)
    square = np.diagonal(moments.yy)
    spread = square + np.einsum("pmq,pmq->mq", wide, image - 2 * moments.xy[:, None, :])
    miss = moments.y_mean - moments.x_mean @ coef - intercept
    length = np.sqrt(np.maximum(np.diagonal(moments.xx), 0.0))
    reach = np.sqrt(np.maximum(square, 0.0)) + np.einsum("p,pmq->mq", length, np.abs(wide))
    size = np.abs(moments.y_mean) + np.abs(moments.x_mean) @ np.abs(coef) + np.abs(intercept)
    slip = 4 * EPS * size
    noise = 8 * EPS * reach**2 + moments.weight * slip * (2 * np.abs(miss) + slip)
    return np.maximum(spread, 0.0) + moments.weight * miss**2, noise


def from_rows(rows: Rows, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Give the same sums from the residuals of the rows themselves: one pass, and nothing cancels."""
    m, p, q = coef.shape
    found = rows.fold(_squares, coef.transpose(1, 0, 2).reshape(p, m * q), intercept.reshape(m * q), m)
    return np.asarray(found).reshape(m, q)


def _squares(block: Block, coef: np.ndarray, intercept: np.ndarray, m: int) -> np.ndarray:
    total = np.zeros(coef.shape[1])
    y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
    weight = block.weights
    for start in range(0, len(block), STRIP):
        strip = slice(start, start + STRIP)
        residual = np.tile(y[strip], m) - (np.asarray(block.X[strip] @ coef, dtype=np.float64) + intercept)
        total += weight[strip] @ residual**2
    return total


def precise(
    moments: Moments,
    rows: Rows,
    coef: np.ndarray,
    intercept: np.ndarray,
    doubtful: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> np.ndarray:
    """Give the sums of squared errors from moments, and from the rows for those models where that is too coarse.

    `doubtful` takes the errors and their noise, of shape (m, q), and says for which models the noise is too large.
    """
    error, noise = from_moments(moments, coef, intercept)
    again = doubtful(error, noise)
    if again.any():
        error[again] = from_rows(rows, coef[again], intercept[again])
    return error
