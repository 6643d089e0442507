"""How well scores rank positive rows above negative ones.

Calling positive whatever scores at least t, and letting t fall, the ROC curve runs through the points (FPR,
TPR) = (FP / N, TP / P) from (0, 0), where nothing is called positive, to (1, 1), where everything is. The
area below it is not an accuracy: it is the chance that a positive row outscores a negative one, :math:`AUC =
P(s^+ > s^-) + \\tfrac12 P(s^+ = s^-)`, the statistic of Mann and Whitney, and so 1/2 for a random ranking, 1
for a perfect one, 0 for its reverse. Precision against recall along the same thresholds gives the average
precision :math:`\\sum_t (R_t - R_{t-1}) P_t`. Cost: one sort, O(n log n).

References: J. A. Hanley, B. J. McNeil (1982), Radiology 143; D. J. Hand, R. J. Till (2001), Machine Learning
45.
"""

from collections.abc import Callable
from functools import partial
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.selection.inputs import Floats, Label, Numbers, mean, numbers, positions, same_length, undefined, weights
from qed.selection.metrics.multilabel import indicators, is_indicator
from qed.selection.metrics.probability import one_column_each, positive, scored

Flags = NDArray[np.bool_]


def roc_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = True,
) -> tuple[Floats, Floats, Floats]:
    """Give the false and the true positive rates at every threshold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Scores: probabilities of the positive class, or anything else that grows with it.
    pos_label : int or str, optional
        The positive label; the default is the greater of the two.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    drop_intermediate : bool, default=True
        Leave out points on a straight line between their neighbours, which change neither the curve nor its
        area.

    Returns
    -------
    fpr, tpr : ndarray
        Rates, rising from 0 to 1; NaN, with a warning, when there are no negative or no positive rows.
    thresholds : ndarray
        The scores, falling, from which on a row is called positive; the first is infinite.

    Examples
    --------
    >>> fpr, tpr, thresholds = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> fpr, tpr
    (array([0. , 0. , 0.5, 0.5, 1. ]), array([0. , 0.5, 0.5, 1. , 1. ]))
    """
    false, hits, thresholds = _counts(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and len(false) > 2:
        corner = np.r_[True, (np.diff(false, 2) != 0) | (np.diff(hits, 2) != 0), True]
        false, hits, thresholds = false[corner], hits[corner], thresholds[corner]
    for total, name in ((false[-1], "negative"), (hits[-1], "positive")):
        if total == 0:
            undefined(f"There are no {name} rows in y_true: their rate is not defined, and NaN was returned.")
    false, hits = np.r_[0.0, false], np.r_[0.0, hits]
    return _share(false, np.nan), _share(hits, np.nan), np.r_[np.inf, thresholds]


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
    drop_intermediate: bool = False,
) -> tuple[Floats, Floats, Floats]:
    """Give precision and recall at every threshold.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,)
        Scores: probabilities of the positive class, or anything else that grows with it.
    pos_label : int or str, optional
        The positive label; the default is the greater of the two.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    drop_intermediate : bool, default=False
        Leave out thresholds that lie between others of the same recall.

    Returns
    -------
    precision, recall : ndarray of shape (thresholds + 1,)
        In the order of rising thresholds, ended by precision 1 and recall 0, where nothing is called
        positive. Without positive rows recall is 1, with a warning.
    thresholds : ndarray
        The distinct scores, rising.

    Examples
    --------
    >>> precision, recall, thresholds = precision_recall_curve([0, 1, 1], [0.2, 0.5, 0.9])
    >>> recall
    array([1. , 1. , 0.5, 0. ])
    """
    false, hits, thresholds = _counts(y_true, y_score, pos_label, sample_weight)
    if drop_intermediate and len(false) > 2:
        corner = np.r_[True, (np.diff(hits[:-1]) != 0) | (np.diff(hits[1:]) != 0), True]
        false, hits, thresholds = false[corner], hits[corner], thresholds[corner]
    if hits[-1] == 0:
        undefined("There are no positive rows in y_true: recall is not defined, and was set to 1 everywhere.")
    precision, recall = hits / (hits + false), _share(hits, 1.0)
    return np.r_[precision[::-1], 1.0], np.r_[recall[::-1], 0.0], thresholds[::-1]


