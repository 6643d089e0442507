r"""The equations of kernel ridge regression, :math:`(K + \alpha I)\,c = y`, solved in place.

With weights :math:`s` the rows are scaled first: :math:`c = S^{1/2} (S^{1/2} K S^{1/2} + \alpha I)^{-1} S^{1/2} y`. The matrix is
positive definite for :math:`\alpha > 0`, and a Cholesky factorisation takes :math:`n^3/3` operations. It overwrites one half of the
matrix; the other half still is :math:`K`, so the fitted values :math:`Kc`, from which a proof is made, cost only one product more.
A large matrix whose penalty is not too small is factored in single precision, which takes half as long, and the solution is corrected by
its residuals in double precision until they are rounding only: each correction costs :math:`O(n^2)` and gives some digits more.
Where rounding leaves no positive definite matrix (no penalty and equal rows, say), the eigenvectors that count are used alone:
:math:`c = Q (\Lambda + \alpha)^{+} Q^\top y`.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import blas

from qed.base.engine import one_blas_thread
from qed.base.errors import InputError
from qed.base.numbers import EPS, TINY
from qed.linalg.cholesky import factor_in_place, reciprocal_condition, solve_factored
from qed.linalg.sharing import finish

# So many rows at least, and at most, are factored in single precision: fewer take no time, more would not have the room.
LARGE, TOO_LARGE = 1500, 20_000
# The trace of the matrix is at most so many times the penalty, so that each correction gives a digit or more.
SPREAD = 1e6
MOST_CORRECTIONS = 16
STRIP = 256


@dataclass(frozen=True, eq=False)
class Dual:
    """The solution of the kernel equations."""

    # (n, q): dual coefficients c, and Kc.
    dual: np.ndarray
    fitted: np.ndarray
    rank: int  # directions that count; fewer than n where the matrix is not positive definite but for rounding
    # Condition number of `K + alpha I` in these directions (estimated where they are all), where it was asked
    # for.
    condition: float | None = None
    # (n, q): where directions were left out: `K S (y - f - alpha c / s)`, the gradient, which vanishes at the
    # minimum.
    slope: np.ndarray | None = None


def solve_dual(
    K: np.ndarray, Y: np.ndarray, alphas: np.ndarray, weight: np.ndarray | None = None, *, condition: bool = False
) -> Dual:
    """Solve ``(K + alpha / weight) c = y`` for every output.

    The matrix, in C order, is used up; there is a penalty for each output, and weights are positive.

    >>> X, y = np.array([[1.0], [2.0]]), np.array([[1.0], [2.0]])
    >>> (solve_dual(X @ X.T, y, np.array([1.0])).dual * 6).round(12)
    array([[1.],
           [2.]])
    """
    root = np.ones((len(Y), 1)) if weight is None else np.sqrt(weight)[:, None]
    if weight is not None:
        K *= root
        K *= root.T
    right = Y * root
    parts: list[tuple[np.ndarray, Dual]] = []
    with one_blas_thread:
        for alpha in sorted(set(alphas.tolist())):
            chosen = alphas == alpha
            own = K if alpha == alphas.max() else K.copy()
            diagonal = own.diagonal().copy()
            found = None if condition else _by_corrections(own, right[:, chosen], alpha)
            found = found or _by_cholesky(own, right[:, chosen], alpha, condition)
            if found is None:
                np.fill_diagonal(own, diagonal)
                found = _by_eigenvectors(own, right[:, chosen], alpha)
            parts.append((chosen, found))
        coef, fitted = np.empty_like(Y), np.empty_like(Y)
        for chosen, found in parts:
            coef[:, chosen], fitted[:, chosen] = found.dual, found.fitted
        rank, slope = min(found.rank for _, found in parts), None
        if rank < len(K):
            slope = multiplied(K, right - fitted - alphas * coef) / root
    worst = max(found.condition or 1.0 for _, found in parts) if condition else None
    return Dual(coef * root, fitted / root, rank, worst, slope)


def _by_corrections(K: np.ndarray, right: np.ndarray, alpha: float) -> Dual | None:
    """Solve with a factor in single precision, and correct that; None where it is not worth it or does not lead to the end.

    `K` is left as it is.
    """
    (n, q), diagonal = right.shape, K.diagonal()
    if not (LARGE <= n <= TOO_LARGE and 8 * q <= n and diagonal.min() >= 0 and 0 < diagonal.sum() <= alpha * SPREAD):
        return None
    unit = float(diagonal.max()) + alpha
    small = np.empty((n, n), dtype=np.float32)
    finish(partial(_rounded, K, 1 / unit, slice(i, i + STRIP), small) for i in range(0, n, STRIP))
    np.fill_diagonal(small, (diagonal + alpha) / unit)
    if not factor_in_place(small.T):
        return None
    coef, left, best = np.zeros(right.shape), right, np.inf
    for _ in range(MOST_CORRECTIONS):
        size = np.abs(left).max(axis=0)
        size[size == 0] = 1.0
        step = solve_factored(small.T, (left / size).astype(np.float32))
        tried = coef + step * (size / unit)
        fitted = multiplied(K, tried)
        rest = right - fitted - alpha * tried
        length = float((np.linalg.norm(rest, axis=0) / np.maximum(np.linalg.norm(right, axis=0), TINY)).max())
        if not length < best / 4:
            break
        coef, left, best, kept = tried, rest, length, fitted
        if length <= EPS:
            break
    reach = np.abs(right) + alpha * np.abs(coef) + np.outer(np.sqrt(diagonal), np.sqrt(diagonal) @ np.abs(coef))
    done = best < np.inf and (np.abs(left) <= EPS * (8 + np.sqrt(n)) * reach).all()
    return Dual(coef, kept, n) if done else None


def _rounded(K: np.ndarray, factor: float, rows: slice, out: np.ndarray) -> None:
    """Write some rows of the upper half of a multiple in single precision; what is too large for that is no kernel."""
    with np.errstate(over="ignore", invalid="ignore"):
        np.multiply(K[rows, rows.start :], factor, out=out[rows, rows.start :], casting="same_kind")


def _by_cholesky(K: np.ndarray, right: np.ndarray, alpha: float, condition: bool) -> Dual | None:
    """Solve by Cholesky; None where a pivot is lost in rounding. The part of `K` below its diagonal is left as it is."""
    A = K.T  # in the order of LAPACK; its lower half is what lies above the diagonal of K
    n, diagonal = len(A), K.diagonal().copy()
    shifted = diagonal + alpha
    size = float(np.abs(K).sum(axis=1).max()) + alpha if condition else 0.0
    K.ravel("K")[:: n + 1] = shifted
    if not factor_in_place(A) or not (A.diagonal() ** 2 > 4 * n * EPS * shifted).all():
        return None
    coef = solve_factored(A, right)
    spread = max(1.0, 1 / max(reciprocal_condition(A, size), 1e-300)) if condition else None
    K.ravel("K")[:: n + 1] = diagonal
    return Dual(coef, multiplied(K, coef), n, spread)


def _by_eigenvectors(K: np.ndarray, right: np.ndarray, alpha: float) -> Dual:
    """Solve in the directions that rounding can tell from zero; only the half of `K` below its diagonal is read."""
    value, vector = np.linalg.eigh(K)
    refuse_negative(value)
    total = np.maximum(value, 0.0) + alpha
    kept = total > 4 * len(K) * EPS * total[-1]
    coef = vector[:, kept] @ (vector[:, kept].T @ right / total[kept, None])
    spread = float(total[-1] / total[kept][0]) if kept.any() else 1.0
    return Dual(coef, multiplied(K, coef), int(kept.sum()), spread)


def multiplied(K: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Multiply a symmetric matrix, of which only the half below the diagonal (and the diagonal) is read."""
    if right.shape[1] == 1:
        return np.asarray(blas.dsymv(1.0, K.T, right[:, 0], lower=0))[:, None]
    return np.asarray(blas.dsymm(1.0, K.T, right, lower=0))


def refuse_negative(value: np.ndarray) -> None:
    """Refuse eigenvalues that are negative by more than rounding."""
    if value[0] < -1e-8 * max(abs(value[-1]), abs(value[0])):
        raise InputError(
            f"The kernel matrix has the negative eigenvalue {value[0]:.3g} (the largest is {value[-1]:.3g}), so what made it is no "
            "kernel: inner products have none. qed.check_mercer gives a witness."
        )
