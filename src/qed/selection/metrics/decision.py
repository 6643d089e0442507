r"""From probabilities to decisions: are they true, and where to draw the line.

Probabilities are *calibrated* where, of the rows that were given the chance p, a share p is positive; the curve of that share over p
shows it, bin by bin. Where errors have prices, calling positive whatever scores at least t costs

.. math:: C(t) = c_{FP}\, FP(t) + c_{FN}\, FN(t),

a step function with its least value at one of the scores. With true probabilities the best line is known beforehand: by Bayes' rule it is
:math:`t^* = c_{FP} / (c_{FP} + c_{FN})`. Cost: one sort, O(n log n). A. H. Murphy, R. L. Winkler (1977), Reliability of subjective
probability forecasts; C. Elkan (2001), The foundations of cost-sensitive learning.
"""

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.base.models.parameters import choice, integer, number
from qed.selection.inputs import Floats, Label, numbers, same_length, weights
from qed.selection.inputs import labels as as_labels
from qed.selection.metrics.probability import positive


def calibration_curve(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    pos_label: Label = None,
    n_bins: int = 5,
    strategy: str = "uniform",
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Give, bin by bin of the predicted probability, the share of rows that are positive.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    pos_label : int or str, optional
        The positive label; the default is the greater of the two.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class.
    n_bins : int, default=5
        The number of bins. Bins without rows are left out.
    strategy : {"uniform", "quantile"}, default="uniform"
        Bins of equal width, or of equal numbers of rows.

    Returns
    -------
    prob_true, prob_pred : ndarray
        The share of positive rows in each bin, and the mean probability that was predicted for them.

    Examples
    --------
    >>> calibration_curve(["no", "no", "yes", "yes"], [0.1, 0.3, 0.7, 0.9], n_bins=2)
    (array([0., 1.]), array([0.2, 0.8]))
    """
    integer(1).checked("n_bins", n_bins)
    choice("uniform", "quantile").checked("strategy", strategy)
    true, probability = as_labels(y_true, "y_true"), numbers(y_prob, "y_prob").ravel()
    same_length(true, probability, "y_prob")
    if ((probability < 0) | (probability > 1)).any():
        raise InputError("y_prob has values outside [0, 1]: give probabilities, such as a column of predict_proba.")
    given = weights(sample_weight, len(true))
    weight = np.ones(len(true)) if given is None else given
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    if strategy == "quantile":
        edges = np.quantile(probability, edges)
    place = np.searchsorted(edges[1:-1], probability)
    total = np.bincount(place, weight, n_bins)
    there = total > 0
    came_true = np.bincount(place, weight * positive(true, pos_label), n_bins)[there] / total[there]
    return came_true, np.bincount(place, weight * probability, n_bins)[there] / total[there]


def best_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    false_positive: float = 1.0,
    false_negative: float = 1.0,
    pos_label: Label = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[float, float]:
    """Give the score from which on to call rows positive so that errors cost least, and what they then cost.

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
    false_positive, false_negative : float, default=1.0
        What it costs to call a negative row positive, and a positive one negative.

    Returns
    -------
    threshold : float
        The score from which on a row is called positive; infinite where none should be. Of equals the greatest.
    cost : float
        The cost of all errors.

    Examples
    --------
    >>> best_threshold(["no", "yes", "no", "yes"], [0.1, 0.3, 0.6, 0.9], false_negative=10)
    (0.3, 1.0)
    """
    for name, cost in (("false_positive", false_positive), ("false_negative", false_negative)):
        number(0).checked(name, cost)
    true, score = as_labels(y_true, "y_true"), numbers(y_score, "y_score").ravel()
    same_length(true, score, "y_score")
    is_positive, given = positive(true, pos_label), weights(sample_weight, len(true))
    weight = np.ones(len(true)) if given is None else given
    falling, place = np.unique(-score, return_inverse=True)
    false = np.r_[0.0, np.cumsum(np.bincount(place, weight * ~is_positive))]
    hits = np.r_[0.0, np.cumsum(np.bincount(place, weight * is_positive))]
    if not false[-1] or not hits[-1]:
        raise InputError("y_true has one class only: there is no line to draw. Give rows of both classes.")
    costs = false_positive * false + false_negative * (hits[-1] - hits)
    least = int(costs.argmin())
    return float(np.r_[np.inf, -falling][least]), float(costs[least])
