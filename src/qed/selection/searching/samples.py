"""The data of a search, and the parts of it that models are fitted to and judged by.

What the user gave is kept as it came: a frame reaches a pipeline as a frame. Rows that are streamed stay streamed, and their parts are
views; only the target is gathered, where a metric or a stratified splitter needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError, ParameterError
from qed.base.models.estimator import Estimator
from qed.base.models.scoring import Scoring
from qed.base.models.searching import Folds as AnyFolds
from qed.base.models.searching import Indices
from qed.base.sources.block import Block
from qed.base.sources.open import is_dask, is_path, rows
from qed.base.sources.rows import Rows
from qed.selection.inputs import Floats, count_rows, weights
from qed.selection.scoring import role_of
from qed.selection.searching.candidates import fresh
from qed.selection.searching.folds import Folds
from qed.selection.splitting.holdout import take_rows
from qed.selection.splitting.splits import Partition, Splitting, StratifiedKFold


class Splits(AnyFolds, Protocol):
    """What a search knows of its folds beyond what models are told."""

    @property
    def repeats_rows(self) -> bool:
        """Whether a split names a row more than once, as those of a bootstrap do."""

    def lacks_class(self, codes: Indices) -> bool:
        """Say whether some training set lacks a class; `codes` number the classes of all rows."""


class Data:
    """All that a search was given.

    It is `streamed` where these are rows that know target and weights themselves, and `is_pairwise` where the columns of
    `X` are the rows again, as in a kernel matrix: then both are taken. A model that is itself a search (`is_nested`) opens
    its rows by its best model. `params` are what else ``fit`` is given; of what has a value for each row, each fit gets its
    own rows.
    """

    def __init__(
        self, model: Any, X: Any, y: Any = None, sample_weight: Any = None, params: Mapping[str, object] | None = None
    ) -> None:
        own = isinstance(model, Estimator)
        self.params = dict(params or {})
        self.is_pairwise = _is_pairwise(model)
        self._opened: Rows | None = None
        # A list of texts names files for a model that reads files, and is a column of documents for another.
        files = is_path(X) and (own or not isinstance(X, (list, tuple)))
        self.streamed = isinstance(X, Rows) or files or is_dask(X) or (own and _has_to_be_opened(X, y))
        if self.streamed and not own:
            raise InputError(
                f"{type(model).__name__} is not a model of qed and can not read rows that are streamed: "
                "give X and y as arrays."
            )
        if self.streamed:
            self.X: Any = rows(X, y, sample_weight=sample_weight)
            self._y: Any = None
            self._weight: Floats | None = None
        else:
            self._take(X, y, sample_weight)
        self.is_nested = bool(getattr(model, "searches", False))
        if own and not self.is_nested:
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
        return _gathered(self.X, _target) if self.streamed and self.X.has_target else self._y

    @cached_property
    def weight(self) -> Floats | None:
        """The weights, or None."""
        return _gathered(self.X, _weight) if self.streamed and self.X.has_weight else self._weight

    def __len__(self) -> int:
        return count_rows(self.X)

    def open(self, model: Any) -> Rows:
        """Give the rows as the model checks them, and tell it their columns; tables are converted once only."""
        if self._opened is not None:
            model._open(self._opened, reset=True, target=model.target)
            return self._opened
        given = (self.X,) if self.streamed else (self.X, self.y, self.weight)
        opened: Rows = model._open(*given, reset=True, target=model.target)
        if self.streamed:
            # Every part is read often by models that make many passes, so that what is decoded is kept for all parts at once.
            self.X = opened = opened if model.passes == "one" else opened.cached()
        self._opened = opened
        return opened

    def train(self, folds: Splits, fold: int) -> Sample:
        """Give the training rows of a fold."""
        chosen = folds.train(fold)
        return self._sample(folds.training(self.X, fold) if self.streamed else self._rows(chosen, chosen), chosen)

    def test(self, folds: Splits, fold: int) -> Sample:
        """Give the rows that a fold holds out."""
        chosen = folds.test(fold)
        if self.streamed:
            return self._sample(folds.held_out(self.X, fold), chosen)
        return self._sample(self._rows(chosen, folds.train(fold) if self.is_pairwise else chosen), chosen)

    def _rows(self, chosen: Indices, learned: Indices) -> object:
        """Give some rows; of a matrix of pairs those columns that a model has learned from."""
        if not self.is_pairwise:
            return take_rows(self.X, chosen)
        if len(getattr(self.X, "shape", ())) != 2 or self.X.shape[0] != self.X.shape[1]:
            raise InputError("X should be a square kernel matrix: a row and a column for each sample.")
        return take_rows(self.X, chosen)[:, learned]

    def _sample(self, X: Any, chosen: Indices) -> Sample:
        y = None if self.y is None else take_rows(self.y, chosen)
        params = {name: self._own(value, chosen) for name, value in self.params.items()}
        return Sample(X, y, None if self.weight is None else self.weight[chosen], self.streamed, params)

    def _own(self, value: object, chosen: Indices) -> object:
        """Give of a parameter of ``fit`` what belongs to some rows."""
        each_row = not isinstance(value, (str, Mapping)) and (hasattr(value, "shape") or hasattr(value, "__len__"))
        return take_rows(value, chosen) if each_row and count_rows(value) == len(self) else value


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows, to fit a model to or to judge it by."""

    X: Any
    y: Any
    weight: Floats | None
    streamed: bool = False  # whether `X` is Rows that know target and weights themselves
    params: Mapping[str, object] = field(default_factory=dict)  # what else ``fit`` is given

    def fit(self, model: Any) -> Any:
        """Fit a model to these rows."""
        if self.streamed:
            return model.fit(self.X, **self.params)
        given = {**self.params} if self.weight is None else {**self.params, "sample_weight": self.weight}
        return model.fit(self.X, **given) if self.y is None else model.fit(self.X, self.y, **given)

    def judge(self, model: Any, scorers: Mapping[str, Scoring]) -> dict[str, float]:
        """Score a fitted model on these rows; a callable of the user's own may give several scores, with their names."""
        found: dict[str, float] = {}
        for name, scorer in scorers.items():
            value = self._score(model, scorer)
            if isinstance(value, Mapping):
                found |= {str(one): _number(score, str(one)) for one, score in value.items()}
            else:
                found[name] = _number(value, name)
        return found

    def _score(self, model: Any, scorer: Scoring) -> Any:
        if self.streamed and scorer.asks(model) == "score":
            return model.score(self.X)
        if self.weight is None:
            return scorer(model, self.X, self.y)
        return scorer(model, self.X, self.y, sample_weight=self.weight)


