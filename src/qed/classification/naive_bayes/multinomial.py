r"""Multinomial naive Bayes: a row is a bag of counts, drawn from the frequencies of its class.

.. math:: p_{kj} = \frac{t_{kj} + \alpha}{\sum_l t_{kl} + \alpha p}, \qquad
          \ln P(k)\,p_k(x) = \ln P(k) + \sum_j x_j \ln p_{kj} + \text{const},

with the total :math:`t_{kj}` of column j in class k. In texts the columns are words, and :math:`\alpha` keeps a word that a class has not
seen from ruling it out. One pass over what is stored of the rows.

McCallum and Nigam (1998), A comparison of event models for naive Bayes text classification.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.base.models.no_effect import no_effect, takes
from qed.base.models.parameters import boolean
from qed.base.numbers import TINY
from qed.base.sources.block import Block, is_sparse
from qed.classification.naive_bayes.counting import CountingNB, Estimates
from qed.stats.by_class import ByClass
from qed.stats.classes.columns import sums_by_class


@takes(force_alpha=no_effect(boolean(), True, "a small alpha is taken as it is"))
class MultinomialNB(CountingNB):
    """Classes by how often columns occur, such as words.

    Parameters
    ----------
    alpha : float or array of shape (p,), default=1.0
        How much is added to the total of every column in each class.
    fit_prior : bool, default=True
        Whether the classes' shares of the rows are their probabilities; otherwise all are equally probable.
    class_prior : array-like of shape (n_classes,), optional
        Their probabilities, where they are known.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_count_, class_log_prior_ : ndarray of shape (n_classes,)
        Their weights, and the logarithms of their probabilities.
    feature_count_, feature_log_prob_ : ndarray of shape (n_classes, p)
        The totals of the columns in each class, and the logarithms of their frequencies.
    coef_, intercept_ : ndarray
        The linear scores.
    statistic_ : ByClass
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    Examples
    --------
    >>> import qed
    >>> model = qed.MultinomialNB().fit([[3, 0, 1], [2, 1, 0], [0, 4, 1]], ["sport", "sport", "art"])
    >>> model.predict([[1, 0, 0], [0, 1, 0]])
    array(['sport', 'art'], dtype='<U5')
    """

    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    compare_grid: ClassVar[Mapping[str, list[float]]] = CountingNB.compare_grid
    compare_name: ClassVar[str] = "Multinomial naive Bayes"
    compare_words: ClassVar[bool] = True

    @classmethod
    def _contends_on(cls, X: np.ndarray) -> bool:
        # Counts, or the weights of words: nothing below zero, most of it zero, and no measurements.
        counts = (X >= 0).all(axis=0) & ((X <= 1).all(axis=0) | (np.floor(X) == X).all(axis=0))
        return bool(counts.all() and 2 * np.count_nonzero(X) <= X.size and not ((X == 0) | (X == 1)).all())

    def __init__(self, *, alpha: ArrayLike = 1.0, fit_prior: bool = True, class_prior: ArrayLike | None = None) -> None:
        self.alpha = alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _statistic(self, block: Block) -> ByClass:
        refuse_negative(self, block)
        return sums_by_class(block)

    def _estimates(self, count: np.ndarray, weight: np.ndarray) -> Estimates:
        more = np.maximum(count + self._alpha(count.shape[1]), TINY)
        more /= more.sum(axis=1, keepdims=True)
        share = np.minimum(np.log(more, out=more), 0.0, out=more)
        return Estimates(share, share, np.zeros(len(count)))

    def _linear(self) -> Estimates:
        # What was estimated is the weights; logarithms take as long as a product with the rows.
        return Estimates(self.feature_log_prob_, self.feature_log_prob_, np.zeros(len(self.feature_log_prob_)))


def refuse_negative(model: object, block: Block) -> None:
    """Refuse counts below zero, by row and column."""
    stored = block.X.data if is_sparse(block.X) else np.asarray(block.X)
    if stored.size == 0 or not stored.min() < 0:
        return
    rows, columns = (block.X < 0).nonzero()
    used = np.flatnonzero(block.weights[rows] > 0)
    if not len(used):
        return
    row, column = int(rows[used[0]]), int(columns[used[0]])
    raise InputError(
        f"Negative values in data passed to {type(model).__name__}: row {block.start + row}, column {column}. "
        "Counts and frequencies are never below zero; use qed.GaussianNB for other numbers."
    )
