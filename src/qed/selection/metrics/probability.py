"""How good predicted probabilities are.

Log loss is the mean of :math:`-\\log p_{i, y_i}`, the negative log-likelihood of the labels per row; the
Brier score the mean of :math:`\\sum_c (p_{ic} - [y_i = c])^2`, halved for two classes so that it is the
squared error of one probability. Both are *proper*: on average, nothing scores better than the true
probabilities. :math:`D^2` compares either with that of the shares of the classes, given to every row: it is
one minus their quotient, as :math:`R^2` is for squared errors and the mean. Cost: O(n k).

References: I. J. Good (1952), Journal of the Royal Statistical Society B 14; G. W. Brier (1950), Monthly
Weather Review 78.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS
from qed.selection.inputs import (
    Floats,
    Label,
    Labels,
    classes_of,
    mean,
    numbers,
    positions,
    same_kind,
    same_length,
    total,
    undefined,
    weights,
)
from qed.selection.inputs import labels as as_labels

SUMS_TO_ONE = 1e-3


def log_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Average the negative logarithm of the probability that was given to the true label.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers or strings.
    y_proba : array-like of shape (n, classes) or (n,)
        Probabilities, with columns in the sorted order of the labels, as ``predict_proba`` gives them; one
        column is the probability of the greater of two labels. Rows have to sum to one, give or take the
        rounding of single precision.
    normalize : bool, default=True
        Give the mean; False gives the sum.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    labels : array-like, optional
        All classes, needed when `y_true` does not have every one of them.

    Returns
    -------
    float
        Zero is perfect, log(k) is what even chances give. A probability is clipped to [eps, 1 - eps], eps the
        spacing of its type at one (2.2e-16 for float64), so that an event that was called impossible costs 36
        and not infinity.

    Examples
    --------
    >>> log_loss(["no", "yes"], [[0.5, 0.5], [0.5, 0.5]])
    0.693...
    """
    true = as_labels(y_true, "y_true")
    single = getattr(y_proba, "dtype", None) in (np.float32, np.float16)
    eps = float(np.finfo(np.float32 if single else np.float64).eps)
    probability, classes = _table(true, _probabilities(y_proba, true), labels)
    given = probability[np.arange(len(true)), positions(true, classes)]
    losses = -np.log(np.clip(given, eps, 1 - eps))
    return total(losses, weights(sample_weight, len(true)), normalize=normalize)


def brier_score_loss(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    labels: ArrayLike | None = None,
    scale_by_half: bool | str = "auto",
) -> float:
    """Average the squared distance of the predicted probabilities from what came true.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers or strings.
    y_proba : array-like of shape (n, classes) or (n,)
        Probabilities, with columns in the sorted order of the labels, as ``predict_proba`` gives them; one
        column is the probability of `pos_label`. Rows have to sum to one, give or take the
        rounding of single precision.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    labels : array-like, optional
        All classes, needed when `y_true` does not have every one of them.
    pos_label : int or str, optional
        The positive one of two labels, for a single column; the default is the greater one, as in
        ``predict_proba``.
    scale_by_half : bool or "auto", default="auto"
        Halve the score, so that it lies in [0, 1]; "auto" does so for two classes.

    Examples
    --------
    >>> brier_score_loss([0, 1, 1], [0.1, 0.9, 0.6])
    0.06...
    """
    true = as_labels(y_true, "y_true")
    probability = _probabilities(y_proba, true)
    if probability.shape[1] == 1:
        came_true = positive(true, pos_label, None if labels is None else as_labels(labels, "labels"))
        losses = 2 * (probability[:, 0] - came_true) ** 2
        two = True
    else:
        probability, classes = _table(true, probability, labels)
        outcome = positions(true, classes)[:, None] == np.arange(len(classes))
        losses = ((probability - outcome) ** 2).sum(axis=1)
        two = len(classes) == 2
    score = float(mean(losses, weights(sample_weight, len(true))))
    return score / 2 if (two if scale_by_half == "auto" else scale_by_half) else score


