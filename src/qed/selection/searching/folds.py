"""The folds of a search.

`Folds` are drawn once and shared by all candidates. Where they are a partition, row i being held out by fold ``assignment[i]`` (or by
none), the statistics of all folds are collected in one pass, and the training statistic of a fold is the sum of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.base.models.problem import collect
from qed.base.models.searching import Collected, Indices
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.selection.inputs import count_rows
from qed.selection.splitting.splits import GivenSplits, Partition, Splitting, check_cv, fold_numbers, row_numbers
from qed.stats.grouped import Grouped
from qed.stats.parts import Part

# Parts of the rows that are scored out of bag, for the standard error of their mean.
PARTS = 5


@dataclass(frozen=True, eq=False)
class Folds:
    """The splits of a search; what is not said here is said in `qed.base.models.searching.Folds`.

    >>> folds = Folds.of(2, range(4))
    >>> folds.assignment, folds.test(0), folds.leave_one_out
    (array([0, 0, 1, 1]), array([0, 1]), False)
    """

    # How many rows and how many splits there are.
    n_rows: int
    n_splits: int
    # (n_rows,): the fold that holds out each row, -1 for rows that always train; None where the splits are no
    # partition.
    assignment: Indices | None
    pairs: tuple[tuple[Indices, Indices], ...] = ()  # the row numbers of each split, where they were given
    leave_one_out: bool = False  # whether every fold is a single row, and every row (of a weight above zero) a fold
    out_of_bag: bool = (
        False  # whether the parts are those of rows judged by members of an ensemble that have not seen them
    )

    @classmethod
    def of(
        cls,
        cv: Splitting,
        X: Any,
        y: Any = None,
        groups: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        classifier: bool = False,
    ) -> Folds:
        """Draw the splits.

        A `cv` of "loo" leaves out each row in turn, those of weight zero not being there; one of "oob" holds out nothing, and scores the
        parts that `groups` name, or five; else it is what
        :func:`qed.selection.splitting.splits.check_cv` takes.
        """
        n = count_rows(X)
        if n < 2:
            raise InputError(f"Nothing can be held out of a single row (n_samples={n}): give at least two rows.")
        # scikit-learn's class of the same name would spell out n index sets of n - 1 rows each.
        alone = (isinstance(cv, str) and cv == "loo") or type(cv).__name__ == "LeaveOneOut"
        present = np.ones(n, dtype=bool) if weight is None else np.asarray(weight) > 0
        if alone:
            assignment = np.where(present, np.cumsum(present) - 1, -1)
            return cls(n, int(present.sum()), assignment, leave_one_out=True)
        out_of_bag = isinstance(cv, str) and cv == "oob"
        if out_of_bag and groups is not None:
            part = np.unique(np.asarray(groups), return_inverse=True)[1]
            return cls(n, int(part.max()) + 1, part, out_of_bag=True)
        splitter = check_cv(PARTS if out_of_bag else cv, y, classifier)
        if isinstance(splitter, Partition) and groups is None:
            # Rows of weight zero are not there: they train, which changes nothing, and are never held out.
            there, assignment = np.flatnonzero(present), np.full(n, -1)
            assignment[there] = splitter.assign(len(there), None if y is None else np.asarray(y)[there])
            return cls(n, splitter.get_n_splits(there), assignment, out_of_bag=out_of_bag)
        table = np.zeros((n, 1)) if isinstance(X, Rows) else X
        pairs = tuple((row_numbers(train, n), row_numbers(test, n)) for train, test in splitter.split(table, y, groups))
        return cls(n, len(pairs), fold_numbers(GivenSplits(pairs), range(n)), pairs)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.n_splits))

    @property
    def n_groups(self) -> int:
        """How many groups of rows a pass has to tell apart that collects a statistic of all training sets; 0 where none can."""
        return 0 if self.assignment is None else self.n_splits

    @property
    def words(self) -> str:
        """How many there are, in words."""
        return f"{self.n_splits} fold{'s' if self.n_splits > 1 else ''}"

    @property
    def repeats_rows(self) -> bool:
        """Whether a split names a row more than once, as those of a bootstrap do."""
        return self.assignment is None and any(np.bincount(part).max() > 1 for pair in self.pairs for part in pair)

    def train(self, fold: int) -> Indices:
        """Give the row numbers of a training set."""
        return self.pairs[fold][0] if self.pairs else np.flatnonzero(self.assignment != fold)

    def test(self, fold: int) -> Indices:
        """Give the row numbers that a fold holds out."""
        return self.pairs[fold][1] if self.pairs else np.flatnonzero(self.assignment == fold)

    def training(self, rows: Rows, fold: int) -> Rows:
        """Give the training rows of a fold, streamed from wherever `rows` come from."""
        chosen = mask(self.train(fold), self.n_rows) if self.assignment is None else self.assignment != fold
        return Part(rows, chosen)

    def held_out(self, rows: Rows, fold: int) -> Rows:
        """Give the rows that a fold holds out."""
        chosen = mask(self.test(fold), self.n_rows) if self.assignment is None else self.assignment == fold
        return Part(rows, chosen)

    def collect(self, rows: Rows, model: Any, function: Callable[[Block], Any]) -> Collected[Any]:
        """Collect a statistic of all splits in one pass, where they are a partition."""
        assert self.assignment is not None
        parts: Grouped = collect(rows, model, Grouped.of, self.assignment, self.n_splits, function)
        return Collected(parts.others(), [parts[fold] for fold in self], parts.total)

    def lacks_class(self, codes: Indices) -> bool:
        """Say whether some training set lacks a class; `codes` number the classes of all rows."""
        n_classes = int(codes.max()) + 1
        if self.assignment is None:
            return any(len(np.unique(codes[self.train(fold)])) < n_classes for fold in self)
        cells = (self.assignment + 1) * n_classes + codes
        members = np.bincount(cells, minlength=(self.n_splits + 1) * n_classes).reshape(-1, n_classes)
        return bool((members[1:] == members.sum(axis=0)).any())


def mask(chosen: Indices, n: int) -> np.ndarray:
    """Say for each row whether it is among those of some numbers, none of which may be named twice."""
    found = np.zeros(n, dtype=bool)
    found[chosen] = True
    if np.count_nonzero(found) < len(chosen):
        raise InputError("A split names rows more than once, which rows that are streamed can not be: use weights.")
    return found
