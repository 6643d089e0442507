"""What boosting is fitted to: targets and weights in memory, rows as codes, and which of them are kept aside.

The rows are read three times, block by block: to look at them, to learn the bins, and to make codes of them.
"""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from qed.base.errors import DegenerateWarning, InputError, level_of_user
from qed.base.models.labels import class_factors, encode, learn_classes
from qed.base.random import generator
from qed.base.sources.rows import Rows
from qed.trees.asking.categories import columns_of_categories
from qed.trees.bins import Bins
from qed.trees.boosting.coding import Coding, learn_coding
from qed.trees.boosting.growing import LEAST_CURVATURE, Rules
from qed.trees.boosting.losses.measuring import Table
from qed.trees.boosting.losses.objectives import OF_LOGARITHMS, Objective, objective_of_classes, objective_of_numbers
from qed.trees.boosting.monotone import directions_of
from qed.trees.growing import NOTHING, on_grid
from qed.trees.present import PresentRows
from qed.trees.problem import features_tried

# Rows above which stopping early is the default.
MANY = 10_000


class Settings(Protocol):
    """What a problem has to know of the model whose it is."""

    loss: str
    line_search: bool
    max_leaf_nodes: int | None
    max_depth: int | None
    min_samples_leaf: int
    l2_regularization: float
    max_features: Any
    max_bins: int
    subsample: float
    categorical_features: Any
    monotonic_cst: Any
    early_stopping: Any
    validation_fraction: float | None


@dataclass(frozen=True, eq=False)
class Coded:
    """Rows to learn from and rows kept aside, as codes."""

    coding: Coding
    train: np.ndarray
    aside: np.ndarray


class BoostingProblem(PresentRows, ABC):
    """Rows, the objective, and the rules of growing; a seed tells which rows are kept aside and which are drawn in each round."""

    size: float = 1.0  # what scores are multiplied by, to be in the units of the target
    factor: np.ndarray | None = None  # by which the weights of rows are multiplied
    checked: Any = None  # what a proof has found out already
    _coded: tuple[np.ndarray, Coded] | None = None

    def __init__(self, rows: Rows, model: Settings) -> None:
        super().__init__(rows, model)
        self.model = model

    @property
    @abstractmethod
    def objective(self) -> Objective:
        """What is lowered."""

    @property
    @abstractmethod
    def targets(self) -> np.ndarray:
        """The targets, as the objective takes them."""

    @property
    def unit(self) -> float:
        """What losses are multiplied by, to be in the units of the target; infinity where these overflow."""
        with np.errstate(over="ignore", under="ignore"):
            return float(np.float64(self.size) ** self.objective.power)

    @cached_property
    def is_categorical(self) -> np.ndarray | None:  # type: ignore[override]
        """Which columns are said to hold categories; None where there are none."""
        columns = columns_of_categories(self.model.categorical_features, self.rows)
        return np.isin(np.arange(self.rows.n_features), columns) if columns else None

    @cached_property
    def directions(self) -> np.ndarray | None:
        """In which direction the scores go in each column; None where all are free."""
        found = directions_of(self.model.monotonic_cst, self.rows, self.is_categorical)
        if found is not None and self.objective.outputs > 1:
            raise InputError(
                f"monotonic_cst is for numbers and for two classes, but there are {self.objective.outputs}: a probability need not rise "
                "with its score."
            )
        return found

    @cached_property
    def table(self) -> Table:
        """All rows, with weights whose sums are exact; those that weigh nothing beside the others are left out."""
        if self.weight is None and self.factor is None:
            return Table(self.numbers, self.targets, NOTHING)
        weight = on_grid(self.weights if self.factor is None else self.weights * self.factor)
        table = Table(self.numbers, self.targets, weight)
        return table if (weight > 0).all() else table.some(np.flatnonzero(weight > 0))

    @property
    def stops_early(self) -> bool:
        """Whether rounds end where the loss no longer falls."""
        wanted = self.model.early_stopping
        return bool(len(self.table) > MANY if wanted == "auto" else wanted)

    @property
    def is_random(self) -> bool:
        """Whether anything is drawn by lot."""
        p = self.rows.n_features
        aside = self.stops_early and self.model.validation_fraction is not None
        return aside or self.model.subsample < 1 or features_tried(self.model.max_features, p) < p

    def divided(self, seed: int) -> tuple[Table, Table | None]:
        """Give the rows to learn from, and those kept aside, of each class its share; None where there are none."""
        share = self.model.validation_fraction
        if not self.stops_early or share is None:
            return self.table, None
        table = self.table
        kind = self._strata(table)
        lot = generator(seed, "kept aside").random(len(table))
        order = np.lexsort((lot, kind))
        size = np.bincount(kind)
        rank = np.empty(len(table), dtype=np.intp)
        rank[order] = np.arange(len(table)) - np.repeat(np.cumsum(size) - size, size)
        aside = rank < np.floor(share * size)[kind]
        if not aside.any():
            raise InputError(
                f"validation_fraction={share:g} of {len(table)} rows leaves none to stop early by: give more rows, a larger share, "
                "or early_stopping=False."
            )
        return table.some(np.flatnonzero(~aside)), table.some(np.flatnonzero(aside))

    def _strata(self, table: Table) -> np.ndarray:
        """Give the kind of each row, of each of which a share is kept aside."""
        return np.zeros(len(table), dtype=np.intp)

    def drawn(self, seed: int, number: int, n: int) -> np.ndarray | None:
        """Give the rows that a round learns from; None for all."""
        if self.model.subsample >= 1:
            return None
        lot = generator(seed, "rows", number).random(n)
        return np.flatnonzero((lot < self.model.subsample) | (lot == lot.min()))

    def allowed(self, seed: int, number: int, nodes: int) -> Iterator[np.ndarray]:
        """Give for each tree of a round which columns each of its nodes may ask about."""
        p = self.rows.n_features
        tried = features_tried(self.model.max_features, p)
        for output in range(self.objective.outputs):
            if tried >= p:
                yield np.broadcast_to(np.uint8(1), (nodes, p))
                continue
            lot = generator(seed, "columns", number, output).random((nodes, p))
            yield (lot.argsort(axis=1).argsort(axis=1) < tried).astype(np.uint8)

    def coded(self, train: Table, aside: Table | None) -> Coded:
        """Give the codes of the rows; asked again for the same rows, at once."""
        if self._coded is None or self._coded[0] is not train.numbers:
            chosen, most = Bins.sample(len(train)), self.model.max_bins
            sample = train if chosen is None else train.some(chosen)
            whole = len(train) == self.count
            columns = [] if self.is_categorical is None else np.flatnonzero(self.is_categorical).tolist()
            weight = sample.weight if len(sample.weight) else None
            learned = None if whole and chosen is None else sample.numbers
            coding = learn_coding(self.rows, self.first, learned, weight, most, columns)
            place, count = None, len(train)
            if not whole:
                place = np.full(self.count, -1)
                place[train.numbers] = np.arange(len(train))
                if aside is not None:
                    count += len(aside)
                    place[aside.numbers] = np.arange(len(train), count)
            codes = coding.all_codes(self.rows, self.first, place, count)
            self._coded = train.numbers, Coded(coding, codes[: len(train)], codes[len(train) :])
        return self._coded[1]

    def rules(self, table: Table) -> Rules:
        """Say where growing ends."""
        model, total = self.model, table.total
        if total < 2 * model.min_samples_leaf <= len(table):
            warnings.warn(
                f"The weights of {len(table)} rows add up to {total:g}, so no leaf weighs min_samples_leaf={model.min_samples_leaf}: a "
                "weight counts how often a row is there. Multiply the weights, or lower min_samples_leaf.",
                DegenerateWarning,
                stacklevel=level_of_user(),
            )
        depth = min(model.max_depth or len(table), len(table))
        most = max(1, min(len(table), int(total / model.min_samples_leaf)))
        leaves = min(model.max_leaf_nodes or most, most, 1 << min(depth, 40))
        return Rules(leaves, depth, float(model.min_samples_leaf), LEAST_CURVATURE, float(model.l2_regularization))


