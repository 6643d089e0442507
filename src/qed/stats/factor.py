r"""The square root of the scatter: least squares without squaring the condition number.

Centre the rows :math:`z_i = (x_i, y_i)` at their weighted mean and take the triangular factor of a QR decomposition,

.. math:: \operatorname{diag}(\sqrt w)\,(Z - \mathbf 1\bar z^\top) = QR, \qquad R^\top R = S, \qquad
          R = \begin{pmatrix} R_{xx} & R_{xy} \\ 0 & R_{yy} \end{pmatrix}.

Then :math:`\min_b \lVert y - Xb - b_0\rVert_w` is :math:`\min_b \lVert R_{xx} b - R_{xy}\rVert`, with the residual
sum of squares :math:`\lVert R_{yy}\rVert^2` on top, and its condition number is that of the centred data: where the
normal equations have 16 - 2k good digits, R has 16 - k. Factors are added as moments are, with one row for the
distance of the two means: the QR decomposition of :math:`R_a`, :math:`R_b` and
:math:`\sqrt{W_a W_b / (W_a + W_b)}\,(\bar z_a - \bar z_b)^\top` stacked. A block of :math:`n` rows and :math:`m` columns
takes :math:`2nm^2` operations. See Golub and Van Loan, *Matrix Computations*, 5.3, and Demmel et al. (2012) on tall
and skinny QR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from qed.base.attributes import floats, integers
from qed.base.errors import InputError
from qed.base.numbers import EPS, largest_share
from qed.linalg.normal import shortest
from qed.linalg.root import factor_rounding
from qed.linalg.sharing import inverse_of_lower
from qed.stats.centred import Centred, exact_sum
from qed.stats.moments import Moments
from qed.stats.products import dense, present_rows, typical_row

# From so many columns on, singular values take much longer than to see that all of them count.
MANY_COLUMNS = 256
# So many products approach the largest singular value to a few percent, even from a poor start.
POWERS = 24


@dataclass(frozen=True, eq=False)
class Factor(Centred):
    """Weight, mean and triangular factor of the columns of ``(x, y)``.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    count : int
        The number of rows whose weight is not zero.
    mean : ndarray of shape (p + q,)
        The weighted mean of features, then targets.
    n_features : int
        How many of the columns are features: p.
    rest : ndarray of shape (p + q,)
        What rounding cut off the mean.
    R : ndarray of shape (k, p + q)
        Upper triangular, with ``R.T @ R`` the scatter about the mean; k is the number of columns, or of rows where
        there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.open import rows
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]), np.array([1.0, 2.0, 3.0])
    >>> factor = rows(X, y).fold(Factor.of)
    >>> np.round(factor.R.T @ factor.R, 10)
    array([[ 8., 14.,  4.],
           [14., 26.,  7.],
           [ 4.,  7.,  2.]])
    >>> least_squares(factor).coefficients.round(10) + 0.0
    array([[0.5],
           [0. ]])
    """

    attributes: ClassVar = {
        "weight": floats(low=0),
        "count": integers(),
        "mean": floats("columns"),
        "R": floats("_", "columns"),
        "n_features": integers(below="columns+1"),
        "rest": floats("columns") | floats(),
    }
    weight: float
    count: int
    mean: np.ndarray
    R: np.ndarray
    n_features: int
    rest: np.ndarray = 0.0  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self._freeze("mean", "R")

    @classmethod
    def of(cls, block: Any) -> Factor:
        """Take the factor of a block's features and targets together."""
        X, Y, weight = present_rows(block, target=True)
        count, p = X.shape
        if count == 0:
            return cls.empty(p, Y.shape[1])
        shift = typical_row(X, Y)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            Z = np.hstack([dense(X), Y])
            Z -= shift
            offset = np.average(Z, axis=0, weights=weight)
            Z -= offset
            again = np.average(Z, axis=0, weights=weight)  # the mean of many rows is rounded, too
            Z -= again
            if weight is not None:
                Z *= np.sqrt(weight)[:, None]
        total = float(count) if weight is None else float(weight.sum())
        mean, rest = exact_sum(shift, offset + again)
        return cls(total, count, mean, _triangle(Z), p, rest)

    @classmethod
    def empty(cls, n_features: int, n_targets: int = 0) -> Factor:
        """Make the factor of no rows, which changes nothing when added."""
        m = n_features + n_targets
        return cls(0.0, 0, np.zeros(m), np.zeros((0, m)), n_features)

    def __add__(self, other: Factor) -> Factor:
        self._check_alike(other)
        if other.count == 0:
            return self
        if self.count == 0:
            return other
        weight = self.weight + other.weight
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            way = self._distance(other)
            step = way * np.sqrt(self.weight * (other.weight / weight))
            mean, rest = self._joined(other)
        R = _triangle(np.vstack([self.R, other.R, step]))
        return Factor(weight, self.count + other.count, mean, R, self.n_features, rest)

    def apart(self, moments: Moments) -> float:
        """Give the largest difference from what moments say, in units of what rounding can do; infinite where rows are others."""
        if not self._is_of(moments):
            return np.inf
        square, rounding = self.R.T @ self.R, factor_rounding(len(self.mean))
        length = np.sqrt(square.diagonal())
        blur = rounding * np.multiply.outer(length, length) + np.multiply.outer(moments.noise, moments.noise)
        slip = factor_rounding(1) * np.sqrt(moments.bulk / moments.weight) + moments.slip
        return max(largest_share(square, moments.scatter, blur), self._means_apart(moments, slip))

    @property
    def is_finite(self) -> bool:
        """Whether all numbers are finite; if not, some value was missing, infinite or too large to be squared."""
        return bool(np.isfinite(self.mean).all() and np.isfinite(self.R).all())

    def uncentered(self) -> np.ndarray:
        """Give the triangular factor of the rows about zero, for models without an intercept."""
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            return _triangle(np.vstack([self.R, self.mean * np.sqrt(self.weight)]))

    def to_dict(self) -> dict[str, Any]:
        """Give numbers and arrays, for saving."""
        return asdict(self)

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Factor:
        """Make the factor again from what `to_dict` gave."""
        weight, count, p = float(saved["weight"]), int(saved["count"]), int(saved["n_features"])
        return cls(weight, count, saved["mean"], saved["R"], p, saved["rest"])


