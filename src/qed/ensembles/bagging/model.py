r"""Bagging: the mean, or the vote, of members that were each fitted to rows and columns drawn by lot.

.. math:: \hat f(x) = \frac{1}{M} \sum_{m=1}^{M} f_m(x), \qquad f_m \text{ fitted to } n \text{ rows drawn with replacement}.

Any model will do. The mean of members with variance :math:`\sigma^2` and correlation :math:`\rho` has :math:`\rho\sigma^2 + (1 -
\rho)\sigma^2 / M`, and the bias of one. A row is left out by about :math:`(1 - 1/n)^n \approx 0.368` of them, whose mean judges it as a
row held out.

Breiman (1996), Bagging predictors.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import Attributes, each, floats, integers, maybe, model
from qed.base.certificate import Certificate, Claim
from qed.base.engine import work
from qed.base.errors import ParameterError
from qed.base.models.composed import Member, member
from qed.base.models.no_effect import NO_EFFECT, with_default
from qed.base.models.out_of_bag import means, search_out_of_bag, warn_of_unjudged
from qed.base.models.parameters import Parameter, boolean, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.rows import Rows
from qed.ensembles.members import Copies, failing_claims, fitted, members_disagree, names_of, proof_of, seeded, times_of
from qed.ensembles.problem import MemberProblem


def _count_or_share() -> Parameter:
    """Accept a whole number, or a share."""
    return Parameter(
        "a whole number >= 1, or a share above 0 and at most 1",
        lambda value: (
            number(0, 1, above=True).accepts(value) if isinstance(value, float) else integer(1).accepts(value)
        ),
        "model",
    )


BAGGING_PARAMETERS: Mapping[str, Parameter] = {
    "estimator": member("model", "a decision tree"),
    "n_estimators": integer(1, kind="model"),
    "max_samples": _count_or_share() | choice(None),
    "max_features": _count_or_share(),
    "bootstrap": boolean(),
    "bootstrap_features": boolean(),
    "oob_score": boolean(),
    "random_state": random_state(),
}
BAGGING_NO_EFFECT = {
    "n_jobs": with_default("n_jobs", None),
    "verbose": with_default("verbose", 0),
    "warm_start": NO_EFFECT["warm_start"],
}


class Bagging(Copies):
    """Members that are fitted side by side."""

    passes: ClassVar[str] = "in memory"
    no_inference: ClassVar[str] = "its members are fitted to rows drawn by lot"
    attributes: ClassVar[Attributes] = {
        "estimators_": each(model("predict"), "members"),
        "estimators_features_": integers("members", "columns", below="features"),
        "seed_": integers(),
        "oob_score_": maybe(floats()),
    }
    estimator: Member
    n_estimators: int
    max_samples: int | float | None
    max_features: int | float
    bootstrap: bool
    bootstrap_features: bool
    oob_score: bool
    random_state: Seed
    estimators_: list[Member]
    estimators_features_: np.ndarray
    seed_: int
    oob_score_: float

    @abstractmethod
    def _answers(self, made: Member, X: np.ndarray) -> np.ndarray:
        """Give what a member adds to the sum over members, of shape (n, outputs)."""

    @abstractmethod
    def _judged(self, problem: Any, mean: np.ndarray, there: np.ndarray) -> float:
        """Keep the means over the members that have not seen each row, and give their score for the rows that some left out."""

    def _solve(self, problem: MemberProblem) -> None:
        if self.oob_score and not self.bootstrap:
            raise ParameterError(
                f"{type(self).__name__}: out of bag estimation (oob_score=True) is only available if bootstrap=True."
            )
        self.seed_ = seed_of(self.random_state)
        p = problem.X.shape[1]
        tried = max(1, int(self.max_features * p)) if isinstance(self.max_features, float) else self.max_features
        if tried > p:
            raise ParameterError(f"{type(self).__name__}: max_features must be <= n_features, and there are {p}.")
        self.estimators_features_ = np.array([self._columns(p, tried, k) for k in range(self.n_estimators)])
        problem.prepare()
        self.estimators_ = list(work(partial(self._fitted, problem, k) for k in range(self.n_estimators)))
        if self.oob_score:
            self.oob_score_ = self._out_of_bag(problem)

    def _columns(self, p: int, tried: int, which: int) -> np.ndarray:
        lots = generator(self.seed_, "columns", which)
        if self.bootstrap_features:
            return lots.integers(p, size=tried)
        return np.arange(p) if tried == p else np.sort(lots.permutation(p)[:tried])

    def _times(self, problem: MemberProblem, which: int) -> np.ndarray:
        """Give how often each row was drawn for a member."""
        asked, copies = self.max_samples, problem.copies
        count = copies if asked is None else max(1, int(asked * copies)) if isinstance(asked, float) else asked
        if count > copies and not self.bootstrap:
            raise ParameterError(
                f"{type(self).__name__}: max_samples must be <= n_samples={copies} without replacement."
            )
        if self.bootstrap:
            return problem.drawn(count, problem.weights, self.seed_, "rows", which)
        return problem.chosen(count, self.seed_, "rows", which)

    def _rows_of(
        self, problem: MemberProblem, made: Member, which: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Give what a member was fitted to: its rows and columns, their targets, and how often each was drawn."""
        rows, times = times_of(made, self._times(problem, which))
        return self._part(problem.X, which)[rows], problem.target[rows], times

    def _part(self, X: np.ndarray, which: int) -> np.ndarray:
        columns = self.estimators_features_[which]
        whole = len(columns) == X.shape[1] and bool((columns == np.arange(X.shape[1])).all())
        return X if whole else X[:, columns]

    def _fitted(self, problem: MemberProblem, which: int) -> Member:
        made = seeded(self.estimator_, self.seed_, "member", which)
        return fitted(made, *self._rows_of(problem, made, which))

    def _mean(self, X: np.ndarray) -> np.ndarray:
        total = self._answers(self.estimators_[0], self._part(X, 0))
        for which in range(1, len(self.estimators_)):
            total = total + self._answers(self.estimators_[which], self._part(X, which))
        return np.asarray(total / len(self.estimators_))

    def _out_of_bag(self, problem: MemberProblem) -> float:
        """Judge each row by the members that have not seen it."""
        mean, times = next(means(self._left_out(problem), len(problem), [len(self.estimators_)]))
        warn_of_unjudged(self, int((times == 0).sum()))
        return self._judged(problem, mean, times > 0)

    def __len__(self) -> int:
        return len(self.estimators_)

    def __getitem__(self, which: int) -> Member:
        return self.estimators_[which]

    def __iter__(self) -> Iterator[Member]:
        return iter(self.estimators_)

    def _left_out(self, problem: MemberProblem) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for which, made in enumerate(self.estimators_):
            out = np.flatnonzero(self._times(problem, which) == 0)
            yield out, self._answers(made, self._part(problem.X, which)[out]) if len(out) else np.zeros((0, 1))

    def _search_out_of_bag(self, question: Question[Self]) -> Answer | None:
        return search_out_of_bag(self, question)

    @abstractmethod
    def _says(self, mean: np.ndarray) -> dict[str, np.ndarray]:
        """Give what a mean over members says, by the methods that scorers ask for."""

    def samples(self, X: object, y: object = None, sample_weight: object = None) -> list[np.ndarray]:
        """Draw the rows of each member again: their numbers, as often as they were drawn.

        Parameters
        ----------
        X, y, sample_weight
            The data of the fit.

        Returns
        -------
        list of ndarray
            For each member the numbers of its rows, rising.
        """
        self._check_fitted()
        rows = self._open(X, y, sample_weight, reset=False, target=self.target)
        problem = self._problem(rows)
        used = np.arange(len(problem)) if sample_weight is None else np.flatnonzero(np.asarray(sample_weight) > 0)
        found = (self._times(problem, which).astype(np.intp) for which in range(len(self.estimators_)))
        return [np.repeat(used, times) for times in found]

    def _prove(self, problem: Any) -> list[Claim]:
        names, proofs = names_of(self.estimators_), list[tuple[str, Certificate | None]]()
        for which, made in enumerate(self.estimators_):
            seen = self._rows_of(problem, made, which) if problem.again else (problem.X, problem.y, None)
            proofs.append((names[which], proof_of(made, *seen, again=problem.again)))
        return failing_claims(proofs, len(proofs))

    def _restate(self, problem: Any) -> list[Claim]:
        p, (count, tried) = problem.X.shape[1], self.estimators_features_.shape
        columns = np.array([self._columns(p, tried, which) for which in range(count)])
        wrong = count != self.n_estimators or not np.array_equal(columns, self.estimators_features_)
        found = [Claim("estimators_features_ are those drawn (differ)", float(wrong), 0.0)]
        if isinstance(self.random_state, (int, np.integer)):
            other = float(self.seed_ != seed_of(self.random_state))
            found.append(Claim("seed_ is that of random_state (differs)", other, 0.0))
        if self.oob_score:
            kept = {name: value for name, value in vars(self).items() if name.startswith("oob_") and name.endswith("_")}
            score = self._out_of_bag(problem)
            found.append(restated("oob_score_", kept.pop("oob_score_"), score, scale=1.0))
            for name, value in kept.items():
                now = np.nan_to_num(vars(self)[name], nan=-1.0)
                found.append(restated(name, np.nan_to_num(value, nan=-1.0), now))
                setattr(self, name, value)
        return found

    def _evidence(self, rows: Rows) -> Any:
        problem = self._problem(rows)
        problem.again = True
        return problem

    def _disagreement(self) -> str:
        if len(self.estimators_) != len(self.estimators_features_):
            return "estimators_features_ are not one line for each member"
        return members_disagree(self.estimators_, self.estimators_features_.shape[1])
