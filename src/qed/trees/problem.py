"""What a tree is grown from: rows in memory, their targets, and where growing ends."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from qed.base.models.checks import overflowed, refuse_missing
from qed.base.models.fingerprint import Fingerprint, target_sums
from qed.base.models.labels import class_factors, encode, learn_classes
from qed.base.models.problem import Problem
from qed.base.numbers import TINY
from qed.base.random import seed_of
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.trees.columns import Columns
from qed.trees.growing import Rules, Targets
from qed.trees.impurity import ENTROPY, KINDS


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


class PresentRows(Problem):
    """Rows with a weight above zero, what they weigh, and their targets; missing features are let through.

    `again` says whether a model is certified, whose every question is looked at.
    """

    rows: Rows
    again: bool = False

    def __init__(self, rows: Rows, model: object) -> None:
        self.rows, self.target_ndim = rows.cached(), rows.target_ndim
        self.summary: Summary = self.rows.fold(Summary.of)
        if np.isneginf(self.summary.low).any() or np.isposinf(self.summary.high).any():
            refuse_missing(rows, model)
        block = self.rows.array()
        weight = block.weight
        used = slice(None) if weight is None or (weight > 0).all() else np.flatnonzero(weight > 0)
        self.X: np.ndarray = block.X[used]
        self.y = np.asarray(block.y)[used]
        # What rows weigh; None where all weigh one.
        self.weight: np.ndarray | None = None if weight is None or (weight[used] == 1).all() else weight[used]

    @cached_property
    def fingerprint(self) -> Fingerprint | None:
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.summary.fingerprint(self.rows.fold(_target_sums))
        # Squares of columns at 1e200 have none; trees do not need them.
        known = (found.variance, found.target if found.target is not None else 0.0)
        return found if all(np.isfinite(one).all() for one in known) else None

    @cached_property
    def weights(self) -> np.ndarray:
        """What every row weighs."""
        return np.ones(len(self.X)) if self.weight is None else self.weight.astype(np.float64)

    @cached_property
    def total(self) -> float:
        """What all rows weigh."""
        return float(self.weights.sum())


class TreeProblem(PresentRows, ABC):
    """What one tree is grown from."""

    def __init__(self, rows: Rows, model: Settings) -> None:
        super().__init__(rows, model)
        self.kind, self.model = KINDS[model.criterion], model

    @property
    @abstractmethod
    def targets(self) -> Targets:
        """What rows are to be told apart by."""

    @cached_property
    def label(self) -> np.ndarray:
        """The number of each row's class; zeros where the target is a number."""
        return np.zeros(len(self.X), dtype=np.intp)

    @property
    def scale(self) -> float:
        """What an impurity of one is, in the units of the targets."""
        return 1.0

    def columns(self) -> Columns:
        """Sort the columns."""
        return Columns(self.X, self.label, self.targets.classes)

    @cached_property
    def rules(self) -> Rules:
        """Where growing ends, in the units of the targets."""
        model, (n, p) = self.model, self.X.shape
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
        self.classes, totals = learn_classes(self.rows, type(model).__name__)
        factors = class_factors(model.class_weight, self.classes, totals)
        if (factors != 1).any():
            self.weight = self.weights * factors[self.label]
            vars(self).pop("weights")
            kept = self.weight > 0
            if not kept.all():
                self.X, self.y, self.weight = self.X[kept], self.y[kept], self.weight[kept]
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
    """Rows of numbers, brought near one; the impurity of a tree is their squares, which have to be numbers."""

    def __init__(self, rows: Rows, model: Any) -> None:
        super().__init__(rows, model)
        half = float(np.ptp(self.number)) / 2 * self.size
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
        return 1.0 / self.size / self.size


def _target_sums(block: Block) -> np.ndarray:
    """Give the sums of the target that a fingerprint keeps; what is missing adds nothing to them."""
    return target_sums(replace(block, X=np.nan_to_num(block.X, nan=0.0)) if np.isnan(block.X).any() else block)


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
