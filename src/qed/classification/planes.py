"""Classifiers whose scores are planes: one for two classes, one for each of more."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats
from qed.base.models.roles import Classifier
from qed.base.sources.block import Block
from qed.linalg.affine import affine


class LinearClassifier(Classifier):
    """A classifier that scores by ``X @ coef_.T + intercept_``."""

    sparse = True
    attributes: ClassVar[Attributes] = {"coef_": floats("planes", "features"), "intercept_": floats("planes")}
    coef_: np.ndarray
    intercept_: np.ndarray

    def _decide(self, block: Block) -> np.ndarray:
        scores = affine(block.X, self.coef_.T, self.intercept_)
        return scores[:, 0] if len(self.coef_) == 1 else scores

    def _disagreement(self) -> str:
        return planes_disagree(self.coef_, self.classes_)


def planes_disagree(coef: np.ndarray, classes: np.ndarray) -> str:
    """Say what is wrong with the number of planes; nothing where there is one for two classes, or one for each of more.

    >>> planes_disagree(np.ones((2, 3)), np.arange(2))
    'coef_ has 2 rows for 2 classes'
    """
    planes, k = len(coef), len(classes)
    return "" if k >= 2 and planes == (k if k > 2 else 1) else f"coef_ has {planes} rows for {k} classes"