def roc_auc_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    sample_weight: ArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: ArrayLike | None = None,
) -> Numbers:
    """Give the area under the ROC curve: the chance that a positive row outscores a negative one, ties counting half.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        True labels; of two, the greater is positive. Or, for rows of several classes, a matrix of zeros and ones.
    y_score : array-like of shape (n,) or (n, classes)
        Scores of the positive class, or of every class, in the sorted order of the labels.
    average : {"macro", "weighted", "micro", "samples"}, optional
        For several classes: the plain mean, a mean by how common classes (or pairs) are, one ranking of
        all scores, or (for rows of several classes) the mean over rows; None gives one value per class. Pairs have the first two only.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    max_fpr : float in (0, 1], optional
        Give the area up to this rate of false positives only, scaled so that a random ranking has 1/2 and a perfect one 1 (McClish 1989).
        For two classes.
    multi_class : {"raise", "ovr", "ovo"}
        For several classes: each against the rest, or each pair by itself (which does not depend on how
        common they are).
    labels : array-like, optional
        All classes, needed when `y_true` does not have every one of them.

    Returns
    -------
    float, or ndarray of shape (classes,)
        NaN, with a warning, where there are only positive or only negative rows.

    Examples
    --------
    >>> roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    if max_fpr is not None and not 0 < max_fpr <= 1:
        raise ParameterError(f"max_fpr must be a rate above 0 and at most 1, not {max_fpr!r}.")
    if is_indicator(y_true):
        flags, scores, weight = _indicated(y_true, y_score, sample_weight)
        return _one_against_rest(partial(_auc, max_fpr=max_fpr), flags, scores, weight, average)
    true, score, classes, weight = scored(y_true, y_score, sample_weight, labels)
    if score.shape[1] <= 2 and len(classes) <= 2:
        return _auc(positive(true, None, classes), score[:, -1], weight, max_fpr)
    if max_fpr not in (None, 1):
        raise ParameterError(f"max_fpr={max_fpr!r} is for two classes, but there are {len(classes)}.")
    one_column_each(score, classes)
    if multi_class == "ovo":
        return _pairs(positions(true, classes), score, weight, average)
    if multi_class == "ovr":
        return _one_against_rest(_auc, _flags(positions(true, classes), score), score, weight, average)
    raise ParameterError(
        f"multi_class={multi_class!r} with {len(classes)} classes: choose 'ovr' (each class against the rest) "
        "or 'ovo' (pairs)."
    )


def average_precision_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    average: str | None = "macro",
    pos_label: Label = 1,
    sample_weight: ArrayLike | None = None,
) -> Numbers:
    """Average the precision over the thresholds, each weighed by the recall it adds.

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, classes)
        True labels; of two, the greater is positive. Or, for rows of several classes, a matrix of zeros and ones.
    y_score : array-like of shape (n,) or (n, classes)
        Scores of the positive class, or of every class, in the sorted order of the labels.
        Several classes are taken each against the rest.
    average : {"macro", "weighted", "micro", "samples"}, optional
        For several classes: the plain mean, a mean by how common classes (or pairs) are, one ranking of
        all scores, or (for rows of several classes) the mean over rows; None gives one value per class. Pairs have the first two only.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    pos_label : int or str, default=1
        The positive one of two labels.

    Examples
    --------
    >>> average_precision_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.833...
    """
    if is_indicator(y_true):
        flags, scores, weight = _indicated(y_true, y_score, sample_weight)
        _no_positive_one(pos_label)
        return _one_against_rest(_average_precision, flags, scores, weight, average)
    true, score, classes, weight = scored(y_true, y_score, sample_weight, None)
    if len(classes) <= 2:
        return _average_precision(positive(true, pos_label), _single(score), weight)
    _no_positive_one(pos_label)
    one_column_each(score, classes)
    return _one_against_rest(_average_precision, _flags(positions(true, classes), score), score, weight, average)


def _no_positive_one(pos_label: Label) -> None:
    if pos_label != 1:
        raise ParameterError(
            f"pos_label={pos_label!r} names the positive one of two classes, but there are more: leave it out."
        )


def _indicated(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None
) -> tuple[Flags, Floats, Floats | None]:
    """Check the indicators of several classes, their scores and weights together."""
    flags, score = indicators(y_true, "y_true"), numbers(y_score, "y_score")
    same_length(flags, score, "y_score")
    if flags.shape != score.shape:
        raise InputError(f"y_true has the shape {flags.shape} and y_score {score.shape}: give a score for each class.")
    return flags, score, weights(sample_weight, len(flags))


def _flags(code: NDArray[np.intp], score: Floats) -> Flags:
    """Say which class each row has, a column for each."""
    return np.asarray(code[:, None] == np.arange(score.shape[1]))


def _single(score: Floats) -> Floats:
    if score.shape[1] != 1:
        raise InputError(f"y_score has {score.shape[1]} columns: give the scores of the positive class alone.")
    return score[:, 0]


def _counts(
    y_true: ArrayLike, y_score: ArrayLike, pos_label: Label, sample_weight: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Give the false and the true positives at each distinct score, from the highest score down."""
    true, score, _, weight = scored(y_true, y_score, sample_weight, None)
    return _curve(positive(true, pos_label), _single(score), weight)


