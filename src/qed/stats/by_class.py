"""One statistic for each class of the target, all collected in a single pass.

Discriminants, naive Bayes and centroids learn of every class by itself. Which classes there are need not be known before: a block
brings those it has, and statistics of the same class add up. So such a model is a model in closed form like any other, with
``partial_fit`` (also with classes that were not seen before), ``forget``, files, clusters and cross-validation in one pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import each, having, labels, table
from qed.base.counts import Counts, in_order
from qed.base.errors import InputError
from qed.base.models.fingerprint import Fingerprint, label_numbers, within_range
from qed.base.models.labels import encode
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.base.summary import Beside, Summary
from qed.stats.grouped import runs


@savable
@dataclass(frozen=True, eq=False)
class ByClass:
    """The statistics of classes.

    Attributes
    ----------
    parts : mapping of label to statistic
        In the order of the labels.
    classes : ndarray of shape (n_classes,)
        The labels, of the type that they came in.

    Examples
    --------
    >>> from qed.base.sources.open import rows
    >>> from qed.base.summary import Summary
    >>> data = rows(np.array([[1.0], [2.0], [6.0]]), ["low", "low", "high"])
    >>> seen = data.fold(ByClass.of, Summary.of)
    >>> seen.classes.tolist(), seen["low"].mean, seen.weights
    (['high', 'low'], array([1.5]), array([1., 2.]))
    """

    attributes: ClassVar = {
        "classes": labels("classes"),
        "parts": each(having("fingerprint"), "classes") | table(having("fingerprint"), object),
    }
    parts: Mapping[Any, Any]
    classes: np.ndarray

    @classmethod
    def of(cls, block: Block, statistic: Callable[[Block], Any]) -> ByClass:
        """Take the statistic of each class in a block; rows without weight make no class.

        Parameters
        ----------
        block : Block
            Some rows with labels.
        statistic : callable
            Takes a `Block` and makes a statistic of it: a value that knows ``+``, such as ``Moments.of``.
        """
        block = block.present
        counts = Counts.of(block)
        labels = counts.values()
        if None in labels:
            raise InputError("The target has missing labels: drop those rows.")
        y = np.asarray(block.y)
        codes = encode(y, np.array(labels, dtype=y.dtype))
        parts: dict[Any, Any] = {}
        for code, rows in runs(block, codes):
            one, label = statistic(rows), labels[code]
            parts[label] = parts[label] + one if label in parts else one
        return cls.made(parts, y.dtype)

    @classmethod
    def made(cls, parts: Mapping[Any, Any], dtype: np.dtype[Any]) -> ByClass:
        """Make it of the statistic of each class, and the type of the labels."""
        labels = in_order(parts)
        return cls({label: parts[label] for label in labels}, _classes(labels, dtype))

    @classmethod
    def beside(cls, labels: Sequence[Any], counts: np.ndarray, whole: Summary, dtype: np.dtype[Any]) -> ByClass:
        """Make it of one summary of all classes' columns, side by side, in the order of the labels, and the rows of each."""
        return cls(Beside(labels, counts, whole), _classes(labels, dtype))

    def __iter__(self) -> Iterator[Any]:
        """Give the statistics, in the order of the classes."""
        return iter(self.parts.values())

    def __getitem__(self, label: Any) -> Any:
        """Give the statistic of one class."""
        return self.parts[label]

    def __add__(self, other: ByClass) -> ByClass:
        if list(self.parts) == list(other.parts) and self.classes.dtype == other.classes.dtype:
            # The classes of most blocks are the same; then what is dear is to call, and some statistics are added all at once.
            if isinstance(self.parts, Beside) and isinstance(other.parts, Beside):
                return ByClass(self.parts + other.parts, self.classes)
            some, others = list(self), list(other)
            each = getattr(some[0], "add_each", _one_by_one) if some else _one_by_one
            return ByClass(dict(zip(self.parts, each(some, others))), self.classes)
        found = dict(self.parts)
        for label, part in other.parts.items():
            found[label] = found[label] + part if label in found else part
        return self.made(found, self._dtype(other))

    def __sub__(self, other: ByClass) -> ByClass:
        found = dict(self.parts)
        for label, part in other.parts.items():
            if label not in found:
                raise InputError(f"No row of class {label!r} was learned from, so none can be forgotten.")
            if found[label].count == part.count:
                del found[label]
            else:
                found[label] = found[label] - part
        if not found:
            raise InputError("These are all rows that were learned from: nothing would be left.")
        return self.made(found, self.classes.dtype)

    def _dtype(self, other: ByClass) -> np.dtype[Any]:
        kinds = self.classes.dtype, other.classes.dtype
        if not self.parts or not other.parts:
            return kinds[0] if self.parts else kinds[1]
        return np.dtype(object) if object in kinds else np.result_type(*kinds)

    @cached_property
    def total(self) -> Any:
        """The statistic of all rows."""
        return reduce(add, self.parts.values())

    @cached_property
    def weights(self) -> np.ndarray:
        """The weight of each class."""
        found = np.array([part.fingerprint().weight for part in self])
        found.flags.writeable = False
        return found

    @property
    def count(self) -> int:
        """How many rows there are."""
        return sum(int(part.count) for part in self)

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        return float(getattr(self.total, "loss", 1.0))

    def apart(self, other: ByClass) -> float:
        """Give the largest difference of the statistic of a class from another; infinite where the classes differ."""
        if list(self.parts) != list(other.parts) or self.classes.tolist() != other.classes.tolist():
            return np.inf
        return max((part.apart(other[label]) for label, part in self.parts.items()), default=0.0)

    @property
    def is_finite(self) -> bool:
        """Whether the statistics of all classes are finite."""
        return all(part.is_finite for part in self)

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others, by their features and by the classes' weights and places."""
        whole, number = self.total.fingerprint(), label_numbers(self.parts)
        value, weight = np.array([number[label] for label in self.parts]), self.weights
        with np.errstate(over="ignore", invalid="ignore"):
            products = sum(w * v * part.fingerprint().mean for w, v, part in zip(weight, value, self))
            target = np.concatenate([[weight @ value, weight @ value**2], products]) / max(whole.weight, 1e-300)
        return replace(whole, target=within_range(target))

    def to_dict(self) -> dict[str, Any]:
        """Give lists and arrays, for saving."""
        return {"classes": self.classes, "parts": list(self)}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> ByClass:
        """Make the statistics again from what `to_dict` gave."""
        classes = saved["classes"]
        return cls(dict(zip(classes.tolist(), saved["parts"])), classes)


def _classes(labels: Sequence[Any], dtype: np.dtype[Any]) -> np.ndarray:
    """Give labels as an array of the type that they came in."""
    kind: Any = None if dtype.kind in "US" else dtype
    return np.array(labels, dtype=kind)


def _one_by_one(some: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    """Add pair by pair."""
    return [one + other for one, other in zip(some, others)]
