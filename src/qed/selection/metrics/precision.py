"""Precision and recall: of what was called positive, how much is; of what is positive, how much was called so.

With the true positives TP, false positives FP and false negatives FN of a class, precision is TP / (TP + FP),
recall TP / (TP + FN), and their weighted harmonic mean

.. math:: F_\\beta = \\frac{(1 + \\beta^2)\\,TP}{(1 + \\beta^2)\\,TP + \\beta^2 FN + FP}.

Several classes are averaged: "macro" counts classes the same, "weighted" by their true members, "micro" pools their counts, None gives
all of them. Where nothing was predicted, or nothing is there, the quotient is 0/0 and `zero_division` decides. Cost: O(n log k).

Reference: C. J. van Rijsbergen (1979), Information Retrieval, chapter 7.
"""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypedDict, TypeVar, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.selection.inputs import Label, Labels, Numbers, classes_of, label_pair, positions, same_kind, undefined
from qed.selection.inputs import labels as as_labels
from qed.selection.metrics.multilabel import Counted, count_indicators, is_indicator
from qed.selection.metrics.probability import named_label

AVERAGES = ("binary", "macro", "micro", "weighted", "samples", None)
REASONS = {"precision": "predicted", "recall": "true", "f-score": "true or predicted", "jaccard": "true or predicted"}

Metric = TypeVar("Metric", bound=Callable[..., Numbers])


class Averaging(TypedDict, total=False):
    """What all metrics of this file take; `precision_recall_fscore_support` says what it means."""

    labels: ArrayLike | None
    pos_label: Label
    average: str | None
    sample_weight: ArrayLike | None
    zero_division: float | str


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
    names = ("precision", "recall", "f-score")
    how: dict[str, Any] = {"labels": labels, "pos_label": pos_label, "average": average}
    how |= {"sample_weight": sample_weight, "zero_division": zero_division}
    values, members = _ratios(y_true, y_pred, names, warn_for, beta, **how)
    return values[0], values[1], values[2], members if average is None else None


def _described(*more: str) -> Callable[[Metric], Metric]:
    """Give a metric the signature of `precision_recall_fscore_support`, less what is of no use for a single quantity."""
    known = signature(precision_recall_fscore_support)
    left = [one for name, one in known.parameters.items() if name not in {"warn_for", "beta"} - set(more)]
    left = [one.replace(default={"average": "binary", "beta": one.empty}.get(one.name, one.default)) for one in left]

    described = known.replace(parameters=left, return_annotation=Numbers)

    def describe(metric: Metric) -> Metric:
        @wraps(metric)
        def call(*args: Any, **how: Any) -> Numbers:
            described.bind(*args, **how)
            return metric(*args, **how)

        call.__signature__ = described  # type: ignore[attr-defined]
        return cast(Metric, call)

    return describe


@_described()
def precision_score(y_true: ArrayLike, y_pred: ArrayLike, **how: Unpack[Averaging]) -> Numbers:
    """Give the share of rows called positive that are positive.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or, for rows of several classes, matrices of zeros and ones.
    labels : array-like, optional
        The classes to report or to average over; the default is every label that occurs, sorted.
    pos_label : int or str, default=1
        The positive class, for ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", "samples"} or None, default="binary"
        How classes are averaged; None gives one value for each. "samples" is for rows of several classes: the mean over rows.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    float, or ndarray of shape (classes,) for ``average=None``
        The precision; 1 is perfect.

    Examples
    --------
    >>> precision_score(["spam", "ham", "spam"], ["spam", "spam", "spam"], pos_label="spam")
    0.666...
    """
    return _ratio("precision", y_true, y_pred, **how)


@_described()
def recall_score(y_true: ArrayLike, y_pred: ArrayLike, **how: Unpack[Averaging]) -> Numbers:
    """Give the share of positive rows that were called positive.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or, for rows of several classes, matrices of zeros and ones.
    labels : array-like, optional
        The classes to report or to average over; the default is every label that occurs, sorted.
    pos_label : int or str, default=1
        The positive class, for ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", "samples"} or None, default="binary"
        How classes are averaged; None gives one value for each. "samples" is for rows of several classes: the mean over rows.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    float, or ndarray of shape (classes,) for ``average=None``
        The recall; 1 is perfect.

    Examples
    --------
    >>> recall_score([1, 1, 0, 1], [1, 0, 0, 0])
    0.333...
    """
    return _ratio("recall", y_true, y_pred, **how)


