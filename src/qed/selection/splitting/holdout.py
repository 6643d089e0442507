"""Holding out a part of the rows.

A validation set of m rows that no fit has touched, disjoint from the training set and together with it
complete, gives an unbiased estimate of the risk of a fixed hypothesis, with a standard error that falls like
:math:`1/\\sqrt m`; the rows cost the fit that much training data. By default m is 0.3 n, rounded. With
`stratify`, every class gives its share (the largest remainders get the rows that rounding leaves over). Cost:
O(n).

Reference: T. Hastie, R. Tibshirani, J. Friedman, The Elements of Statistical Learning, section 7.2.
"""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError, ParameterError
from qed.base.models.searching import Indices
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import is_sparse
from qed.selection.inputs import count_rows
from qed.selection.splitting.splits import Partition, class_codes


@dataclass(frozen=True)
class HoldOut(Partition):
    """Hold out a share of the rows, once.

    Parameters
    ----------
    test_size : float or int, default=0.3
        The share of the rows to hold out, or their number.
    shuffle : bool, default=True
        Hold out rows at random. False holds out the last ones.
    stratify : bool, default=False
        Keep the shares of the classes of y in both parts, with at least one row of each class in both.
    random_state : None, int or numpy generator, default=None
        The seed of the shuffle. None draws another part at every call.

    Examples
    --------
    >>> HoldOut(shuffle=False).assign(10)
    array([-1, -1, -1, -1, -1, -1, -1,  0,  0,  0])
    >>> [(len(train), len(test)) for train, test in HoldOut(0.25, random_state=0).split(range(100))]
    [(75, 25)]
    """

    test_size: float = 0.3
    _: KW_ONLY
    shuffle: bool = True
    stratify: bool = False
    random_state: Seed = None

    def __post_init__(self) -> None:
        size = self.test_size
        whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
        share = isinstance(size, (float, np.floating))
        if not ((whole and size >= 1) or (share and 0 < size < 1)):
            raise ParameterError(f"test_size must be a share between 0 and 1 or a whole number of rows, not {size!r}.")

    def get_n_splits(self, X: Any = None, y: Any = None, groups: ArrayLike | None = None) -> int:
        return 1

    def assign(self, n: int, y: Any = None) -> Indices:
        m = self._held_out(n)
        codes = class_codes(y, n, "HoldOut(stratify=True)") if self.stratify else np.zeros(n, dtype=np.intp)
        members = np.bincount(codes)
        seats = _seats(members, m) if self.stratify else np.array([m])
        random = generator(seed_of(self.random_state), "holdout") if self.shuffle else None
        folds = np.full(n, -1)
        by_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(members)[:-1])
        for rows, seat in zip(by_class, seats):
            chosen = rows if random is None else random.permutation(rows)
            folds[chosen[len(rows) - seat :]] = 0
        return folds

    def _held_out(self, n: int) -> int:
        whole = isinstance(self.test_size, (int, np.integer))
        m = int(self.test_size) if whole else round(float(self.test_size) * n)
        if not 1 <= m < n:
            raise InputError(
                f"test_size={self.test_size!r} holds out {m} of {n} rows and leaves one part empty: "
                "change it or give more rows."
            )
        return m


