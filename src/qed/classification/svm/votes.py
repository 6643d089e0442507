"""One score for each pair of classes: who wins, and for which rows that is certain."""

from itertools import combinations

import numpy as np


def votes(scores: np.ndarray, count: int) -> np.ndarray:
    """Count for each of more than two classes the pairs that it wins; how clearly they were won decides between equal counts.

    >>> votes(np.array([[1.0, -1.0, 3.0]]), 3).round(2)
    array([[1.  , 1.22, 0.78]])
    """
    won, sums = np.zeros((len(scores), count)), np.zeros((len(scores), count))
    for k, (a, b) in enumerate(combinations(range(count), 2)):
        won[:, a] += scores[:, k] > 0
        won[:, b] += scores[:, k] <= 0
        sums[:, a] += scores[:, k]
        sums[:, b] -= scores[:, k]
    return won + sums / (3 * (np.abs(sums) + 1))


def winners(scores: np.ndarray, count: int) -> np.ndarray:
    """Give the numbers of the classes that win; of two, the second has the positive scores."""
    return (scores[:, 0] > 0).astype(int) if count == 2 else votes(scores, count).argmax(axis=1)


def clear(scores: np.ndarray, off: np.ndarray, count: int) -> np.ndarray:
    """Say which rows have the same winner for all scores no further than `off` away: no sign changes, and no counts are equal.

    >>> clear(np.array([[1.0, 1.0, 0.1], [1.0, 1.0, 2.0], [1.0, -1.0, 3.0]]), np.full(3, 0.5), 3)
    array([False,  True, False])
    """
    found = (np.abs(scores) > off[:, None]).all(axis=1)
    if count > 2:
        # What decides between equal counts is less than a third of a vote.
        second, first = np.partition(votes(scores, count), -2, axis=1)[:, -2:].T
        found &= first - second > 2 / 3
    return np.asarray(found)
