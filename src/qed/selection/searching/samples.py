"""The data of a search, and the parts of it that models are fitted to and judged by.

What the user gave is kept as it came: a frame reaches a pipeline as a frame. Rows that are streamed stay streamed, and their parts are
views; only the target is gathered, where a metric or a stratified splitter needs it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.estimator import Estimator
from qed.base.sources.block import Block
from qed.base.sources.open import is_dask, is_path, rows
from qed.base.sources.rows import Rows
from qed.selection.inputs import count_rows, weights
from qed.selection.scoring import Scorer
from qed.selection.searching.candidates import fresh
from qed.selection.searching.folds import Folds
from qed.selection.splitting.holdout import take_rows


class Data:
    """All that a search was given.

    Parameters
    ----------
    model : estimator
        Who is to learn from it.
    X, y, sample_weight
        As given to ``fit``.
    """

    def __init__(self, model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> None:
        own = isinstance(model, Estimator)
        self._opened: Rows | None = None
        self.streamed = isinstance(X, Rows) or is_path(X) or is_dask(X) or (own and _has_to_be_opened(X, y))
        if self.streamed and not own:
            raise InputError(
                f"{type(model).__name__} is not a model of qed and can not read rows that are streamed: "
                "give X and y as arrays."
            )
        if self.streamed:
            self.X: Any = rows(X, y, sample_weight=sample_weight)
            self._y: Any = None
            self._weight: Any = None
        else:
            self._take(X, y, sample_weight)
        if own and not getattr(model, "searches", False):
            self.open(fresh(model))

    def _take(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Keep tables in memory, after counting their rows."""
        X, y = _countable(X), _countable(y)
        self.X, self._y = X, y
        if y is not None and count_rows(y) != count_rows(X):
            raise InputError(
                f"Found input variables with inconsistent numbers of samples: X has {count_rows(X)} rows and "
                f"y has {count_rows(y)}. Give both for the same rows."
            )
        self._weight = weights(_countable(sample_weight), count_rows(X))

    @cached_property
    def y(self) -> Any:
        """The target, gathered from all blocks where the rows are streamed."""
        return self.X.map(_target) if self.streamed and self.X.has_target else self._y

    @cached_property
    def weight(self) -> Any:
        """The weights, or None."""
        return self.X.map(_weight) if self.streamed and self.X.has_weight else self._weight

    def __len__(self) -> int:
        return count_rows(self.X)

    def open(self, model: Any) -> Rows:
        """Give the rows as the model checks them, and tell it their columns; tables are converted once only."""
        if self._opened is not None:
            model._open(self._opened, reset=True, target=model.target)
            return self._opened
        given = (self.X,) if self.streamed else (self.X, self.y, self.weight)
        self._opened = model._open(*given, reset=True, target=model.target)
        return self._opened

    def train(self, folds: Folds, fold: int) -> Sample:
        """Give the training rows of a fold."""
        chosen = folds.train(fold)
        return self._sample(folds.training(self.X, fold) if self.streamed else take_rows(self.X, chosen), chosen)

    def test(self, folds: Folds, fold: int) -> Sample:
        """Give the rows that a fold holds out."""
        chosen = folds.test(fold)
        return self._sample(folds.held_out(self.X, fold) if self.streamed else take_rows(self.X, chosen), chosen)

    def _sample(self, X: Any, chosen: np.ndarray) -> Sample:
        y = None if self.y is None else take_rows(self.y, chosen)
        return Sample(X, y, None if self.weight is None else self.weight[chosen], self.streamed)


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, to fit a model to or to judge it by.

    Attributes
    ----------
    X, y, weight
        Features, target and weights.
    streamed : bool
        Whether `X` is Rows that know target and weights themselves.
    """

    X: Any
    y: Any
    weight: Any
    streamed: bool = False

    def fit(self, model: Any) -> Any:
        """Fit a model to these rows."""
        if self.streamed:
            return model.fit(self.X)
        given = {} if self.weight is None else {"sample_weight": self.weight}
        return model.fit(self.X, **given) if self.y is None else model.fit(self.X, self.y, **given)

    def judge(self, model: Any, scorer: Any) -> float:
        """Score a fitted model on these rows."""
        if self.streamed and isinstance(scorer, Scorer) and scorer.function is None:
            return float(model.score(self.X))
        if self.weight is None:
            return float(scorer(model, self.X, self.y))
        if not isinstance(scorer, Scorer) and not _takes_weights(scorer):
            raise ParameterError(
                "scoring does not take sample_weight: give it that argument, or leave the weights out."
            )
        return float(scorer(model, self.X, self.y, sample_weight=self.weight))


def _takes_weights(scorer: Any) -> bool:
    accepted = inspect.signature(scorer).parameters
    return "sample_weight" in accepted or any(one.kind is one.VAR_KEYWORD for one in accepted.values())


def _countable(values: Any) -> Any:
    """Give what knows its length as it came, and what is only willing to become an array as one."""
    known = values is None or hasattr(values, "shape") or hasattr(values, "__len__")
    return values if known else np.asarray(values)


def _has_to_be_opened(X: Any, y: Any) -> bool:
    """Say whether a table is cut into samples by opening it: a stream, a lazy frame, columns in a dict, or one that holds its target."""
    return isinstance(y, str) or isinstance(X, Mapping) or not (hasattr(X, "shape") or hasattr(X, "__len__"))


def _target(block: Block) -> np.ndarray:
    return np.asarray(block.y)


def _weight(block: Block) -> np.ndarray:
    return np.asarray(block.weight)
