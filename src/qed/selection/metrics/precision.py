"""Precision and recall: of what was called positive, how much is; of what is positive, how much was called so.

With the true positives TP, false positives FP and false negatives FN of a class, precision is TP / (TP + FP),
recall TP / (TP + FN), and their weighted harmonic mean is :math:`F_\\beta = (1+\\beta^2)\\,TP /
((1+\\beta^2)\\,TP + \\beta^2 FN + FP)`. Several classes are averaged: "macro" counts classes the same,
"weighted" by their true members, "micro" pools their counts, None gives all of them. Where nothing was
predicted, or nothing is there, the quotient is 0/0 and `zero_division` decides. Cost: O(n log k).

Reference: C. J. van Rijsbergen (1979), Information Retrieval, chapter 7.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.selection.inputs import Label, Labels, Numbers, classes_of, label_pair, positions, same_kind, undefined
from qed.selection.inputs import labels as as_labels
from qed.selection.metrics.multilabel import Counted, count_indicators, is_indicator

AVERAGES = ("binary", "macro", "micro", "weighted", "samples", None)
REASONS = {"precision": "predicted", "recall": "true", "f-score": "true or predicted", "jaccard": "true or predicted"}


def precision_recall_fscore_support(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float = 1.0,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = None,
    warn_for: tuple[str, ...] = ("precision", "recall", "f-score"),
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> tuple[Numbers, Numbers, Numbers, NDArray[Any] | None]:
    """Give precision, recall, F-score and the number of true members of every class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or, for rows of several classes, matrices of zeros and ones.
    beta : float, default=1
        Recall counts `beta` times as much as precision.
    labels : array-like, optional
        The classes to report or to average over; the default is every label that occurs, sorted.
    pos_label : int or str, default=1
        The positive class, for ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", "samples"}, optional
        How classes are averaged; None gives one value for each. "samples" is for rows of several classes: the mean over rows.
    warn_for : tuple of str
        The quantities for which ``zero_division="warn"`` warns.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    zero_division : {"warn", 0, 1, nan}
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    precision, recall, fscore, support
        Arrays with one value per class, or floats and None for the support.

    Examples
    --------
    >>> precision, recall, fscore, support = precision_recall_fscore_support([0, 0, 1, 1], [0, 1, 1, 1])
    >>> recall, support
    (array([0.5, 1. ]), array([2, 2]))
    """
    if not beta >= 0:
        raise ParameterError(f"beta must not be negative, but it is {beta!r}.")
    (hits, called, members), shares = _counts(y_true, y_pred, labels, pos_label, average, sample_weight)
    wholes = {"precision": called, "recall": members, "f-score": _fscore_whole(called, members, beta)}
    values = [_divide(hits, whole, name, zero_division, name in warn_for) for name, whole in wholes.items()]
    if average is not None:
        return _average(values[0], shares), _average(values[1], shares), _average(values[2], shares), None
    return values[0], values[1], values[2], members


def precision_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> Numbers:
    """Give the share of rows called positive that are positive; parameters as in `precision_recall_fscore_support`.

    Examples
    --------
    >>> precision_score(["spam", "ham", "spam"], ["spam", "spam", "spam"], pos_label="spam")
    0.666...
    """
    return _only("precision", y_true, y_pred, 1.0, labels, pos_label, average, sample_weight, zero_division)


def recall_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> Numbers:
    """Give the share of positive rows that were called positive; parameters as in `precision_recall_fscore_support`.

    Examples
    --------
    >>> recall_score([1, 1, 0, 1], [1, 0, 0, 0])
    0.333...
    """
    return _only("recall", y_true, y_pred, 1.0, labels, pos_label, average, sample_weight, zero_division)


def fbeta_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    beta: float,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> Numbers:
    """Give the harmonic mean of precision and recall in which recall counts `beta` times.

    Parameters are those of `precision_recall_fscore_support`.

    Examples
    --------
    >>> fbeta_score([1, 1, 0, 1], [1, 0, 0, 0], beta=2.0)
    0.384...
    """
    return _only("f-score", y_true, y_pred, beta, labels, pos_label, average, sample_weight, zero_division)


def f1_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> Numbers:
    """Give the harmonic mean of precision and recall; parameters as in `precision_recall_fscore_support`.

    Examples
    --------
    >>> f1_score([1, 1, 0, 1], [1, 0, 0, 0])
    0.5
    """
    return _only("f-score", y_true, y_pred, 1.0, labels, pos_label, average, sample_weight, zero_division)


def _only(
    name: str,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    beta: float,
    labels: ArrayLike | None,
    pos_label: Label,
    average: str | None,
    sample_weight: ArrayLike | None,
    zero_division: float | str,
) -> Numbers:
    """Give one of the three quantities, and warn of that one alone."""
    how: dict[str, Any] = {"beta": beta, "labels": labels, "pos_label": pos_label, "average": average}
    how |= {"warn_for": (name,), "sample_weight": sample_weight, "zero_division": zero_division}
    precision, recall, fscore, _ = precision_recall_fscore_support(y_true, y_pred, **how)
    return {"precision": precision, "recall": recall, "f-score": fscore}[name]


def jaccard_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> Numbers:
    """Give the share of rows both true and predicted among those either true or predicted; parameters as in `precision_score`.

    Examples
    --------
    >>> jaccard_score([1, 1, 0, 1], [1, 0, 0, 0])
    0.333...
    """
    (hits, called, members), shares = _counts(y_true, y_pred, labels, pos_label, average, sample_weight)
    values = _divide(hits, called + members - hits, "jaccard", zero_division, True)
    return values if average is None else _average(values, shares)


def _divide(hits: NDArray[Any], whole: NDArray[Any], name: str, zero_division: float | str, warn: bool) -> NDArray[Any]:
    """Divide class by class, with what was asked for in the place of 0/0."""
    if isinstance(zero_division, str):
        known, instead = zero_division == "warn", 0.0
    else:
        known, instead = zero_division in (0, 1) or np.isnan(zero_division), float(zero_division)
    if not known:
        raise ParameterError(f"zero_division must be 'warn', 0, 1 or nan, not {zero_division!r}.")
    if warn and zero_division == "warn" and not whole.all():
        undefined(
            f"The {name} of {np.count_nonzero(whole == 0)} of {len(whole)} classes is 0/0, as they have no "
            f"{REASONS[name]} rows: it was set to 0. Choose the value with zero_division."
        )
    return np.divide(hits, whole, out=np.full(len(whole), instead), where=whole != 0)


def _counts(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    labels: ArrayLike | None,
    pos_label: Label,
    average: str | None,
    sample_weight: ArrayLike | None,
) -> tuple[Counted, NDArray[Any] | None]:
    """Give the true positives, the predicted and the true members of each class that counts, and its share in an average."""
    if average not in AVERAGES:
        raise ParameterError(
            f"average must be 'binary', 'macro', 'micro', 'weighted', 'samples' or None, not {average!r}."
        )
    if is_indicator(y_true) or is_indicator(y_pred):
        counted, shares = count_indicators(y_true, y_pred, labels, average, sample_weight)
        return counted, counted[2] if average == "weighted" else shares
    if average == "samples":
        raise ParameterError("average='samples' is for rows of several classes, given as a matrix of zeros and ones.")
    true, predicted, weight = label_pair(y_true, y_pred, sample_weight)
    if average == "binary":
        classes = _positive_class(pos_label, classes_of(true, predicted))
    elif labels is None:
        classes = classes_of(true, predicted)
    else:
        classes = as_labels(labels, "labels")
        same_kind(classes, true, ("labels", "y_true"))
    is_class, called_class = positions(true, classes), positions(predicted, classes)

    def total(places: NDArray[np.intp], chosen: NDArray[np.bool_]) -> NDArray[Any]:
        counted = chosen & (places >= 0)
        return np.bincount(places[counted], None if weight is None else weight[counted], minlength=len(classes))

    everything = np.ones(len(true), dtype=bool)
    found = total(is_class, true == predicted), total(called_class, everything), total(is_class, everything)
    if average == "micro":
        return (found[0].sum(keepdims=True), found[1].sum(keepdims=True), found[2].sum(keepdims=True)), None
    return found, found[2] if average == "weighted" else None


def _positive_class(pos_label: Label, present: Labels) -> Labels:
    """Give the positive class, after making sure that there are but two."""
    if len(present) > 2:
        raise InputError(
            f"average='binary' is for two classes, but there are {len(present)}: "
            "use average='macro', 'micro', 'weighted' or None."
        )
    positive = as_labels([pos_label], "pos_label")
    strange = (positive.dtype.kind in "US") != (present.dtype.kind in "US")
    if strange or (len(present) == 2 and positive[0] not in present):
        raise ParameterError(
            f"pos_label={pos_label!r} is none of the labels {present.tolist()}: name the positive one."
        )
    return positive


def _fscore_whole(called: NDArray[Any], members: NDArray[Any], beta: float) -> NDArray[Any]:
    """Give the weighted mean of predicted and true members: true positives over it are the F-score."""
    share = 1 / (1 + beta**2)
    return np.asarray(share * called + (1 - share) * members)


def _average(values: NDArray[Any], members: NDArray[Any] | None) -> float:
    """Average classes, leaving out those without a value; weights that are all zero count the same."""
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    if members is None or not members[known].any():
        return float(values[known].mean())
    return float(np.average(values[known], weights=members[known]))
