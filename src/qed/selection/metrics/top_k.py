"""Whether the true class is among the k with the best scores.

A row counts as right when fewer than k classes score higher than the true one; of equal scores the later class is taken first, so that ties
are decided, and for k = 1 as ``argmax`` of the reversed scores would. With as many classes as k every row is right. Cost: O(nc) for c
classes, by a partial sort.
"""

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import ParameterError
from qed.selection.inputs import positions, total, undefined
from qed.selection.metrics.probability import one_column_each, scored


def top_k_accuracy_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    k: int = 2,
    normalize: bool = True,
    sample_weight: ArrayLike | None = None,
    labels: ArrayLike | None = None,
) -> float:
    """Give the share of rows whose class is among the `k` with the best scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    y_score : array-like of shape (n,) or (n, classes)
        Scores of the second of two classes, or of every class, in the sorted order of the labels.
    k : int, default=2
        How many guesses a row has.
    normalize : bool, default=True
        Give the share; False gives the number (or weight) of the rows.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    labels : array-like, optional
        All classes, needed when `y_true` does not have every one of them.

    Examples
    --------
    >>> scores = [[0.5, 0.2, 0.2], [0.3, 0.4, 0.2], [0.2, 0.4, 0.3], [0.7, 0.2, 0.1]]
    >>> top_k_accuracy_score([0, 1, 2, 2], scores, k=2)
    0.75
    """
    if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
        raise ParameterError(f"k must be a whole number of guesses from 1 up, not {k!r}.")
    true, score, classes, weight = scored(y_true, y_score, sample_weight, labels)
    if score.shape[1] == 1:
        second = score.reshape(-1) > (0.5 if score.min() >= 0 and score.max() <= 1 else 0.0)
        score = np.column_stack([~second, second]).astype(np.float64)
    one_column_each(score, classes)
    if k >= len(classes):
        undefined(
            f"With {k} guesses for {len(classes)} classes every row is right: the score is perfect, and means nothing."
        )
    place = positions(true, classes)
    own = np.take_along_axis(score, place[:, None], axis=1)
    later = np.arange(len(classes)) > place[:, None]
    better = ((score > own) | ((score == own) & later)).sum(axis=1)
    return total((better < k).astype(np.float64), weight, normalize=normalize)
