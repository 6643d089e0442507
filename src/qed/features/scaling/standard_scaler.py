r"""Columns with mean zero and variance one.

.. math:: z_{ij} = \frac{x_{ij} - \mu_j}{\sigma_j}, \qquad \mu_j = \frac{1}{W}\sum_i w_i x_{ij},
   \qquad \sigma_j^2 = \frac{1}{W}\sum_i w_i (x_{ij} - \mu_j)^2, \qquad W = \sum_i w_i.

One pass folds a `Summary`, in which deviations are always taken about means, never as :math:`E[x^2] - E[x]^2`: a column
of large numbers that differ in their last digits is scaled as well as any other. Cost :math:`O(np)`. Reference: Chan,
Golub and LeVeque, "Algorithms for computing the sample variance", The American Statistician 37 (1983).
"""

from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers, nothing
from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.errors import InputError
from qed.base.models.checks import refuse_missing
from qed.base.models.estimator import OnePass
from qed.base.models.no_effect import UNTOUCHED, no_effect, takes
from qed.base.models.parameters import boolean, choice
from qed.base.models.problem import StatisticProblem
from qed.base.models.proof import restated
from qed.base.models.roles import OneToOneFeatureMixin
from qed.base.numbers import EPS, TINY, ratio
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.filling import Filling
from qed.features.proof import worst_of, zero_where
from qed.features.scaling.affine import affine, divided
from qed.features.stream import with_columns

SMALLEST = TINY / EPS
# Means and variances are right enough with an error below this, relative to the spread.
TOLERANCE = 1e-9
NO_COPY = no_effect(choice(None) | boolean(), None, UNTOUCHED)


