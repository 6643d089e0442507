"""How far predicted amounts and counts are from the true ones, where it is ratios that matter, or the median.

.. math:: \\mathrm{msle} = \\frac1n \\sum_i \\bigl(\\ln(1 + y_i) - \\ln(1 + \\hat y_i)\\bigr)^2, \\qquad
   \\mathrm{poisson} = \\frac2n \\sum_i \\Bigl(y_i \\ln\\frac{y_i}{\\hat y_i} - y_i + \\hat y_i\\Bigr).

Cost: one pass, O(n).

Reference: P. McCullagh, J. A. Nelder (1989), Generalized Linear Models, chapter 2.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from qed.base.errors import InputError
from qed.selection.inputs import Numbers, Weights, numbers, weights
from qed.selection.metrics.regression import mean_absolute_error, mean_squared_error, root_mean_squared_error
from qed.stats.median import weighted_median


def mean_squared_log_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Average the squared errors of ``log(1 + y)``.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values, all above -1.
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
    >>> mean_squared_log_error([1.0, 3.0], [1.0, 1.0])
    0.24...
    """
    logarithms = _logarithms(y_true, y_pred, sample_weight)
    return mean_squared_error(*logarithms, sample_weight=sample_weight, multioutput=multioutput)


def root_mean_squared_log_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None, multioutput: ArrayLike = "uniform_average"
) -> Numbers:
    """Take the root of the mean squared error of ``log(1 + y)``, output by output.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, outputs)
        True and predicted values, all above -1.
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
    >>> root_mean_squared_log_error([1.0, 3.0], [1.0, 1.0])
    0.49...
    """
    logarithms = _logarithms(y_true, y_pred, sample_weight)
    return root_mean_squared_error(*logarithms, sample_weight=sample_weight, multioutput=multioutput)


def mean_poisson_deviance(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Average twice the logarithm of how much more likely counts would be, had each been expected as it came.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True counts or amounts, none below zero.
    y_pred : array-like of shape (n,)
        Predicted ones, all above zero.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.

    Returns
    -------
    float
        The deviance; 0 is perfect.

    Examples
    --------
    >>> mean_poisson_deviance([2.0, 0.0, 1.0], [1.0, 1.0, 1.0])
    0.92...
    """
    true, predicted = numbers(y_true, "y_true"), numbers(y_pred, "y_pred")
    weight = weights(sample_weight, len(true))
    counted = np.ones(len(true), dtype=bool) if weight is None else weight > 0
    if (true[counted] < 0).any() or (predicted[counted] <= 0).any():
        raise InputError(
            "The Poisson deviance is for counts that are not below zero and predictions above zero: take a model of counts, or "
            "another score, such as the mean absolute error."
        )
    there = np.where(counted.reshape(-1, *(1,) * (predicted.ndim - 1)), predicted, 1.0)
    unlikely = 2 * (xlogy(true, true / there) - true + there)
    return float(np.asarray(mean_absolute_error(unlikely, np.zeros_like(unlikely), sample_weight=sample_weight)))


def d2_absolute_error_score(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: Weights = None) -> float:
    """Give the share of the mean absolute error of the median that a model saves: R² with sizes in the place of squares.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted values.
    sample_weight : array-like of shape (n,), optional
        How much each row counts; rows of weight zero do not count at all.

    Returns
    -------
    float
        One is perfect, zero as good as the median; 1 for no error where nothing varies, else 0.

    Examples
    --------
    >>> d2_absolute_error_score([1.0, 2.0, 6.0], [1.0, 3.0, 6.0])
    0.8
    """
    error = float(np.asarray(mean_absolute_error(y_true, y_pred, sample_weight=sample_weight)))
    true = numbers(y_true, "y_true")
    weight = weights(sample_weight, len(true))
    weight = np.ones(len(true)) if weight is None else weight
    middle = np.array([weighted_median(column, weight) for column in true.reshape(len(true), -1).T])
    middle = middle if true.ndim > 1 else middle[0]
    usual = float(np.asarray(mean_absolute_error(true, np.zeros_like(true) + middle, sample_weight=sample_weight)))
    return 1 - error / usual if usual > 0 else float(error == 0)


def _logarithms(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: Weights) -> list[np.ndarray]:
    """Give the logarithms of one more than true and predicted values; rows of weight zero may hold anything."""
    found = []
    for values, name in ((numbers(y_true, "y_true"), "y_true"), (numbers(y_pred, "y_pred"), "y_pred")):
        weight = weights(sample_weight, len(values))
        light = np.zeros(len(values), dtype=bool) if weight is None else ~(weight > 0)
        if (values[~light] <= -1).any():
            raise InputError(
                f"Errors of logarithms need values above -1, and {name} holds {float(values[~light].min()):g}: take another score, such "
                "as the mean absolute error."
            )
        found.append(np.log1p(np.where(light.reshape(-1, *(1,) * (values.ndim - 1)), 0.0, values)))
    return found
