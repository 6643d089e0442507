r"""How rows are spread in the features of a kernel: the centred Gram matrix has the eigenvalues of the scatter there.

.. math:: M = D^{1/2} (K - \theta \mathbf 1^\top - \mathbf 1 \theta^\top + \rho\, \mathbf 1 \mathbf 1^\top) D^{1/2}, \qquad
    \theta = \frac{K w}{W}, \qquad \rho = \frac{w^\top \theta}{W}, \qquad D = \operatorname{diag}(w).

A row of weight two is the row twice. Scores do not depend on where the zero of the features is, so the rows of a linear kernel are taken
from their middle, and far ones lose no digits.
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
from scipy.linalg.blas import dsyr2k

from qed.base.engine import one_blas_thread, work
from qed.base.errors import InputError
from qed.base.numbers import EPS, TINY
from qed.kernels.gram.compared import ComparedRows, from_middle
from qed.kernels.radial import RBF
from qed.linalg.krylov.leading import times
from qed.linalg.sharing import finish, spans
from qed.reduction.spread import Spread

# So many rows of a matrix are centred at a time: they stay in the cache while two means are taken off.
STRIP = 32


class SpreadOfSimilarities(Spread):
    """The scatter of rows in the features of a kernel, by their centred similarities."""

    def __init__(self, matrix: np.ndarray, noise: float) -> None:
        self._matrix, self.noise = matrix, noise
        self.total = float(np.trace(matrix))

    @property
    def matrix(self) -> np.ndarray:
        return self._matrix

    def applied(self, directions: np.ndarray) -> np.ndarray:
        return times(self._matrix, np.ascontiguousarray(directions.T)).T

    def _directions(self, vectors: np.ndarray) -> np.ndarray:
        return vectors.T

    def _without(self, directions: np.ndarray) -> np.ndarray:
        image = self.applied(directions)
        inner = image @ directions.T
        # (I - P) M (I - P) = M - V'H - H'V with H = V M - (V M V') V / 2.
        half = image - inner @ directions / 2
        found = self._matrix.copy()
        # Only the half is changed that a factor reads: the lower one of the matrix as Fortran has it.
        with one_blas_thread:
            dsyr2k(-1.0, directions.T, half.T, beta=1.0, c=found.T, lower=1, overwrite_c=1)
        return found


class SimilarRows(ComparedRows):
    """Rows in memory, and their centred Gram matrix."""

    @cached_property
    def offset_of_rows(self) -> np.ndarray:
        """The mean similarity of each row that counts to all of them."""
        return np.asarray(times(self._gram, self.weight[:, None])[:, 0] / self.weight.sum())

    @cached_property
    def _gram(self) -> np.ndarray:
        K = self.similarity.gram(from_middle(self.similarity, self.X, self.X))
        self._size = _largest(K)
        if (self.summary.high > self.summary.low).any() and self._size < TINY / EPS:
            raise InputError(
                "The similarities of these rows vanish, and how they are spread with them: multiply the columns by 1e150."
            )
        return K

    @cached_property
    def spread(self) -> SpreadOfSimilarities:
        """Say how the rows that count are spread in the features."""
        K, means = self._gram, self.offset_of_rows
        size, total = self._size, float(self.weight.sum())
        level = float(means @ self.weight) / total
        del self._gram  # it is overwritten
        finish(partial(_centre, K[strip], means, means[strip] - level) for strip in spans(len(K), STRIP))
        if (self.weight != 1).any():
            root = np.sqrt(self.weight)
            K *= root
            K *= root[:, None]
        # Entries are sums of n similarities, and so off by that many roundings, and by what distances lose; the matrix by no more than all
        # weight times that.
        kernel = self.similarity.kernel
        lost = kernel.lost(self.X) if isinstance(kernel, RBF) else 0.0
        return SpreadOfSimilarities(K, ((2 * len(K) + 8) * EPS * size + 4 * lost) * total)


def _largest(K: np.ndarray) -> float:
    """Give the largest size of an entry, without a second matrix for the sizes of all."""
    parts = work(partial(_largest_of, K[strip]) for strip in spans(len(K), STRIP))
    return max(parts, default=0.0)


def _largest_of(strip: np.ndarray) -> float:
    # The second time it is in the cache.
    return float(max(strip.max(initial=0.0), -strip.min(initial=0.0)))


def _centre(strip: np.ndarray, across: np.ndarray, down: np.ndarray) -> None:
    """Take the means of columns and of rows off some rows of a matrix."""
    strip -= across
    strip -= down[:, None]