@takes("copy")
class StandardScaler(OneToOneFeatureMixin, Filling, OnePass):  # type: ignore[misc]
    """Shift every column to mean zero and stretch it to variance one.

    Many methods need it: those that measure distances, those that penalise coefficients, and those that follow
    gradients. A column that does not vary, or by no more than rounding does, is only shifted. Missing values (NaN) are left out of the
    means and variances, and stay missing.

    Parameters
    ----------
    with_mean : bool, default=True
        Shift the columns. A sparse matrix would not stay sparse, so it needs ``with_mean=False``.
    with_std : bool, default=True
        Stretch the columns.

    Attributes
    ----------
    mean_ : ndarray of shape (p,)
        The mean of each column; None when nothing is shifted or stretched.
    var_ : ndarray of shape (p,)
        The variance of each column (divided by the number of rows, not by one less); None without `with_std`.
    scale_ : ndarray of shape (p,)
        What columns are divided by: the root of `var_`, one for constant columns; None without `with_std`.
    n_samples_seen_ : int, float or ndarray of shape (p,)
        The number of rows learned from, or their weight; where values are missing, that of each column.
    certificate_ : Certificate
        That the scaled columns have mean zero and variance one.

    See Also
    --------
    MinMaxScaler : Stretch columns to a given range.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0, 1e9], [3.0, 1e9 + 1], [5.0, 1e9 + 2]])
    >>> scaler = qed.StandardScaler().fit(X)
    >>> scaler.transform(X).round(3)
    array([[-1.225, -1.225],
           [ 0.   ,  0.   ],
           [ 1.225,  1.225]])
    >>> bool(scaler.certificate_)
    True
    """

    attributes: ClassVar = {
        "n_samples_seen_": floats(above=0) | integers("features") | floats("features", low=0),
        "mean_": floats("features", missing=True) | nothing(),
        "var_": floats("features", low=0, missing=True) | nothing(),
        "scale_": floats("features", above=0) | nothing(),
    }
    missing: ClassVar[bool] = True
    parameters: ClassVar = {"with_mean": boolean(), "with_std": boolean()}
    sparse_advice: ClassVar[str] = "shifted columns would not stay sparse. Give with_mean=False, or a dense array"
    mean_: Any
    var_: Any
    scale_: Any

    def __init__(self, *, with_mean: bool = True, with_std: bool = True) -> None:
        self.with_mean = with_mean
        self.with_std = with_std

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = not self.with_mean
        return tags

    def _statistic(self, block: Block) -> Summary:
        return Summary.of(block)

    def _check_statistic(self, problem: StatisticProblem) -> None:
        summary, rows = problem.statistic, problem.rows
        if rows is None:
            return
        if not np.isfinite(summary.mean + summary.deviation).all():
            refuse_missing(rows, self)
            column = int(np.flatnonzero(~np.isfinite(summary.mean + summary.deviation))[0])
            raise InputError(
                f"Column {rows.name_of(column)} holds values so large that their squares overflow: "
                "divide it by a constant, leave it out, or use qed.MinMaxScaler."
            )
        small = (summary.variance < SMALLEST) & ~_is_constant(summary)
        if self.with_std and small.any():
            raise InputError(
                f"Column {rows.name_of(int(small.argmax()))} varies by so little that the squares vanish: "
                "multiply it by a constant first, or use qed.MinMaxScaler."
            )

    def _solve(self, problem: StatisticProblem) -> None:
        statistic = problem.statistic
        self.n_samples_seen_ = seen_of(statistic)
        there = statistic.weight > 0
        self.mean_ = np.where(there, statistic.mean, np.nan) if self.with_mean or self.with_std else None
        self.var_ = np.where(there, statistic.variance, np.nan) if self.with_std else None
        self.scale_ = np.where(_is_constant(statistic), 1.0, np.sqrt(statistic.variance)) if self.with_std else None

    def _disagreement(self) -> str:
        kept = (self.mean_ is not None, self.scale_ is not None, self.var_ is not None)
        return (
            "" if kept == (self.with_mean or self.with_std, self.with_std, self.with_std) else "with_std says otherwise"
        )

    @takes(copy=NO_COPY)
    def transform(self, X: object) -> Any:
        """Shift and stretch the columns of `X`.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        return super().transform(X)

    def _change(self, block: Block) -> Any:
        if is_sparse(block.X):
            return divided(block.X, self.scale_) if self.with_std else block.X.copy()
        return super()._change(block)

    def _makes_sparse(self, rows: Rows) -> bool:
        return rows.is_sparse

    def _fill(self, X: np.ndarray, out: np.ndarray) -> bool:
        p = X.shape[1]
        shift = self.mean_ if self.with_mean else np.zeros(p)
        return affine(X, shift, 1 / self.scale_ if self.with_std else np.ones(p), 0.0, out)

    @takes(copy=NO_COPY)
    def inverse_transform(self, X: object) -> Any:
        """Give scaled columns their old units back.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            Scaled rows.
        """
        return self._apply(self._unscale, X)

    def _unscale(self, block: Block) -> Any:
        X = block.X
        if is_sparse(X):
            found = X.copy()
            if self.with_std:
                found.data = (X.data * self.scale_[X.indices]).astype(X.dtype)
            return found
        found = X * self.scale_ if self.with_std else X.astype(np.float64)
        if self.with_mean:
            found += self.mean_
        return found.astype(X.dtype, copy=False)

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        found, rows = problem.statistic, problem.rows
        if problem.source == "data" and rows is not None and not rows.is_sparse:
            scaled = with_columns(rows, self._as_claimed, dtype=np.float64).fold(Summary.of)
            return self._judge(found, scaled.mean, scaled.variance)
        scale = np.ones_like(found.mean) if self.scale_ is None else self.scale_
        seen = found.mean if self.mean_ is None else found.mean - self.mean_
        return self._judge(found, seen / scale, found.variance / scale**2, hidden=True)

    def _restate(self, problem: StatisticProblem) -> list[Claim]:
        found, empty = problem.statistic, problem.statistic.weight == 0
        claims = [restated("n_samples_seen_", self.n_samples_seen_, seen_of(found))]
        if self.mean_ is not None:
            claims.append(restated("mean_", zero_where(empty, self.mean_)[empty], np.zeros(empty.sum())))
        if not self.with_std:
            return claims
        # Both are sums of n squares, and may be of rows that were added and taken away again.
        varies = ~_is_constant(found)
        hidden = np.minimum(ratio(self.statistic_.lost, np.where(varies, found.deviation, np.inf)), MOST_ROUNDING)
        size = np.maximum(found.variance, TINY) * (1 + hidden / TOLERANCE)
        root = np.where(varies, np.sqrt(found.variance), 1.0)
        return [
            *claims,
            restated("var_", zero_where(empty, self.var_), found.variance, scale=size),
            restated("scale_", self.scale_, root, scale=root * (1 + hidden / TOLERANCE)),
        ]

    def _as_claimed(self, block: Block) -> np.ndarray:
        """Shift and stretch in double precision, shifting also where the model itself does not: then all claims are about zero and one."""
        shifted = block.X - self.mean_ if self.mean_ is not None else block.X.astype(np.float64)
        return np.asarray(shifted if self.scale_ is None else shifted / self.scale_)

    def _judge(
        self, statistic: Summary, mean: np.ndarray, variance: np.ndarray, *, hidden: bool = False
    ) -> list[Claim]:
        """Compare mean and variance of the scaled columns with zero and one; `mean_` itself can only be as exact as a float is.

        What may be `hidden` in sums, because rows were taken away from them that were larger than those left, is counted in, and allowed
        for as long as it is little: the sums that the model has kept say how much.
        """
        if self.mean_ is None:
            return [Claim("columns are left as they are", 0.0, 0.0)]
        varies, there = ~_is_constant(statistic), statistic.weight > 0
        scale = np.where(varies, np.sqrt(statistic.variance), 1.0) if self.scale_ is None else self.scale_
        slack = TOLERANCE + EPS * (16 + np.log2(max(statistic.count, 2))) * (1 + np.abs(statistic.mean) / scale)
        kept = self.statistic_
        slip, lost = kept.slip / scale, ratio(kept.lost, np.where(varies, statistic.deviation, 1.0))
        off = np.abs(mean) + hidden * slip
        claims = [worst_of("scaled columns have mean 0", off[there], (slack + np.minimum(slip, MOST_ROUNDING))[there])]
        if self.scale_ is not None:
            wrong = (np.abs(variance - 1) + hidden * lost)[varies]
            allowed = (TOLERANCE + np.minimum(lost, MOST_ROUNDING))[varies]
            claims.append(worst_of("scaled columns that vary have variance 1", wrong, allowed))
            is_rounding = (
                statistic.lost <= statistic.weight * (8 * EPS * np.abs(statistic.mean) + 2 * statistic.slip) ** 2
            )
            still = np.where(is_rounding | (not hidden), np.abs(self.scale_ - 1), np.inf)[~varies & there]
            claims.append(worst_of("columns that do not vary are not stretched", still, np.zeros_like(still)))
        return claims


def _is_constant(statistic: Summary) -> np.ndarray:
    """Say which columns do not vary: their spread is a few units of the rounding of their values, or nothing.

    Equal values that were computed in different ways differ by that much, and stretched to size one their rounding would look like data.
    """
    spread, size = np.sqrt(statistic.variance), np.abs(statistic.mean)
    vanished = (spread == 0) & (statistic.high - statistic.low > 8 * EPS * size)
    return np.asarray((statistic.low == statistic.high) | ((spread <= 8 * EPS * size) & ~vanished))


def seen_of(statistic: Summary) -> int | float | np.ndarray:
    """Give the number of rows, or their weight, or that of each column where values are missing."""
    weighted = (statistic.weight != statistic.count - statistic.missing).any()
    if statistic.missing.any():
        return statistic.weight.copy() if weighted else statistic.count - statistic.missing
    return float(statistic.weight[0]) if weighted else statistic.count
