"""How far predicted numbers are from the true ones.

For a loss :math:`\\ell` the empirical risk of a hypothesis h is the *mean* :math:`\\hat R(h) = \\sum_i w_i
\\ell(h(x_i), y_i) / \\sum_i w_i` over the rows it is tried on, with all :math:`w_i = 1` by default: a mean,
so that errors on sets of different size compare, unlike the summed loss that a fit minimises. On rows the fit
has not seen it estimates the risk :math:`\\mathbb E\\,\\ell(h(x), y)` without bias; on the training rows it
is too optimistic. Three of the metrics need no rows at all once the total weight, the sum of squared errors
and the scatter of y are known: `FROM_SUMS` says which, and searches use it. Cost: one pass, O(n).

Reference: T. Hastie, R. Tibshirani, J. Friedman, The Elements of Statistical Learning, section 7.2.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.base.models.scoring import OnSingleRows
from qed.base.numbers import EPS
from qed.selection.inputs import Floats, Numbers, Weights, mean, numbers, same_length, undefined, weights
from qed.stats.median import weighted_median


def mean_squared_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Average the squared errors.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        The error; 0 is perfect.

    Examples
    --------
    >>> mean_squared_error([1.0, 2.0, 3.0], [1.0, 2.0, 6.0])
    3.0
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    return _reduce(mean((true - predicted) ** 2, weight), multioutput)


def root_mean_squared_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Take the root of the mean squared error, output by output.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        The error; 0 is perfect.

    Examples
    --------
    >>> root_mean_squared_error([0.0, 0.0], [3.0, -3.0])
    3.0
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    return _reduce(np.sqrt(mean((true - predicted) ** 2, weight)), multioutput)


def mean_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Average the absolute errors.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        The error; 0 is perfect.

    Examples
    --------
    >>> mean_absolute_error([1.0, 2.0, 3.0], [1.0, 2.0, 6.0])
    1.0
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    return _reduce(mean(np.abs(true - predicted), weight), multioutput)


def median_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Give the median of the absolute errors, which no few outliers can move.

    With weights: the middle of the lower and the upper weighted median, so that a weight of two is a row
    given twice.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        The error; 0 is perfect.

    Examples
    --------
    >>> median_absolute_error([0.0, 0.0, 0.0], [1.0, 2.0, 900.0])
    2.0
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    errors = np.abs(true - predicted)
    if weight is None:
        return _reduce(np.median(errors, axis=0), multioutput)
    return _reduce(np.array([weighted_median(column, weight) for column in errors.T]), multioutput)


def max_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Give the largest absolute error among rows of positive weight.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        The error; 0 is perfect.

    Examples
    --------
    >>> max_error([1.0, 2.0], [1.5, 0.0])
    2.0
    """
    true, predicted, _ = _pair(y_true, y_pred, sample_weight)
    return _reduce(np.abs(true - predicted).max(axis=0), multioutput)


def mean_absolute_percentage_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Average ``|y - prediction| / |y|``, a share and not a percentage.

    Where y is zero it is replaced by the spacing of float64 at one (2.2e-16), which gives a huge number: this
    error is not for targets that vanish.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        The error; 0 is perfect.

    Examples
    --------
    >>> mean_absolute_percentage_error([100.0, 200.0], [110.0, 180.0])
    0.1
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    size = np.maximum(np.abs(true), EPS)
    return _reduce(mean(np.abs(true - predicted) / size, weight), multioutput)


def mean_pinball_loss(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    alpha: float = 0.5,
    multioutput: ArrayLike = "uniform_average",
) -> Numbers:
    """Average the loss of a quantile: ``alpha e`` for errors e above zero, ``(alpha - 1) e`` below.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.
    alpha : float in [0, 1], default=0.5
        The quantile that is predicted; a half gives half the mean absolute error.

    Examples
    --------
    >>> mean_pinball_loss([1.0, 2.0], [0.0, 0.0], alpha=0.9)
    1.35
    """
    if not 0 <= alpha <= 1:
        raise ParameterError(f"alpha is a quantile and must lie between 0 and 1, not {alpha!r}.")
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    error = true - predicted
    return _reduce(mean(np.maximum(alpha * error, (alpha - 1) * error), weight), multioutput)


