"""Labels as signs, and what a classifier by least squares remembers of its rows: sums that take new classes in and let old ones go.

A class has a column of signs, +1 on its own rows and -1 on all others; of two classes the second's is enough, as the other is its negative.
What is kept of the rows is what least squares keeps (:mod:`qed.optim.least_squares.problem`), with signs as targets. The column of a class
that was not there before is -1 on every row before, which needs no row to be known: so sums of different classes add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import integers, labels, nothing, of
from qed.base.counts import Counts, in_order
from qed.base.errors import InputError, ParameterError
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.labels import class_factors, coded, count_labels, has_label, named_classes, with_codes
from qed.base.models.problem import Source, StatisticProblem
from qed.base.saving.known import savable
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.least_squares.problem import LeastSquaresProblem
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments


@savable
@dataclass(frozen=True, eq=False)
class SignedSums:
    """Sums of the rows and of the signs of their classes.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes; the numbers of the columns, where a row may have several labels.
    rows : ndarray of shape (n_classes,) or None
        How many rows each class has: it goes with the last of them. None where a row may have several labels.
    sums : Moments or KeptRows
        Of the features, and of a column of signs for each class, or for the second of two.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [6.0]])
    >>> first = SignedSums(np.array(["a"]), np.array([2]), Moments.of(Block(X[:2], np.ones((2, 1)))))
    >>> both = first + SignedSums(np.array(["b"]), np.array([1]), Moments.of(Block(X[2:], np.ones((1, 1)))))
    >>> both.classes.tolist(), both.sums.mean.round(3), (both - first).classes.tolist()
    (['a', 'b'], array([ 3.   , -0.333]), ['b'])
    """

    attributes: ClassVar = {
        "classes": labels("classes"),
        "rows": integers("classes", low=1) | nothing(),
        "sums": of(Moments, KeptRows),
    }
    classes: np.ndarray
    rows: np.ndarray | None
    sums: Any

    @classmethod
    def of(cls, block: Block, class_weight: Any, name: str) -> SignedSums:
        """Take the sums of a block, with weights of classes that need not all be in it; a model of that name learns from them."""
        y = np.asarray(block.y)
        if y.ndim == 2:
            return cls(np.arange(y.shape[1]), None, Moments.of(_with_label_signs(block, name, None)))
        counts = Counts.of(block)
        classes = named_classes(counts, y.dtype, name)
        factors = _factors(class_weight, classes, counts.weights())
        signs = _with_signs(with_codes(block, classes), planes_of(np.arange(len(classes))), factors)
        return cls(classes, counts.rows(), Moments.of(signs))

    @property
    def n_features(self) -> int:
        """How many columns the rows have."""
        return int(self.sums.n_features)

    @property
    def n_targets(self) -> int:
        """How many columns of signs there are."""
        return int(self.sums.n_targets)

    @property
    def is_finite(self) -> bool:
        """Whether all sums are finite."""
        return bool(self.sums.is_finite)

    @property
    def loss(self) -> float:
        """By how much the squares that went in exceed those that are left, in the column that lost most."""
        return float(getattr(self.sums, "loss", 1.0))

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others, by their features and by the signs of their classes."""
        found: Fingerprint = self.sums.fingerprint()
        return found

    def apart(self, other: SignedSums) -> float:
        """Give the largest difference from other sums, in units of what rounding can do; infinite where classes differ."""
        same = self.classes.tolist() == other.classes.tolist() and np.array_equal(self._counts, other._counts)
        if not same or (self.rows is None) != (other.rows is None):
            return np.inf
        if isinstance(self.sums, KeptRows) and isinstance(other.sums, KeptRows):
            return self.sums.apart(other.sums)
        return float(self.sums.moments().apart(other.sums.moments()))

    @property
    def _counts(self) -> np.ndarray:
        return np.zeros(0, dtype=np.intp) if self.rows is None else self.rows

    def _count(self, classes: np.ndarray) -> np.ndarray:
        """Give the number of rows of each of some classes."""
        known = dict(zip(self.classes.tolist(), self._counts.tolist()))
        return np.array([known.get(label, 0) for label in classes.tolist()], dtype=np.int64)

    def __add__(self, other: SignedSums) -> SignedSums:
        if self.rows is None or other.rows is None:
            return replace(self, sums=self.sums + other.sums)
        kinds = self.classes.dtype, other.classes.dtype
        every = in_order({*self.classes.tolist(), *other.classes.tolist()})
        classes = np.array(every, dtype=object if object in kinds else np.result_type(*kinds))
        sums = self._of_classes(classes) + other._of_classes(classes)
        return SignedSums(classes, self._count(classes) + other._count(classes), sums)

    def __sub__(self, other: SignedSums) -> SignedSums:
        if self.rows is None or other.rows is None:
            return replace(self, sums=self.sums - other.sums)
        left = self.rows - other._count(self.classes)
        strange = [*np.setdiff1d(other.classes, self.classes).tolist(), *self.classes[left < 0].tolist()]
        if strange:
            raise InputError(
                f"Not that many rows of class {strange[0]!r} were learned from, so they can not be forgotten."
            )
        rest = SignedSums(self.classes, left, self.sums - other._of_classes(self.classes))
        return SignedSums(self.classes[left > 0], left[left > 0], rest._of_classes(self.classes[left > 0]))

    def _of_classes(self, classes: np.ndarray) -> Any:
        """Give the sums with the signs of other classes: what is no class here has no row, and one that is left out has none either."""
        own, wanted = (planes_of(some).tolist() for some in (self.classes, classes))
        if own == wanted:
            return self.sums
        known = set(self.classes.tolist())
        places = np.array([own.index(label) if label in own else 0 for label in wanted])
        signs = np.array([1.0 if label in own else -1.0 if label in known else 0.0 for label in wanted])
        return _turned(self.sums, places, signs)


