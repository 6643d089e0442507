r"""Voting: several models of different kinds, whose answers are averaged or counted.

.. math:: \hat f(x) = \frac{\sum_m v_m f_m(x)}{\sum_m v_m}, \qquad
   \hat y(x) = \arg\max_k \sum_m v_m [h_m(x) = k] \ \text{(hard)}, \qquad \arg\max_k \sum_m v_m P_m(k \mid x) \ \text{(soft)}.

The squared error of a mean is the mean of the members' less the spread of what they say about it (Krogh and Vedelsby 1995), so it is never
more than theirs on average, and less where they differ. Of equal votes the first class wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, each, model
from qed.base.certificate import Certificate, Claim
from qed.base.errors import ParameterError
from qed.base.models.composed import (
    Composed,
    Member,
    Named,
    composed,
    refuse_other_kinds,
    takes_missing,
    takes_sparse,
)
from qed.base.models.estimator import Estimator
from qed.base.models.no_effect import takes, with_default
from qed.base.models.parameters import Parameter, boolean, choice, numbers
from qed.base.models.roles import Classifier, Regressor, Transformer
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.members import all_claims, fitted, members_disagree, proof_of, seeded
from qed.ensembles.problem import MemberClasses, MemberProblem

VOTING_NO_EFFECT = {"n_jobs": with_default("n_jobs", None), "verbose": with_default("verbose", False)}


class Together(Composed, Estimator):
    """Named members that are all fitted to the same rows."""

    passes: ClassVar[str] = "in memory"
    no_inference: ClassVar[str] = "its members may have theirs"
    attributes: ClassVar[Attributes] = {"estimators_": each(model("fit"), "members")}
    estimators_: list[Member]

    @property
    def named_estimators_(self) -> Mapping[str, Member]:
        """The fitted members by their names, and "drop" for those that were dropped."""
        self._check_fitted()
        found = iter(self.estimators_)
        named = type(self.named_estimators)()
        named.update({name: one if isinstance(one, str) else next(found) for name, one in self.estimators})
        return named

    @property
    def missing(self) -> bool:  # type: ignore[override]
        """Whether missing values are let through: where all members take them."""
        return all(takes_missing(one) for _, one in self.estimators if not isinstance(one, str))

    @property
    def sparse(self) -> bool:  # type: ignore[override]
        """Whether sparse matrices are taken: where all members take them."""
        return all(takes_sparse(one) for _, one in self.estimators if not isinstance(one, str))

    def _names(self) -> list[str]:
        return [name for name, one in self.estimators if not isinstance(one, str)]

    def _fit_members(self, problem: MemberProblem) -> None:
        self.estimators_ = [
            fitted(seeded(one, 0, name, anew=False), problem.X, problem.target, problem.weight)
            for name, one in self._members()
        ]

    def _proofs(self, problem: MemberProblem) -> list[tuple[str, Certificate | None]]:
        seen = problem.X, problem.target, problem.weight
        found = (proof_of(one, *seen, again=problem.again) for one in self.estimators_)
        return list(zip(self._names(), found))

    def _prove(self, problem: Any) -> list[Claim]:
        lost = abs(len(self._names()) - len(self.estimators_))
        return [
            *all_claims(self._proofs(problem)),
            Claim("members without a name, or names without one", float(lost), 0.0),
        ]

    def _disagreement(self) -> str:
        if len(self.estimators_) != len(self._names()):
            return "estimators_ are not one for each of the estimators"
        known = [len(one.classes_) for one in self.estimators_ if hasattr(one, "classes_")]
        own = getattr(self, "classes_", None)
        if own is not None and known and max(known) != len(own):
            return "classes_ are not as many as members know"
        return members_disagree(self.estimators_, self.n_features_in_)

    def _evidence(self, rows: Rows) -> Any:
        problem = self._problem(rows)
        problem.again = True
        return problem


class Voting(Together, Transformer):
    """Named members, each with a weight."""

    weights: Sequence[float] | None

    def _solve(self, problem: MemberProblem) -> None:
        if self.weights is not None and len(self.weights) != len(self.estimators):
            raise ParameterError(
                f"{type(self).__name__}: Number of `estimators` and weights must be equal; got {len(self.weights)} weights, "
                f"{len(self.estimators)} estimators"
            )
        self._fit_members(problem)

    @property
    def _say(self) -> np.ndarray:
        """The weights of the members that were not dropped."""
        given = np.ones(len(self.estimators)) if self.weights is None else np.asarray(self.weights, dtype=np.float64)
        return given[[not isinstance(one, str) for _, one in self.estimators]]

    def fit_transform(self, X: object, y: object = None, sample_weight: object = None) -> np.ndarray:
        """Fit, and give what each member says of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        return self.fit(X, y, sample_weight).transform(X)


