r"""Classifiers that model how each class makes its rows, and decide by Bayes' rule.

.. math:: P(k \mid x) = \frac{P(k)\,p_k(x)}{\sum_j P(j)\,p_j(x)}, \qquad \hat y = \arg\max_k \bigl(\ln P(k) + \ln p_k(x)\bigr).

Discriminant analysis and naive Bayes differ in the family of :math:`p_k` alone. Each is in closed form: a statistic for every class,
collected in one pass.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from qed.base.errors import ParameterError, level_of_user, shown
from qed.base.models.checks import refuse_amounts
from qed.base.models.labels import refuse_one_class
from qed.base.models.problem import StatisticProblem
from qed.base.models.roles import OnePassClassifier, none_of_one
from qed.base.models.searching import Answer, Question
from qed.base.sources.block import Block
from qed.classification.together import chances_of, decided, search_together
from qed.stats.by_class import ByClass

# A certificate that allows larger relative errors of what classes are made of than this does not hold.
MOST_ERROR = 1e-4


class Generative(OnePassClassifier):
    """A classifier made of a prior and a distribution for each class; its statistic is `ByClass`."""

    def _check_statistic(self, problem: StatisticProblem) -> None:
        refuse_amounts(self, problem.statistic.classes.tolist())

    def _learn_classes(self, seen: ByClass, least: int = 2) -> None:
        """Set ``classes_``; refuse fewer than `least`."""
        if least > 1:
            refuse_one_class(type(self).__name__, seen.classes)
        self.classes_ = seen.classes

    def _shares(self, seen: ByClass, given: ArrayLike | None, *, equal: bool = False) -> np.ndarray:
        """Give the classes' shares of the rows (or equal ones), or the priors that were given for them."""
        if given is None:
            weights = np.ones(len(seen.classes)) if equal else seen.weights
            return weights / weights.sum()
        name, priors = type(self).__name__, np.asarray(given, dtype=np.float64)
        asked = "class_prior" if "class_prior" in self.parameters else "priors"
        if priors.shape != seen.classes.shape or (priors < 0).any() or not priors.sum() > 0:
            raise ParameterError(
                f"{name}: {asked} must be one number >= 0 for each of the {len(seen.classes)} classes "
                f"{seen.classes.tolist()}, not {shown(given)}."
            )
        if abs(priors.sum() - 1) > 1e-5:
            message = f"{name}: the priors sum to {priors.sum():g}, not 1; they are divided by it."
            warnings.warn(message, UserWarning, stacklevel=level_of_user())
        return np.asarray(priors / priors.sum())

    @abstractmethod
    def _joint(self, block: Block) -> np.ndarray:
        """Give the logarithm of prior times density, up to the same constant for all classes; of shape (n, n_classes)."""

    def _joints(self, models: Sequence[Any]) -> Callable[[Block], np.ndarray]:
        """Give what gives `_joint` of several models of this kind, fitted to the same rows: of shape (n_models, n, n_classes)."""
        return partial(_one_by_one, models)

    def _statistic_numbers(self, p: int, k: int) -> int:
        return k * (p + 1) ** 2

    def _search(self, question: Question[Self]) -> Answer | None:
        return search_together(self, question)

    def predict_joint_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Give the logarithm of prior times density for every row and class, but for a constant that all classes share.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        return np.asarray(self._apply(self._joint, X))

    def _decide(self, block: Block) -> np.ndarray:
        return decided(self._joint(block))

    def _probabilities(self, block: Block) -> np.ndarray:
        return chances_of(self._joint(block))

    def _log_probabilities(self, block: Block) -> np.ndarray:
        return none_of_one(log_softmax(self._joint(block), axis=1), block)

    def _same_classes(self, problem: StatisticProblem) -> bool:
        """Say whether the rows of a problem have the classes of the model."""
        return self.classes_.tolist() == problem.statistic.classes.tolist()


def _one_by_one(models: Sequence[Generative], block: Block) -> np.ndarray:
    return np.array([one._joint(block) for one in models])


def log_priors(priors: np.ndarray) -> np.ndarray:
    """Give the logarithms of priors, very low ones for those of zero."""
    return np.asarray(np.log(np.maximum(priors, np.finfo(float).tiny)))


def beyond(gap: np.ndarray, allowed: np.ndarray) -> float:
    """Give the largest gap in units of what rounding allows, less one; zero where all are within it.

    >>> beyond(np.array([1e-16, 0.0]), np.array([1e-15, 0.0])), beyond(np.array([3.0]), np.array([1.0]))
    (0.0, 2.0)
    """
    if gap.shape != allowed.shape or not np.isfinite(gap).all():
        return np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(gap == 0, 0.0, np.abs(gap) / allowed)
    return max(float(np.max(share, initial=0.0)) - 1, 0.0)