def _number(score: object, name: str) -> float:
    """Give what a scorer gave as a number."""
    value = score.item() if hasattr(score, "item") and np.size(np.asarray(score)) == 1 else score
    if not isinstance(value, (int, float, np.number)):
        raise ParameterError(f"scoring must return a number, got {value!r} ({type(value)}) instead, for {name!r}.")
    return float(value)


def _is_pairwise(model: object) -> bool:
    """Say whether a model learns from a matrix of all pairs of rows."""
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and bool(tags().input_tags.pairwise)


def _countable(values: Any) -> Any:
    """Give what knows its length as it came, and what is only willing to become an array as one."""
    known = values is None or hasattr(values, "shape") or hasattr(values, "__len__")
    return values if known else np.asarray(values)


def _has_to_be_opened(X: Any, y: Any) -> bool:
    """Say whether a table is cut into samples by opening it: a stream, a lazy frame, columns in a dict, or one that holds its target."""
    return isinstance(y, str) or isinstance(X, Mapping) or not (hasattr(X, "shape") or hasattr(X, "__len__"))


def _gathered(rows: Rows, take: Callable[[Block], np.ndarray]) -> np.ndarray:
    """Read something beside the features, which may hold words."""
    return (rows if rows.facts.schema is None else rows.table()).map(take)


def _target(block: Block) -> np.ndarray:
    return np.asarray(block.y)


def _weight(block: Block) -> np.ndarray:
    return np.asarray(block.weight)


def draw_folds(
    model: Any, cv: Splitting, data: Data, groups: ArrayLike | None = None, *, every_row: bool = False
) -> Folds:
    """Draw the folds that `cv` means for a model and its data; rows of weight zero are in none of ours, unless `every_row` is asked for."""
    classifier = role_of(model) == "classifier"
    ours = cv is None or isinstance(cv, (int, np.integer, str, Partition))
    by_class = classifier or isinstance(cv, StratifiedKFold) or bool(getattr(cv, "stratify", False))
    # The target of rows that are streamed takes a pass to gather, so it is asked for where it is needed only.
    y = data.y if by_class or not ours else None
    return Folds.of(cv, data.X, y, groups, weight=None if every_row else data.weight, classifier=classifier)
