"""Rows that may belong to several classes at once: a column of zeros and ones for each class.

Such an *indicator matrix* turns every metric of two classes into one for many: class by class (a column each), pooled over all of them, or
row by row (``average="samples"``). The files of the metrics ask here what they were given, and count with what they get.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.base.sources.block import as_dense, is_sparse
from qed.selection.inputs import Floats, Labels, label_pair, mean, same_length, weights

Flags = NDArray[np.bool_]
Counted = tuple[Labels, Labels, Labels]


def is_indicator(values: object) -> bool:
    """Say whether labels come as a matrix with a column for each class."""
    if is_sparse(values):
        return True
    shape = np.shape(np.asarray(values))
    return len(shape) == 2 and shape[1] > 1


def indicators(values: object, name: str) -> Flags:
    """Give an indicator matrix as flags."""
    matrix = np.asarray(as_dense(values))
    if matrix.ndim != 2 or matrix.dtype.kind not in "biuf" or not np.isin(matrix, (0, 1)).all():
        raise InputError(
            f"{name} must be a matrix of zeros and ones, a column for each class, as the other labels are."
        )
    return matrix.astype(bool)


def indicator_pair(
    y_true: object, y_pred: object, sample_weight: ArrayLike | None
) -> tuple[Flags, Flags, Floats | None]:
    """Check true and predicted indicators and weights together."""
    true, predicted = indicators(y_true, "y_true"), indicators(y_pred, "y_pred")
    same_length(true, predicted, "y_pred")
    if true.shape != predicted.shape:
        raise InputError(
            f"y_true has {true.shape[1]} classes and y_pred has {predicted.shape[1]}: give both for the same."
        )
    return true, predicted, weights(sample_weight, len(true))


def count_indicators(
    y_true: object, y_pred: object, labels: ArrayLike | None, average: str | None, sample_weight: ArrayLike | None
) -> tuple[Counted, Floats | None]:
    """Give hits, predicted and true members of each class (or each row, or of all together), and what rows weigh in their average.

    Examples
    --------
    >>> counts, _ = count_indicators([[1, 0], [1, 1]], [[1, 1], [0, 1]], None, None, None)
    >>> [count.tolist() for count in counts]
    [[1, 1], [1, 2], [2, 1]]
    """
    true, predicted, weight = indicator_pair(y_true, y_pred, sample_weight)
    if average == "binary":
        raise InputError(
            "average='binary' is for two classes, but the labels are a matrix of several (multilabel-indicator): "
            "use average='macro', 'micro', 'weighted', 'samples' or None."
        )
    if labels is not None:
        chosen = np.asarray(labels)
        if chosen.dtype.kind not in "iu" or chosen.min() < 0 or chosen.max() >= true.shape[1]:
            raise ParameterError(
                f"labels must be numbers of columns, from 0 to {true.shape[1] - 1}, not {chosen.tolist()}."
            )
        true, predicted = true[:, chosen], predicted[:, chosen]
    parts = (true & predicted, predicted, true)
    if average == "samples":
        hits, called, members = (part.sum(axis=1) for part in parts)
        return (hits, called, members), weight
    hits, called, members = (part.sum(axis=0) if weight is None else weight @ part for part in parts)
    if average == "micro":
        return (hits.sum(keepdims=True), called.sum(keepdims=True), members.sum(keepdims=True)), None
    return (hits, called, members), None


def hamming_loss(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Give the share of labels that are wrong: of rows, or of the cells of an indicator matrix.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels, or indicator matrices.
    sample_weight : array-like of shape (n,), optional
        What each row counts.

    Examples
    --------
    >>> hamming_loss([[0, 1], [1, 1]], [[0, 0], [1, 1]])
    0.25
    """
    if is_indicator(y_true) or is_indicator(y_pred):
        true, predicted, weight = indicator_pair(y_true, y_pred, sample_weight)
        return float(mean((true != predicted).mean(axis=1), weight))
    labelled = label_pair(y_true, y_pred, sample_weight)
    return float(mean((labelled[0] != labelled[1]).astype(np.float64), labelled[2]))
