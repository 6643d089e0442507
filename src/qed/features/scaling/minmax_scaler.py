r"""Columns stretched to a given range.

.. math:: z_{ij} = a + (b - a)\,\frac{x_{ij} - \min_i x_{ij}}{\max_i x_{ij} - \min_i x_{ij}}.

One pass folds the smallest and the largest value of each column; weights play no part, except that rows of weight zero
are not there. Cost :math:`O(np)`. A single outlier moves all other values together: see `StandardScaler` for the
alternative.
"""

from typing import Any, ClassVar, NoReturn

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.errors import InputError, NotAvailableError
from qed.base.models.checks import refuse_missing
from qed.base.models.estimator import OnePass
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean
from qed.base.models.problem import StatisticProblem
from qed.base.models.proof import restated
from qed.base.models.roles import OneToOneFeatureMixin
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.summary import Summary
from qed.features.filling import Filling
from qed.features.proof import worst_of, zero_where
from qed.features.scaling.affine import affine
from qed.features.stream import with_columns


def _is_range(value: Any) -> bool:
    try:
        low, high = (float(end) for end in value)
    except (TypeError, ValueError):
        return False
    return bool(np.isfinite(low) and np.isfinite(high) and low < high)


@takes("copy")
class MinMaxScaler(OneToOneFeatureMixin, Filling, OnePass):  # type: ignore[misc]
    """Shift and stretch every column to a range, by default from 0 to 1.

    A column that does not vary, or by no more than rounding does, goes to the lower end. Missing values (NaN) are passed over in
    ``fit``, and stay missing.

    Parameters
    ----------
    feature_range : tuple (low, high), default=(0, 1)
        The range that the rows learned from will fill.
    clip : bool, default=False
        Hold new rows to the range too.

    Attributes
    ----------
    data_min_, data_max_, data_range_ : ndarray of shape (p,)
        The smallest and the largest value of each column, and their difference.
    scale_, min_ : ndarray of shape (p,)
        The change as ``X * scale_ + min_``; `transform` computes ``(X - data_min_) * scale_ + low``, which keeps more
        digits.
    n_samples_seen_ : int or ndarray of shape (p,)
        The number of rows learned from; where values are missing, that of each column.
    certificate_ : Certificate
        That the scaled columns fill the range exactly.

    See Also
    --------
    StandardScaler : Stretch columns to variance one.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> scaler = qed.MinMaxScaler(feature_range=(-1, 1)).fit(np.array([[0.0], [5.0], [10.0]]))
    >>> scaler.transform(np.array([[2.5], [10.0]])).ravel().tolist()
    [-0.5, 1.0]
    """

    attributes: ClassVar = {
        "data_min_": floats("features", missing=True),
        "data_max_": floats("features", missing=True),
        "data_range_": floats("features", low=0, missing=True),
        "scale_": floats("features", above=0),
        "min_": floats("features", missing=True),
        "n_samples_seen_": floats(above=0) | integers("features"),
    }
    missing: ClassVar[bool] = True
    parameters: ClassVar = {
        "feature_range": Parameter("a pair (low, high) of finite numbers with low < high", _is_range, "model"),
        "clip": boolean(),
    }

    def __init__(self, feature_range: tuple[float, float] = (0, 1), *, clip: bool = False) -> None:
        self.feature_range = feature_range
        self.clip = clip

    def _statistic(self, block: Block) -> Summary:
        return Summary.of(block)

    def _check_statistic(self, problem: StatisticProblem) -> None:
        summary, rows = problem.statistic, problem.rows
        if rows is None:
            return
        low, high = self.feature_range
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            spread = np.where(summary.weight > 0, summary.high - summary.low, 0.0)
            strange = ~np.isfinite(spread) | (np.isinf((high - low) / spread) & (spread > 0))
        if strange.any():
            refuse_missing(rows, self)
            raise InputError(
                f"Column {rows.name_of(int(strange.argmax()))} varies by more than the largest number, or by less than the "
                "smallest one: divide or multiply it by a constant first."
            )

    def _solve(self, problem: StatisticProblem) -> None:
        statistic = problem.statistic
        low, high = self.feature_range
        there = statistic.weight > 0
        self.data_min_, self.data_max_ = (np.where(there, end, np.nan) for end in (statistic.low, statistic.high))
        self.data_range_ = self.data_max_ - self.data_min_
        self.scale_ = (high - low) / _divisor(statistic)
        self.min_ = low - self.data_min_ * self.scale_
        self.n_samples_seen_ = _rows_counted(statistic)

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> NoReturn:
        """Refuse: which value would be the smallest without these rows can not be known without the others.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        raise NotAvailableError("MinMaxScaler can not forget rows: fit it anew without them.")

    def _fill(self, X: np.ndarray, out: np.ndarray) -> bool:
        low, high = self.feature_range
        finite = affine(X, self.data_min_, self.scale_, low, out)
        if self.clip and finite:
            np.clip(out, low, high, out=out)
        return finite

    def inverse_transform(self, X: Any) -> Any:
        """Give scaled columns their old units back.

        Parameters
        ----------
        X : array-like of shape (n, p)
            Scaled rows.
        """
        return self._apply(self._unscale, X)

    def _unscale(self, block: Block) -> np.ndarray:
        found = (block.X - np.float64(self.feature_range[0])) / self.scale_ + self.data_min_
        return np.asarray(found, dtype=block.X.dtype)

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        found, rows = problem.statistic, problem.rows
        if problem.source == "data" and rows is not None:
            scaled = with_columns(rows, self._in_double, dtype=np.float64).fold(Summary.of)
            return self._judge(found, scaled.low, scaled.high)
        low = self.feature_range[0]
        return self._judge(found, *((end - self.data_min_) * self.scale_ + low for end in (found.low, found.high)))

    def _restate(self, problem: StatisticProblem) -> list[Claim]:
        found, empty = problem.statistic, problem.statistic.weight == 0
        spread, nothing = np.where(empty, 0.0, found.high - found.low), np.zeros(empty.sum())
        low, high = self.feature_range
        return [
            restated("n_samples_seen_", self.n_samples_seen_, _rows_counted(found)),
            restated("data_range_", zero_where(empty, self.data_range_), spread, scale=spread),
            *(
                restated(name, zero_where(empty, getattr(self, name))[empty], nothing)
                for name in ("data_min_", "data_max_", "min_")
            ),
            restated("scale_", self.scale_[empty], nothing + high - low),
        ]

    def _in_double(self, block: Block) -> np.ndarray:
        return np.asarray((block.X - self.data_min_) * self.scale_ + self.feature_range[0])

    def _judge(self, statistic: Summary, bottom: np.ndarray, top: np.ndarray) -> list[Claim]:
        low, high = (float(end) for end in self.feature_range)
        there = statistic.weight > 0
        bottom, top = bottom[there], top[there]
        exact = np.zeros_like(bottom)
        wanted = np.where(_is_constant(statistic)[there], low, high)
        slack = np.full_like(bottom, 4 * EPS * (abs(low) + abs(high)))
        moved = (np.abs(self.data_min_ - statistic.low) + np.abs(self.data_max_ - statistic.high))[there]
        spoken = np.abs(statistic.low * self.scale_ + self.min_ - low)[there]
        return [
            worst_of("learned extremes are those of the data", moved, exact),
            worst_of("scaled columns begin at the lower end", np.abs(bottom - low), slack),
            worst_of("scaled columns that vary end at the upper end", np.abs(top - wanted), slack),
            worst_of(
                "scale_ and min_ say the same", spoken, slack + 4 * EPS * np.abs(statistic.low * self.scale_)[there]
            ),
        ]


def _is_constant(statistic: Summary) -> np.ndarray:
    """Say which columns vary by no more than a few units of the rounding of their values."""
    largest = np.maximum(np.abs(statistic.low), np.abs(statistic.high))
    return np.asarray((statistic.low >= statistic.high) | (statistic.high - statistic.low <= 4 * EPS * largest))


def _rows_counted(statistic: Summary) -> int | np.ndarray:
    """Give the number of rows, or that of each column where values are missing."""
    return statistic.count - statistic.missing if statistic.missing.any() else statistic.count


def _divisor(statistic: Summary) -> np.ndarray:
    """Say what each column is divided by: its range; one where that is nothing, and the size of its values where it is rounding."""
    spread = statistic.high - statistic.low
    size = np.where(statistic.low >= statistic.high, 1.0, np.maximum(np.abs(statistic.low), np.abs(statistic.high)))
    return np.asarray(np.where(_is_constant(statistic), size, spread))
