"""Stacking of classifiers: see :mod:`qed.ensembles.stacking.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import ParameterError
from qed.base.models.composed import Member, Named, refuse_other_kinds
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Classifier
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.classification.logistic.regression import LogisticRegression
from qed.ensembles.bagging.classifier import shares
from qed.ensembles.problem import MemberClasses
from qed.ensembles.stacking.model import STACKING_NO_EFFECT, STACKING_PARAMETERS, Stacking
from qed.selection.splitting.splits import Splitting

METHODS = ("predict_proba", "decision_function", "predict")


@takes(**STACKING_NO_EFFECT)
class StackingClassifier(Classifier, Stacking):
    """Classes by a classifier that learns from what others say of rows they have not seen.

    Parameters
    ----------
    estimators : list of (str, estimator)
        The members and their names; "drop" in the place of one leaves it out. They learn the numbers of the classes.
    final_estimator : classifier or None, default=None
        What learns from them; a ``LogisticRegression()`` where it is None.
    cv : int, splitter, iterable of (train, test), "prefit" or None, default=None
        The folds whose rows members have not seen; five where it is None. With "prefit" the members are taken as they are, fitted, and
        tell of all rows.
    stack_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        What members tell: the first of these that each has, or the one named.
    passthrough : bool, default=False
        Whether the final model sees the columns of the rows as well.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of estimators
        The members, fitted to all rows.
    named_estimators_ : dict
        The same by their names.
    stack_method_ : list of str
        What each of them tells.
    final_estimator_ : classifier
        The model of what they tell.
    certificate_ : Certificate
        The claims of the members and of the final model; ``certify`` works out anew what the final one has seen.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> members = [("bayes", qed.GaussianNB()), ("near", qed.KNeighborsClassifier())]
    >>> model = qed.StackingClassifier(members).fit(X, y)
    >>> model.score(X, y) > 0.95, bool(model.certificate_)
    (True, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        **STACKING_PARAMETERS,
        "stack_method": choice("auto", *METHODS, kind="model"),
    }

    def __init__(
        self,
        estimators: Named,
        final_estimator: Member = None,
        *,
        cv: Splitting = None,
        stack_method: str = "auto",
        passthrough: bool = False,
    ) -> None:
        self.estimators = estimators
        self.final_estimator = final_estimator
        self.cv = cv
        self.stack_method = stack_method
        self.passthrough = passthrough

    def _usual(self) -> Member:
        return LogisticRegression()

    def _problem(self, rows: Rows) -> MemberClasses:
        refuse_other_kinds(self, [self._final], classes=True)
        self._members()
        return MemberClasses(rows, self)

    def _solve(self, problem: MemberClasses) -> None:  # type: ignore[override]
        self.classes_ = problem.classes
        super()._solve(problem)

    def _method(self, name: str, one: Member) -> str:
        wanted = METHODS if self.stack_method == "auto" else (self.stack_method,)
        found = next((method for method in wanted if hasattr(one, method)), None)
        if found is None:
            raise ParameterError(f"Underlying estimator {name} does not implement the method {self.stack_method}.")
        return found

    def _answers_of(self, one: Member, method: str, X: np.ndarray) -> np.ndarray:
        if method == "predict_proba":
            found = shares(one, X, len(self.classes_))
            # The chances of two classes add up to one: one of them says all.
            return found[:, 1:] if found.shape[1] == 2 else found
        return np.asarray(getattr(one, method)(X), dtype=np.float64).reshape(X.shape[0], -1)

    def _widths(self) -> list[int]:
        k = len(self.classes_)
        return [1 if method == "predict" or k == 2 else k for method in self.stack_method_]

    @property
    def _has_probabilities(self) -> bool:
        return hasattr(getattr(self, "final_estimator_", self._final), "predict_proba")

    @property
    def _has_scores(self) -> bool:  # type: ignore[override]
        return hasattr(getattr(self, "final_estimator_", self._final), "decision_function")

    def _decide(self, block: Block) -> np.ndarray:
        return np.asarray(self.final_estimator_.decision_function(self._table(block.X)))

    def _choose(self, block: Block) -> np.ndarray:
        return self.classes_[np.asarray(self.final_estimator_.predict(self._table(block.X)), dtype=np.intp)]

    def _probabilities(self, block: Block) -> np.ndarray:
        return shares(self.final_estimator_, self._table(block.X), len(self.classes_))

    def _prove(self, problem: MemberClasses) -> list[Claim]:
        others = float(not np.array_equal(problem.classes, self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]
