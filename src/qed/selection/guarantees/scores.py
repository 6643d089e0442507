r"""How strange a target is to a model that has not seen it: the scores that conformal prediction ranks.

For a number the error, :math:`|y - \hat y(x)|`. For a class one minus its probability ("likelihood"), which gives the smallest sets on
average, or the probability of all classes that are at least as probable ("cumulative"), which gives larger sets to rows that are harder.

Sadinle, Lei and Wasserman (2019), Least ambiguous set-valued classifiers; Romano, Sesia and Candès (2020), Classification with valid and
adaptive coverage.
"""

from typing import Any

import numpy as np


def class_scores(probabilities: np.ndarray, kind: str) -> np.ndarray:
    """Give how strange each class would be, for probabilities of shape (m, n_classes).

    >>> (
    ...     class_scores(np.array([[0.6, 0.1, 0.3]]), "likelihood"),
    ...     class_scores(np.array([[0.5, 0.125, 0.375]]), "cumulative"),
    ... )
    (array([[0.4, 0.9, 0.7]]), array([[0.5  , 1.   , 0.875]]))
    """
    if kind == "likelihood":
        return np.asarray(1 - probabilities, dtype=np.float64)
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1).astype(np.float64), axis=1)
    found = np.empty_like(sums)
    np.put_along_axis(found, order, sums, axis=1)
    return found


def aligned(model: Any, X: Any, classes: np.ndarray) -> np.ndarray:
    """Give the probabilities of all classes; zero for those that a model has not seen."""
    said = np.asarray(model.predict_proba(X), dtype=np.float64)
    known = np.asarray(model.classes_)
    if np.array_equal(known, classes):
        return said
    found = np.zeros((len(said), len(classes)))
    found[:, np.searchsorted(classes, known)] = said
    return found
