r"""What a search asks a model before it fits anything: the one hook behind cheap searches.

A search wants a table of scores, one for each candidate (a setting of parameters) and fold. Fitting every candidate to every training
set fills it, and is what a search falls back to; but most models can do better: all penalties of a ridge regression come from one
decomposition, all k of nearest neighbours from one search for neighbours, all sizes of a boosted ensemble from one fit. So the model
is asked first, with a `Question`, by its method

.. code-block:: python

    def _search(self, question: Question[Self]) -> Answer | None: ...

``self`` is unfitted and was opened on the rows (``n_features_in_`` is set). The answer is the table for all scorers or for some of them;
those it leaves out, or all when it is None, are found by fitting. The promise is that the table is that of the plain way, to the
solver's tolerance; a model that can not keep it for these data says None. Nothing has to be imported from above: all that a model
needs is handed to it.

How the methods of the course answer:

- A model in closed form (`OnePass`: linear ones, discriminant analysis, naive Bayes) needs no method of its own. One pass collects its
  statistic for all folds, and every fit begins with the statistic of its training set. The class attribute ``statistic_parameters`` names
  the parameters that the statistic depends on; candidates that agree in these share the pass.
- Where one fit holds many candidates (nested sizes of a pursuit, the pruning path of a tree, the rounds of boosting, all k of nearest
  neighbours), :meth:`Question.families` sorts the candidates into those that differ in that parameter alone. The model is fitted once to
  ``question.training(fold)`` for each family and fold, and hands what each member would answer, stage by stage, to :meth:`Table.judge`.
  A classifier hands over labels and probabilities with its ``classes_``: ``table.judge(c, fold, predict=..., predict_proba=...,
  classes_=...)``. :meth:`Question.asking` says which scorers can be served by these.
- Where the score itself follows from sums (`Scoring.additive`) or has a closed form on single rows (`Scoring.on_single_rows`), no model
  has to predict anything.

Examples
--------
A regression towards zero whose statistic serves every candidate, and which answers for itself:

>>> import qed
>>> from qed.base.models.roles import Regressor
>>> class Shrunken(Regressor, qed.base.models.estimator.Estimator):
...     def __init__(self, share=0.0):
...         self.share = share
...
...     def _solve(self, problem):
...         self.value_ = (1 - self.share) * problem.rows.map(lambda block: block.y).mean()
...
...     def _prove(self, problem):
...         return []
...
...     def _predict(self, block):
...         return np.full(len(block), self.value_)
...
...     def _search(self, question):
...         table = question.table(question.asking(self, "predict"))
...         for fold in question.folds:
...             mean = question.target[question.folds.train(fold)].mean()
...             for candidate, model in enumerate(question.models):
...                 held_out = len(question.folds.test(fold))
...                 table.judge(candidate, fold, predict=np.full(held_out, (1 - model.share) * mean))
...         return table.answer("one mean for each fold")
>>> X, y = np.zeros((6, 1)), np.array([1.0, 3.0, 2.0, 4.0, 3.0, 5.0])
>>> search = qed.Search(Shrunken(), {"share": [0.5, 0.0]}, cv=3, scoring="neg_mean_squared_error").fit(X, y)
>>> search.best_params_, search.how_
({'share': 0.0}, 'one mean for each fold')
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from qed.base.errors import InputError
from qed.base.models.parameters import check_parameters
from qed.base.models.scoring import Scores, Scoring
from qed.base.running.callbacks import calling_back
from qed.base.running.changing import changing
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows

Candidate = Mapping[str, Any]
Indices = NDArray[np.intp]
Statistic = TypeVar("Statistic")
Model = TypeVar("Model", covariant=True)

# So many numbers the statistics of all folds may hold: 256 megabytes.
MOST_NUMBERS, SMALL = 1 << 25, 1 << 20


@dataclass(frozen=True, eq=False)
class Collected(Generic[Statistic]):
    """A statistic of all training sets and of all rows held out, from one pass."""

    # One for each fold.
    training: Sequence[Statistic]
    held_out: Sequence[Statistic]
    total: Statistic  # of all rows


class Folds(Protocol):
    """The splits of a search: drawn once, shared by all candidates.

    Attributes
    ----------
    n_splits : int
        How many there are.
    n_groups : int
        How many groups of rows a pass has to tell apart that collects a statistic of all training sets; 0 where none can.
    leave_one_out : bool
        Whether every fold is a single row, and every row (of a weight above zero) a fold.
    out_of_bag : bool
        Whether rows are to be judged by the members of an ensemble that have not seen them, after one fit to all.
    words : str
        What they are, such as "5 folds".
    """

    @property
    def n_splits(self) -> int: ...

    @property
    def n_groups(self) -> int: ...

    @property
    def leave_one_out(self) -> bool: ...

    @property
    def out_of_bag(self) -> bool: ...

    @property
    def words(self) -> str: ...

    def __iter__(self) -> Iterator[int]: ...

    def train(self, fold: int) -> Indices:
        """Give the row numbers of a training set."""

    def test(self, fold: int) -> Indices:
        """Give the row numbers that a fold holds out."""

    def training(self, rows: Rows, fold: int) -> Rows:
        """Give the training rows of a fold, streamed from wherever `rows` come from."""

    def held_out(self, rows: Rows, fold: int) -> Rows:
        """Give the rows that a fold holds out."""

    def collect(self, rows: Rows, model: Any, function: Callable[[Block], Any]) -> Collected[Any]:
        """Collect a statistic of all splits in one pass; `model` refuses what is missing."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a model has to say about its candidates."""

    how: str  # how it was found out, in words
    scores: Mapping[str, Scores]  # for each scorer that was served its table
    statistic: object = None  # the statistic of all rows, from which the best model can be fitted without another pass

    def __or__(self, other: Answer | None) -> Answer:
        """Put two answers about different scorers together."""
        if other is None:
            return self
        return Answer(f"{self.how}; {other.how}", {**other.scores, **self.scores}, self.statistic)


