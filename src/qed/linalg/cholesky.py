r"""The Cholesky factor of a positive definite matrix whose rows and columns were first scaled to a diagonal of ones.

.. math:: D^{-1} (A + \alpha I) D^{-1} = L L^\top, \qquad D^2 = \operatorname{diag}(A + \alpha I).

The scaling makes the answer independent of the units of the columns and comes within a factor of n of the best condition number that
any scaling has (van der Sluis, 1969). LAPACK estimates that number from the factor in :math:`O(n^2)`, so what a solution is worth is known
without a single eigenvalue. Cost: :math:`n^3 / 3` operations for the factor, :math:`2n^2` for each right-hand side.

A large matrix is cut into square tiles by its size alone, and its threads share them, so any number of threads gives the same bits: what
stands in a tile is reduced by all that was found to its left, in one product, and solved with the tile on the diagonal above it. A tile
waits only for those that it reads, not for the whole column of tiles before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import blas, lapack

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS, all_of
from qed.linalg.foreign import call, step
from qed.linalg.sharing import Task, spans, work_in_order

# Matrices of fewer rows are left to LAPACK; larger ones are cut into tiles of about so many rows, and very large ones into wider tiles.
LARGE, TILE, VERY_LARGE, WIDE_TILE = 512, 192, 3000, 320
# From so many rows on a single right-hand side is solved by itself: LAPACK takes it for a block of them, and copies the factor for that.
LONG = 128


def factor_in_place(A: np.ndarray) -> bool:
    """Write the lower Cholesky factor over the lower half of a matrix in Fortran order, whose upper half is left as it is.

    The matrix is of float64 or of float32. Say whether there is a factor; otherwise the lower half is spoilt.
    """
    n = len(A)
    with one_blas_thread:
        if n < LARGE:
            factorise = lapack.spotrf if A.dtype == np.float32 else lapack.dpotrf
            return not factorise(A, lower=1, overwrite_a=1, clean=0)[1]
        return _Tiles(A, TILE if n * A.itemsize < VERY_LARGE * 8 else WIDE_TILE).factor()


def solve_factored(lower: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve ``L L' x = right`` for right-hand sides of shape (n, q), given the lower factor in Fortran order, of the same type.

    >>> solve_factored(np.array([[2.0, 9.0], [1.0, 4.0]], order="F"), np.array([[4.0], [18.0]]))
    array([[0.5],
           [1. ]])
    """
    single = lower.dtype == np.float32
    if right.shape[1] != 1 or len(right) < LONG:
        return np.asarray((lapack.spotrs if single else lapack.dpotrs)(lower, right, lower=1)[0])
    solve = blas.strsv if single else blas.dtrsv
    half = solve(lower, right[:, 0], lower=1)
    return np.asarray(solve(lower, half, lower=1, trans=1, overwrite_x=1))[:, None]


def reciprocal_condition(lower: np.ndarray, size: float) -> float:
    """Estimate one over the condition number (in the 1-norm) of a matrix from its lower Cholesky factor and its norm.

    An estimate is good for a digit or two. Its last bits are dropped, because they depend on where the arrays lie in memory: BLAS adds up
    absolute values from the next boundary on that the processor likes.
    """
    return float(np.float32(lapack.dpocon(lower, size, uplo="L")[0]))


class _Tiles:
    """A matrix in Fortran order that is factored tile by tile, from the left."""

    def __init__(self, A: np.ndarray, size: int) -> None:
        assert A.strides[0] == A.itemsize, "BLAS takes arrays in Fortran order"
        self.A, self.step, self.spans, self.failed = A, step(A), spans(len(A), size), False
        self.kind = "s" if A.dtype == np.float32 else "d"

    def factor(self) -> bool:
        """Factor it; say whether there is a factor."""
        work_in_order(self._tasks())
        return not self.failed

    def _tasks(self) -> Iterator[Task]:
        """Go down the columns; the next tile on the diagonal comes as soon as it can, because all others below it wait for it."""
        count = len(self.spans)
        yield self._task(0, 0)
        for k in range(count):
            for i in range(k + 1, count):
                yield self._task(i, k)
                if i == k + 1:
                    yield self._task(i, i)

    def _task(self, i: int, k: int) -> Task:
        read = [(i, k - 1)] if k else []
        return Task((i, k), partial(self._tile, i, k), read if i == k else [*read, (k, k)])

    def _tile(self, i: int, k: int) -> None:
        """Write the tile of the i-th rows and k-th columns of the factor."""
        if self.failed:
            return
        A, kind, far, rows, columns = self.A, self.kind, self.step, self.spans[i], self.spans[k]
        tile, m, n, before = A[rows, columns], rows.stop - rows.start, columns.stop - columns.start, columns.start
        if i > k:
            call(kind + "gemm", "N", "T", m, n, before, -1.0, A[rows], far, A[columns], far, 1.0, tile, far)
            call(kind + "trsm", "R", "L", "T", "N", m, n, 1.0, A[columns, columns], far, tile, far)
        else:
            failed = np.zeros(1, dtype=np.int32)
            call(kind + "syrk", "L", "N", n, before, -1.0, A[rows], far, 1.0, tile, far)
            call(kind + "potrf", "L", n, tile, far, failed)
            self.failed |= bool(failed[0])


@dataclass(slots=True, eq=False)
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
        if not all_of(length):
            length[length == 0] = 1.0
        scaled = matrix / length
        scaled /= length[:, None]
        scaled.ravel("K")[:: n + 1] = diagonal / length**2
        size = float(lapack.dlange("1", scaled.T))  # type: ignore[call-arg]
        lower = scaled.T
        if not factor_in_place(lower):
            return None
        reciprocal = reciprocal_condition(lower, size)
        return cls(lower, length, reciprocal, reciprocal * size) if reciprocal > 4 * n * EPS else None

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Solve for right-hand sides of shape (n, q)."""
        scale = self.length[:, None]
        return solve_factored(self.lower, right / scale) / scale

    @property
    def digits(self) -> float:
        """About how many decimal digits of a solution are right."""
        return float(-np.log10(EPS / self.reciprocal))

    @property
    def condition(self) -> float:
        """The condition number of a root of the matrix: of X where the matrix is X'X."""
        return float(self.reciprocal**-0.5)
