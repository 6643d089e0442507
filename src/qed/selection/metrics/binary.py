"""Scores of two classes that other scores are called by: the recall of the negative ones, and the area under the curve from -1 to 1."""

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.selection.inputs import Label, classes_of, label_pair
from qed.selection.metrics.precision import recall_score
from qed.selection.metrics.probability import named_label
from qed.selection.metrics.ranking import roc_auc_score


def specificity_score(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Label = 1, sample_weight: ArrayLike | None = None
) -> float:
    """Give the share of the negative rows that were called so: the recall of the other one of two classes.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        True and predicted labels: integers or strings.
    pos_label : int or str, default=1
        The positive class.
    sample_weight : array-like of shape (n,), optional
        What each row counts.

    Returns
    -------
    float
        The specificity; 1 is perfect.

    Examples
    --------
    >>> specificity_score([0, 0, 0, 1], [0, 1, 0, 1])
    0.666...
    """
    true, predicted, _ = label_pair(y_true, y_pred, sample_weight)
    present = classes_of(true, predicted)
    if len(present) > 2:
        raise InputError(f"Specificity is for two classes, and there are {len(present)}: take balanced_accuracy.")
    others = present[present != named_label(pos_label, present)]
    if len(others) == 0:
        return 0.0
    found = recall_score(true, predicted, labels=others, average=None, sample_weight=sample_weight, zero_division=0)
    return float(np.asarray(found)[0])


def gini_score(y_true: ArrayLike, y_score: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Give twice the area under the ROC curve, less one: 0 for guessing, 1 for scores that tell the classes apart.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels of two classes, of which the greater is positive.
    y_score : array-like of shape (n,)
        Scores; higher means more likely positive.
    sample_weight : array-like of shape (n,), optional
        What each row counts.

    Returns
    -------
    float
        The coefficient.

    Examples
    --------
    >>> gini_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.5
    """
    return 2 * float(np.asarray(roc_auc_score(y_true, y_score, sample_weight=sample_weight))) - 1