def train_test_split(
    *arrays: Any,
    test_size: float | None = None,
    train_size: float | None = None,
    shuffle: bool = True,
    stratify: Any = None,
    random_state: Seed = None,
) -> list[Any]:
    """Split arrays of the same rows into a part to train on and a part to test on.

    Parameters
    ----------
    *arrays : arrays, sparse matrices, frames, series or lists
        Each keeps its type.
    test_size : float or int, optional
        The share of the rows to hold out, or their number; the default is what `train_size` leaves over, or 0.3.
    train_size : float or int, optional
        The share of the rows to train on, or their number; the default is all others. Rows that belong to neither part are left out.
    shuffle : bool, default=True
        Hold out rows at random. False holds out the last ones.
    stratify : array-like, optional
        Labels whose shares are kept in both parts.
    random_state : None, int or numpy generator, default=None
        The seed of the shuffle.

    Returns
    -------
    list
        The training and the test part of the first array, of the second, and so on.

    Examples
    --------
    >>> X, y = np.arange(20).reshape(10, 2), list("aaaaabbbbb")
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
    >>> X_train.shape, X_test.shape, sorted(y_test)
    ((6, 2), (4, 2), ['a', 'a', 'b', 'b'])
    """
    if not arrays:
        raise InputError("There is nothing to split: give at least one array.")
    sizes = [count_rows(array) for array in arrays]
    if len(set(sizes)) > 1:
        raise InputError(f"The arrays have {sizes} rows: they must describe the same rows.")
    splitter = HoldOut(
        _test_size(test_size, train_size, sizes[0]),
        shuffle=shuffle,
        stratify=stratify is not None,
        random_state=random_state,
    )
    folds = splitter.assign(sizes[0], stratify)
    train, test = np.flatnonzero(folds < 0), np.flatnonzero(folds == 0)
    if train_size is not None and (wanted := _rows_of(train_size, sizes[0], "train_size")) < len(train):
        labels = None if stratify is None else take_rows(stratify, train)
        train = train[replace(splitter, test_size=wanted).assign(len(train), labels) == 0]
    return [take_rows(array, part) for array in arrays for part in (train, test)]


def _test_size(test_size: float | None, train_size: float | None, n: int) -> float:
    """Say how many rows, or which share of them, is held out."""
    if train_size is None:
        return 0.3 if test_size is None else test_size
    train = _rows_of(train_size, n, "train_size")
    if test_size is None:
        if train >= n:
            raise InputError(f"train_size={train_size!r} leaves none of the {n} rows for the test: change it.")
        return n - train
    if train + _rows_of(test_size, n, "test_size") > n:
        raise InputError(
            f"train_size={train_size!r} and test_size={test_size!r} ask for more than all of the {n} rows."
        )
    return test_size


def _rows_of(size: float, n: int, name: str) -> int:
    """Give a share of the rows, or a number of them, as a number."""
    whole = isinstance(size, (int, np.integer)) and not isinstance(size, bool)
    if not (whole and size >= 1) and not (isinstance(size, (float, np.floating)) and 0 < size < 1):
        raise ParameterError(f"{name} must be a share between 0 and 1 or a whole number of rows, not {size!r}.")
    rows = int(size) if whole else round(float(size) * n)
    if rows < 1:
        raise InputError(f"{name}={size!r} is less than one of {n} rows: change it or give more rows.")
    return rows


def take_rows(source: Any, indices: Any) -> Any:
    """Give the rows of these numbers as the type they came in: array, sparse matrix, frame, series or list.

    >>> take_rows(["a", "b", "c"], [2, 0])
    ['c', 'a']
    """
    indices = np.asarray(indices)
    if isinstance(source, np.ndarray):
        return source[indices]
    if is_sparse(source):
        return source[indices] if source.format in ("csr", "csc", "lil") else source.tocsr()[indices]
    if isinstance(source, (list, tuple, range)):
        return [source[i] for i in indices.tolist()]
    import narwhals as nw

    native = nw.from_native(source, pass_through=True, eager_only=True, allow_series=True)
    if isinstance(native, (nw.DataFrame, nw.Series)):
        return native[indices].to_native()
    return np.asarray(source)[indices]


def _seats(members: Indices, m: int) -> Indices:
    """Share out `m` held-out rows among classes in proportion to their members, at least one staying on either side."""
    if members.min() < 2 or m < len(members) or members.sum() - m < len(members):
        raise InputError(
            f"{len(members)} classes, the smallest of {members.min()} rows, can not all be in both parts when {m} of "
            f"{members.sum()} rows are held out: join rare classes, change test_size, or do not stratify."
        )
    due = m * members / members.sum()
    seats = np.clip(np.floor(due).astype(np.intp), 1, members - 1)
    while (step := int(np.sign(m - seats.sum()))) != 0:
        free = seats < members - 1 if step > 0 else seats > 1
        seats[np.argmax(np.where(free, step * (due - seats), -np.inf))] += step
    return np.asarray(seats)