def r2_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    multioutput: ArrayLike = "uniform_average",
    force_finite: bool = True,
) -> Numbers:
    """Give the share of the scatter of y that is explained: one minus squared errors over scatter about the mean.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.
        "variance_weighted" weighs every output by the scatter of its y.
    force_finite : bool, default=True
        Score a constant y 1 or 0; False gives what the formula has there, NaN or minus infinity.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        1 is perfect, 0 no better than the mean of y, below 0 worse. A constant y scores 1 when it is
        predicted exactly and 0 otherwise. One row alone has no scatter: the score is NaN, with a warning.

    Examples
    --------
    >>> r2_score([1.0, 2.0, 3.0], [1.0, 2.0, 2.0])
    0.5
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    if len(true) < 2:
        undefined("R² of a single row is not defined: NaN was returned. Score at least two rows of positive weight.")
        return float("nan")
    total = np.float64(len(true)) if weight is None else weight.sum()
    scatter = _variance(true, weight) * total
    squared_error = mean((true - predicted) ** 2, weight) * total
    score = r2_from_sums(total, squared_error, scatter) if force_finite else _quotient(squared_error, scatter)
    return _reduce(score, multioutput, scatter)


def explained_variance_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: Weights = None,
    multioutput: ArrayLike = "uniform_average",
    force_finite: bool = True,
) -> Numbers:
    """Give one minus the variance of the errors over the variance of y: `r2_score` that forgives a constant shift.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.
    multioutput : {"uniform_average", "raw_values", "variance_weighted"} or array-like of shape (outputs,)
        How the errors of several outputs become one number: their mean, no reduction, or a mean with these weights.
        "variance_weighted" weighs every output by the scatter of its y.
    force_finite : bool, default=True
        Score a constant y 1 or 0; False gives what the formula has there, NaN or minus infinity.

    Returns
    -------
    float, or ndarray of shape (outputs,) for "raw_values"
        1 is perfect; 0 no better than a constant. A constant y scores 1 when it is missed by the same everywhere and 0 otherwise.

    Examples
    --------
    >>> explained_variance_score([1.0, 2.0, 3.0], [11.0, 12.0, 13.0])
    1.0
    """
    true, predicted, weight = _pair(y_true, y_pred, sample_weight)
    variance = _variance(true, weight)
    left = _variance(true - predicted, weight)
    score = r2_from_sums(1.0, left, variance) if force_finite else _quotient(left, variance)
    return _reduce(score, multioutput, variance)


def _quotient(left: Floats, scatter: Floats) -> Floats:
    """Give one minus a quotient as the formula has it: NaN for 0/0, minus infinity where only the scatter is nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return 1 - left / scatter


def mse_from_sums(weight: Numbers, squared_error: Numbers, scatter: Numbers | None) -> NDArray[Any]:
    """Give the mean squared error from the total weight and the sum of squared errors."""
    return np.maximum(squared_error, 0.0) / weight


def rmse_from_sums(weight: Numbers, squared_error: Numbers, scatter: Numbers | None) -> NDArray[Any]:
    """Give the root mean squared error from the total weight and the sum of squared errors."""
    return np.sqrt(mse_from_sums(weight, squared_error, scatter))


def r2_from_sums(weight: Numbers, squared_error: Numbers, scatter: Numbers) -> NDArray[Any]:
    """Give R² from the sum of squared errors and the scatter of y about its mean.

    Without scatter the score is 1 for no error and 0 otherwise. A single row has no scatter, and `r2_score`
    calls R² undefined there; sums can not tell one row from a constant y, so whoever folds them has to.
    """
    squared_error, scatter = np.broadcast_arrays(np.maximum(squared_error, 0.0), scatter)
    without_scatter = np.where(squared_error == 0, 0.0, 1.0)
    return 1.0 - np.divide(squared_error, scatter, out=without_scatter, where=scatter > 0)


FROM_SUMS: dict[Callable[..., Any], Callable[[Numbers, Numbers, Numbers], NDArray[Any]]] = {
    mean_squared_error: mse_from_sums,
    root_mean_squared_error: rmse_from_sums,
    r2_score: r2_from_sums,
}
"""Metrics that follow from (weight, sum of squared errors, scatter of y), element by element, and how."""

ON_SINGLE_ROWS: dict[Callable[..., Any], OnSingleRows] = {
    mean_squared_error: "squared error",
    root_mean_squared_error: "absolute error",
    mean_absolute_error: "absolute error",
    r2_score: "undefined",
}
"""What metrics are on one row."""


def _pair(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats | None]:
    """Check targets, predictions and weights; give columns, without the rows of weight zero."""
    true, predicted = numbers(y_true, "y_true"), numbers(y_pred, "y_pred")
    same_length(true, predicted, "y_pred")
    true, predicted = true.reshape(len(true), -1), predicted.reshape(len(predicted), -1)
    if true.shape != predicted.shape:
        raise InputError(
            f"y_true has {true.shape[1]} outputs and y_pred has {predicted.shape[1]}: give as many of both."
        )
    weight = weights(sample_weight, len(true))
    if weight is not None and not weight.all():
        counted = weight > 0
        true, predicted, weight = true[counted], predicted[counted], weight[counted]
    return true, predicted, weight


def _variance(values: Floats, weight: Floats | None) -> Floats:
    """Give the variance of each column; exactly zero for constants, whose rounded mean may differ from them."""
    variance = mean((values - mean(values, weight)) ** 2, weight)
    return np.where(values.min(axis=0) == values.max(axis=0), 0.0, variance)


def _reduce(per_output: Floats, multioutput: ArrayLike, scatter: Floats | None = None) -> Numbers:
    """Make one number of the values of all outputs."""
    if not isinstance(multioutput, str):
        return float(mean(per_output, weights(multioutput, len(per_output), "multioutput", "output")))
    if multioutput == "raw_values":
        return per_output
    if multioutput == "uniform_average":
        return float(per_output.mean())
    if multioutput == "variance_weighted" and scatter is not None:
        return float(mean(per_output, scatter if scatter.any() else None))
    allowed = "'uniform_average', 'raw_values'" + (", 'variance_weighted'" if scatter is not None else "")
    raise ParameterError(f"multioutput must be one of {allowed} or an array of weights, not {multioutput!r}.")
