"""How often predicted labels are the true ones.

The confusion matrix C counts (or weighs) the rows of true class i that were given to class j; every metric of
this file is a function of it: accuracy :math:`\\sum_i C_{ii} / \\sum_{ij} C_{ij}`, the error rate (the
empirical risk of the 0-1 loss) its complement, balanced accuracy the mean of the shares :math:`C_{ii} /
\\sum_j C_{ij}`, and two agreements corrected for chance: the correlation of Matthews and the kappa of Cohen.
Precision and recall are in ``precision``, metrics of probabilities in ``probability``,
metrics of rankings (ROC, AUC) in ``ranking``. Cost: O(n log k) for k classes.

References: B. W. Matthews (1975), Biochimica et Biophysica Acta 405; J. Gorodkin (2004), Computational
Biology and Chemistry 28; J. Cohen (1960), Educational and Psychological Measurement 20.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.base.models.scoring import OnSingleRows
from qed.selection.inputs import Floats, Labels, classes_of, label_pair, mean, positions, same_kind, total, undefined
from qed.selection.inputs import labels as as_labels
from qed.selection.metrics.multilabel import indicator_pair, is_indicator


def confusion_matrix(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    normalize: str | None = None,
) -> NDArray[Any]:
    """Count the rows of true class i that were predicted as class j.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: integers or strings.
    labels : array-like, optional
        The classes to count, in the order of the rows and columns; rows with any other label are left out.
        The default is every label that occurs, sorted.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    normalize : {"true", "pred", "all"}, optional
        Divide by the total of the true class (rows), of the predicted class (columns), or of all. A class
        without members gives zeros.

    Returns
    -------
    ndarray of shape (classes, classes)
        Integers, unless there are weights or a normalisation.

    Examples
    --------
    >>> confusion_matrix(["cat", "cat", "dog"], ["cat", "dog", "dog"])
    array([[1, 1],
           [0, 1]])
    """
    true, predicted, weight = label_pair(y_true, y_pred, sample_weight)
    matrix = _count(true, predicted, weight, _chosen(labels, true, predicted))
    if normalize is None:
        return matrix
    axes: dict[str, Any] = {"true": 1, "pred": 0, "all": (0, 1)}
    if normalize not in axes:
        raise ParameterError(f"normalize must be 'true', 'pred', 'all' or None, not {normalize!r}.")
    whole = matrix.sum(axis=axes[normalize], keepdims=True)
    return matrix / np.where(whole == 0, 1, whole)


def accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, normalize: bool = True, sample_weight: ArrayLike | None = None
) -> float:
    """Give the share of rows whose label was predicted.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: integers or strings; or matrices of zeros and ones, of which a row is right when all of it is.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    normalize : bool, default=True
        Give the share; False gives the number (or weight) of the rows.

    Examples
    --------
    >>> accuracy_score(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.75
    """
    right, weight = _right(y_true, y_pred, sample_weight)
    return total(right, weight, normalize=normalize)


def error_rate(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Give the share of rows whose label was missed: the empirical risk of the 0-1 loss.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: integers or strings; or matrices of zeros and ones, of which a row is right when all of it is.
    sample_weight : array-like of shape (n,), optional
        What each row counts.

    Examples
    --------
    >>> error_rate(["a", "b", "b", "a"], ["a", "b", "a", "a"])
    0.25
    """
    right, weight = _right(y_true, y_pred, sample_weight)
    return float(mean(1 - right, weight))


def _right(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Floats, Floats | None]:
    """Say with ones which rows have all their labels right."""
    if is_indicator(y_true) or is_indicator(y_pred):
        flags, called, weight = indicator_pair(y_true, y_pred, sample_weight)
        return (flags == called).all(axis=1).astype(np.float64), weight
    true, predicted, weight = label_pair(y_true, y_pred, sample_weight)
    return (true == predicted).astype(np.float64), weight


def balanced_accuracy_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None, adjusted: bool = False
) -> float:
    """Average, over the classes of `y_true`, the share of the class that was found: all classes count the same.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: integers or strings.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    adjusted : bool, default=False
        Shift and scale so that guessing gives 0 and perfection 1.

    Examples
    --------
    >>> balanced_accuracy_score([0, 0, 0, 1], [0, 0, 0, 0])
    0.5
    """
    matrix = confusion_matrix(y_true, y_pred, sample_weight=sample_weight)
    members = matrix.sum(axis=1)
    found = np.diagonal(matrix)[members > 0] / members[members > 0]
    score = float(found.mean())
    if not adjusted:
        return score
    if len(found) == 1:
        undefined("Balanced accuracy has no chance level with a single true class: NaN was returned for adjusted=True.")
        return float("nan")
    chance = 1 / len(found)
    return (score - chance) / (1 - chance)