def planes_of(classes: np.ndarray) -> np.ndarray:
    """Give the classes that have a column of signs: the second of two, or all."""
    return classes[1:] if len(classes) == 2 else classes


def _turned(sums: Moments | KeptRows, places: np.ndarray, signs: np.ndarray) -> Moments | KeptRows:
    """Put targets in the place of others: those at some places times a sign, or -1 for all rows where that is zero; no digit is lost."""
    p = sums.n_features
    columns, factor = np.append(np.arange(p), p + places), np.append(np.ones(p), signs)
    constant = np.append(np.zeros(p), np.where(signs == 0, -1.0, 0.0))
    means = {"mean": sums.mean[columns] * factor + constant, "rest": sums.rest[columns] * factor}
    if isinstance(sums, KeptRows):
        return replace(sums, Y=sums.Y[:, places] * signs + constant[p:], **means)
    scatter = sums.scatter[np.ix_(columns, columns)] * np.multiply.outer(factor, factor)
    behind = {"bulk": sums.bulk[columns] * factor**2, "drift": sums.drift[columns] * np.abs(factor)}
    return replace(sums, scatter=scatter, **behind, **means)


class SignedProblem(StatisticProblem):
    """Least squares towards the signs of the classes of some rows, each class with its weight.

    Attributes
    ----------
    statistic : SignedSums
        What is kept of the rows.
    multilabel : bool
        Whether a row may have several labels.
    """

    def __init__(
        self,
        model: Any,
        rows: Rows | None,
        statistic: SignedSums | None = None,
        *,
        source: Source = "statistics",
        target_ndim: int = 1,
    ) -> None:
        super().__init__(
            model, rows if rows is None else rows.cached(), statistic, source=source, target_ndim=target_ndim
        )
        self.multilabel = self.target_ndim == 2

    @cached_property
    def _labels(self) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
        """The classes, how many rows each has, and their weight."""
        assert self.rows is not None
        if self.multilabel:
            return np.arange(self.rows.n_targets), None, np.zeros(0)
        classes, counts = count_labels(self.rows, type(self.model).__name__)
        return classes, counts.rows(), counts.weights()

    @property
    def classes(self) -> np.ndarray:
        """The classes of the rows."""
        return self._labels[0] if self.rows is not None else self.statistic.classes

    @cached_property
    def squares(self) -> LeastSquaresProblem:
        """The least squares towards the signs."""
        if self.rows is None:
            return LeastSquaresProblem(self.model, None, self.statistic.sums, source=self.source, target_ndim=2)
        name, class_weight = type(self.model).__name__, self.model.class_weight
        if self.multilabel:
            signs = signed_labels(self.rows, class_weight, name)
        else:
            signs = signed(self.rows, self.classes, class_weight, self._labels[2])
        found = LeastSquaresProblem(self.model, signs, source=self.source)
        if "statistic" in vars(self) and found.kept is None:
            found.statistic = self.statistic.sums
        return found

    @cached_property
    def statistic(self) -> SignedSums:
        return SignedSums(self.classes, self._labels[1], self.squares.statistic)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return self.squares.fingerprint


