r"""Categorical naive Bayes: every column is one of a few levels, with frequencies of its own in each class.

.. math:: p_{kj}(v) = \frac{t_{kj}(v) + \alpha}{n_k + \alpha s_j}, \qquad \ln P(k)\,p_k(x) = \ln P(k) + \sum_j \ln p_{kj}(x_j),

with the weight :math:`t_{kj}(v)` of the rows of class k whose column j is v, and the number :math:`s_j` of levels of column j. Where
columns are put together into one whose levels are all their combinations, it is the unrestricted model: :math:`2^p - 1` numbers for each
class, where naive Bayes needs :math:`p`. One pass of :math:`O(np)`.

Mitchell (1997), Machine Learning, section 6.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import each, floats, integers, of
from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.no_effect import no_effect, takes
from qed.base.models.parameters import Parameter, array, boolean, choice, integer, number, numbers
from qed.base.models.problem import StatisticProblem
from qed.base.numbers import EPS, TINY, ratio
from qed.base.sources.block import Block
from qed.classification.generative import MOST_ERROR, beyond
from qed.classification.naive_bayes.counting import WithPriors
from qed.classification.naive_bayes.multinomial import refuse_negative
from qed.stats.by_class import ByClass
from qed.stats.classes.levels import LevelCounts

# More levels than this are no categories: it would take a gigabyte to count them in a hundred columns.
MOST_LEVELS = 1 << 20


@takes(force_alpha=no_effect(boolean(), True, "a small alpha is taken as it is"))
class CategoricalNB(WithPriors):
    """Classes by the levels of columns.

    Parameters
    ----------
    alpha : float, default=1.0
        How many rows are added to every level of every column in each class.
    fit_prior : bool, default=True
        Whether the classes' shares of the rows are their probabilities; otherwise all are equally probable.
    class_prior : array-like of shape (n_classes,), optional
        Their probabilities, where they are known.
    min_categories : int or array of shape (p,), optional
        How many levels there are at least, of all columns or of each. By default as many as were seen, the largest and one more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Their weights, and the logarithms of their probabilities.
    n_categories_ : ndarray of shape (p,)
        How many levels each column has.
    category_count_, feature_log_prob_ : list of ndarray of shape (n_classes, n_categories)
        For each column the weight of its levels in each class, and the logarithms of their frequencies.
    statistic_ : ByClass
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Columns hold the numbers of levels: 0, 1, 2 and so on. A level that was not seen in the fit has the probability of one that a class
    has not seen.

    Examples
    --------
    >>> import qed
    >>> model = qed.CategoricalNB().fit([[0, 1], [0, 2], [1, 0], [1, 2]], ["a", "a", "b", "b"])
    >>> model.n_categories_, model.predict([[0, 2], [1, 1]])
    (array([2, 3]), array(['a', 'b'], dtype='<U1'))
    """

    _has_scores = False
    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    attributes: ClassVar = {
        "statistic_": of(ByClass),
        "class_count_": floats("classes", low=0),
        "class_log_prior_": floats("classes", high=0),
        "n_categories_": integers("features", low=1),
        "category_count_": each(floats("classes", "_", low=0), "features"),
        "feature_log_prob_": each(floats("classes", "_", high=0), "features"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0, kind="model"),
        "fit_prior": boolean(),
        "class_prior": numbers("model") | choice(None),
        "min_categories": integer(1, kind="model") | choice(None) | array(),
    }
    compare_name: ClassVar[str] = "Categorical naive Bayes"
    compare_grid: ClassVar[Mapping[str, Any]] = {"alpha": [0.01, 0.1, 1.0, 10.0]}
    compare_encoder: ClassVar[Mapping[str, bool]] = {"coded": True}
    compare_scale: ClassVar[bool] = False

    n_categories_: np.ndarray
    category_count_: list[np.ndarray]
    feature_log_prob_: list[np.ndarray]

    @classmethod
    def _contends_on(cls, X: np.ndarray) -> bool:
        # Levels as columns of zeros and ones; where there is no measurement among them.
        return bool(((X == 0) | (X == 1)).all())

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: ArrayLike | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        tags.classifier_tags.poor_score = True  # scikit-learn's checks give amounts, not levels
        return tags

    def _statistic(self, block: Block) -> ByClass:
        refuse_negative(self, block)
        X = np.asarray(block.present.X)
        if X.size and MOST_LEVELS <= X.max() < np.inf:
            raise InputError(
                f"CategoricalNB takes numbers of levels, but column {int(X.max(axis=0).argmax())} holds {X.max():g}: such a column is no "
                "category. Use qed.GaussianNB for amounts."
            )
        return ByClass.of(block, LevelCounts.of)

    def _statistic_numbers(self, p: int, k: int) -> int:
        return 64 * k * p

    def _least(self, p: int) -> np.ndarray:
        least = np.ones(p, dtype=np.int64) if self.min_categories is None else np.asarray(self.min_categories)
        if least.shape not in ((), (p,)) or least.dtype.kind not in "iu" or (least < 1).any():
            raise ParameterError(
                f"CategoricalNB: min_categories must be a whole number > 0, or one for each of the {p} columns, "
                f"not {self.min_categories!r}."
            )
        return np.broadcast_to(least, (p,))

    def _solve(self, problem: StatisticProblem) -> None:
        seen = problem.statistic
        self._learn_priors(seen)
        self.n_categories_, self.category_count_ = self._counts(seen)
        self.feature_log_prob_ = self._shares_of_levels()

    def _counts(self, seen: ByClass) -> tuple[np.ndarray, list[np.ndarray]]:
        """Give the number of levels of each column, and their weights in each class."""
        p = self.n_features_in_
        levels = np.maximum(np.max([part.levels for part in seen], axis=0), self._least(p))
        return levels, [np.array([part.of_column(j, int(levels[j])) for part in seen]) for j in range(p)]

    def _shares_of_levels(self) -> list[np.ndarray]:
        more = [np.maximum(count + self.alpha, TINY) for count in self.category_count_]
        return [np.minimum(np.log(one / one.sum(axis=1, keepdims=True)), 0.0) for one in more]

    def _joint(self, block: Block) -> np.ndarray:
        X = np.asarray(block.X)
        joint = np.zeros((len(X), len(self.classes_)))
        whole = self.class_count_ + self.alpha * self.n_categories_[:, None]
        unseen = np.log(np.maximum(self.alpha, TINY) / np.maximum(whole, TINY))
        for j, (column, shares) in enumerate(zip(X.T.astype(np.int64), self.feature_log_prob_)):
            known = (column >= 0) & (column < shares.shape[1])
            joint += np.where(known[:, None], shares.T[np.where(known, column, 0)], unseen[j])
        return joint + self.class_log_prior_

    @property
    def n_parameters_(self) -> int:
        """How many numbers the model has estimated: frequencies of levels, and priors."""
        self._check_fitted()
        return len(self.classes_) * int((self.n_categories_ - 1).sum()) + len(self.classes_) - 1

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        seen = problem.statistic
        if not self._same_classes(problem):
            return [Claim("the classes are those of the rows", np.inf, 0.0)]
        levels, counts = self._counts(seen)
        rounding = (max(part.count for part in seen) + 64) * EPS
        lost = rounding * np.array([part.bulk for part in seen])[:, None]
        kept = rounding * np.array([part.bulk for part in self.statistic_])[:, None]
        error, off = 0.0, 0.0
        for found, count in zip(self.category_count_, counts):
            smooth = count + self.alpha
            error = max(error, float(ratio(np.where(count > 0, lost, 0.0), smooth).max(initial=0.0)))
            off = max(off, beyond(found - count, rounding * count + np.minimum(kept, MOST_ERROR * smooth)))
        shares = zip(self.feature_log_prob_, self._shares_of_levels())
        gap = max(float(np.abs(found - share).max(initial=0.0)) for found, share in shares)
        return [
            Claim("columns have the levels said", float(np.abs(self.n_categories_ - levels).max(initial=0)), 0.0),
            Claim(
                "counts are those of the rows, but for rounding",
                max(off, beyond(self.class_count_ - seen.weights, rounding * seen.weights)),
                0.0,
            ),
            self._prior_claim(seen, rounding),
            Claim("frequencies follow from the counts", gap, 4096 * EPS),
            Claim("relative error of smoothed counts, at most", error, MOST_ERROR),
        ]