@takes(**VOTING_NO_EFFECT)
class VotingClassifier(Classifier, Voting):
    """Classes by the votes, or the mean probabilities, of several classifiers.

    Parameters
    ----------
    estimators : list of (str, classifier)
        The members and their names; "drop" in the place of one leaves it out. They learn the numbers of the classes.
    voting : {"hard", "soft"}, default="hard"
        Whether votes are counted, or probabilities averaged.
    weights : array-like of shape (n_members,) or None, default=None
        What the say of each is; the same where it is None.
    flatten_transform : bool, default=True
        Whether ``transform`` of a soft vote gives a table, or an array of shape (n_members, n, n_classes).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    estimators_ : list of classifiers
        The fitted members.
    named_estimators_ : dict
        The same by their names.
    certificate_ : Certificate
        The claims of the members.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> members = [("bayes", qed.GaussianNB()), ("tree", qed.DecisionTreeClassifier(max_depth=2))]
    >>> model = qed.VotingClassifier(members, voting="soft").fit(X, y)
    >>> model.score(X, y) > 0.95, bool(model.certificate_)
    (True, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "estimators": composed("classifier"),
        "voting": choice("hard", "soft", kind="model"),
        "weights": numbers("model") | choice(None),
        "flatten_transform": boolean(),
    }
    _has_scores: ClassVar[bool] = False

    def __init__(
        self,
        estimators: Named,
        *,
        voting: str = "hard",
        weights: Sequence[float] | None = None,
        flatten_transform: bool = True,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.flatten_transform = flatten_transform

    def _problem(self, rows: Rows) -> MemberClasses:
        refuse_other_kinds(self, [one for _, one in self._members()], classes=True)
        return MemberClasses(rows, self)

    def _solve(self, problem: MemberClasses) -> None:  # type: ignore[override]
        self.classes_ = problem.classes
        super()._solve(problem)

    @property
    def _has_probabilities(self) -> bool:
        return self.voting == "soft"

    def _probabilities(self, block: Block) -> np.ndarray:
        found = np.average([one.predict_proba(block.X) for one in self.estimators_], axis=0, weights=self._say)
        return np.asarray(found)

    def _said(self, block: Block) -> np.ndarray:
        """Give the number of the class that each member says, of shape (n, n_members)."""
        return np.column_stack([np.asarray(one.predict(block.X), dtype=np.intp) for one in self.estimators_])

    def _decide(self, block: Block) -> np.ndarray:
        if self.voting == "soft":
            return self._probabilities(block)
        votes, rows = np.zeros((len(block), len(self.classes_))), np.arange(len(block))
        for said, say in zip(self._said(block).T, self._say):
            votes[rows, said] += say
        return votes

    def _choose(self, block: Block) -> np.ndarray:
        return self.classes_[self._decide(block).argmax(axis=1)]

    def _change(self, block: Block) -> np.ndarray:
        if self.voting == "hard":
            return self._said(block)
        found = [one.predict_proba(block.X) for one in self.estimators_]
        # Blocks are joined along their rows, which come first.
        return np.hstack(found) if self.flatten_transform else np.stack(found, axis=1)

    def transform(self, X: object) -> np.ndarray:
        """Give what each member says of every row: numbers of classes, or probabilities for a soft vote.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        found = super().transform(X)
        return found.transpose(1, 0, 2) if isinstance(found, np.ndarray) and found.ndim == 3 else found

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Name the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : None
            Not used.
        """
        self._check_fitted()
        if self.voting == "soft" and not self.flatten_transform:
            raise ParameterError(
                "get_feature_names_out is not supported when `voting='soft'` and `flatten_transform=False`"
            )
        start, k = type(self).__name__.lower(), len(self.classes_)
        ends = [f"{i}" for i in range(k)] if self.voting == "soft" else [""]
        return np.array([f"{start}_{name}{end}" for name in self._names() for end in ends], dtype=object)

    def _prove(self, problem: MemberClasses) -> list[Claim]:
        others = float(not np.array_equal(problem.classes, self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]


@takes(**VOTING_NO_EFFECT)
class VotingRegressor(Regressor, Voting):
    """Numbers by the mean of several regressors.

    Parameters
    ----------
    estimators : list of (str, regressor)
        The members and their names; "drop" in the place of one leaves it out.
    weights : array-like of shape (n_members,) or None, default=None
        What the say of each is; the same where it is None.

    Attributes
    ----------
    estimators_ : list of regressors
        The fitted members.
    named_estimators_ : dict
        The same by their names.
    certificate_ : Certificate
        The claims of the members.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.VotingRegressor([("line", qed.Ridge()), ("near", qed.KNeighborsRegressor(20))]).fit(X, y)
    >>> round(model.score(X, y), 1), bool(model.certificate_)
    (0.5, True)
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "estimators": composed("regressor"),
        "weights": numbers("model") | choice(None),
    }

    def __init__(self, estimators: Named, *, weights: Sequence[float] | None = None) -> None:
        self.estimators = estimators
        self.weights = weights

    def _problem(self, rows: Rows) -> MemberProblem:
        refuse_other_kinds(self, [one for _, one in self._members()], classes=False)
        return MemberProblem(rows, self)

    def _change(self, block: Block) -> np.ndarray:
        found = np.column_stack([np.asarray(one.predict(block.X), dtype=np.float64) for one in self.estimators_])
        return found.astype(block.X.dtype, copy=False)

    def _predict(self, block: Block) -> np.ndarray:
        found = np.average(self._change(block).astype(np.float64), axis=1, weights=self._say)
        return np.asarray(found).astype(block.X.dtype, copy=False)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Name the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : None
            Not used.
        """
        self._check_fitted()
        return np.array([f"{type(self).__name__.lower()}_{name}" for name in self._names()], dtype=object)