def signed(rows: Rows, classes: np.ndarray, class_weight: Any, totals: np.ndarray) -> Rows:
    """Give rows whose targets are signs, +1 for the own class: a column for each class, or one for the second of two.

    >>> from qed.base.sources.open import rows
    >>> signed(rows([[0.0], [1.0], [2.0]], ["a", "b", "c"]), np.array(["a", "b", "c"]), None, np.ones(3)).array().y
    array([[ 1., -1., -1.],
           [-1.,  1., -1.],
           [-1., -1.,  1.]])
    """
    factors, planes = _factors(class_weight, classes, totals), planes_of(np.arange(len(classes)))
    return coded(rows, classes).through(
        _with_signs,
        planes,
        factors,
        target_shape=planes.shape,
        target_dtype=np.dtype(np.float64),
        has_weight=rows.has_weight or factors is not None,
    )


def _factors(class_weight: Any, classes: np.ndarray, totals: np.ndarray) -> np.ndarray | None:
    return None if class_weight is None else class_factors(class_weight, classes, totals, every=False)


def _with_signs(block: Block, planes: np.ndarray, factors: np.ndarray | None) -> Block:
    """Give a block of class numbers signs as targets: for each of the classes of some numbers a column."""
    code = np.asarray(block.y)
    weight = block.weight if factors is None else block.weights * factors[code]
    return replace(block, y=np.where(code[:, None] == planes, 1.0, -1.0), weight=weight)


def signed_labels(rows: Rows, class_weight: Any, name: str) -> Rows:
    """Give rows whose targets are signs, from a matrix of zeros and ones.

    >>> from qed.base.sources.open import rows
    >>> signed_labels(rows([[0.0], [1.0]], [[1, 0], [1, 1]]), None, "Model").array().y
    array([[ 1., -1.],
           [ 1.,  1.]])
    """
    if isinstance(class_weight, Mapping):
        raise ParameterError(f"{name}: class_weight is None or 'balanced' where rows have several labels, not a dict.")
    factors = None if class_weight is None else rows.fold(_label_weights, name)
    if factors is not None:
        # A label that all rows have, or none has, tells them apart in nothing.
        kinds = (factors > 0).sum(axis=0)
        factors = factors.sum(axis=0) / (kinds * np.where(factors > 0, factors, 1.0))
    return rows.through(
        _with_label_signs,
        name,
        factors,
        target_dtype=np.dtype(np.float64),
        has_weight=rows.has_weight or factors is not None,
    )


def _label_weights(block: Block, name: str) -> np.ndarray:
    """Give the weight of the rows without each label, and of those with it, of shape (2, q)."""
    has = has_label(block, name)
    return np.array([block.weights @ ~has, block.weights @ has])


def _with_label_signs(block: Block, name: str, factors: np.ndarray | None) -> Block:
    has = has_label(block, name)
    weight = block.weight if factors is None else block.weights * np.where(has, factors[1], factors[0]).prod(axis=1)
    return replace(block, y=np.where(has, 1.0, -1.0), weight=weight)
