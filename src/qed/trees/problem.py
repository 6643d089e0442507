"""What a tree is grown from: rows that weigh anything, their targets, and where growing ends."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import overflowed
from qed.base.models.labels import class_factors, encode, learn_classes
from qed.base.numbers import TINY
from qed.base.random import seed_of
from qed.base.sources.rows import Rows
from qed.trees.asking.categories import columns_of_categories, with_holes
from qed.trees.columns import Columns
from qed.trees.growing import Rules, Targets
from qed.trees.impurity import ABSOLUTE, ENTROPY, KINDS, POISSON, SQUARES
from qed.trees.present import PresentRows

# What is added up value by value: bins do not know it.
BY_VALUES = ("absolute_error", "poisson")


class Settings(Protocol):
    """What a problem has to know of the model whose it is."""

    criterion: str
    max_depth: int | None
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_weight_fraction_leaf: float
    max_features: Any
    random_state: Any
    min_impurity_decrease: float


class TreeProblem(PresentRows, ABC):
    """What one tree is grown from."""

    def __init__(self, rows: Rows, model: Settings) -> None:
        super().__init__(rows, model)
        self.kind, self.model = KINDS[model.criterion], model
        lines = getattr(model, "leaf", "constant") == "linear"
        columns = columns_of_categories(getattr(model, "categorical_features", None), rows)
        self.is_categorical = np.isin(np.arange(rows.n_features), columns) if columns else None
        bins = getattr(model, "max_bins", None)
        if bins is not None and ((columns and self.multiway) or model.criterion in BY_VALUES or lines):
            raise ParameterError(
                f"{type(model).__name__}: questions between max_bins={bins} bins have two answers and sums to tell them by, and leaves one "
                f"value: leave max_bins away, or categorical_split='multiway', leaf='linear' and criterion={model.criterion!r}."
            )

    @cached_property
    def X(self) -> Any:
        """The features, all of them in memory; what is no category is missing in columns of categories."""
        own = self.is_categorical
        return super().X if own is None else with_holes(super().X, np.flatnonzero(own).tolist())

    @property
    def multiway(self) -> bool:
        """Whether a question about categories has a branch for each of them."""
        return getattr(self.model, "categorical_split", "subset") == "multiway"

    @property
    @abstractmethod
    def targets(self) -> Targets:
        """What rows are to be told apart by."""

    @cached_property
    def label(self) -> np.ndarray:
        """The number of each row's class; zeros where the target is a number."""
        return np.zeros(len(self.y), dtype=np.intp)

    @property
    def scale(self) -> float:
        """What an impurity of one is, in the units of the targets."""
        return 1.0

    def columns(self) -> Columns:
        """Sort the columns, and behind them the target where medians are asked for."""
        X = np.column_stack([self.X, self.targets.number]) if self.kind == ABSOLUTE else self.X
        return Columns(X, self.label, self.targets.classes)

    @cached_property
    def rules(self) -> Rules:
        """Where growing ends, in the units of the targets."""
        model, n, p = self.model, len(self.y), self.rows.n_features
        gain = model.min_impurity_decrease * self.total * self.scale
        return Rules(
            depth=min(model.max_depth or n, n),
            split=max(2, _rows(model.min_samples_split, n)),
            leaf=_rows(model.min_samples_leaf, n),
            weight=model.min_weight_fraction_leaf * self.total,
            # A question that is worth nothing may be what a good one needs before it.
            gain=gain if gain > 0 else -math.inf,
            tried=features_tried(model.max_features, p),
            seed=seed_of(model.random_state) if features_tried(model.max_features, p) < p else 0,
        )


class ClassTreeProblem(TreeProblem):
    """Rows of classes."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(rows, model)
        self.classes, totals = learn_classes(self.targets_alone, type(model).__name__)
        factors = class_factors(model.class_weight, self.classes, totals)
        if (factors != 1).any():
            self.weight = self.weights * factors[self.label]
            vars(self).pop("weights")
            if not (self.weight > 0).all():
                self.keep(self.weight > 0)
                vars(self).pop("label")

    @cached_property
    def label(self) -> np.ndarray:
        return encode(self.y, self.classes)

    @cached_property
    def targets(self) -> Targets:
        return Targets.of(self.kind, len(self.classes), None if self.weight is None else self.weights, None)

    @property
    def scale(self) -> float:
        return math.log(2.0) if self.kind == ENTROPY else 1.0


class NumberTreeProblem(TreeProblem):
    """Rows of numbers, brought near one; where the impurity of a tree is their squares, these have to be numbers."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(rows, model)
        if self.kind == POISSON and not (self.number.min() >= 0 and self.number.max() > 0):
            raise InputError(
                "Counts are what criterion='poisson' is for: y must not be negative, and not zero everywhere."
            )
        half = float(np.ptp(self.number)) / 2 * self.size if self.kind == SQUARES else 0.0
        if not np.isfinite(half * half) or (half > 0 and half * half < TINY):
            raise overflowed(model)

    @cached_property
    def size(self) -> float:
        """A power of two as large as the largest target, or larger."""
        largest = float(np.abs(self.y).max(initial=0.0))
        return math.ldexp(1.0, min(math.frexp(largest)[1], 1023)) if largest > 0 else 1.0

    @cached_property
    def number(self) -> np.ndarray:
        """The targets, brought near one."""
        return np.asarray(self.y, dtype=np.float64) / self.size

    @cached_property
    def targets(self) -> Targets:
        return Targets.of(self.kind, 1, None if self.weight is None else self.weights, self.number)

    @property
    def scale(self) -> float:
        return 1.0 / self.size / (self.size if self.kind == SQUARES else 1.0)


def _rows(asked: float, n: int) -> int:
    """Give a number of rows from a number, or from a share of all rows."""
    return math.ceil(asked * n) if isinstance(asked, float) else int(asked)


def features_tried(asked: Any, p: int) -> int:
    """Say how many of p columns each node looks at, from a number, a share, "sqrt", "log2" or None for all.

    >>> features_tried("sqrt", 20), features_tried(0.5, 9), features_tried(None, 3), features_tried("log2", 1)
    (4, 4, 3, 1)
    """
    if asked is None:
        return p
    if isinstance(asked, str):
        return max(1, int(math.sqrt(p) if asked == "sqrt" else math.log2(p)))
    return max(1, int(asked * p)) if isinstance(asked, float) else min(int(asked), p)