def matthews_corrcoef(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Correlate true with predicted labels; for two classes the correlation of the 0/1 columns.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: integers or strings.
    sample_weight : array-like of shape (n,), optional
        What each row counts.

    Returns
    -------
    float
        1 is perfect, 0 no better than chance, -1 (for two classes) always wrong. Zero as well where all rows,
        true or predicted, are of one class.

    Examples
    --------
    >>> matthews_corrcoef([1, 1, 0, 0], [1, 0, 0, 0])
    0.577...
    """
    matrix = confusion_matrix(y_true, y_pred, sample_weight=sample_weight).astype(np.float64)
    true, predicted, total = matrix.sum(axis=1), matrix.sum(axis=0), matrix.sum()
    if np.count_nonzero(true) == 1 or np.count_nonzero(predicted) == 1:
        return 0.0
    covariance = total * np.trace(matrix) - true @ predicted
    variances = true @ (total - true), predicted @ (total - predicted)
    return float(covariance / (np.sqrt(variances[0]) * np.sqrt(variances[1])))


def cohen_kappa_score(
    y1: ArrayLike,
    y2: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    weights: str | None = None,
    sample_weight: ArrayLike | None = None,
    replace_undefined_by: float = float("nan"),
) -> float:
    """Give the agreement of two raters beyond what chance would give: one minus observed over expected disagreement.

    Parameters
    ----------
    y1, y2 : array-like of shape (n,)
        The labels that each rater gave.
    labels : array-like, optional
        The classes to count, in the order of the rows and columns; rows with any other label are left out.
        The default is every label that occurs, sorted.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    weights : {"linear", "quadratic"}, optional
        How much worse it is to be further off when classes are ordered: by the distance of their places or
        its square. The default counts all disagreements alike.
    replace_undefined_by : float, default=nan
        What to return, with a warning, when no disagreement is expected: both raters use one and the same
        label.

    Examples
    --------
    >>> cohen_kappa_score(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"])
    0.5
    """
    if weights not in (None, "linear", "quadratic"):
        raise ParameterError(f"weights must be 'linear', 'quadratic' or None, not {weights!r}.")
    matrix = confusion_matrix(y1, y2, labels=labels, sample_weight=sample_weight).astype(np.float64)
    place = np.arange(len(matrix))
    distance = np.abs(place[:, None] - place).astype(np.float64)
    cost = {None: distance > 0, "linear": distance, "quadratic": distance**2}[weights]
    expected = np.sum(cost * np.outer(matrix.sum(axis=1), matrix.sum(axis=0)))
    if expected == 0:
        undefined(
            "Both raters use a single label, or share none of the given ones: kappa is not defined, and "
            f"{replace_undefined_by} was returned. Use accuracy_score, or give more rows."
        )
        return replace_undefined_by
    return float(1 - np.sum(cost * matrix) * matrix.sum() / expected)


ON_SINGLE_ROWS: dict[Callable[..., Any], OnSingleRows] = {accuracy_score: "right"}
"""What metrics are on one row."""


def _chosen(labels: ArrayLike | None, true: Labels, predicted: Labels) -> Labels:
    """Give the classes to count: the wanted ones, or all that occur."""
    if labels is None:
        return classes_of(true, predicted)
    wanted = as_labels(labels, "labels")
    same_kind(wanted, true, ("labels", "y_true"))
    if len(np.unique(wanted)) != len(wanted):
        raise ParameterError("labels names a class twice: give each class once.")
    if not np.isin(wanted, true).any():
        raise InputError(f"None of the labels {wanted.tolist()} is in y_true: check their spelling.")
    return wanted


def _count(true: Labels, predicted: Labels, weight: Floats | None, classes: Labels) -> NDArray[Any]:
    """Fill the confusion matrix of rows whose two labels are both among `classes`."""
    k, row, column = len(classes), positions(true, classes), positions(predicted, classes)
    counted = (row >= 0) & (column >= 0)
    cells = (row * k + column)[counted]
    found = np.bincount(cells, None if weight is None else weight[counted], minlength=k * k)
    return found.reshape(k, k)