def d2_log_loss_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Give the share of the log loss of the classes' shares that is explained.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers or strings.
    y_proba : array-like of shape (n, classes) or (n,)
        Probabilities, with columns in the sorted order of the labels, as ``predict_proba`` gives them; one
        column is the probability of the greater of two labels. Rows have to sum to one, give or take the
        rounding of single precision.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    labels : array-like, optional
        All classes, needed when `y_true` does not have every one of them.

    Returns
    -------
    float
        1 is perfect, 0 no better than the share of each class, below 0 worse. A single class scores 1 when it is
        predicted for certain and 0 otherwise. One row alone has NaN, with a warning.

    Examples
    --------
    >>> round(d2_log_loss_score([0, 1, 1], [0.1, 0.9, 0.6]), 3)
    0.622
    """
    loss = log_loss(y_true, y_proba, sample_weight=sample_weight, labels=labels)
    true = as_labels(y_true, "y_true")
    shares = _shares(true, classes_of(true) if labels is None else as_labels(labels, "labels"), sample_weight)
    return _explained(loss, log_loss(true, shares, sample_weight=sample_weight, labels=labels), len(true))


def d2_brier_score(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Label = None,
    labels: ArrayLike | None = None,
) -> float:
    """Give the share of the Brier score of the classes' shares that is explained.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers or strings.
    y_proba : array-like of shape (n, classes) or (n,)
        Probabilities, with columns in the sorted order of the labels, as ``predict_proba`` gives them; one
        column is the probability of `pos_label`. Rows have to sum to one, give or take the
        rounding of single precision.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    labels : array-like, optional
        All classes, needed when `y_true` does not have every one of them.
    pos_label : int or str, optional
        The positive one of two labels, for a single column; the default is the greater one, as in
        ``predict_proba``.

    Returns
    -------
    float
        As of `d2_log_loss_score`.

    Examples
    --------
    >>> round(d2_brier_score([0, 1, 1], [0.1, 0.9, 0.6]), 2)
    0.73
    """

    def loss(table: ArrayLike) -> float:
        return brier_score_loss(y_true, table, sample_weight=sample_weight, pos_label=pos_label, labels=labels)

    found = loss(y_proba)
    true, known = as_labels(y_true, "y_true"), None if labels is None else as_labels(labels, "labels")
    if _probabilities(y_proba, true).shape[1] == 1:
        came_true = positive(true, pos_label, known)
        shares = np.full(len(true), mean(came_true, weights(sample_weight, len(true))))
    else:
        shares = _shares(true, classes_of(true) if known is None else known, sample_weight)
    return _explained(found, loss(shares), len(true))


def _shares(true: Labels, classes: Labels, sample_weight: ArrayLike | None) -> Floats:
    """Give every row the share that each class has of all rows, by weight."""
    outcome = positions(true, classes)[:, None] == np.arange(len(classes))
    return np.tile(mean(outcome, weights(sample_weight, len(true))), (len(true), 1))


def _explained(loss: float, baseline: float, n: int) -> float:
    if n < 2:
        undefined("D² of a single row is not defined: NaN was returned. Score at least two rows.")
        return float("nan")
    # Logarithms are clipped, so the loss of what is certain is not quite zero.
    if baseline <= 2 * EPS:
        return float(loss <= baseline)
    return 1 - loss / baseline


def scored(
    y_true: ArrayLike, y_score: ArrayLike, sample_weight: ArrayLike | None, labels: ArrayLike | None
) -> tuple[Labels, Floats, Labels, Floats | None]:
    """Check labels, scores (as columns), classes and weights together."""
    true, score = as_labels(y_true, "y_true"), numbers(y_score, "y_score")
    same_length(true, score, "y_score")
    classes = np.unique(true) if labels is None else sorted_classes(labels, true)
    return true, score.reshape(len(true), -1), classes, weights(sample_weight, len(true))


def one_column_each(score: Floats, classes: Labels) -> None:
    """Refuse scores that are not one column for each class."""
    if score.shape[1] != len(classes):
        raise InputError(
            f"y_score has {score.shape[1]} columns for the {len(classes)} classes {classes.tolist()}: "
            "give one for each, and name classes that y_true lacks with labels."
        )


def positive(true: Labels, pos_label: Label = None, classes: Labels | None = None) -> NDArray[np.bool_]:
    """Say which rows are positive: those of `pos_label`, or of the greater of two labels.

    A single label among -1, 0 and 1 is taken as if the other one were merely absent: 1 is positive.
    """
    present = np.unique(true) if classes is None else np.unique(classes)
    if pos_label is None:
        if len(present) > 2:
            raise InputError(f"y_true has {len(present)} classes: name the positive one as pos_label.")
        if len(present) == 1 and (present.dtype.kind in "US" or present[0] not in (-1, 0, 1)):
            raise InputError(
                f"y_true has the label {present.tolist()[0]!r} only, which may be positive or not: give pos_label."
            )
        return np.asarray(true == (present[1] if len(present) == 2 else 1))
    return np.asarray(true == named_label(pos_label, present)[0])


def named_label(pos_label: Label, present: Labels) -> Labels:
    """Give the positive label, as an array, after making sure that it is one of those present, or may be the one that is not."""
    wanted = as_labels([pos_label], "pos_label")
    strange = (wanted.dtype.kind in "US") != (present.dtype.kind in "US")
    if strange or (len(present) >= 2 and wanted[0] not in present):
        raise ParameterError(
            f"pos_label={pos_label!r} is none of the labels {present.tolist()}: name the positive one."
        )
    return wanted


def sorted_classes(labels: ArrayLike, true: Labels) -> Labels:
    """Check the classes that stand for the columns: sorted, and with every label of `true` among them."""
    classes = as_labels(labels, "labels")
    same_kind(classes, true, ("labels", "y_true"))
    if not np.array_equal(classes, np.unique(classes)):
        raise ParameterError(
            f"labels must be sorted and distinct, as the columns are: {np.unique(classes).tolist()}, "
            f"not {classes.tolist()}."
        )
    unknown = ~np.isin(true, classes)
    if unknown.any():
        raise InputError(f"y_true has the label {true[unknown].tolist()[0]!r}, which is not among labels.")
    return classes


def _probabilities(y_proba: ArrayLike, true: Labels) -> Floats:
    """Give probabilities as columns, each between 0 and 1."""
    probability = numbers(y_proba, "y_proba")
    same_length(true, probability, "y_proba")
    probability = probability.reshape(len(true), -1)
    outside = (probability < 0) | (probability > 1)
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise InputError(
            f"y_proba is {probability[row, column]} in row {row}: probabilities lie between 0 and 1. "
            "Scores can be ranked with roc_auc_score."
        )
    return probability


def _table(true: Labels, probability: Floats, labels: ArrayLike | None) -> tuple[Floats, Labels]:
    """Give one column of probabilities for each class, and the classes in that order."""
    if probability.shape[1] == 1:
        probability = np.hstack([1 - probability, probability])
    classes = classes_of(true) if labels is None else sorted_classes(labels, true)
    if len(classes) != probability.shape[1]:
        raise InputError(
            f"y_proba has {probability.shape[1]} columns for the {len(classes)} classes {classes.tolist()}: "
            "name all classes with labels, one for each column."
        )
    off = np.abs(probability.sum(axis=1) - 1) > SUMS_TO_ONE
    if off.any():
        row = int(np.argmax(off))
        raise InputError(
            f"y_proba sums to {probability[row].sum():.6g} in row {row}, not to 1: normalise the rows first."
        )
    return probability, classes
