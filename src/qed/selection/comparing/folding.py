"""Which rows judge which: drawn at random, whole groups together, or always later rows by what came before them."""

import warnings
from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError
from qed.base.random import generator
from qed.selection.splitting.splits import KFold, StratifiedKFold


@dataclass(frozen=True, eq=False)
class Folds:
    """The folds of a comparison.

    >>> Folds(np.array([-1, 0, 1]), forward=True).training(1).tolist()
    [True, True, False]
    """

    number: np.ndarray  # (n,): the fold that holds out each row; -1 for one that is never held out
    forward: bool = False  # whether a fold is judged by models of earlier folds only
    says: tuple[str, ...] = ()  # what people should know about them

    @property
    def count(self) -> int:
        return int(self.number.max()) + 1

    def training(self, fold: int) -> np.ndarray:
        """Say which rows the models learn from that a fold judges."""
        return self.number < fold if self.forward else self.number != fold

    def have_all_classes(self, y: np.ndarray) -> bool:
        """Say whether each fold's models know every class, and each fold has both where there are two."""
        codes = np.unique(y.astype(str), return_inverse=True)[1]
        n_classes = int(codes.max()) + 1
        for train, test in self.pairs():
            known, asked = (np.bincount(codes[part], minlength=n_classes) > 0 for part in (train, test))
            if (asked & ~known).any() or (n_classes == 2 and not asked.all()):
                return False
        return True

    def pairs(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Give the numbers of training and held-out rows, fold after fold."""
        return [
            (np.flatnonzero(self.training(fold)), np.flatnonzero(self.number == fold)) for fold in range(self.count)
        ]


def folds_of(
    task: str,
    cv: int,
    seed: int,
    n: int,
    y: np.ndarray | None,
    time: np.ndarray | None = None,
    group: np.ndarray | None = None,
) -> Folds:
    """Cut rows into folds; `time` puts them in order, `group` keeps those of one value together."""
    if n < 4:
        raise InputError(f"The table has {n} rows, too few to hold some out: give at least 4.")
    if time is not None:
        return _in_time(cv, n, y, time)
    if group is not None:
        return _in_groups(cv, seed, group)
    # At least two rows to a fold: the score of a single one may not be defined.
    count = min(cv, n // 2)
    says = (
        (f"{cv} folds are too many for {n:,} rows: there are {count}, so that each holds out two rows",)
        if count < cv
        else ()
    )
    splitter = (StratifiedKFold if task == "classification" else KFold)(count, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Folds(splitter.assign(n, y), says=says)


def _in_time(cv: int, n: int, y: np.ndarray | None, time: np.ndarray) -> Folds:
    """Cut rows into blocks of time; each but the first is judged by a model of all rows before it. Equal moments stay together."""
    moments, place = np.unique(time, return_inverse=True)
    if len(moments) < 3:
        raise InputError(
            f"The column of time has {len(moments)} different values: too few to judge the later by the earlier."
        )
    count = min(cv, len(moments) - 1, n // 3)
    counts = np.cumsum(np.bincount(place))
    # The block of a moment is where the middle of its rows falls.
    middle = counts - np.bincount(place) / 2
    block = np.minimum((middle * (count + 1) / n).astype(np.int64), count)
    number = np.unique(block, return_inverse=True)[1][place] - 1
    says = f"rows are in the order of time: each of {int(number.max()) + 1} blocks is judged by models of all rows before it"
    return Folds(number, forward=True, says=(says,))


def _in_groups(cv: int, seed: int, group: np.ndarray) -> Folds:
    """Deal whole groups to folds, the largest first, each to the fold that has the fewest rows."""
    values, place = np.unique(group.astype(str), return_inverse=True)
    if len(values) < 2:
        raise InputError("The column of groups has a single value: at least two are needed to hold one out.")
    count = min(cv, len(values))
    sizes = np.bincount(place)
    order = generator(seed, "groups").permutation(len(values))
    order = order[np.argsort(-sizes[order], kind="stable")]
    fold, total = np.zeros(len(values), dtype=np.int64), np.zeros(count, dtype=np.int64)
    for one in order.tolist():
        fold[one] = int(total.argmin())
        total[fold[one]] += sizes[one]
    says = [f"the rows of each of {len(values):,} groups stay together"]
    if count < cv:
        says.append(f"{cv} folds are too many for {len(values)} groups: there are {count}")
    return Folds(fold[place], says=tuple(says))