def _curve(is_positive: Flags, score: Floats, weight: Floats | None) -> tuple[Floats, Floats, Floats]:
    if weight is not None and not weight.all():
        counted = weight > 0
        is_positive, score, weight = is_positive[counted], score[counted], weight[counted]
    order = np.argsort(-score, kind=None if weight is None else "stable")
    ranked, hit = score[order], is_positive[order].astype(np.float64)
    last = np.r_[np.flatnonzero(np.diff(ranked)), len(ranked) - 1]
    if weight is None:
        hits = np.cumsum(hit)[last]
        return 1.0 + last - hits, hits, ranked[last]
    return np.cumsum((1 - hit) * weight[order])[last], np.cumsum(hit * weight[order])[last], ranked[last]


def _share(counts: Floats, otherwise: float) -> Floats:
    return counts / counts[-1] if counts[-1] > 0 else np.full(len(counts), otherwise)


def _auc(is_positive: Flags, score: Floats, weight: Floats | None, max_fpr: float | None = None) -> float:
    """Count the pairs that are ranked right, ties half: every positive meets the negatives below it and beside it."""
    false, hits, _ = _curve(is_positive, score, weight)
    if false[-1] == 0 or hits[-1] == 0:
        undefined("There are only positive or only negative rows: the area is not defined, and NaN was returned.")
        return float("nan")
    if max_fpr is not None and max_fpr < 1:
        return _partial_area(np.r_[0.0, false / false[-1]], np.r_[0.0, hits / hits[-1]], max_fpr)
    beside = np.diff(false, prepend=0.0)
    below = false[-1] - false
    return float(np.diff(hits, prepend=0.0) @ (below + beside / 2) / (false[-1] * hits[-1]))


def _partial_area(fpr: Floats, tpr: Floats, most: float) -> float:
    """Give the area up to a rate of false positives, between that of the diagonal (1/2) and the whole (1)."""
    end = int(np.searchsorted(fpr, most, side="right"))
    x, y = np.r_[fpr[:end], most], np.r_[tpr[:end], np.interp(most, fpr, tpr)]
    area, least = float(np.diff(x) @ (y[1:] + y[:-1]) / 2), most**2 / 2
    return 0.5 * (1 + (area - least) / (most - least))


def _average_precision(is_positive: Flags, score: Floats, weight: Floats | None) -> float:
    false, hits, _ = _curve(is_positive, score, weight)
    if hits[-1] == 0:
        undefined("There are no positive rows: average precision is not defined, and was set to 0.")
        return 0.0
    return float(np.diff(hits, prepend=0.0) @ (hits / (hits + false)) / hits[-1])


def _one_against_rest(
    metric: Callable[..., float], is_class: Flags, score: Floats, weight: Floats | None, average: str | None
) -> Numbers:
    """Apply a metric of two classes to each class against all others, or to each row."""
    if average == "samples":
        return float(mean(np.array([metric(*pair, None) for pair in zip(is_class, score)]), weight))
    if average == "micro":
        repeated = None if weight is None else np.repeat(weight, score.shape[1])
        return metric(is_class.ravel(), score.ravel(), repeated)
    if average not in ("macro", "weighted", None):
        raise ParameterError(f"average must be 'macro', 'weighted', 'micro', 'samples' or None, not {average!r}.")
    members = is_class.sum(axis=0) if weight is None else weight @ is_class
    counted = range(score.shape[1]) if average != "weighted" else np.flatnonzero(members)
    values = np.array([metric(is_class[:, c], score[:, c], weight) for c in counted])
    if average is None:
        return values
    return float(mean(values, members[members > 0] if average == "weighted" else None))


def _pairs(code: NDArray[np.intp], score: Floats, weight: Floats | None, average: str | None) -> float:
    """Average the area over pairs of classes that occur, each ranked by the score of the one and of the other."""
    if average not in ("macro", "weighted"):
        raise ParameterError(f"average must be 'macro' or 'weighted' for pairs of classes, not {average!r}.")
    present = np.unique(code if weight is None else code[weight > 0])
    if len(present) < 2:
        undefined("There are rows of one class only: the area is not defined, and NaN was returned.")
        return float("nan")
    values, sizes = [], []
    for a, b in combinations(present, 2):
        rows = (code == a) | (code == b)
        part = None if weight is None else weight[rows]
        areas = [_auc(code[rows] == c, score[rows, c], part) for c in (a, b)]
        values.append(sum(areas) / 2)
        sizes.append(rows.sum() if part is None else part.sum())
    return float(mean(np.array(values), np.array(sizes, dtype=np.float64) if average == "weighted" else None))
