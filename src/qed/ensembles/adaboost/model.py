"""What AdaBoost of classes and of numbers share: rounds as steps, stages, searches over their number, and the proof.

A step holds the members so far, their errors and their say. The weights of rows follow from these, so a fit that is resumed finds them
again, and goes on bit for bit.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import Attributes, each, floats, integers, model
from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError, NotAvailableError
from qed.base.models.checks import finite
from qed.base.models.composed import Member, member
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.numbers import EPS
from qed.base.random import Seed, seed_of
from qed.base.running.drive import warn_if_unproven
from qed.base.running.steps import Ending, Halt, Reason, Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.ensembles.members import Copies, failing_claims, fitted, members_disagree, names_of, proof_of, seeded, times_of
from qed.ensembles.problem import MemberProblem
from qed.selection.metrics.classification import accuracy_score
from qed.selection.metrics.regression import r2_score

# Values that stumps are proven from in a fit; ``certify`` proves all.
SAMPLED = 1 << 16
# No weight falls below this share of all: a row stays a row.
LEAST = 1e-280

ADABOOST_PARAMETERS: Mapping[str, Parameter] = {
    "estimator": member("model", "the usual one"),
    "n_estimators": integer(1, kind="model"),
    "learning_rate": number(0, above=True),
    "random_state": random_state(),
}


@dataclass(frozen=True)
class Judged:
    """What a round has found."""

    error: float  # of the member
    say: float  # that it has
    weight: np.ndarray  # of the rows, after it
    after: float = 0.0  # the share of that weight which lies on its mistakes


class AdaBoost(Copies, Iterative):
    """Members that are fitted one after another, each to what those before it got wrong."""

    passes: ClassVar[str] = "in memory"
    keeps: ClassVar[Any] = "last"
    no_inference: ClassVar[str] = "its members are chosen by the data"
    attributes: ClassVar[Attributes] = {
        "estimators_": each(model("predict"), "members"),
        "estimator_weights_": floats("members", low=0),
        "estimator_errors_": floats("members", low=0),
        "seed_": integers(),
    }
    # The methods whose answers after each round are told by `_stage_answers`.
    stage_answers: ClassVar[tuple[str, ...]] = ("predict",)
    estimator: Member
    n_estimators: int
    learning_rate: float
    random_state: Seed
    estimators_: list[Member]
    estimator_weights_: np.ndarray
    estimator_errors_: np.ndarray
    seed_: int

    def _disagreement(self) -> str:
        return members_disagree(self.estimators_, self.n_features_in_)

    @abstractmethod
    def _said(self, made: Member, problem: Any) -> np.ndarray:
        """Give what a member says of the rows: numbers, or the numbers of classes."""

    @abstractmethod
    def _judge(self, problem: Any, said: np.ndarray, weight: np.ndarray, says: np.ndarray) -> Judged | None:
        """Judge a member by what it says of the rows; None where it is of no use. `says` are those of the members before it."""

    @abstractmethod
    def _stage_answers(self, totals: Any, block: Block) -> dict[str, np.ndarray]:
        """Say what methods answer for the sums over some members of a block."""

    @abstractmethod
    def _stages(self, block: Block, numbers: list[int]) -> Iterator[Any]:
        """Give sums over the first members for a block, for each of some numbers of them in ascending order."""

    @property
    def _draws(self) -> bool:
        """Whether each member is fitted to rows drawn by their weights, in the place of weights."""
        return False

    def _rule(self) -> Rule:
        # The first step has a member already.
        return Rule(tol=0.0, max_iter=self.n_estimators - 1, keep="last")

    def _max_tasks(self) -> int:
        return self.n_estimators + 1

    def _conclude(self, problem: MemberProblem, ending: Ending) -> None:
        super()._conclude(problem, ending)
        self.n_iter_ = len(self.estimators_)

    def _warn(self, ending: Ending) -> None:
        warn_if_unproven(type(self).__name__, self.certificate_, ending, "Members that prove more may be taken.")

    def _steps(self, problem: Any, start: Step | None = None) -> Generator[Step, None, Halt]:
        if start is None:
            seed, members, errors, says = seed_of(self.random_state), [], np.empty(0), np.empty(0)
        else:
            seed, members, errors, says = start.seed, start.members, start.errors, start.says
        weight, learner = problem.weights, self._learner(problem)
        for number_of, before in enumerate(members):
            judged = self._judge(problem, self._said(before, problem), weight, says[:number_of])
            assert judged is not None
            weight = judged.weight
        while not len(errors) or errors[-1] > 0:
            made, said = self._round(problem, learner, weight, seed, len(members))
            judged = self._judge(problem, said, weight, says)
            if judged is None and not members:
                raise InputError(
                    f"{type(self).__name__}: {type(made).__name__} is no better than chance on these rows, so there is nothing to boost: "
                    "take a stronger estimator, such as a deeper tree."
                )
            if judged is None:
                return Halt(Reason.STALLED, "No member is better than chance on the weights that the rows have by now.")
            members, weight = [*members, made], judged.weight
            errors, says = np.append(errors, judged.error), np.append(says, judged.say)
            yield Step(self._reached(problem, errors, says), members=members, errors=errors, says=says, seed=seed)
        return Halt(Reason.CERTIFIED, "The last member makes no error.")

    def _learner(self, problem: Any) -> Any:
        """Give what finds a member for the weights of a round faster than fitting one; None where there is nothing."""
        return None

    def _round(
        self, problem: MemberProblem, learner: Any, weight: np.ndarray, seed: int, number_of: int
    ) -> tuple[Member, np.ndarray]:
        """Fit the member of a round; give it, and what it says of the rows."""
        found = None if learner is None else learner.fit(weight)
        if found is not None:
            return found  # type: ignore[no-any-return]
        made = seeded(self.estimator_, seed, "member", number_of)
        made = fitted(made, *self._rows_of(problem, made, weight, seed, number_of))
        return made, self._said(made, problem)

    def _rows_of(
        self, problem: MemberProblem, made: Member, weight: np.ndarray, seed: int, number_of: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Give what the member of a round is fitted to: the rows and their weights, or rows drawn by them."""
        if not self._draws:
            return problem.X, problem.y, weight
        rows, times = times_of(made, problem.drawn(problem.copies, weight, seed, "rows", number_of))
        return problem.X[rows], problem.y[rows], times

    @abstractmethod
    def _reached(self, problem: Any, errors: np.ndarray, says: np.ndarray) -> float:
        """Give the objective after some rounds."""

    def _finish(self, problem: MemberProblem, step: Step) -> None:
        self.estimators_ = step.members
        self.estimator_weights_, self.estimator_errors_ = step.says, step.errors
        self.seed_ = step.seed

    @property
    def feature_importances_(self) -> np.ndarray:
        """The mean importance of each column, by the say of the members; there where they know it."""
        self._check_fitted()
        if not all(hasattr(one, "feature_importances_") for one in self.estimators_):
            raise NotAvailableError(f"{type(self.estimators_[0]).__name__} has no feature_importances_.")
        found = self.estimator_weights_ @ np.array([one.feature_importances_ for one in self.estimators_])
        return np.asarray(found / self.estimator_weights_.sum())

    def _totals(self, block: Block) -> Any:
        return next(self._stages(block, [len(self.estimators_)]))

    def staged_predict(self, X: object) -> Iterator[np.ndarray]:
        """Predict after each round.

        Parameters
        ----------
        X : array-like, sparse matrix or frame
            The features.

        Yields
        ------
        ndarray of shape (n,)
            The predictions of the members so far.
        """
        yield from self._staged(X, "predict")

    def _staged(self, X: object, method: str) -> Iterator[np.ndarray]:
        self._check_fitted()
        block = finite(self._open(X, reset=False), self).array()
        for totals in self._stages(block, list(range(1, len(self.estimators_) + 1))):
            yield self._stage_answers(totals, block)[method]

    def staged_score(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Iterator[float]:
        """Score after each round.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their true target.

        Yields
        ------
        float
            The score of the members so far.
        """
        judge = r2_score if self.target == "number" else accuracy_score
        for said in self.staged_predict(X):
            yield float(judge(y, said, sample_weight=sample_weight))

    def _search(self, question: Question[Self]) -> Answer | None:
        """Judge all numbers of rounds from one fit for each training set: the first rounds of a longer one are those of a shorter."""
        table = question.table(question.asking(self, *self.stage_answers))
        found = question.families("n_estimators")
        seeded_all = all(isinstance(one.random_state, (int, np.integer)) or one._is_certain for one in question.models)
        if not table.values or not seeded_all or len(found) == len(question.candidates):
            return None
        for members in found:
            order = sorted(members, key=lambda candidate: question.models[candidate].n_estimators)
            for fold in question.folds:
                longest = copy(question.models[order[-1]]).fit(question.training(fold))
                most = len(longest.estimators_)
                lengths = [min(question.models[candidate].n_estimators, most) for candidate in order]
                for train in (False, True)[: 1 + question.train_scores]:
                    block = (question.training(fold) if train else question.held_out(fold)).array()
                    for candidate, totals in zip(order, longest._stages(block, lengths)):
                        table.judge(candidate, fold, train=train, **longest._stage_answers(totals, block))
        return table.answer(f"{question.folds.words}, all numbers of rounds from one fit each")

    @property
    def _is_certain(self) -> bool:
        """Whether nothing is drawn by lot."""
        return not self._draws and not any(name.endswith("random_state") for name in self.estimator_.get_params())

    def _replayed(self, problem: Any) -> Iterator[tuple[np.ndarray, Judged, Certificate | None]]:
        """Go through the rounds again: what each member says, how it is judged, and the proof of those that are looked at."""
        weight, price, budget = problem.weights, problem.X.shape[0] * problem.X.shape[1], SAMPLED
        lean = self._is_lean
        for number_of, made in enumerate(self.estimators_):
            said = self._said(made, problem)
            judged = self._judge(problem, said, weight, self.estimator_weights_[:number_of])
            if judged is None:
                return
            proof = None
            if problem.again or budget >= price or not lean:
                budget -= price
                seen = self._rows_of(problem, made, weight, self.seed_, number_of)
                proof = proof_of(made, *seen, again=problem.again or lean)
            yield said, replace(judged, weight=judged.weight.sum()), proof
            weight = judged.weight

    def _prove(self, problem: Any) -> list[Claim]:
        rounds = [one[1:] for one in self._replayed(problem)]
        lost = len(self.estimators_) - len(rounds)
        claims = [Claim("members that are no better than chance", float(lost), 0.0)]
        if lost:
            return claims
        judged = [one for one, _ in rounds]
        noise = (len(problem) + 64) * EPS
        proofs = list(zip(names_of(self.estimators_), (proof for _, proof in rounds)))
        looked = [one for one in proofs if one[1] is not None] if self._is_lean else proofs
        return [
            *claims,
            *self._claimed(problem, judged),
            restated(
                "estimator_errors_", self.estimator_errors_, [one.error for one in judged], scale=1.0, slack=noise
            ),
            restated("estimator_weights_", self.estimator_weights_, [one.say for one in judged]),
            *failing_claims(looked, len(rounds)),
        ]

    @property
    def _is_lean(self) -> bool:
        """Whether members were made without a proof of their own, which is then worked out from the rows."""
        return False

    @abstractmethod
    def _claimed(self, problem: Any, judged: list[Judged]) -> list[Claim]:
        """Claim what theory says of the rounds, of each of which the weight after it is added up."""

    def _restate(self, problem: MemberProblem) -> list[Claim]:
        if isinstance(self.random_state, (int, np.integer)):
            return [
                Claim("seed_ is that of random_state (differs)", float(self.seed_ != seed_of(self.random_state)), 0.0)
            ]
        return []

    def _evidence(self, rows: Rows) -> Any:
        problem = self._problem(rows)
        problem.again = True
        return problem
