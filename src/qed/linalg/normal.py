r"""Least squares from a Gram matrix: :math:`(S + \alpha I)\,w = b` with :math:`S = X^\top X,\ b = X^\top y`.

A Cholesky factorisation of the *equilibrated* matrix (unit diagonal) solves it, and its condition estimate says how many digits
that costs: forming :math:`X^\top X` squares the condition number, so the answer has about :math:`16 - 2\log_{10}\kappa(X)` of
them. Callers compare `Solution.digits` with what they need and turn to a QR factorisation where it is not enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, lapack

from qed.base.numbers import EPS


@dataclass(frozen=True)
class Solution:
    """Coefficients with what is known about them.

    Attributes
    ----------
    coef : ndarray of shape (p, q)
        The solution; the shortest one where there are many.
    rank : int
        How many columns are independent.
    condition : float
        Condition number of the equilibrated design matrix (not of its Gram matrix), over its range.
    digits : float
        About how many decimal digits of the coefficients are right.
    """

    coef: np.ndarray
    rank: int
    condition: float
    digits: float


def equilibrate(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale a Gram matrix to unit diagonal: give the scaled matrix and the length of each column.

    Columns of length zero keep a length of one, and a zero on the diagonal.

    Examples
    --------
    >>> scaled, length = equilibrate(np.array([[4.0, 2.0], [2.0, 9.0]]))
    >>> length
    array([2., 3.])
    """
    length = np.sqrt(np.maximum(np.diagonal(gram), 0.0))
    length = np.where(length > 0, length, 1.0)
    return gram / np.outer(length, length), length


def factorised(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Give the lower Cholesky factor of a symmetric matrix, and about one over its condition number: 0 where there is no factor.

    Examples
    --------
    >>> factorised(np.diag([4.0, 9.0]))
    (array([[2., 0.],
           [0., 3.]]), 0.44...)
    >>> factorised(np.ones((2, 2)) - np.eye(2))[1]
    0.0
    """
    lower, failed = lapack.dpotrf(matrix, lower=1, clean=1)
    if failed:
        return lower, 0.0
    return lower, float(lapack.dpocon(lower, np.abs(matrix).sum(axis=0).max(), uplo="L")[0])


def table_of(scatter: np.ndarray) -> np.ndarray:
    """Give a square table whose sums of squares and products are `scatter`.

    Examples
    --------
    >>> table = table_of(np.array([[4.0, 2.0], [2.0, 1.0]]))
    >>> (table.T @ table).round(12)
    array([[4., 2.],
           [2., 1.]])
    """
    scaled, length = equilibrate(scatter)
    value, vector = np.linalg.eigh(scaled)
    return np.asarray(np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T * length)


def solve(gram: np.ndarray, right: np.ndarray, alpha: float = 0.0) -> Solution:
    """Solve ``(gram + alpha I) coef = right``, with the shortest solution where there are many.

    Parameters
    ----------
    gram : ndarray of shape (p, p)
        Symmetric, positive semi-definite.
    right : ndarray of shape (p, q)
        Right-hand sides.
    alpha : float
        Penalty on the squared length of the solution.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([[1.0], [2.0], [2.0]])
    >>> solve(X.T @ X, X.T @ y, alpha=1.0).coef.ravel().round(12)
    array([0.8, 0.6])
    """
    p = len(gram)
    shifted = gram + alpha * np.eye(p)
    scaled, length = equilibrate(shifted)
    lower, reciprocal = factorised(scaled)
    if reciprocal > 4 * p * EPS:
        coef = lapack.dpotrs(lower, right / length[:, None], lower=1)[0] / length[:, None]
        return Solution(coef, p, reciprocal**-0.5, -np.log10(EPS / reciprocal))
    return _solve_deficient(scaled, length, right)


def _solve_deficient(scaled: np.ndarray, length: np.ndarray, right: np.ndarray) -> Solution:
    """Solve by eigenvectors, leaving out those that rounding can not tell from zero, and take the shortest solution."""
    value, vector = eigh(scaled)
    kept = value > 4 * len(value) * EPS * max(value[-1], EPS)
    rank = int(kept.sum())
    inner = vector[:, kept] / value[kept] @ (vector[:, kept].T @ (right / length[:, None]))
    coef = shortest(inner / length[:, None], vector[:, ~kept] / length[:, None])
    spread = value[-1] / value[kept][0] if rank else 1.0
    return Solution(coef, rank, float(np.sqrt(spread)), float(-np.log10(EPS * spread)))


def shortest(coef: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Remove from `coef` its part in the span of the columns of `null`."""
    if null.shape[1] == 0:
        return coef
    basis, _ = np.linalg.qr(null)
    return coef - basis @ (basis.T @ coef)