@dataclass(frozen=True, eq=False)
class Question(Generic[Model]):
    """What a search asks."""

    rows: Rows  # all rows, checked
    # Settings of parameters as `set_params` takes them; checked against the rules in `parameters`.
    candidates: Sequence[Candidate]
    # For each candidate an unfitted model, opened on the rows. What they have in common they share, so they are
    # to be read only.
    models: Sequence[Model]
    folds: Folds  # the splits
    scorers: Mapping[str, Scoring]  # what is wanted
    train_scores: bool = False  # whether scores on the training rows are wanted as well
    _collected: list[tuple[object, Candidate, Collected[Any]]] = field(default_factory=list, repr=False)

    def has_room(self, model: Any) -> bool:
        """Say whether one pass can collect a model's statistic for all splits, and memory hold it.

        Of a wide table in memory, whose rows are smaller than their statistic, none is collected.
        """
        if not 0 < self.folds.n_groups <= MOST_NUMBERS:
            return False
        labels = model.target == "label" and self.rows.target_ndim == 1
        k = len(np.unique(self.target)) if labels else self.n_outputs
        numbers, rows = model._statistic_numbers(self.rows.n_features, k), self.rows
        # Small ones are at hand in any case.
        if rows.in_memory and numbers > max(rows.count() * rows.n_features, SMALL):
            return False
        return bool(self.folds.n_groups * numbers <= MOST_NUMBERS)

    def statistics(self, model: Any) -> Collected[Any]:
        """Collect a model's statistic for all splits; asked again for the same, give it at once.

        The model says what the statistic is and which parameters it depends on, and refuses what is missing.
        """
        kind, names = type(model)._statistic, model.statistic_parameters
        depends_on = {name: getattr(model, name) for name in (model.get_params(deep=False) if names is None else names)}
        for other, parameters, found in self._collected:
            if other is kind and alike(parameters, depends_on):
                return found
        collected = self.folds.collect(self.rows, model, model._statistic)
        self._collected.append((kind, depends_on, collected))
        return collected

    @property
    def n_outputs(self) -> int:
        """How many columns the target has."""
        return self.rows.n_targets

    def families(self, along: str) -> list[list[int]]:
        """Sort candidates into families that differ in one parameter only; give their places among the candidates."""
        return families(self.candidates, (along,))

    def training(self, fold: int) -> Rows:
        """Give the training rows of a fold."""
        return self.folds.training(self.rows, fold)

    def held_out(self, fold: int) -> Rows:
        """Give the rows that a fold holds out."""
        return self.folds.held_out(self.rows, fold)

    @cached_property
    def target(self) -> np.ndarray:
        """The target of all rows, gathered."""
        return np.asarray(self.rows.map(_target))

    @cached_property
    def weight(self) -> np.ndarray | None:
        """The weights of all rows, gathered, or None."""
        return np.asarray(self.rows.map(_weight)) if self.rows.has_weight else None

    def asking(self, model: object, *methods: str) -> list[str]:
        """Name the scorers that ask no more of a model than these methods."""
        return [name for name, scorer in self.scorers.items() if scorer.asks(model) in methods]

    def table(self, scorers: Sequence[str]) -> Table:
        """Make an empty table for some of the scorers."""
        return Table(self, scorers)


