"""Classifiers whose scores are logarithms of chances: one score for two classes, else one for each class."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, log_softmax, softmax

from qed.base.models.roles import Classifier
from qed.base.sources.block import Block


class SoftmaxClassifier(Classifier):
    """A classifier whose chances follow from its scores."""

    def _probabilities(self, block: Block) -> np.ndarray:
        return chances(self._decide(block))

    def _log_probabilities(self, block: Block) -> np.ndarray:
        scores = self._decide(block)
        if scores.ndim == 1:
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return np.asarray(log_softmax(scores, axis=1))


def chances(scores: np.ndarray) -> np.ndarray:
    """Give the chances of the classes, of shape (n, n_classes).

    >>> chances(np.array([0.0])), chances(np.zeros((1, 4)))
    (array([[0.5, 0.5]]), array([[0.25, 0.25, 0.25, 0.25]]))
    """
    if scores.ndim == 1:
        return np.column_stack([expit(-scores), expit(scores)])
    return np.asarray(softmax(scores, axis=1))
