r"""The Cholesky factor of a positive definite matrix whose rows and columns were first scaled to a diagonal of ones.

.. math:: D^{-1} (A + \alpha I) D^{-1} = L L^\top, \qquad D^2 = \operatorname{diag}(A + \alpha I).

The scaling makes the answer independent of the units of the columns and comes within a factor of n of the best condition number that
any scaling has (van der Sluis, 1969). LAPACK estimates that number from the factor in :math:`O(n^2)`, so what a solution is worth is known
without a single eigenvalue. Cost: :math:`n^3 / 3` operations for the factor, :math:`2n^2` for each right-hand side.

A large matrix is factored column of tiles by column of tiles, from the left: what stands in a tile is reduced by all that was found to its
left, in one product, and solved with the tile on the diagonal. The tiles below it are shared among threads, and are cut by the size of
the matrix alone, so any number of threads gives the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import blas, lapack

from qed.base.engine import one_blas_thread, work
from qed.base.numbers import EPS

# Matrices of fewer rows are left to LAPACK; larger ones are cut into columns of so many, and those into tiles of so many rows.
LARGE, COLUMNS, ROWS = 1024, 128, 512


def factor_in_place(A: np.ndarray) -> bool:
    """Write the lower Cholesky factor over the lower half of a matrix in Fortran order, whose upper half is left as it is.

    Returns
    -------
    bool
        Whether there is a factor; otherwise the lower half is spoilt.

    Examples
    --------
    >>> A = np.array([[4.0, 7.0], [2.0, 10.0]], order="F")
    >>> factor_in_place(A), A
    (True, array([[2., 7.],
           [1., 3.]]))
    """
    n = len(A)
    with one_blas_thread:
        if n < LARGE:
            return not lapack.dpotrf(A, lower=1, overwrite_a=1, clean=0)[1]
        for first in range(0, n, COLUMNS):
            last = min(first + COLUMNS, n)
            tile = _reduced(A, first, last, first, last)
            tile, failed = lapack.dpotrf(tile, lower=1, overwrite_a=1, clean=1)
            if failed:
                return False
            lower = np.tril_indices(last - first)
            A[first:last, first:last][lower] = tile[lower]
            below = range(last, n, ROWS)
            for _ in work(partial(_solve_tile, A, first, last, row, min(row + ROWS, n), tile) for row in below):
                continue
    return True


def reciprocal_condition(lower: np.ndarray, size: float) -> float:
    """Estimate one over the condition number (in the 1-norm) of a matrix from its lower Cholesky factor and its norm.

    An estimate is good for a digit or two. Its last bits are dropped, because they depend on where the arrays lie in memory: BLAS adds up
    absolute values from the next boundary on that the processor likes.
    """
    return float(np.float32(lapack.dpocon(lower, size, uplo="L")[0]))


def _reduced(A: np.ndarray, first: int, last: int, row: int, stop: int) -> np.ndarray:
    """Give the tile of rows `row` to `stop` in the columns `first` to `last`, less what the columns before explain of it."""
    tile = A[row:stop, first:last].copy(order="F")
    if first:
        tile -= A[row:stop, :first] @ A[first:last, :first].T
    return tile


def _solve_tile(A: np.ndarray, first: int, last: int, row: int, stop: int, corner: np.ndarray) -> None:
    """Write the factor's tile of rows `row` to `stop`, below the `corner` on the diagonal."""
    tile = _reduced(A, first, last, row, stop)
    A[row:stop, first:last] = blas.dtrsm(1.0, corner, tile, side=1, lower=1, trans_a=1, overwrite_b=1)


@dataclass(frozen=True, eq=False)
class Cholesky:
    """A factor, with what is known about it."""

    lower: np.ndarray  # (n, n): the factor, in Fortran order; what stands above its diagonal means nothing
    length: np.ndarray  # (n,): the roots of the diagonal
    reciprocal: float  # one over the condition number (in the 1-norm) of the scaled matrix, estimated
    least: float  # a lower estimate of its smallest eigenvalue

    @classmethod
    def of(cls, matrix: np.ndarray, alpha: float = 0.0) -> Cholesky | None:
        """Factor ``matrix + alpha I``; None where rounding can not tell it from a singular one.

        >>> Cholesky.of(np.array([[4.0, 2.0], [2.0, 9.0]])).solve(np.array([[8.0], [20.0]])).ravel().round(12)
        array([1., 2.])
        >>> Cholesky.of(np.ones((2, 2))) is None
        True
        """
        n = len(matrix)
        diagonal = matrix.diagonal() + alpha
        length = np.sqrt(np.maximum(diagonal, 0.0))
        length[length == 0] = 1.0
        scaled = matrix / length
        scaled /= length[:, None]
        np.fill_diagonal(scaled, diagonal / length**2)
        size = float(lapack.dlange("1", scaled.T))  # type: ignore[call-arg]
        lower = scaled.T
        if not factor_in_place(lower):
            return None
        reciprocal = reciprocal_condition(lower, size)
        return cls(lower, length, reciprocal, reciprocal * size) if reciprocal > 4 * n * EPS else None

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for right-hand sides of shape (n, q)."""
        scale = self.length[:, None]
        return np.asarray(lapack.dpotrs(self.lower, right / scale, lower=1)[0]) / scale

    @property
    def digits(self) -> float:
        """About how many decimal digits of a solution are right."""
        return float(-np.log10(EPS / self.reciprocal))

    @property
    def condition(self) -> float:
        """The condition number of a root of the matrix: of X where the matrix is X'X."""
        return float(self.reciprocal**-0.5)
