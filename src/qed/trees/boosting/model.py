r"""What boosted trees of classes and of numbers share: rounds as steps, scores as sums, stages, and the proof.

.. math:: F_m(x) = F_{m-1}(x) + \eta \sum_\ell v_{m\ell}\, [x \in \ell], \qquad v_{m\ell} = -G_{m\ell} / (H_{m\ell} + \lambda),

with the leaves :math:`\ell` of a tree that is grown where the loss of :math:`F_{m-1}` falls fastest: :mod:`qed.trees.boosting.growing`.
Every loss here is convex, so a step along these values lowers it if only it is short enough: where the training loss would rise, all values
of the round are halved until it does not; or they go, all times one factor, to where the loss is least along them
(:mod:`qed.trees.boosting.losses.line`). A round costs :math:`O(np)` for each level of its trees.

Friedman (2001), Greedy function approximation: a gradient boosting machine.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import Attributes, booleans, floats, integers, maybe, nothing, of
from qed.base.certificate import Claim
from qed.base.models.checks import finite
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import NO_EFFECT, NoEffect, no_effect
from qed.base.models.parameters import Parameter, boolean, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.searching import Answer, Question
from qed.base.random import seed_of
from qed.base.running.steps import Halt, Reason, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.asking.categories import CATEGORICAL_FEATURES
from qed.trees.boosting.forest import Forest
from qed.trees.boosting.monotone import is_of_directions, wrong_way
from qed.trees.boosting.problem import BoostingProblem
from qed.trees.boosting.proof import Checked, check_rounds
from qed.trees.boosting.rounds import Rounds
from qed.trees.boosting.search import staged_search
from qed.trees.model import TREE_PARAMETERS

# Numbers that the proof of a fit may look at; ``certify`` looks at all.
SAMPLED = 1 << 14
# In a comparison: what are few rows and many, and many columns; how many trees few rows may have; what one costs, and each number in it.
FEW_ROWS, MANY_ROWS, MANY_COLUMNS, MOST_TREES = 1_000, 50_000, 20, 200
# About what a tree costs, each column of it, whose sums its nodes look through, and each row in a column.
TREE_SECONDS, COLUMN_SECONDS, CELL_SECONDS = 2e-4, 4e-5, 4e-9


BOOSTING_PARAMETERS: Mapping[str, Parameter] = {
    "learning_rate": number(0, above=True),
    "line_search": boolean(kind="model"),
    "max_iter": integer(1, kind="model"),
    "max_leaf_nodes": integer(2, kind="model") | choice(None),
    "max_depth": integer(1, kind="model") | choice(None),
    "min_samples_leaf": integer(1),
    "l2_regularization": number(0),
    "max_features": TREE_PARAMETERS["max_features"],
    "max_bins": Parameter("a whole number from 2 to 255", lambda value: integer(2).accepts(value) and value <= 255),
    "subsample": number(0, 1, above=True),
    "categorical_features": CATEGORICAL_FEATURES,
    "monotonic_cst": Parameter(
        "None, or -1, 0 or 1 for each column, or a dict of them by the names of columns", is_of_directions, "model"
    ),
    "early_stopping": boolean(kind="optimization") | choice("auto"),
    "validation_fraction": Parameter(
        "None or a number > 0 and < 1",
        lambda value: value is None or (number(0, 1, above=True).accepts(value) and value < 1),
    ),
    "n_iter_no_change": integer(1),
    "tol": number(0),
    "random_state": random_state(),
}
# What a comparison chooses from: rounds, by rows held out, so that none have to be kept aside; and more, by the size of the table.
BOOSTING_GRID: Mapping[str, list[Any]] = {
    "early_stopping": [False],
    "max_iter": [15, 30, 60, 100, 150, 200, 300],
}
BOOSTING_NO_EFFECT: dict[str, NoEffect] = {
    "interaction_cst": no_effect(choice(None), None),
    "scoring": no_effect(choice("loss"), "loss"),
    "verbose": NO_EFFECT["verbose"],
    "warm_start": NO_EFFECT["warm_start"],
}


class GradientBoosting(Iterative):
    """Trees that are added one after another."""

    passes: ClassVar[str] = "as codes"
    missing: ClassVar[bool] = True
    takes_categories: ClassVar[bool] = True
    keeps: ClassVar[Any] = "last"
    # The methods whose answers after each round follow from the scores.
    stage_answers: ClassVar[tuple[str, ...]] = ("predict",)
    no_inference: ClassVar[str] = "its questions are chosen by the data"
    compare_name: ClassVar[str] = "Gradient boosting"
    compare_shared: ClassVar[tuple[str, ...]] = ("max_iter",)
    attributes: ClassVar[Attributes] = {
        "baseline_": floats("scores"),
        "forest_": of(Forest),
        "n_trees_per_iteration_": integers(low=1),
        "train_score_": floats("stages", finite=False),
        "validation_score_": maybe(floats("stages", finite=False)),
        "feature_importances_": floats("features", low=0),
        "is_categorical_": booleans("features") | nothing(),
        "seed_": maybe(integers()),
    }
    loss: str
    learning_rate: float
    line_search: bool
    n_iter_no_change: int
    max_features: Any
    subsample: float
    random_state: Any
    baseline_: np.ndarray
    forest_: Forest
    n_trees_per_iteration_: int
    train_score_: np.ndarray
    validation_score_: np.ndarray
    feature_importances_: np.ndarray
    is_categorical_: np.ndarray | None
    seed_: int

    @classmethod
    def _settings_on(cls, n_rows: int, n_columns: int, n_outputs: int) -> Mapping[str, Any]:
        # Few rows want small trees, whose leaves may be small; many columns want to be asked in turn.
        small = n_rows < FEW_ROWS
        most = max((MOST_TREES if small else 2 * MOST_TREES) // n_outputs, 60)
        return {
            **BOOSTING_GRID,
            "max_iter": [rounds for rounds in BOOSTING_GRID["max_iter"] if rounds <= most],
            "max_leaf_nodes": [6] if small else [8, 31] if n_rows < MANY_ROWS else [31],
            "min_samples_leaf": [5] if n_rows < 5 * FEW_ROWS else [20],
            "max_features": [0.3] if n_columns >= MANY_COLUMNS else [1.0],
        }

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        outputs = n_classes if n_classes > 2 else 1
        rounds = max(cls._settings_on(n_rows, n_columns, outputs)["max_iter"])
        return rounds * outputs * (TREE_SECONDS + (COLUMN_SECONDS + CELL_SECONDS * n_rows) * n_columns)

    @abstractmethod
    def _problem(self, rows: Rows) -> Any:
        """Make the problem: targets in memory, and rows that are read as codes."""

    def _steps(self, problem: BoostingProblem, start: Step | None = None) -> Generator[Step, None, Halt]:
        if start is None:
            seed = seed_of(self.random_state) if problem.is_random else 0
            train, aside, forest = [], [], None
        else:
            seed, train, aside, forest = start.seed, start.train.tolist(), start.aside.tolist(), start.forest
        rounds = Rounds(problem, seed, self.learning_rate, forest)
        while True:
            if start is None:
                train.append(rounds.train_loss)
                if rounds.aside is not None:
                    aside.append(rounds.aside_loss)
                yield Step(
                    train[-1],
                    forest=rounds.growing.forest,
                    train=np.array(train),
                    aside=np.array(aside),
                    baseline=rounds.baseline,
                    seed=seed,
                )
            start = None
            if problem.stops_early and self._rests(aside or train):
                kept = "the rows kept aside" if aside else "the training rows"
                return Halt(Reason.STALLED, f"The loss of {kept} has not fallen for {self.n_iter_no_change} rounds.")
            rounds.advance()

    def _rests(self, losses: list[float]) -> bool:
        """Say whether the last rounds have not lowered the loss by more than the tolerance."""
        last = self.n_iter_no_change
        return len(losses) > last and min(losses[-last:]) >= losses[-last - 1] - self.tol

    def _finish(self, problem: BoostingProblem, step: Step) -> None:
        unit = problem.unit
        self.baseline_ = step.baseline * problem.size
        self.forest_ = step.forest
        self.n_trees_per_iteration_ = problem.objective.outputs
        self.is_categorical_ = problem.is_categorical
        self.train_score_ = step.train * unit
        if len(step.aside):
            self.validation_score_ = step.aside * unit
        if problem.is_random:
            self.seed_ = step.seed
        self.feature_importances_ = importances(self.forest_, problem.rows.n_features)

    def _scores(self, block: Block, rounds: int | None = None) -> np.ndarray:
        """Give the scores of rows after some rounds, or all, of shape (n, outputs)."""
        return next(self._stages(block, [self._rounds if rounds is None else rounds]))

    @property
    def _rounds(self) -> int:
        return self.forest_.n_trees // self.n_trees_per_iteration_

    def _stages(self, block: Block, rounds: Any) -> Iterator[np.ndarray]:
        """Give the scores of rows after each of some rounds, in ascending order."""
        totals, done = np.tile(np.asarray(self.baseline_, dtype=np.float64), (len(block), 1)), 0
        for number_of in rounds:
            last = number_of * self.n_trees_per_iteration_
            self.forest_.add_to(block.X, totals, range(done, last))
            done = last
            yield totals

    @abstractmethod
    def _stage_answers(self, scores: np.ndarray, block: Block) -> dict[str, np.ndarray]:
        """Say what the methods named in `stage_answers` give for scores (n, outputs) of a block; and what else a scorer asks for."""

    def staged_predict(self, X: Any) -> Iterator[np.ndarray]:
        """Predict after each round.

        Parameters
        ----------
        X : array-like or frame
            The features.

        Yields
        ------
        ndarray of shape (n,)
            The predictions of the model after one more round.
        """
        self._check_fitted()
        block = finite(self._open(X, reset=False), self).array()
        for scores in self._stages(block, range(1, self._rounds + 1)):
            yield self._stage_answers(scores, block)["predict"]

    def _checked(self, problem: BoostingProblem) -> Checked:
        if problem.checked is None:
            seed, budget = getattr(self, "seed_", 0), None if problem.again else SAMPLED
            problem.checked = check_rounds(self.forest_, problem, seed, self.learning_rate, budget)
        return problem.checked

    def _prove(self, problem: BoostingProblem) -> list[Claim]:
        outputs = problem.objective.outputs
        fault = self._fault(outputs)
        if fault:
            return [Claim(f"trees make a forest ({fault})", np.inf, 0.0)]
        claims = self._checked(problem).claims(self.train_score_)
        if problem.directions is not None:
            says = "values go against the direction of a monotone column, by at most"
            claims.append(Claim(says, wrong_way(self.forest_, problem.directions), 0.0))
        return claims

    def _fault(self, outputs: int) -> str:
        """Say in what the forest and the scores of the rounds do not belong together."""
        forest = self.forest_
        if fault := forest.fault():
            return fault
        if forest.feature.max(initial=-1) >= self.n_features_in_:
            return "one asks about a column that is not there"
        by_level = forest.feature[forest.level_set >= 0]
        if len(by_level) and (self.is_categorical_ is None or not self.is_categorical_[by_level].all()):
            return "one asks about categories of a column that has none"
        if self.n_trees_per_iteration_ != outputs or forest.n_trees % outputs or len(self.baseline_) != outputs:
            return "there is not one tree of each round for each score"
        stages = {len(self.train_score_), len(getattr(self, "validation_score_", self.train_score_))}
        return "" if stages == {forest.n_trees // outputs + 1} else "there is not one score for each round"

    def _evidence(self, rows: Rows) -> BoostingProblem:
        problem: BoostingProblem = self._problem(rows)
        problem.again = True
        return problem

    def _restate(self, problem: BoostingProblem) -> list[Claim]:
        if self._fault(problem.objective.outputs):
            return []
        found, unit = self._checked(problem), problem.unit
        aside = np.array(found.aside) * unit if found.aside else None
        own, columns = (None if one is None else one * 1.0 for one in (self.is_categorical_, problem.is_categorical))
        return [
            restated("baseline_", self.baseline_, found.baseline * problem.size),
            restated("train_score_", self.train_score_, np.array(found.losses) * unit),
            restated("validation_score_", getattr(self, "validation_score_", None), aside),
            restated("is_categorical_", own, columns),
            restated(
                "feature_importances_",
                self.feature_importances_,
                importances(self.forest_, problem.rows.n_features),
                scale=1.0,
            ),
        ]

    def _disagreement(self) -> str:
        return self._fault(len(self.baseline_))

    def _search(self, question: Question[Any]) -> Answer | None:
        return staged_search(self, question)


def importances(forest: Forest, p: int) -> np.ndarray:
    """Give the share that each column has in what all questions are worth; zeros where there are none."""
    asking = forest.feature >= 0
    found = np.bincount(forest.feature[asking], forest.gain[asking], p)
    total = found.sum()
    return found / total if total > 0 and np.isfinite(total) else np.zeros(p)