def _triangle(rows: np.ndarray) -> np.ndarray:
    """Give R of a QR decomposition; of tall matrices piece by piece, so that it stays in the cache."""
    if not np.isfinite(rows).all():
        return np.full((min(rows.shape), rows.shape[1]), np.nan)
    size = max(1024, 8 * rows.shape[1])
    if len(rows) > 2 * size:
        rows = np.vstack([np.linalg.qr(rows[i : i + size], mode="r") for i in range(0, len(rows), size)])
    triangle: Any = np.linalg.qr(rows, mode="r")
    return np.asarray(triangle)


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A least-squares solution.

    Attributes
    ----------
    coefficients : ndarray of shape (p, q)
        The solution; where there are many, the shortest of them.
    intercept : ndarray of shape (q,)
        The constant term of each target; zero for a model without one.
    residual : ndarray of shape (q,)
        The residual sum of squares of each target.
    rank : int
        How many independent columns the features have.
    triangle : ndarray of shape (k, p)
        The features' factor after its columns were given length one.
    condition : float
        The condition number of that, over the directions that count: from its singular values, or, where these were not needed,
        estimated from below.
    """

    coefficients: np.ndarray
    intercept: np.ndarray
    residual: np.ndarray
    rank: int
    triangle: np.ndarray
    condition: float

    @cached_property
    def singular_values(self) -> np.ndarray:
        """Those of the triangle, the largest first, of shape (p,)."""
        found = np.zeros(self.triangle.shape[1])
        values = np.linalg.svd(self.triangle, compute_uv=False)
        found[: len(values)] = values
        return found


def least_squares(factor: Factor, *, intercept: bool = True, tol: float | None = None) -> LeastSquares:
    """Solve least squares from a factor, with the rank decided by the singular values.

    Columns get length one first, so that their units do not matter. A direction is dropped when its singular value is
    below `tol` times the size of the features in that direction relative to their spread: of a column of mean 1e8 and
    spread 1 only eight digits are known.

    Parameters
    ----------
    factor : Factor
        Of features and targets.
    intercept : bool
        Whether the model has a constant term.
    tol : float, optional
        Singular values below it count as zero; the default is 16 p times the rounding unit.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.open import rows
    >>> x = np.arange(6.0)
    >>> found = least_squares(rows(np.column_stack([x, 3 * x]), 1 + 10 * x).fold(Factor.of))
    >>> found.rank, found.coefficients[:, 0].round(10), found.intercept.round(10)
    (1, array([1., 3.]), array([1.]))
    """
    if not factor.is_finite:
        raise InputError(
            "Least squares needs finite numbers, but the factor holds values that are missing, infinite or too "
            "large to be squared. Remove, impute or rescale them first."
        )
    p = factor.n_features
    R = factor.R if intercept else factor.uncentered()
    A, B = R[:p, :p], R[:p, p:]
    length = np.linalg.norm(A, axis=0)
    length[length == 0] = 1.0
    size = np.hypot(1.0, factor.x_mean * np.sqrt(factor.weight) / length) if intercept else np.ones(p)
    tol = 16 * p * EPS if tol is None else tol
    scaled = A / length
    spread = _spread(scaled, tol * float(size.max(initial=1.0))) if p >= MANY_COLUMNS else None
    if spread is not None:
        coefficients, rank, condition = solve_triangular(A, B), p, spread
    else:
        coefficients, rank, condition = _by_singular_values(A, B, scaled, length, size, tol)
    residual = (R[p:, p:] ** 2).sum(axis=0) + ((A @ coefficients - B) ** 2).sum(axis=0)
    constant = np.zeros(factor.n_targets)
    if intercept:
        constant = (factor.y_mean - factor.x_mean @ coefficients) + (factor.rest[p:] - factor.rest[:p] @ coefficients)
    return LeastSquares(coefficients, constant, residual, rank, scaled, condition)


def _by_singular_values(
    A: np.ndarray, B: np.ndarray, scaled: np.ndarray, length: np.ndarray, size: np.ndarray, tol: float
) -> tuple[np.ndarray, int, float]:
    """Give coefficients, rank and condition number by what singular values say about every direction."""
    U, found, V = np.linalg.svd(scaled)
    values = np.zeros(len(length))
    values[: len(found)] = found
    known = values > tol * np.linalg.norm(V * size, axis=1)
    rank = int(known.sum())
    condition = float(values[known][0] / values[known][-1]) if rank else 1.0
    if known.all():
        return np.linalg.solve(A, B), rank, condition
    inside, coefficients = known[: len(found)], np.zeros((len(length), B.shape[1]))
    for _ in range(2):  # the second time for what rounding left of the target
        step = V[known].T @ ((U.T @ (B - A @ coefficients))[inside] / found[inside, None]) / length[:, None]
        coefficients = shortest(coefficients + step, V[~known].T / length[:, None])
    return coefficients, rank, condition


def _spread(triangle: np.ndarray, least: float) -> float | None:
    """Estimate the condition number of a triangle; None where a singular value might be below `least`.

    The smallest is at least one over the length of the inverse. The last bits of an estimate are dropped.
    """
    p = triangle.shape[1]
    inverse = inverse_of_lower(np.asfortranarray(triangle.T)) if len(triangle) == p else None
    if inverse is None or not 1 / np.linalg.norm(inverse) > least:
        return None
    return float(np.float32(_largest(triangle) * _largest(inverse)))


def _largest(matrix: np.ndarray) -> float:
    """Approach the largest singular value from below, by powers."""
    vector = np.ones(matrix.shape[1])
    for _ in range(POWERS):
        vector = matrix.T @ (matrix @ (vector / np.linalg.norm(vector)))
    return float(np.sqrt(np.linalg.norm(vector)))
