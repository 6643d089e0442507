"""Bagging of classifiers: see :mod:`qed.ensembles.bagging.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, maybe, size
from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.composed import Member, refuse_other_kinds
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter
from qed.base.models.roles import Classifier
from qed.base.random import Seed
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.bagging.model import BAGGING_NO_EFFECT, BAGGING_PARAMETERS, Bagging
from qed.ensembles.problem import MemberClasses
from qed.trees.classifier import DecisionTreeClassifier


@takes(**BAGGING_NO_EFFECT)
class BaggingClassifier(Classifier, Bagging):
    """Classes by the mean of the probabilities, or the votes, of members fitted to rows drawn by lot.

    Parameters
    ----------
    estimator : classifier or None, default=None
        What is fitted; a full ``DecisionTreeClassifier()`` where it is None. It learns the numbers of the classes.
    n_estimators : int, default=10
        How many members.
    max_samples : int, float or None, default=None
        Rows that each member draws, or their share; as many as there are where it is None.
    max_features : int or float, default=1.0
        Columns that each member draws, or their share.
    bootstrap : bool, default=True
        Whether rows are drawn with replacement.
    bootstrap_features : bool, default=False
        Whether columns are.
    oob_score : bool, default=False
        Whether to judge each row by the members that have not seen it.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn with, and what members draw with.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_classes_ : int
        How many they are.
    estimators_ : list of classifiers
        The members.
    estimators_features_ : ndarray of shape (n_members, n_columns)
        The columns of each.
    seed_ : int
        What was drawn with.
    oob_score_ : float
        The accuracy on rows by the members that have not seen them, where it was asked for.
    oob_decision_function_ : ndarray of shape (n, n_classes)
        What those members say on average; not a number for rows that all have seen.
    certificate_ : Certificate
        The proof: those of the members, for the rows drawn for them.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> model = qed.BaggingClassifier(qed.GaussianNB(), oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.9, bool(model.certificate_)
    (True, True)
    """

    attributes: ClassVar = {
        "n_classes_": size("classes"),
        "oob_decision_function_": maybe(floats("rows", "classes", finite=False)),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = BAGGING_PARAMETERS
    _has_scores: ClassVar[bool] = False
    n_classes_: int
    oob_decision_function_: np.ndarray

    def __init__(
        self,
        estimator: Member = None,
        n_estimators: int = 10,
        *,
        max_samples: int | float | None = None,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: bool = False,
        random_state: Seed = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.random_state = random_state

    def _usual(self) -> Member:
        return DecisionTreeClassifier()

    def _problem(self, rows: Rows) -> MemberClasses:
        refuse_other_kinds(self, [self.estimator_], classes=True)
        return MemberClasses(rows, self)

    def _solve(self, problem: MemberClasses) -> None:  # type: ignore[override]
        self.classes_, self.n_classes_ = problem.classes, len(problem.classes)
        super()._solve(problem)

    def _answers(self, made: Member, X: np.ndarray) -> np.ndarray:
        return shares(made, X, len(self.classes_))

    def _says(self, mean: np.ndarray) -> dict[str, np.ndarray]:
        said = self.classes_[mean.argmax(axis=1)]
        return {"predict": said, "predict_proba": mean, "classes_": self.classes_}

    def _judged(self, problem: MemberClasses, mean: np.ndarray, there: np.ndarray) -> float:
        weight = problem.weights[there]
        self.oob_decision_function_ = np.broadcast_to(mean, (len(mean), len(self.classes_))).copy()
        if not there.any():
            return 0.0
        return float(weight @ (mean[there].argmax(axis=1) == problem.target[there]) / weight.sum())

    def _decide(self, block: Block) -> np.ndarray:
        return self._mean(block.X)

    def _choose(self, block: Block) -> np.ndarray:
        return self.classes_[self._mean(block.X).argmax(axis=1)]

    def _probabilities(self, block: Block) -> np.ndarray:
        return self._mean(block.X)

    def _prove(self, problem: MemberClasses) -> list[Claim]:
        others = float(not np.array_equal(problem.classes, self.classes_) or self.n_classes_ != len(self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]


def shares(made: Member, X: np.ndarray, k: int) -> np.ndarray:
    """Give the probabilities of k classes by a member that learned some of their numbers; or a vote of one where it has none."""
    found = np.zeros((X.shape[0], k))
    if hasattr(made, "predict_proba"):
        found[:, _numbers(made.classes_, k)] = made.predict_proba(X)
    else:
        found[np.arange(X.shape[0]), _numbers(made.predict(X), k)] = 1.0
    return found


def _numbers(labels: Any, k: int) -> np.ndarray:
    """Give what members call the k classes: their numbers, unless somebody changed them."""
    found = np.asarray(labels, dtype=np.intp)
    if found.min(initial=0) < 0 or found.max(initial=0) >= k:
        raise InputError(
            f"A member tells of classes beyond the {k} of its ensemble: it was changed, or its file is damaged. Fit it anew."
        )
    return found
