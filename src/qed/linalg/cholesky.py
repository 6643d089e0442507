r"""The Cholesky factor of a positive definite matrix whose rows and columns were first scaled to a diagonal of ones.

.. math:: D^{-1} (A + \alpha I) D^{-1} = L L^\top, \qquad D^2 = \operatorname{diag}(A + \alpha I).

The scaling makes the answer independent of the units of the columns and comes within a factor of n of the best condition number that
any scaling has (van der Sluis, 1969). LAPACK estimates that number from the factor in :math:`O(n^2)`, so what a solution is worth is known
without a single eigenvalue. Cost: :math:`n^3 / 3` operations for the factor, :math:`2n^2` for each right-hand side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from qed.base.engine import blas_for
from qed.base.numbers import EPS


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
        with blas_for(n):
            lower, failed = lapack.dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        reciprocal = float(lapack.dpocon(lower, size, uplo="L")[0])
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