class NumberProblem(BoostingProblem):
    """Rows of numbers."""

    @cached_property
    def size(self) -> float:  # type: ignore[override]
        largest = float(np.abs(self.y).max(initial=0.0))
        if self.model.loss in OF_LOGARITHMS or largest == 0:
            return 1.0
        return math.ldexp(1.0, min(math.frexp(largest)[1], 1023))

    @cached_property
    def targets(self) -> np.ndarray:
        y = np.asarray(self.y, dtype=np.float64) / self.size
        if self.model.loss == "poisson" and ((y < 0).any() or not y.sum() > 0):
            raise InputError("loss='poisson' takes counts: numbers that are not negative, and not all of them zero.")
        if self.model.loss == "gamma" and not (y > 0).all():
            raise InputError(
                "loss='gamma' takes numbers above zero, such as durations or costs: leave the others out, or take loss='squared_error'."
            )
        return y

    @cached_property
    def objective(self) -> Objective:
        level = getattr(self.model, "quantile", None)
        usual = 0.9 if self.model.loss == "huber" else 0.5
        return objective_of_numbers(
            self.model.loss, usual if level is None else level, self.table.y, self.table.weights
        )


class ClassProblem(BoostingProblem):
    """Rows of classes."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(rows, model)
        self.classes, totals = learn_classes(self.targets_alone, type(model).__name__)
        factors = class_factors(model.class_weight, self.classes, totals)
        if (factors != 1).any():
            self.factor = factors[self._label]
        if model.loss == "exponential" and len(self.classes) > 2:
            raise InputError(
                f"loss='exponential' tells two classes, and there are {len(self.classes)}: take loss='log_loss'."
            )

    @property
    def _label(self) -> np.ndarray:
        return encode(self.y, self.classes)

    @cached_property
    def targets(self) -> np.ndarray:
        return 2.0 * self._label - 1.0 if len(self.classes) == 2 else self._label

    def _strata(self, table: Table) -> np.ndarray:
        return table.y if self.objective.outputs > 1 else (table.y > 0).astype(np.intp)

    @cached_property
    def objective(self) -> Objective:
        return objective_of_classes(self.model.loss, len(self.classes))
