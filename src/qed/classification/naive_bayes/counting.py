r"""What naive Bayes on counts shares: sums of columns in each class, a prior, and scores that are linear in the row.

.. math:: \ln P(k)\,p_k(x) = \ln P(k) + b_k + \sum_j x_j \, w_{kj} .

Everything is known from the sums :math:`t_{kj} = \sum_{i: y_i = k} s_i x_{ij}`: one pass, sparse text included.
Zeros are smoothed: a word that a class has not seen does not make it impossible.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import floats, of
from qed.base.certificate import Claim
from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter, boolean, choice, number, numbers
from qed.base.models.problem import StatisticProblem
from qed.base.numbers import EPS, ratio
from qed.base.sources.block import Block
from qed.classification.generative import MOST_ERROR, Generative, beyond, log_priors
from qed.classification.together import planes_of
from qed.stats.by_class import ByClass

ROUNDING = 64 * EPS


class Estimates(NamedTuple):
    """What follows from sums."""

    feature_log_prob: np.ndarray  # (n_classes, p)
    weights: np.ndarray  # (n_classes, p): w
    constants: np.ndarray  # (n_classes,): b


class WithPriors(Generative):
    """A naive Bayes classifier whose priors are given, equal, or the shares of the classes."""

    class_prior: ArrayLike | None
    fit_prior: bool
    class_count_: np.ndarray
    class_log_prior_: np.ndarray

    def _priors(self, seen: ByClass) -> np.ndarray:
        return self._shares(seen, self.class_prior, equal=not self.fit_prior)

    def _learn_priors(self, seen: ByClass) -> None:
        self._learn_classes(seen, least=1)
        self.class_count_ = seen.weights.copy()
        self.class_log_prior_ = np.minimum(log_priors(self._priors(seen)), 0.0)

    def _prior_claim(self, seen: ByClass, rounding: float) -> Claim:
        prior = np.minimum(log_priors(self._priors(seen)), 0.0)
        off = float(np.abs(self.class_log_prior_ - prior).max())
        return Claim("priors are the shares of the classes, or those given", off, rounding)


class CountingNB(WithPriors):
    """A naive Bayes classifier that learns from sums of columns."""

    sparse = True
    _has_scores = False
    attributes: ClassVar = {
        "statistic_": of(ByClass),
        "class_count_": floats("classes", low=0),
        "class_log_prior_": floats("classes", high=0),
        "feature_count_": floats("classes", "features", low=0),
        "feature_log_prob_": floats("classes", "features", high=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0, kind="model") | numbers("model"),
        "fit_prior": boolean(),
        "class_prior": numbers("model") | choice(None),
    }
    compare_grid: ClassVar[Mapping[str, list[float]]] = {"alpha": [0.01, 0.1, 1.0, 10.0]}
    compare_scale: ClassVar[bool] = False

    alpha: ArrayLike
    feature_count_: np.ndarray
    feature_log_prob_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = (
            True  # columns of a general kind, which scikit-learn's checks give, are no counts
        )
        return tags

    @abstractmethod
    def _estimates(self, count: np.ndarray, weight: np.ndarray) -> Estimates:
        """Give the estimates that follow from the sums of columns, of shape (n_classes, p), and the weights of the classes."""

    def _alpha(self, p: int) -> np.ndarray:
        """Give one smoothing for all columns, or one for each."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        if alpha.shape not in ((), (p,)) or (alpha < 0).any():
            raise ParameterError(
                f"{type(self).__name__}: alpha must be a number >= 0, or one for each of the {p} columns, not {self.alpha!r}."
            )
        return alpha

    def _solve(self, problem: StatisticProblem) -> None:
        seen = problem.statistic
        self._learn_priors(seen)
        self.feature_count_ = np.array([part.total for part in seen])
        self.feature_log_prob_ = self._estimates(self.feature_count_, self.class_count_).feature_log_prob

    def _marked(self, block: Block) -> np.ndarray:
        """Give the features as the model counts them."""
        return np.asarray(block.X) if isinstance(block.X, np.ndarray) else block.X

    def _linear(self) -> Estimates:
        """Give the linear scores of the fitted model."""
        return self._estimates(self.feature_count_, self.class_count_)

    def _joint(self, block: Block) -> np.ndarray:
        return np.asarray(self._joints([self])(block)[0])

    def _joints(self, models: Sequence[Self]) -> Callable[[Block], np.ndarray]:
        found = [one._linear() for one in models]
        weights = np.array([part.weights for part in found])
        level = np.array([one.class_log_prior_ + part.constants for one, part in zip(models, found)])
        if len(models) > 1 and len(self.classes_) == 2:
            # Many are asked which class they prefer: the difference says so, in half the time.
            weights, level = weights[:, 1:] - weights[:, :1], level[:, 1:] - level[:, :1]
        return partial(self._of_planes, np.ascontiguousarray(weights.T), level)

    def _of_planes(self, weights: np.ndarray, level: np.ndarray, block: Block) -> np.ndarray:
        scores = planes_of(self._marked(block), weights, level)
        lacks_first = level.shape[1] < len(self.classes_)
        return np.concatenate([np.zeros_like(scores), scores], axis=2) if lacks_first else scores

    def _statistic_numbers(self, p: int, k: int) -> int:
        return k * p

    @property
    def coef_(self) -> np.ndarray:
        """The weights of the linear scores: of the second of two classes against the first, or of each of more."""
        self._check_fitted()
        weights = self._linear().weights
        return weights[1:] - weights[:1] if len(self.classes_) == 2 else weights

    @property
    def intercept_(self) -> np.ndarray:
        """The constants of the linear scores."""
        self._check_fitted()
        level = self.class_log_prior_ + self._linear().constants
        return level[1:] - level[:1] if len(self.classes_) == 2 else level

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        seen = problem.statistic
        if not self._same_classes(problem):
            return [Claim("the classes are those of the rows", np.inf, 0.0)]
        count = np.array([part.total for part in seen])
        wanted = self._estimates(self.feature_count_, self.class_count_).feature_log_prob
        # Sums of numbers that are not negative: their relative error is at most the number of roundings.
        rounding = (max(part.count for part in seen) + 64) * EPS
        lost = rounding * np.array([part.bulk for part in seen])
        kept = rounding * np.array([part.bulk for part in self.statistic_])
        smooth = count + self._alpha(count.shape[1])
        heavy, own = (rounding * np.array([part.heft for part in one]) for one in (seen, self.statistic_))
        allowed = np.minimum(own, MOST_ERROR * seen.weights)
        return [
            Claim(
                "counts are the sums of the rows, but for rounding",
                max(
                    beyond(self.feature_count_ - count, rounding * count + np.minimum(kept, MOST_ERROR * smooth)),
                    beyond(self.class_count_ - seen.weights, rounding * seen.weights + allowed),
                ),
                0.0,
            ),
            self._prior_claim(seen, rounding + 4 * float(ratio(allowed, seen.weights).max())),
            Claim(
                "probabilities follow from the counts (difference, relative)",
                float((np.abs(self.feature_log_prob_ - wanted) / np.maximum(np.abs(wanted), 1.0)).max(initial=0.0)),
                ROUNDING,
            ),
            Claim(
                "relative error of smoothed counts and of the weights of classes, at most",
                float(max(ratio(lost, smooth).max(initial=0.0), ratio(heavy, seen.weights).max())),
                MOST_ERROR,
            ),
        ]
