"""The folds of a search, and its table of scores: what is asked, and what is answered.

`Folds` are drawn once and shared by all candidates. Where they are a partition, row i being held out by fold
``assignment[i]`` (or by none), models may use that: the statistics of all folds are collected in one pass, and
the training statistic of a fold is the sum of the others. `Scores` say how well each candidate did on each fold,
and how that was found out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.problem import collect
from qed.base.sources.rows import Rows
from qed.selection.inputs import count_rows
from qed.selection.splitting.splits import GivenSplits, Indices, Partition, check_cv, fold_numbers
from qed.stats.grouped import Grouped
from qed.stats.parts import Part

Candidate = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Scores:
    """How well candidates did.

    Attributes
    ----------
    how : str
        How it was found out, in words.
    mean, std, standard_error : ndarray of shape (n_candidates,)
        Mean over folds (each counting the same), standard deviation, and standard error of the mean.
    n_splits : int
        The number of folds.
    each : ndarray of shape (n_candidates, n_splits) or None
        The score on every fold; None where there are too many of them to keep.
    train : ndarray of shape (n_candidates, n_splits) or None
        The scores on the training rows, where they were asked for.
    statistic : object, optional
        The statistic of all rows, from which the best model can be fitted without another pass.
    fit_time, score_time : ndarray of shape (n_candidates, n_splits) or (n_candidates, 1), optional
        Seconds; a single column where they were not fitted one by one, and each fold is given an equal share.
    models : list of list, optional
        The models fitted, candidate by candidate, where they were asked for.
    """

    how: str
    mean: np.ndarray
    std: np.ndarray
    standard_error: np.ndarray
    n_splits: int
    each: np.ndarray | None = None
    train: np.ndarray | None = None
    statistic: Any = None
    fit_time: np.ndarray | None = None
    score_time: np.ndarray | None = None
    models: list[list[Any]] | None = None

    @classmethod
    def of(cls, each: np.ndarray, how: str, **more: Any) -> Scores:
        """Take the scores of all folds together.

        Examples
        --------
        >>> scores = Scores.of(np.array([[1.0, 3.0]]), "fitted 2 models")
        >>> scores.mean, scores.std, scores.standard_error
        (array([2.]), array([1.]), array([1.]))
        """
        each = np.asarray(each, dtype=np.float64)
        k = each.shape[1]
        with np.errstate(invalid="ignore"):
            mean, std = each.mean(axis=1), each.std(axis=1)
        return cls(how, mean, std, std / np.sqrt(max(k - 1, 1)), k, each, **more)

    def shared_by_equals(self, candidates: Sequence[Candidate]) -> Scores:
        """Give equal candidates the scores of the first of them, which arithmetic on whole tables gives them only but for rounding.

        Examples
        --------
        >>> scores = Scores.of(np.array([[0.3], [0.1 + 0.2]]), "by hand")
        >>> len(set(scores.mean)), len(set(scores.shared_by_equals([{"alpha": 1.0}, {"alpha": 1.0}]).mean))
        (2, 1)
        """
        seen: dict[str, list[int]] = {}
        first = []
        for place, candidate in enumerate(candidates):
            alike = seen.setdefault(repr(candidate), [])
            first.append(next((other for other in alike if _alike(candidates[other], candidate)), place))
            alike.append(place)
        if first == list(range(len(candidates))):
            return self
        names = ("mean", "std", "standard_error", "each", "train")
        return replace(self, **{name: one[first] for name in names if (one := getattr(self, name)) is not None})


@dataclass(frozen=True, eq=False)
class Folds:
    """The splits of a search.

    Attributes
    ----------
    n_rows, n_splits : int
        How many rows and how many splits there are.
    assignment : ndarray of int of shape (n_rows,) or None
        The fold that holds out each row, -1 for rows that always train; None where the splits are no partition.
    pairs : tuple of (train, test)
        The row numbers of each split, where they were given.
    train_scores : bool
        Whether scores on the training rows are wanted as well.
    leave_one_out : bool
        Whether every fold is a single row, and every row (of a weight above zero) a fold.

    Examples
    --------
    >>> folds = Folds.of(2, range(4))
    >>> folds.assignment, folds.test(0), folds.leave_one_out
    (array([0, 0, 1, 1]), array([0, 1]), False)
    """

    n_rows: int
    n_splits: int
    assignment: Indices | None
    pairs: tuple[tuple[Indices, Indices], ...] = ()
    train_scores: bool = False
    leave_one_out: bool = False
    _collected: list[tuple[Rows, Any, Grouped]] = field(default_factory=list, repr=False)

    @classmethod
    def of(
        cls,
        cv: Any,
        X: Any,
        y: Any = None,
        groups: Any = None,
        *,
        weight: Any = None,
        classifier: bool = False,
        train_scores: bool = False,
    ) -> Folds:
        """Draw the splits.

        Parameters
        ----------
        cv : int, None, "loo", splitter or iterable of (train, test)
            As in :func:`qed.selection.splitting.splits.check_cv`; "loo" leaves out each row in turn.
        X, y, groups
            The rows, their target, and the groups for splitters that keep them together.
        weight : ndarray of shape (n,), optional
            The weights; when leaving one out, rows of weight zero are not there to be left out.
        classifier : bool
            Whether the model is a classifier; then a number of folds means stratified ones.
        train_scores : bool
            Whether scores on the training rows are wanted as well.
        """
        n = count_rows(X)
        if n < 2:
            raise InputError(f"Nothing can be held out of a single row (n_samples={n}): give at least two rows.")
        # scikit-learn's class of the same name would spell out n index sets of n - 1 rows each.
        alone = (isinstance(cv, str) and cv == "loo") or type(cv).__name__ == "LeaveOneOut"
        if alone:
            present = np.ones(n, dtype=bool) if weight is None else np.asarray(weight) > 0
            assignment = np.where(present, np.cumsum(present) - 1, -1)
            return cls(n, int(present.sum()), assignment, (), train_scores, leave_one_out=True)
        splitter = check_cv(cv, y, classifier)
        if isinstance(splitter, Partition) and groups is None:
            return cls(n, splitter.get_n_splits(range(n)), splitter.assign(n, y), train_scores=train_scores)
        table = np.zeros((n, 1)) if isinstance(X, Rows) else X
        pairs = tuple(_numbers(train, test, n) for train, test in splitter.split(table, y, groups))
        given = GivenSplits(pairs)
        return cls(n, len(pairs), fold_numbers(given, range(n)), pairs, train_scores)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n_splits))

    def train(self, fold: int) -> Indices:
        """Give the row numbers of a training set."""
        return self.pairs[fold][0] if self.pairs else np.flatnonzero(self.assignment != fold)

    def test(self, fold: int) -> Indices:
        """Give the row numbers that a fold holds out."""
        return self.pairs[fold][1] if self.pairs else np.flatnonzero(self.assignment == fold)

    def training(self, rows: Rows, fold: int) -> Rows:
        """Give the training rows of a fold, streamed from wherever `rows` come from."""
        chosen = _mask(self.train(fold), self.n_rows) if self.assignment is None else self.assignment != fold
        return Part(rows, chosen)

    def held_out(self, rows: Rows, fold: int) -> Rows:
        """Give the rows that a fold holds out."""
        chosen = _mask(self.test(fold), self.n_rows) if self.assignment is None else self.assignment == fold
        return Part(rows, chosen)

    def statistics(self, rows: Rows, model: Any) -> Grouped:
        """Collect a model's statistic for every fold, in one pass; asked again for the same, give it at once.

        Parameters
        ----------
        rows : Rows
            All rows.
        model : OnePass
            Says what the statistic is, and refuses what is missing.
        """
        for source, asker, found in self._collected:
            if source is rows and asker is model:
                return found
        assert self.assignment is not None
        collected: Grouped = collect(rows, model, Grouped.of, self.assignment, self.n_splits, model._statistic)
        self._collected.append((rows, model, collected))
        return collected

    def answer(self, each: np.ndarray, how: str, **more: Any) -> Scores:
        """Make the answer of a model that was asked for scores; see :mod:`qed.selection.searching.cheap`."""
        return Scores.of(each, how, **more)

    def judge(self, scorer: Any, rows: Rows, **responses: Any) -> float:
        """Score what a model would answer for some rows.

        Parameters
        ----------
        scorer : callable
            Takes a model, features, target and, where there are any, weights.
        rows : Rows
            The rows, with their target.
        **responses
            What the model's methods give, such as ``predict=array``; and its attributes, such as ``classes_=array``.

        Examples
        --------
        >>> from qed.base.sources.open import rows
        >>> from qed.selection.scoring import get_scorer
        >>> folds, data = Folds.of(2, range(4)), rows(np.zeros((2, 1)), [1.0, 3.0])
        >>> folds.judge(get_scorer("neg_mean_squared_error"), data, predict=np.array([1.0, 1.0]))
        -2.0
        """
        block = rows.array()
        weight = {} if block.weight is None else {"sample_weight": block.weight}
        return float(scorer(_Answers(responses), block.X, block.y, **weight))

    @staticmethod
    def families(candidates: Sequence[Candidate], along: str) -> list[tuple[dict[str, Any], list[int]]]:
        """Sort candidates into families that differ in one parameter only.

        Parameters
        ----------
        candidates : sequence of dict
            Settings of parameters.
        along : str
            The parameter along which a family runs.

        Returns
        -------
        list of (shared, places)
            What the members of each family share, and their places among the candidates.

        Examples
        --------
        >>> Folds.families([{"alpha": 1, "p": 2}, {"alpha": 3, "p": 2}, {"alpha": 1, "p": 4}], "alpha")
        [({'p': 2}, [0, 1]), ({'p': 4}, [2])]
        """
        found: list[tuple[dict[str, Any], list[int]]] = []
        for place, candidate in enumerate(candidates):
            shared = {name: value for name, value in candidate.items() if name != along}
            for other, places in found:
                if _alike(shared, other):
                    places.append(place)
                    break
            else:
                found.append((shared, [place]))
        return found


class _Answers:
    """A model whose answers are known: its methods ignore what they are asked about."""

    def __init__(self, responses: Mapping[str, Any]) -> None:
        for name, value in responses.items():
            setattr(self, name, value if name.endswith("_") else partial(_given, value))


def _given(value: Any, X: Any) -> Any:
    return value


def _numbers(train: Any, test: Any, n: int) -> tuple[Indices, Indices]:
    train, test = np.asarray(train), np.asarray(test)
    if train.dtype == bool:
        train = np.flatnonzero(train)
    if test.dtype == bool:
        test = np.flatnonzero(test)
    for part in (train, test):
        if part.size and (part.min() < -n or part.max() >= n):
            raise InputError(f"A split names row {part.max()}, but there are rows 0 to {n - 1} only.")
    return train, test


def _mask(chosen: Indices, n: int) -> np.ndarray:
    mask = np.zeros(n, dtype=bool)
    mask[chosen] = True
    if np.count_nonzero(mask) < len(chosen):
        raise InputError("A split names rows more than once, which rows that are streamed can not be: use weights.")
    return mask


def _alike(first: Candidate, second: Candidate) -> bool:
    if first.keys() != second.keys():
        return False
    pairs = [(first[name], second[name]) for name in first]
    return all(a is b or (type(a) is type(b) and np.array_equal(a, b)) for a, b in pairs)
