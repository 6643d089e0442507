r"""What neighbours say together: each weighs one, or less the farther it is.

A row of weight two is two rows: it takes two of the k places. So neighbours are counted in their order until their weights add up to k,
and the last one counts with what is left.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import Parameter, choice
from qed.base.models.scoring import Scores
from qed.base.models.searching import Answer, Question
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.neighbors.best import Best
from qed.neighbors.measures import Matrix, Metric
from qed.neighbors.model import NEIGHBOR_PARAMETERS, Neighbors
from qed.neighbors.problem import KeptProblem

NEIGHBOR_GRID: Mapping[str, list[Any]] = {
    "n_neighbors": [1, 2, 3, 5, 7, 10, 15, 20, 30, 50],
    "weights": ["uniform", "distance"],
}
Weights = str | Callable[[np.ndarray], np.ndarray] | None


@dataclass(frozen=True, eq=False)
class Heard:
    """Neighbours of shape (m, k), and how much each of them counts: of the same shape, or of one line for all."""

    number: np.ndarray
    share: np.ndarray


class Voting(Neighbors):
    """A model whose answer is a mean over the nearest rows of what is known of them."""

    parameters: ClassVar[Mapping[str, Parameter]] = {
        **NEIGHBOR_PARAMETERS,
        "weights": choice("uniform", "distance", None, kind="model")
        | Parameter("a function of distances", callable, "model"),
    }
    compare_name: ClassVar[str] = "k nearest neighbours"
    compare_shared: ClassVar[tuple[str, ...]] = ("n_neighbors",)
    y_fit_: np.ndarray
    # How scores of single rows follow from what is known and what is said, for rows that are left out one by one.
    _losses: ClassVar[dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {}

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: Weights = "uniform",
        algorithm: str = "auto",
        p: float = 2,
        metric: Metric = "minkowski",
        metric_params: dict[str, object] | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.algorithm = algorithm
        self.p = p
        self.metric = metric
        self.metric_params = metric_params

    @classmethod
    def _settings_on(cls, n_rows: int, n_columns: int, n_outputs: int) -> Mapping[str, Any]:
        # A training set holds at least half of the rows.
        return {**NEIGHBOR_GRID, "n_neighbors": [k for k in NEIGHBOR_GRID["n_neighbors"] if 2 * k < n_rows]}

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        # A fold looks for the neighbours of its rows among the others.
        return 2e-11 * float(n_rows) ** 2 * n_columns

    @abstractmethod
    def _answers(self, heard: Heard) -> dict[str, np.ndarray]:
        """Give the answers of the model's methods for queries whose neighbours were heard."""

    def _heard(self, X: Matrix, own: np.ndarray | None = None) -> Heard:
        """Find the neighbours of queries, and how much each of them counts."""
        weight, k = getattr(self, "weight_fit_", None), self.n_neighbors
        if weight is None:
            return self._counted(self._nearest(X, k, own), np.ones((1, k)))
        there = int((weight > 0).sum()) - (own is not None)
        count = min(k, there)
        while True:
            found = self._nearest(X, count, own)
            each = weight[found.number]
            reached = np.cumsum(each, axis=1)
            if count == there or (reached[:, -1] >= k).all():
                break
            count = min(2 * count, there)
        if (reached[:, -1] < k).any():
            raise InputError(
                f"Expected n_neighbors <= n_samples_fit, but n_neighbors = {k}, and the rows weigh {weight.sum():g}."
            )
        return self._counted(found, np.clip(k - (reached - each), 0.0, each))

    @property
    def _is_uniform(self) -> bool:
        return self.weights is None or (isinstance(self.weights, str) and self.weights == "uniform")

    def _counted(self, found: Best, share: np.ndarray) -> Heard:
        if self._is_uniform:
            return Heard(found.number, share)
        return Heard(found.number, share * weigh(self.weights, self._distances(found.size)))

    def _search(self, question: Question[Self]) -> Answer | None:
        """Judge all numbers of neighbours from one search."""
        if question.rows.has_weight or any(one.metric == "precomputed" for one in question.models):
            return None
        if question.folds.leave_one_out and not question.train_scores:
            return self._left_out(question)
        table = question.table(question.asking(self, "predict", "predict_proba"))
        if not table.values:
            return None
        for members in question.families("n_neighbors"):
            for fold in question.folds:
                model = self._fitted(question, members, question.training(fold))
                if model is None:
                    return None
                for train in (False, True)[: 1 + question.train_scores]:
                    rows = question.training(fold) if train else question.held_out(fold)
                    for candidate, answers in model._stages(rows.array().X, question, members):
                        table.judge(candidate, fold, train=train, **answers)
        return table.answer(f"{question.folds.words}, all numbers of neighbours from one search each")

    def _fitted(self, question: Question[Self], members: list[int], rows: Rows) -> Self | None:
        """Fit the member with the most neighbours, without a proof; None where there are fewer rows than that."""
        model = copy(max((question.models[c] for c in members), key=lambda one: one.n_neighbors))
        problem = model._problem(rows)
        if model.n_neighbors >= len(problem.block):
            return None
        model._solve(problem)
        return model

    def _stages(
        self, X: Matrix, question: Question[Self], members: list[int], own: np.ndarray | None = None
    ) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        """Give what each candidate of a family answers, from one search for the most neighbours."""
        found = self._nearest(X, self.n_neighbors, own)
        for candidate in members:
            k = question.models[candidate].n_neighbors
            yield candidate, self._answers(self._counted(found.first(k), np.ones((1, k))))

    def _left_out(self, question: Question[Self]) -> Answer | None:
        """Judge every row by its neighbours among the others."""
        scorers = {name: one for name, one in question.scorers.items() if one.on_single_rows in self._losses}
        if not scorers:
            return None
        n = len(question.target)
        each = {name: np.empty((len(question.models), n)) for name in scorers}
        for members in question.families("n_neighbors"):
            model = self._fitted(question, members, question.rows)
            if model is None:
                return None
            for candidate, answers in model._stages(model.X_fit_, question, members, np.arange(n)):
                for name, scorer in scorers.items():
                    loss = self._losses[str(scorer.on_single_rows)](question.target, answers["predict"])
                    each[name][candidate] = scorer.sign * loss
        how = f"each of {n} rows judged by its neighbours among the others, all numbers of them from one search"
        return Answer(how, {name: Scores.of(values) for name, values in each.items()})

    def _prove(self, problem: KeptProblem) -> list[Claim]:
        known = self._known(problem)
        other = float("inf" if self.y_fit_.shape != known.shape else (self.y_fit_ != known).sum())
        return [*super()._prove(problem), Claim("targets kept that are not those of the rows", other, 0.0)]

    @abstractmethod
    def _known(self, problem: KeptProblem) -> np.ndarray:
        """Give what is known of the rows: their targets, as they are kept."""

    def _voted(self, block: Block, method: str) -> np.ndarray:
        found = self._answers(self._heard(block.X, self._own(block)))[method]
        return found.astype(block.X.dtype, copy=False) if found.dtype.kind == "f" and method != "predict" else found


def weigh(weights: Weights, distances: np.ndarray) -> np.ndarray:
    """Say how much neighbours at these distances count; where some are at the place of the query, they alone.

    >>> weigh("distance", np.array([[0.5, 1.0], [0.0, 2.0]]))
    array([[1. , 0.5],
           [1. , 0. ]])
    """
    if weights in ("uniform", None):
        return np.ones(distances.shape)
    if weights == "distance":
        nearest = distances.min(axis=1, keepdims=True)
        # Relative to the nearest one, so that nothing overflows; rows that are all too far for a number are as far as each other.
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(distances == nearest, 1.0, nearest / distances)
    try:
        found = np.asarray(weights(distances), dtype=np.float64)  # type: ignore[operator]
    except (TypeError, ValueError) as error:
        raise ParameterError(f"weights must make numbers of an array of distances ({error}).") from error
    if found.shape != distances.shape or not np.isfinite(found).all() or (found < 0).any():
        raise ParameterError(
            f"weights must give a finite number >= 0 for each of the distances of shape {distances.shape}."
        )
    return found
