r"""Sums of similarities to rows that were kept, :math:`f_q(x) = \sum_i c_{iq}\, k(v_i, x)`: what predictions are made of.

Gaussian similarities of few columns are compiled. Their exponents come from a matrix product, or from differences where rows are so
long that it would lose digits. Who only wants to know which side of a line a sum lies on is served in single precision, in half the
time: a sum comes with a bound of its error, and is worked out again where that leaves the question open.

.. math:: |\hat f_q - f_q| \le \delta \sum_i |c_{iq}|\, k(v_i, x), \qquad
    \delta \approx 2^{-24} \bigl((p + 7)\, s + 8\bigr), \qquad s = \gamma \|x\|^2 + \gamma \|v\|^2,

where an inner product of p terms and of rounded rows, of size at most s, is off by (p + 2) s units; rounding the two lengths, of
sum s, and taking them off, which leaves numbers of at most 2s, by another 5s; and the exponential of what is left by 8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.numbers import EPS
from qed.base.sources.block import is_sparse
from qed.kernels.gram.gaussian import FAR_AWAY, WORTH_COMPILING, gaussian_sums, gaussian_tile, single_sums
from qed.kernels.gram.rows import RIGHT_TO, SHORT, SIDE, gaussian_factor
from qed.kernels.linear import squared_norms
from qed.kernels.similarity import Similarity

STRETCH = 1024
# Single precision takes half the time: it is given up where it leaves more rows open than this.
MOST_OPEN = 0.5
HALF_UNIT, HIGHER_ORDERS = 2.0**-24, 1.02
# The least that single precision gives as a similarity, which may be anything below it.
LEAST_SIMILARITY = math.exp(-86.9)

# Given sums of shape (n, q), and for each row a bound of their errors: for which rows this is enough.
Enough = Callable[[np.ndarray, np.ndarray], np.ndarray]


def combined(
    similarity: Similarity, X: Any, kept: Any, coefficients: np.ndarray, enough: Enough | None = None
) -> np.ndarray:
    """Give what :meth:`Similarity.combined` gives, by the compiled kernel where that is faster.

    Sums of rows for which `enough` says so may be as far off as it was told.
    """
    used = coefficients.any(axis=1)
    factor = gaussian_factor(similarity, kept)
    small = X.shape[0] * int(used.sum()) < WORTH_COMPILING
    if factor is None or small or is_sparse(X) or not np.isfinite(factor):
        return similarity.combined(X, kept, coefficients)
    rows = np.ascontiguousarray(kept[used], dtype=np.float64)
    weights = np.ascontiguousarray(coefficients[used], dtype=np.float64)
    sums, starts = _Sums(rows, weights, factor), range(0, X.shape[0], STRETCH)
    return np.concatenate(list(work(partial(sums.of, X[start : start + STRETCH], enough) for start in starts)))


@dataclass(frozen=True, eq=False)
class _Sums:
    """Sums of similarities to `rows`, of shape (m, p), times `weights`, of shape (m, q); the factor is minus gamma."""

    rows: np.ndarray
    weights: np.ndarray
    factor: float

    @cached_property
    def middle(self) -> np.ndarray:
        return np.asarray(self.rows.mean(axis=0))

    @cached_property
    def moved(self) -> np.ndarray:
        """The rows, such that half a squared distance is an exponent."""
        return self._move(self.rows)

    @cached_property
    def half(self) -> np.ndarray:
        return squared_norms(self.moved) / 2

    @cached_property
    def single(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The moved rows and half their squared lengths, and the weights with the largest of each row beside them."""
        largest = np.abs(self.weights).max(axis=1, keepdims=True)
        return self.moved.astype(np.float32), self.half.astype(np.float32), np.hstack([self.weights, largest])

    def _move(self, table: np.ndarray) -> np.ndarray:
        return np.asarray((table - self.middle) * math.sqrt(-2 * self.factor))

    def of(self, X: np.ndarray, enough: Enough | None) -> np.ndarray:
        """Give the sums of some rows, of shape (n, q)."""
        table = np.asarray(X, dtype=np.float64)
        moved = self._move(table)
        half = squared_norms(moved) / 2
        if not half.max(initial=0.0) + self.half.max(initial=0.0) <= SHORT:
            found = np.zeros((self.weights.shape[1], len(table)))
            gaussian_sums(np.ascontiguousarray(table.T), self.rows, self.weights, self.factor, found)
            return found.T
        out, open_ = np.zeros((len(table), self.weights.shape[1])), np.ones(len(table), dtype=bool)
        if enough is not None:
            self._roughly(moved, half, enough, out, open_)
        out[open_] = self._closely(moved[open_], half[open_])
        return out

    def _closely(self, moved: np.ndarray, half: np.ndarray) -> np.ndarray:
        out = np.zeros((len(moved), self.weights.shape[1]))
        for first in range(0, len(moved), SIDE):
            here = slice(first, first + SIDE)
            for place in range(0, len(self.rows), SIDE):
                there = slice(place, place + SIDE)
                tile = moved[here] @ self.moved[there].T
                gaussian_tile(tile, half[here], self.half[there], 0.0, FAR_AWAY)
                out[here] += tile @ self.weights[there]
        return out

    def _roughly(self, moved: np.ndarray, half: np.ndarray, enough: Enough, out: np.ndarray, open_: np.ndarray) -> None:
        """Fill `out` by single precision, as long as that serves, and say which rows are left open."""
        rows, lengths, weights = self.single
        columns, right = np.ascontiguousarray(moved.T, dtype=np.float32), half.astype(np.float32)
        sizes = half + self.half.max(initial=0.0)
        share = HIGHER_ORDERS * (HALF_UNIT * ((rows.shape[1] + 7) * sizes + 8) + RIGHT_TO + EPS * len(rows))
        unseen = LEAST_SIMILARITY * float(weights[:, -1].sum())
        for first in range(0, len(out), SIDE):
            here = slice(first, first + SIDE)
            sums = np.zeros((weights.shape[1], len(out[here])))
            for place in range(0, len(rows), SIDE):
                there = slice(place, place + SIDE)
                single_sums(rows[there] @ columns[:, here], lengths[there], right[here], weights[there], sums)
            out[here] = sums[:-1].T
            open_[here] = ~enough(out[here], share[here] * sums[-1] + unseen)
            if open_[here].mean() > MOST_OPEN:
                return
