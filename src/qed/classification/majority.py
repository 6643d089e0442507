r"""The most frequent class: what any other classifier has to beat.

.. math:: \hat c = \arg\max_c \pi_c, \qquad \pi_c = \frac{\sum_i s_i [y_i = c]}{\sum_i s_i}.

No constant answer is right more often, and no constant probabilities have a lower log loss than the shares :math:`\pi` (they are the
maximum likelihood estimate). A classifier that does no better has learned nothing from its columns. One pass over the labels,
:math:`O(n)` (and :math:`O(np)` for the fingerprint of the columns).
Reference: Hastie, Tibshirani and Friedman (2009), The Elements of Statistical Learning, section 2.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, of
from qed.base.certificate import Claim
from qed.base.counts import Counts
from qed.base.errors import InputError
from qed.base.models.checks import refuse_amounts
from qed.base.models.parameters import Parameter
from qed.base.models.problem import StatisticProblem
from qed.base.models.roles import OnePassClassifier
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.summary import Summary
from qed.classification.generative import MOST_ERROR
from qed.stats.both import Both


class MajorityClassifier(OnePassClassifier):
    """Predict the most frequent class, whatever the columns say: the baseline of classification.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_prior_ : ndarray of shape (n_classes,)
        Their (weighted) shares; of equal ones the first wins.
    statistic_ : Both
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    MeanRegressor : The baseline of regression.

    Examples
    --------
    >>> import qed
    >>> model = qed.MajorityClassifier().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "no"])
    >>> model.predict([[9.0]]), model.predict_proba([[9.0]])
    (array(['no'], dtype='<U3'), array([[0.75, 0.25]]))
    """

    sparse = True
    attributes: ClassVar = {
        "statistic_": of(Both),
        "class_prior_": floats("classes", low=0, high=1),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    compare_grid: ClassVar[Mapping[str, Any]] = {}
    compare_name: ClassVar[str] = "Majority class (baseline)"

    class_prior_: np.ndarray

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _statistic(self, block: Block) -> Both:
        return Both(Summary.of(block), Counts.of(block))

    def _solve(self, problem: StatisticProblem) -> None:
        counts = problem.statistic.target
        labels, weights = counts.values(), counts.weights()
        if None in labels:
            raise InputError("The target of MajorityClassifier has missing labels: drop those rows.")
        refuse_amounts(self, labels)
        given = problem.rows.target_dtype if problem.rows is not None else getattr(self, "classes_", np.empty(0)).dtype
        self.classes_ = np.array(labels, dtype=object if given == np.dtype(object) else None)
        self.class_prior_ = weights / weights.sum()

    def _decide(self, block: Block) -> np.ndarray:
        scores = self.class_prior_[1] - self.class_prior_[0] if len(self.classes_) == 2 else self.class_prior_
        return np.broadcast_to(scores, (len(block), *np.shape(scores)))

    def _probabilities(self, block: Block) -> np.ndarray:
        return np.broadcast_to(self.class_prior_, (len(block), len(self.classes_)))

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        counts = problem.statistic.target
        found = dict(zip(counts.values(), counts.weights()))
        total = sum(found.values())
        known = dict(zip(self.classes_.tolist(), self.class_prior_.tolist()))
        off = max(abs(known.get(label, 0.0) - found.get(label, 0.0) / total) for label in {*known, *found})
        # What weights have lost when heavy rows were forgotten; if it is little, it is no fault of the shares.
        lost, kept = (64 * EPS * one.taken / total for one in (counts, self.statistic_.target))
        return [
            Claim.within("class_prior_ are the shares of the classes", float(off + lost), 64 * EPS, kept, MOST_ERROR),
            Claim("they sum to one", abs(float(self.class_prior_.sum()) - 1), 64 * EPS),
        ]
