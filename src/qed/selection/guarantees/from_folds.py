"""How often intervals and sets hold rows held out, counted on the folds that were made anyway.

The rows of each fold are judged by the scores of all other folds: an interval is the prediction of the model without that fold, and
either side the error that a share `level` of the other rows held out do not exceed; a set has the most probable class, and those whose
score is no greater. So no row takes part in what it is judged by. It is what `qed.Conformal` would give for new rows, tried; the share
counted here is a measurement, with its binomial error, and no proof.
"""

from __future__ import annotations

import numpy as np

from qed.selection.guarantees.coverage import Coverage
from qed.selection.guarantees.ranks import upper
from qed.selection.guarantees.scores import class_scores


def interval_coverage(y: np.ndarray, predicted: np.ndarray, folds: np.ndarray, level: float = 0.9) -> Coverage | None:
    """Count how often intervals about predictions of rows held out hold the truth; None where a fold has too few others to judge by.

    >>> y = np.arange(100.0)
    >>> print(interval_coverage(y, y + np.tile([1.0, -1.0], 50), np.arange(100) % 5))
    at level 0.9 the interval holds the truth in 100 of 100 rows (1.000, between 0.964 and 1.000 with 95 %), mean size 2; guaranteed 0
    """
    scores = np.abs(np.asarray(y, dtype=np.float64) - predicted)
    reach = _reach(scores, folds, level)
    if reach is None:
        return None
    return Coverage(level, int((scores <= reach).sum()), len(scores), float(2 * reach.mean()), "interval", 0.0)


def set_coverage(codes: np.ndarray, chances: np.ndarray, folds: np.ndarray, level: float = 0.9) -> Coverage | None:
    """Count how often sets of classes hold the true one, of rows held out, by the number of each row's class.

    >>> chances = np.tile([[0.75, 0.25], [0.25, 0.75]], (50, 1))
    >>> print(set_coverage(np.tile([0, 1], 50), chances, np.arange(100) % 5))
    at level 0.9 the set holds the truth in 100 of 100 rows (1.000, between 0.964 and 1.000 with 95 %), mean size 1; guaranteed 0
    """
    table = class_scores(chances, "likelihood")
    scores = table[np.arange(len(codes)), codes]
    reach = _reach(scores, folds, level)
    if reach is None:
        return None
    inside = table <= reach[:, None]
    # As in `qed.Conformal`, no set is empty.
    inside[np.arange(len(table)), chances.argmax(axis=1)] = True
    hits = int(inside[np.arange(len(codes)), codes].sum())
    return Coverage(level, hits, len(codes), float(inside.sum(axis=1).mean()), "set", 0.0)


def _reach(scores: np.ndarray, folds: np.ndarray, level: float) -> np.ndarray | None:
    """Give for each row the score that its level asks for among the rows of all other folds."""
    found = np.empty(len(scores))
    for fold in np.unique(folds):
        others = scores[folds != fold]
        found[folds == fold] = upper(others[None, :], None, level)[0] if len(others) else np.inf
    return found if np.isfinite(found).all() else None