@_described("beta")
def fbeta_score(y_true: ArrayLike, y_pred: ArrayLike, *, beta: float, **how: Unpack[Averaging]) -> Numbers:
    """Give the harmonic mean of precision and recall in which recall counts `beta` times.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or, for rows of several classes, matrices of zeros and ones.
    beta : float
        Recall counts `beta` times as much as precision.
    labels : array-like, optional
        The classes to report or to average over; the default is every label that occurs, sorted.
    pos_label : int or str, default=1
        The positive class, for ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", "samples"} or None, default="binary"
        How classes are averaged; None gives one value for each. "samples" is for rows of several classes: the mean over rows.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    float, or ndarray of shape (classes,) for ``average=None``
        The F-score; 1 is perfect.

    Examples
    --------
    >>> fbeta_score([1, 1, 0, 1], [1, 0, 0, 0], beta=2.0)
    0.384...
    """
    return _ratio("f-score", y_true, y_pred, beta, **how)


@_described()
def f1_score(y_true: ArrayLike, y_pred: ArrayLike, **how: Unpack[Averaging]) -> Numbers:
    """Give the harmonic mean of precision and recall.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or, for rows of several classes, matrices of zeros and ones.
    labels : array-like, optional
        The classes to report or to average over; the default is every label that occurs, sorted.
    pos_label : int or str, default=1
        The positive class, for ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", "samples"} or None, default="binary"
        How classes are averaged; None gives one value for each. "samples" is for rows of several classes: the mean over rows.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    float, or ndarray of shape (classes,) for ``average=None``
        The F-score; 1 is perfect.

    Examples
    --------
    >>> f1_score([1, 1, 0, 1], [1, 0, 0, 0])
    0.5
    """
    return _ratio("f-score", y_true, y_pred, **how)


@_described()
def jaccard_score(y_true: ArrayLike, y_pred: ArrayLike, **how: Unpack[Averaging]) -> Numbers:
    """Give the share of rows both true and predicted among those either true or predicted.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or, for rows of several classes, matrices of zeros and ones.
    labels : array-like, optional
        The classes to report or to average over; the default is every label that occurs, sorted.
    pos_label : int or str, default=1
        The positive class, for ``average="binary"``.
    average : {"binary", "macro", "micro", "weighted", "samples"} or None, default="binary"
        How classes are averaged; None gives one value for each. "samples" is for rows of several classes: the mean over rows.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    float, or ndarray of shape (classes,) for ``average=None``
        The share; 1 is perfect.

    Examples
    --------
    >>> jaccard_score([1, 1, 0, 1], [1, 0, 0, 0])
    0.333...
    """
    return _ratio("jaccard", y_true, y_pred, **how)


def _ratio(name: str, y_true: ArrayLike, y_pred: ArrayLike, beta: float = 1.0, **how: Unpack[Averaging]) -> Numbers:
    """Give one quantity, and warn of that one alone."""
    return _ratios(y_true, y_pred, (name,), (name,), beta, **how)[0][0]


def _ratios(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    names: tuple[str, ...],
    warn_for: tuple[str, ...],
    beta: float = 1.0,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: str | None = "binary",
    sample_weight: ArrayLike | None = None,
    zero_division: float | str = "warn",
) -> tuple[list[Numbers], NDArray[Any]]:
    """Give quantities, each a share of the true positives in something, and the members of each class."""
    if not beta >= 0:
        raise ParameterError(f"beta must not be negative, but it is {beta!r}.")
    (hits, called, members), shares = _counts(y_true, y_pred, labels, pos_label, average, sample_weight)
    weight = 1 / (1 + beta**2)
    wholes = {"precision": called, "recall": members, "jaccard": called + members - hits}
    wholes["f-score"] = weight * called + (1 - weight) * members
    values = [_divide(hits, wholes[name], name, zero_division, name in warn_for) for name in names]
    return [one if average is None else _average(one, shares) for one in values], members


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
    return named_label(pos_label, present)


def _average(values: NDArray[Any], members: NDArray[Any] | None) -> float:
    """Average classes, leaving out those without a value; weights that are all zero count the same."""
    known = ~np.isnan(values)
    if not known.any():
        return float("nan")
    if members is None or not members[known].any():
        return float(values[known].mean())
    return float(np.average(values[known], weights=members[known]))
