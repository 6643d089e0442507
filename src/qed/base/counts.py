r"""How often each value occurs: the statistic of labels and of categorical columns.

For each column :math:`j` and value :math:`v` it holds :math:`\sum_i w_i\,[x_{ij} = v]`. Counts are added and subtracted
value by value. A value is forgotten when its last row is: rows are counted besides their weights, because a sum of
weights seldom comes back to exactly zero. Columns of NumPy and Arrow are coded by their libraries, at the price of a
sort at most; only columns of Python objects are looked at one by one. Missing values of all kinds (None, NaN, null)
are counted together, under ``None``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.fingerprint import label_numbers
from qed.base.numbers import EPS, TINY, largest_share

Table = dict[Any, tuple[int, float]]


# Sums of weights agree at least so well.
WEIGHTS = 1e-10


@dataclass(frozen=True)
class Counts:
    """Rows and weight of each value of each column.

    Attributes
    ----------
    columns : tuple of dict
        For each column, the number of rows and the total weight of each of its values.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.base.sources.block import Block
    >>> counts = Counts.of(Block(np.zeros((4, 1)), np.array(["yes", "no", "yes", "yes"])))
    >>> counts.values(), counts.weights()
    (['no', 'yes'], array([1., 3.]))
    >>> (counts - Counts.of_columns([["no"]])).values()
    ['yes']
    """

    columns: tuple[Table, ...]
    # The weight of all rows whenever some were taken away: the weights left are known to a few last digits of it.
    taken: float = field(default=0.0, compare=False)

    @classmethod
    def of(cls, block: Any) -> Counts:
        """Count the labels of a block: its ``y``, of one or several columns."""
        if block.y is None:
            raise InputError("Counting labels needs a target y, but the rows have none. Give y.")
        y = np.asarray(block.y)
        return cls.of_columns([y] if y.ndim == 1 else list(y.T), block.weight)

    @classmethod
    def of_features(cls, block: Any) -> Counts:
        """Count the values of a block's features, an array or an Arrow table."""
        X = block.X
        return cls.of_columns(X.columns if hasattr(X, "num_rows") else list(X.T), block.weight)

    @classmethod
    def of_columns(cls, columns: Sequence[Any], weight: np.ndarray | None = None) -> Counts:
        """Count the values of columns, each an array, an Arrow column or a sequence of values of any kind.

        Examples
        --------
        >>> counts = Counts.of_columns([["a", None, "a"], [1, 2, 2]], weight=np.array([1.0, 1.0, 0.5]))
        >>> counts.values(0), counts.weights(0)
        (['a', None], array([1.5, 1. ]))
        """
        return cls(tuple(_table(column, weight) for column in columns))

    @classmethod
    def empty(cls, n_columns: int = 1) -> Counts:
        """Make the counts of no rows, which change nothing when added."""
        return cls(tuple({} for _ in range(n_columns)))

    def values(self, column: int = 0) -> list[Any]:
        """Give the values of a column in order, a missing value last."""
        return in_order(self.columns[column])

    def weights(self, column: int = 0) -> np.ndarray:
        """Give the weight of each of the `values` of a column."""
        return np.array([self.columns[column][value][1] for value in self.values(column)])

    def rows(self, column: int = 0) -> np.ndarray:
        """Give the number of rows of each of the `values` of a column."""
        return np.array([self.columns[column][value][0] for value in self.values(column)], dtype=np.int64)

    def __add__(self, other: Counts) -> Counts:
        self._check_alike(other)
        return Counts(tuple(_added(a, b) for a, b in zip(self.columns, other.columns)), self.taken + other.taken)

    def __sub__(self, other: Counts) -> Counts:
        self._check_alike(other)
        before = max((sum(weight for _, weight in one.values()) for one in self.columns), default=0.0)
        left = tuple(_taken(a, b, j) for j, (a, b) in enumerate(zip(self.columns, other.columns)))
        return Counts(left, self.taken + other.taken + before)

    def _check_alike(self, other: Counts) -> None:
        if len(self.columns) != len(other.columns):
            raise InputError(
                f"Counts of {len(self.columns)} columns do not go together with counts of {len(other.columns)} columns. "
                "Give all blocks the same columns."
            )

    def sums(self) -> np.ndarray:
        """Add up the labels, as numbers, and their squares: what a fingerprint knows of a target that is counted."""
        number = label_numbers(self.values())
        value = np.array([number[label] for label in self.values()])
        return np.array([self.weights() @ value, self.weights() @ value**2])

    def apart(self, other: Counts) -> float:
        """Give the largest difference of a weight from that of other counts, in units of rounding; infinite where values differ."""
        if [set(one) for one in self.columns] != [set(one) for one in other.columns] or not 0 <= self.taken < np.inf:
            return np.inf
        pairs = ((self.columns[j][value], one[value]) for j, one in enumerate(other.columns) for value in one)
        total = max((sum(weight for _, weight in one.values()) for one in other.columns), default=0.0)
        blur = WEIGHTS * total + 64 * EPS * min(self.taken, 1e6 * total) + TINY
        return max((largest_share(then, now, blur) for then, now in pairs), default=0.0)

    def to_dict(self) -> dict[str, Any]:
        """Give lists and arrays, for saving."""
        return {
            "values": [list(table) for table in self.columns],
            "rows": [np.array([count for count, _ in table.values()], dtype=np.int64) for table in self.columns],
            "weights": [np.array([weight for _, weight in table.values()], dtype=float) for table in self.columns],
            "taken": self.taken,
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> Counts:
        """Make the counts again from what `to_dict` gave."""
        saved_columns = zip(saved["values"], saved["rows"], saved["weights"])
        return cls(tuple(_make(*column) for column in saved_columns), float(saved.get("taken", 0.0)))


def _make(values: Sequence[Any], rows: Any, weights: Any) -> Table:
    return {value: (int(count), float(weight)) for value, count, weight in zip(values, rows, weights) if count}


def _added(a: Table, b: Table) -> Table:
    total = dict(a)
    for value, (rows, weight) in b.items():
        before = total.get(value, (0, 0.0))
        total[value] = (before[0] + rows, before[1] + weight)
    return total


def _taken(a: Table, b: Table, column: int) -> Table:
    rest = dict(a)
    for value, (rows, weight) in b.items():
        before = rest.get(value, (0, 0.0))
        if before[0] < rows:
            raise InputError(
                f"Can not subtract {rows} rows with the value {value!r} in column {column}: there are {before[0]}. "
                "Subtract only rows that were added, each once."
            )
        if before[0] == rows:
            del rest[value]
        else:
            rest[value] = (before[0] - rows, max(before[1] - weight, 0.0))
    return rest


def in_order(values: Iterable[Any]) -> list[Any]:
    """Sort values of mixed kinds.

    >>> in_order(["b", 2, None, "a", 1.5])
    [1.5, 2, 'a', 'b', None]
    """
    return sorted(values, key=_order)


def _order(value: Any) -> tuple[bool, str, Any]:
    """Order values of mixed kinds: numbers among numbers, texts among texts, a missing value last."""
    number = isinstance(value, bool | int | float)
    return (value is None, "" if number else type(value).__name__, 0 if value is None else value)


def _table(column: Any, weight: np.ndarray | None) -> Table:
    if weight is not None:
        present = np.asarray(weight) != 0
        if not present.all():
            column = column.filter(present) if hasattr(column, "dictionary_encode") else np.asarray(column)[present]
            weight = np.asarray(weight)[present]
    values, code = _coded(column)
    rows = np.bincount(code, minlength=len(values))
    return _joined(values, rows, rows if weight is None else np.bincount(code, weight, minlength=len(values)))


def _joined(values: Sequence[Any], rows: np.ndarray, weights: np.ndarray) -> Table:
    """Make a table in which all missing values are one."""
    table: Table = {}
    for value, count, weight in zip(values, rows.tolist(), weights.tolist()):
        if count:
            key = None if _is_missing(value) else value
            before = table.get(key, (0, 0.0))
            table[key] = (before[0] + count, before[1] + weight)
    return table


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def _coded(column: Any) -> tuple[list[Any], np.ndarray]:
    """Give the distinct values of a column, as Python objects, and for each row the number of its value."""
    if hasattr(column, "dictionary_encode"):
        return _coded_arrow(column)
    array = np.asarray(column)
    if array.dtype == object or (array.dtype.kind in "US" and not isinstance(column, np.ndarray)):
        return _coded_objects(column)
    if array.dtype.kind in "iu" and array.size:
        low, high = array.min(), array.max()
        if int(high) - int(low) < 4 * array.size:
            # The difference of signed numbers may be too large for their own type.
            code = array.astype(np.int64) - int(low) if array.dtype.kind == "i" else (array - low).astype(np.int64)
            return list(range(int(low), int(high) + 1)), code
    values, code = np.unique(array, return_inverse=True)
    return (list(values) if array.dtype.kind in "mM" else values.tolist()), code


def labelled(y: np.ndarray) -> tuple[list[Any], np.ndarray, np.ndarray]:
    """Give the labels that occur, in order, for each row the number of its own, and how many rows each has; None is a missing label.

    >>> labels, code, rows = labelled(np.array([7, 4, 7]))
    >>> labels, code.tolist(), rows.tolist()
    ([4, 7], [1, 0, 1], [1, 2])
    """
    values, code = _coded(y)
    rows = np.bincount(code, minlength=len(values))
    if y.dtype.kind in "iu" and rows.all():
        return values, code, rows  # whole numbers are in order, and none is missing
    labels = in_order({None if _is_missing(value) else value: None for value, count in zip(values, rows) if count})
    if len(labels) < len(rows) or y.dtype == object:
        number = {label: k for k, label in enumerate(labels)}
        code = np.array([number.get(None if _is_missing(value) else value, -1) for value in values])[code]
        rows = np.bincount(code, minlength=len(labels))
    return labels, code, rows


def _coded_objects(column: Any) -> tuple[list[Any], np.ndarray]:
    numbers: dict[Any, int] = {}
    code = np.fromiter((numbers.setdefault(value, len(numbers)) for value in column), np.intp, len(column))
    return list(numbers), code


def _coded_arrow(column: Any) -> tuple[list[Any], np.ndarray]:
    import pyarrow as pa

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole if pa.types.is_dictionary(whole.type) else whole.dictionary_encode()
    values = coded.dictionary.to_pylist()
    code = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return [*values, None], code