class Table:
    """The scores of all candidates on all folds, to be filled in.

    Of each scorer that is served, `values` has the scores on rows held out and on training rows, of shape (2,
    n_candidates, n_splits); not a number where they are not known.
    """

    def __init__(self, question: Question[object], scorers: Sequence[str]) -> None:
        self.question = question
        shape = (2, len(question.candidates), question.folds.n_splits)
        self.values = {name: np.full(shape, np.nan) for name in scorers}
        self._truth = cache(self._true)

    def judge(self, candidate: int, fold: int, *, train: bool = False, **answers: np.ndarray) -> None:
        """Score what a candidate would answer for the rows that a fold holds out (or trains on, with `train`).

        The answers are what the model's methods give for these rows, in their order, such as ``predict=array``; and its
        attributes, such as ``classes_=array``.
        """
        target, weight = self._truth(fold, train)
        model = _Answers(answers)
        for name, values in self.values.items():
            values[int(train), candidate, fold] = self.question.scorers[name](model, None, target, **weight)

    def _true(self, fold: int, train: bool) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Give the target of the rows that a fold holds out, or trains on, and their weights: the same for all candidates."""
        question = self.question
        chosen = np.sort(question.folds.train(fold) if train else question.folds.test(fold))
        weight = {} if question.weight is None else {"sample_weight": question.weight[chosen]}
        return question.target[chosen], weight

    def answer(self, how: str, statistic: object = None) -> Answer | None:
        """Give the answer; scorers with a score that is not known are left out, and None stands for no scorer at all."""
        wants_train, scores = self.question.train_scores, {}
        for name, (test, train) in self.values.items():
            if not np.isnan(test).any() and not (wants_train and np.isnan(train).any()):
                scores[name] = Scores.of(test, train if wants_train else None)
        return Answer(how, scores, statistic) if scores else None


class _Answers:
    """A model whose answers are known: its methods ignore what they are asked about."""

    def __init__(self, answers: Mapping[str, np.ndarray]) -> None:
        for name, value in answers.items():
            setattr(self, name, value if name.endswith("_") else partial(_given, value))


def _given(value: np.ndarray, X: object) -> np.ndarray:
    return value


def _target(block: Block) -> np.ndarray:
    return np.asarray(block.y)


def _weight(block: Block) -> np.ndarray:
    return np.asarray(block.weight)


def fit_known(model: Any, rows: Rows, statistic: Any) -> Any:
    """Fit a model to rows whose statistic is known, such as those of a training set in cross-validation.

    Parameters
    ----------
    model : Estimator
        What is fitted; it learns from a statistic (``_statistic``), in closed form or by steps.
    rows : Rows
        The rows, for what else the model may ask of them.
    statistic : Statistic
        What folding the model's statistic over the rows would give.
    """
    check_parameters(model, model.parameters)
    with changing(model, anew=True), calling_back(model, rows, None, None):
        model._settle(model._known(model._open(rows, reset=True, target=model.target), statistic))
    return model


def families(candidates: Sequence[Candidate], along: Sequence[str]) -> list[list[int]]:
    """Sort candidates into families whose members differ in some parameters only; give their places.

    >>> families([{"alpha": 1, "p": 2}, {"alpha": 3, "p": 2}, {"alpha": 1, "p": 4}], ["alpha"])
    [[0, 1], [2]]
    """
    found: list[list[int]] = []
    near: dict[str, list[tuple[Candidate, list[int]]]] = {}
    for place, candidate in enumerate(candidates):
        shared = {name: value for name, value in candidate.items() if name not in along}
        others = near.setdefault(repr(shared), [])
        members = next((members for other, members in others if alike(shared, other)), None)
        if members is None:
            members = []
            found.append(members)
            others.append((shared, members))
        members.append(place)
    return found


def alike(first: Candidate, second: Candidate) -> bool:
    """Say whether two settings are the same, whatever they hold."""
    if first.keys() != second.keys():
        return False
    pairs = [(first[name], second[name]) for name in first]
    return all(a is b or (type(a) is type(b) and np.array_equal(a, b)) for a, b in pairs)


def check_answer(model: object, answer: Answer, question: Question[object]) -> Answer | None:
    """Refuse an answer whose tables do not have a score for each candidate and fold; leave out those without wanted training scores."""
    shape = (len(question.candidates), question.folds.n_splits)
    for name, found in answer.scores.items():
        for table in (found.each, found.train):
            if table is not None and table.shape != shape:
                raise InputError(
                    f"{type(model).__name__}._search gave scores of shape {table.shape} for {name!r}, "
                    f"not one for each of {shape[0]} candidates and {shape[1]} folds."
                )
    wants = question.train_scores
    scores = {name: found for name, found in answer.scores.items() if not wants or found.train is not None}
    return Answer(answer.how, scores, answer.statistic) if scores else None
