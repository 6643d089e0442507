"""Splitting rows into those to train on and those to be judged by.

k-fold cross-validation: shuffle, partition the n rows once into k blocks :math:`B_1, ..., B_k` as equal as
possible, train on all rows but :math:`B_i`, take the error on :math:`B_i`, and average the k errors. Every
row is judged exactly once, by a model that has not seen it, and all configurations that are compared share
the one partition.

A splitter of this file is one function, `assign`: the number of the fold that holds each row out, or -1 for a
row that always trains. The index sets of ``split`` follow from it, and so does the fast way: one pass that
adds up a statistic per fold, each training statistic being the total minus that of its fold. Cost: O(n) for
the assignment, O(n k) for the index sets.

Reference: M. Stone (1974), Journal of the Royal Statistical Society B 36.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.base.models.parameters import boolean, integer
from qed.base.models.searching import Indices
from qed.base.random import Seed, generator, seed_of
from qed.selection.inputs import Labels, classes_of, count_rows, labels, positions


class Splitter(Protocol):
    """What a search asks of a splitter, ours or another's."""

    def split(
        self, X: Any, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterable[tuple[NDArray[Any], NDArray[Any]]]:
        """Give the row numbers (or masks) of training and held-out rows, split after split."""

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Say how many splits there are."""


Splitting = int | str | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None


class FewMembersWarning(DegenerateWarning):
    """A class has fewer rows than there are folds, so that some folds go without it."""


class Partition(ABC):
    """A splitter that holds out each row at most once."""

    @abstractmethod
    def assign(self, n: int, y: Any = None) -> Indices:
        """Give the fold that holds out each of `n` rows; -1 for rows that are in every training set."""

    @abstractmethod
    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Say how many splits there are."""

    def split(self, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Iterator[tuple[Indices, Indices]]:
        """Give the indices of training and held-out rows, fold after fold.

        Parameters
        ----------
        X : array-like
            The rows; only their number matters.
        y : array-like, optional
            Their labels, for splitters that keep the shares of classes.
        groups : None
            Not used: a partition that ignored given groups would leak between training and test, so they are
            refused.

        Yields
        ------
        train, test : ndarray
            Row numbers, rising.
        """
        if groups is not None:
            raise InputError(
                f"{type(self).__name__} does not keep groups together: use a splitter that does, such as GroupKFold."
            )
        rows = X if X is not None else y
        folds = self.assign(count_rows(rows), y)
        for fold in range(self.get_n_splits(rows)):
            held_out = folds == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


@dataclass(frozen=True)
class KFold(Partition):
    """Split rows into k folds as equal in size as possible; the first n mod k of them have one row more.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds k.
    shuffle : bool, default=True
        Deal the rows out at random. False gives consecutive blocks, the folds of scikit-learn's ``KFold``.
    random_state : None, int or numpy generator, default=0
        The seed of the shuffle. None draws another partition at every call.

    Examples
    --------
    >>> KFold(3, shuffle=False).assign(10)
    array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    >>> [len(test) for train, test in KFold(3).split(range(10))]
    [4, 3, 3]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = True
    random_state: Seed = 0

    def __post_init__(self) -> None:
        integer(2).checked("n_splits", self.n_splits)
        boolean().checked("shuffle", self.shuffle)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        return int(self.n_splits)

    def assign(self, n: int, y: Any = None) -> Indices:
        self._check_size(n)
        smaller, larger = divmod(n, self.n_splits)
        folds = np.repeat(np.arange(self.n_splits), smaller + (np.arange(self.n_splits) < larger))
        return generator(seed_of(self.random_state), "folds").permutation(folds) if self.shuffle else folds

    def _check_size(self, n: int) -> None:
        if n < self.n_splits:
            raise InputError(
                f"{n} rows can not fill {self.n_splits} folds: take n_splits={max(n, 2)} at most, or more rows."
            )


@dataclass(frozen=True)
class StratifiedKFold(KFold):
    """Split rows into k folds in which every class has the same share as in all rows, give or take one row.

    Rows sorted by class are dealt to the folds in turn, like cards; so the sizes of the folds, and the
    members of each class in them, differ by one at most.

    Parameters
    ----------
    n_splits : int, default=5
        The number of folds k.
    random_state : None, int or numpy generator, default=0
        The seed of the shuffle. None draws another partition at every call.
    shuffle : bool, default=True
        Deal the rows of each class out at random. False keeps their order: the folds of scikit-learn's
        ``StratifiedKFold``.

    Examples
    --------
    >>> StratifiedKFold(2, shuffle=False).assign(6, ["a", "a", "b", "b", "b", "b"])
    array([0, 1, 0, 0, 1, 1])
    """

    def assign(self, n: int, y: Any = None) -> Indices:
        self._check_size(n)
        y = _column(y)
        codes = class_codes(y, n, type(self).__name__)
        members = np.bincount(codes)
        self._check_members(y, codes, members)
        dealt = np.arange(n) % self.n_splits
        random = generator(seed_of(self.random_state), "folds") if self.shuffle else None
        for part in np.split(dealt, np.cumsum(members)[:-1]):
            part.sort() if random is None else random.shuffle(part)
        folds = np.empty(n, dtype=np.intp)
        folds[np.argsort(codes, kind="stable")] = dealt
        return folds

    def _check_members(self, y: Any, codes: Indices, members: Indices) -> None:
        smallest = int(np.argmin(members))
        if members[smallest] >= self.n_splits:
            return
        name = labels(y, "y")[np.argmax(codes == smallest)].item()
        says = f"Class {name!r} has {members[smallest]} rows for {self.n_splits} folds"
        if members.max() < self.n_splits:
            raise InputError(
                f"{says}, and no class has more than {members.max()}: use n_splits={max(2, members.max())}."
            )
        warnings.warn(
            f"{says}, so some folds go without it: take fewer folds, or join rare classes.",
            FewMembersWarning,
            stacklevel=3,
        )


@dataclass(frozen=True)
class LeaveOneOut(Partition):
    """Hold out every row by itself: k-fold cross-validation with k = n.

    Examples
    --------
    >>> [test.tolist() for train, test in LeaveOneOut().split([10, 20, 30])]
    [[0], [1], [2]]
    """

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        if X is None:
            raise InputError("LeaveOneOut has as many splits as there are rows: give X to get_n_splits.")
        return count_rows(X)

    def assign(self, n: int, y: Any = None) -> Indices:
        if n < 2:
            raise InputError(f"Leaving one out needs at least 2 rows, but there are {n}.")
        return np.arange(n)


@dataclass(frozen=True)
class GivenSplits:
    """Splits that were made elsewhere, kept as they are.

    Examples
    --------
    >>> splits = GivenSplits(((np.array([0, 1]), np.array([2])), (np.array([1, 2]), np.array([0]))))
    >>> splits.get_n_splits(), fold_numbers(splits, range(3))
    (2, array([ 1, -1,  0]))
    """

    # Row numbers, or masks, of the training and the held-out rows of each split.
    pairs: tuple[tuple[NDArray[Any], NDArray[Any]], ...]

    def __post_init__(self) -> None:
        for number, (train, test) in enumerate(self.pairs):
            if not all(part.ndim == 1 and part.size and part.dtype.kind in "iub" for part in (train, test)):
                raise ParameterError(
                    f"Split {number} must be two arrays of row numbers (or masks), neither of them empty."
                )

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        """Say how many splits there are."""
        return len(self.pairs)

    def split(
        self, X: Any = None, y: Any = None, groups: ArrayLike | None = None
    ) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Give the splits, one after another."""
        yield from self.pairs


def check_cv(cv: Splitting = None, y: Any = None, classifier: bool = False) -> Splitter:
    """Make a splitter of whatever a `cv` parameter may be.

    A whole number k means k consecutive folds, with the classes of `y` in equal shares for a classifier, as in scikit-learn's searches;
    None means 5. Anything with a ``split`` method is given back. An iterable is read once and kept.
    """
    cv = 5 if cv is None else cv
    if isinstance(cv, (int, np.integer)):
        by_class = classifier and y is not None and np.ndim(_column(y)) == 1
        return (StratifiedKFold if by_class else KFold)(int(cv), shuffle=False)
    if isinstance(cv, (str, bytes, type)) or not (hasattr(cv, "split") or isinstance(cv, Iterable)):
        raise ParameterError(
            f"cv must be a number of folds, a splitter or an iterable of (train, test) row numbers, not {cv!r}."
        )
    if hasattr(cv, "split"):
        return cast(Splitter, cv)
    try:
        pairs = tuple((np.asarray(train), np.asarray(test)) for train, test in cv)
    except (TypeError, ValueError) as error:
        raise ParameterError("cv must give pairs (train, test) of arrays of row numbers.") from error
    if not pairs:
        raise ParameterError("cv is an iterable without splits: it may have been used up. Pass a list.")
    return GivenSplits(pairs)


def fold_numbers(splitter: Splitter, X: Any, y: Any = None, groups: ArrayLike | None = None) -> Indices | None:
    """Give the fold of each row where a splitter, ours or another's, is a partition; None where it is not.

    A splitter is one when no row is held out twice and every training set is all that its test set leaves.
    Then the training statistic of every split is the total minus that of its fold. The splits are drawn once;
    a splitter without a seed has to be drawn into `GivenSplits` first if its index sets are needed as well.

    >>> fold_numbers(KFold(2, shuffle=False), range(4))
    array([0, 0, 1, 1])
    >>> fold_numbers(GivenSplits(((np.array([0]), np.array([1])),)), range(3)) is None
    True
    """
    n = count_rows(X)
    if isinstance(splitter, Partition):
        return splitter.assign(n, y)
    folds = np.full(n, -1)
    for fold, (train, test) in enumerate(splitter.split(X, y, groups)):
        held_out, trained = (np.bincount(row_numbers(part, n), minlength=n) for part in (test, train))
        if (held_out + trained != 1).any() or (folds[held_out > 0] >= 0).any():
            return None
        folds[held_out > 0] = fold
    return folds


def row_numbers(part: ArrayLike, n: int) -> Indices:
    """Give the row numbers, of `n` rows, that a part of a split names; it may be a mask."""
    rows = np.asarray(part)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows
    if len(rows) and not (-n <= rows.min() and rows.max() < n):
        raise InputError(f"A split names row {rows.max()}, but there are rows 0 to {n - 1} only.")
    return rows % n


def _column(y: Any) -> Any:
    """Give a target that is a table of a single column as that column, any other as it is."""
    shape = np.shape(y)
    return np.asarray(y).ravel() if len(shape) == 2 and shape[1] == 1 else y


def class_codes(y: Any, n: int, who: str) -> Indices:
    """Number the classes of `y` by first appearance."""
    if y is None:
        raise InputError(f"{who} keeps the shares of classes and needs their labels: give y.")
    found: Labels = labels(_column(y), "y")
    if len(found) != n:
        raise InputError(f"y has {len(found)} labels for {n} rows: give one for each.")
    classes = classes_of(found)
    code, first = positions(found, classes), np.empty(len(classes), dtype=np.intp)
    first[code[::-1]] = np.arange(n)[::-1]
    return np.argsort(np.argsort(first))[code]
