r"""Bernoulli naive Bayes: every column is there or not, each with a probability of its own in each class.

.. math:: p_{kj} = \frac{t_{kj} + \alpha}{n_k + \alpha + \beta}, \qquad
          \ln \frac{P(1 \mid x)}{P(0 \mid x)} = \sum_j x_j \ln \frac{p_{1j}(1 - p_{0j})}{p_{0j}(1 - p_{1j})}
          + \sum_j \ln \frac{1 - p_{1j}}{1 - p_{0j}} + \ln \frac{P(1)}{P(0)},

with the number :math:`t_{kj}` of rows of class k that have column j. The estimate adds :math:`\alpha` rows that have every column and
:math:`\beta` that have none (by default as many), so that nothing is impossible because it was not seen; one is Laplace's rule. The
decision is linear in x, for all its :math:`2^p` values. One pass of :math:`O(np)`, or of what is stored of sparse rows.

McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from qed.base.models.no_effect import no_effect, takes
from qed.base.models.parameters import Parameter, boolean, choice, number
from qed.base.numbers import TINY
from qed.base.sources.block import Block, is_sparse
from qed.classification.naive_bayes.counting import CountingNB, Estimates
from qed.stats.by_class import ByClass
from qed.stats.classes.columns import sums_by_class


@takes(force_alpha=no_effect(boolean(), True, "a small alpha is taken as it is"))
class BernoulliNB(CountingNB):
    """Classes by which columns are there.

    Parameters
    ----------
    alpha : float or array of shape (p,), default=1.0
        How many rows that have a column are added to each class.
    binarize : float or None, default=0.0
        Values above this are "there"; None takes zeros and ones as they are.
    fit_prior : bool, default=True
        Whether the classes' shares of the rows are their probabilities; otherwise all are equally probable.
    class_prior : array-like of shape (n_classes,), optional
        Their probabilities, where they are known.
    absent_alpha : float, optional
        How many rows without a column are added; by default as many as `alpha`. With ``alpha=1, absent_alpha=0, prior_alpha=1`` one row
        that has every column is added to each class.
    prior_alpha : float, default=0.0
        How many rows are added to each class when its share is estimated.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Their weights, and the logarithms of their probabilities.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, p)
        How often a column is there in each class, and the logarithm of the probability that it is.
    coef_, intercept_ : ndarray
        The linear scores.
    statistic_ : ByClass
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    Examples
    --------
    >>> import qed
    >>> X, y = [[1, 1], [1, 0], [0, 1], [0, 0]], ["spam", "spam", "ham", "ham"]
    >>> model = qed.BernoulliNB().fit(X, y)
    >>> model.predict_proba([[1, 0]]).round(3), model.classes_
    (array([[0.25, 0.75]]), array(['ham', 'spam'], dtype='<U4'))
    """

    statistic_parameters: ClassVar[tuple[str, ...]] = ("binarize",)
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **CountingNB.parameters,
        "binarize": number(kind="model") | choice(None),
        "absent_alpha": number(0, kind="model") | choice(None),
        "prior_alpha": number(0, kind="model"),
    }
    compare_grid: ClassVar[Mapping[str, list[float]]] = CountingNB.compare_grid
    compare_name: ClassVar[str] = "Bernoulli naive Bayes"

    @classmethod
    def _contends_on(cls, X: np.ndarray) -> bool:
        return bool(((X == 0) | (X == 1)).all())

    def __init__(
        self,
        *,
        alpha: ArrayLike = 1.0,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        absent_alpha: float | None = None,
        prior_alpha: float = 0.0,
    ) -> None:
        self.alpha = alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.absent_alpha = absent_alpha
        self.prior_alpha = prior_alpha

    def _statistic(self, block: Block) -> ByClass:
        return sums_by_class(self._with_zeros(block), self.binarize)

    def _marked(self, block: Block) -> np.ndarray:
        X = super()._marked(self._with_zeros(block))
        return X if self.binarize is None else (self.binarize < X).astype(np.float64)

    def _with_zeros(self, block: Block) -> Block:
        """Give a block as it is; as a dense one where the threshold is below zero, so that what is not stored counts."""
        if is_sparse(block.X) and self.binarize is not None and self.binarize < 0:
            return replace(block, X=block.X.toarray())
        return block

    def _priors(self, seen: ByClass) -> np.ndarray:
        if self.class_prior is None and self.fit_prior and self.prior_alpha > 0:
            more = seen.weights + self.prior_alpha
            return more / more.sum()
        return super()._priors(seen)

    def _estimates(self, count: np.ndarray, weight: np.ndarray) -> Estimates:
        alpha = self._alpha(count.shape[1])
        beta = alpha if self.absent_alpha is None else self.absent_alpha
        whole = np.maximum(weight[:, None] + alpha + beta, TINY)
        there = np.log(np.maximum((count + alpha) / whole, TINY))
        absent = np.log(np.maximum((weight[:, None] - count + beta) / whole, TINY))
        return Estimates(np.minimum(there, 0.0), there - absent, absent.sum(axis=1))
