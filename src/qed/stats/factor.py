r"""The square root of the scatter: least squares without squaring the condition number.

Centre the rows :math:`z_i = (x_i, y_i)` at their weighted mean and take the triangular factor of a QR decomposition,

.. math:: \operatorname{diag}(\sqrt w)\,(Z - \mathbf 1\bar z^\top) = QR, \qquad R^\top R = S, \qquad
          R = \begin{pmatrix} R_{xx} & R_{xy} \\ 0 & R_{yy} \end{pmatrix}.

Then :math:`\min_b \lVert y - Xb - b_0\rVert_w` is :math:`\min_b \lVert R_{xx} b - R_{xy}\rVert`, with the residual sum of squares
:math:`\lVert R_{yy}\rVert^2` on top, and its condition number is that of the centred data: where the normal
equations have 16 - 2k good digits, R has 16 - k. Factors are added as moments are, with one row for the distance of
the two means: the QR decomposition of :math:`R_a`, :math:`R_b` and :math:`\sqrt{W_a W_b / (W_a + W_b)}\,(\bar z_a - \bar z_b)^\top`
stacked. A block of :math:`n` rows and :math:`m` columns takes :math:`2nm^2` operations. See Golub and Van Loan, *Matrix Computations*, 5.3, and
Demmel et al. (2012) on tall and skinny QR.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.stats.products import dense, present_rows, typical_row


@dataclass(frozen=True, eq=False)
class Factor:
    """Weight, mean and triangular factor of the columns of ``(x, y)``.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    count : int
        The number of rows whose weight is not zero.
    mean : ndarray of shape (p + q,)
        The weighted mean of features, then targets.
    R : ndarray of shape (k, p + q)
        Upper triangular, with ``R.T @ R`` the scatter about the mean; k is the number of columns, or of rows where
        there are fewer.
    n_features : int
        How many of the columns are features: p.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.rows import rows
    >>> X, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 9.0]]), np.array([1.0, 2.0, 3.0])
    >>> factor = rows(X, y).fold(Factor.of)
    >>> np.round(factor.R.T @ factor.R, 10)
    array([[ 8., 14.,  4.],
           [14., 26.,  7.],
           [ 4.,  7.,  2.]])
    >>> least_squares(factor).coefficients.round(10)
    array([[0.5],
           [0. ]])
    """

    weight: float
    count: int
    mean: np.ndarray
    R: np.ndarray
    n_features: int

    def __post_init__(self) -> None:
        for name in ("mean", "R"):
            array = np.asarray(getattr(self, name), dtype=np.float64).view()
            array.setflags(write=False)
            object.__setattr__(self, name, array)

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
            if weight is not None:
                Z *= np.sqrt(weight)[:, None]
        total = float(count) if weight is None else float(weight.sum())
        return cls(total, count, shift + offset, _triangle(Z), p)

    @classmethod
    def empty(cls, n_features: int, n_targets: int = 0) -> Factor:
        """Make the factor of no rows, which changes nothing when added."""
        m = n_features + n_targets
        return cls(0.0, 0, np.zeros(m), np.zeros((0, m)), n_features)

    def __add__(self, other: Factor) -> Factor:
        if (self.n_features, self.n_targets) != (other.n_features, other.n_targets):
            raise InputError(
                f"A factor of {self.n_features} features and {self.n_targets} targets does not go together with one of "
                f"{other.n_features} features and {other.n_targets} targets. Give all blocks the same columns."
            )
        if other.count == 0:
            return self
        if self.count == 0:
            return other
        weight = self.weight + other.weight
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            apart = other.mean - self.mean
            step = apart * np.sqrt(self.weight * (other.weight / weight))
            mean = self.mean + apart * (other.weight / weight)
        R = _triangle(np.vstack([self.R, other.R, step]))
        return Factor(weight, self.count + other.count, mean, R, self.n_features)

    @property
    def n_targets(self) -> int:
        """How many of the columns are targets: q."""
        return len(self.mean) - self.n_features

    @property
    def x_mean(self) -> np.ndarray:
        """The mean of the features, of shape (p,)."""
        return self.mean[: self.n_features]

    @property
    def y_mean(self) -> np.ndarray:
        """The mean of the targets, of shape (q,)."""
        return self.mean[self.n_features :]

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
        return cls(float(saved["weight"]), int(saved["count"]), saved["mean"], saved["R"], int(saved["n_features"]))


def _triangle(rows: np.ndarray) -> np.ndarray:
    if not np.isfinite(rows).all():
        return np.full((min(rows.shape), rows.shape[1]), np.nan)
    return np.linalg.qr(rows, mode="r")


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """A least-squares solution.

    Attributes
    ----------
    coefficients : ndarray of shape (p, q)
        The solution; of all solutions the shortest one when there are many.
    residual : ndarray of shape (q,)
        The residual sum of squares of each target.
    rank : int
        The number of columns that count.
    singular_values : ndarray of shape (p,)
        Those of the factor of the features after its columns were given length one; their ratio is the condition that matters.
    """

    coefficients: np.ndarray
    residual: np.ndarray
    rank: int
    singular_values: np.ndarray
