r"""The rows themselves, as long as they take less room than their scatter.

`Moments` of p columns are :math:`p^2` numbers. A table with fewer rows than columns is smaller than that, and so is a sparse one with few
values: such a table is its own best statistic. It is added by stacking, which loses no digit, it forgets a row by leaving it out, and what
solves least squares with it never meets a :math:`p \times p` matrix. Where adding makes it larger than its scatter it becomes
`Moments`. Whoever saves a model that was learned from so few rows saves those rows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, TypeAlias

import numpy as np
from scipy import sparse

from qed.base.attributes import floats, nothing, size
from qed.base.models.fingerprint import Fingerprint
from qed.base.numbers import EPS, largest_share
from qed.base.saving.known import savable
from qed.base.sources.block import Block, join
from qed.linalg.design import DenseDesign, SparseDesign, row_sums
from qed.linalg.iterative.sparse_gram import sparse_gram
from qed.linalg.sharing import products_of_rows
from qed.stats.centred import Centred, exact_sum, weight_doubt
from qed.stats.moments import Moments, roundings_of
from qed.stats.products import VANISHED, dense, present_rows, typical_row, vanishes

STRIP = 1 << 16
# A column whose mean is at most so many times its spread is summed as it is: that costs three digits of sixteen.
NEAR = 1e3

Table: TypeAlias = np.ndarray | sparse.csr_array


@savable
@dataclass(frozen=True, eq=False)
class KeptRows(Centred):
    """A table that is kept as it is, with the weight and mean of its columns.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    count : int
        The number of rows; those of weight zero are not kept.
    mean : ndarray of shape (p + q,)
        The weighted mean of features, then targets.
    rest : ndarray of shape (p + q,)
        What rounding cut off the mean.
    X : ndarray or scipy.sparse.csr_array of shape (count, p)
        The features.
    Y : ndarray of shape (count, q)
        The targets.
    weights : ndarray of shape (count,) or None
        The weight of each row; None when all are one.

    Examples
    --------
    >>> from qed.base.sources.open import rows
    >>> first = rows(np.array([[1.0, 2.0, 3.0, 5.0]]), np.array([1.0])).fold(KeptRows.of)
    >>> second = rows(np.array([[3.0, 2.0, 1.0, 1.0]]), np.array([2.0])).fold(KeptRows.of)
    >>> both = first + second
    >>> both.x_mean, both.xy.ravel()
    (array([2., 2., 2., 3.]), array([ 1.,  0., -1., -2.]))
    >>> (both - first).X
    array([[3., 2., 1., 1.]])
    """

    attributes: ClassVar = {
        "weight": floats(low=0),
        "count": size("rows"),
        "mean": floats("features+targets"),
        "X": floats("rows", "features"),
        "Y": floats("rows", "targets"),
        "weights": floats("rows", above=0) | nothing(),
        "rest": floats("features+targets") | floats(),
    }
    weight: float
    count: int
    mean: np.ndarray
    X: Table
    Y: np.ndarray
    weights: np.ndarray | None = None
    rest: np.ndarray = 0.0  # type: ignore[assignment]

    def __post_init__(self) -> None:
        self._freeze("mean", "Y")
        if isinstance(self.X, np.ndarray):
            own = self.X.view()
            own.setflags(write=False)
            object.__setattr__(self, "X", own)

    @classmethod
    def of(cls, block: Block, copy: bool = True) -> KeptRows:
        """Keep a copy of a block's rows; or, for what is needed at once and not for long, the rows as they lie there."""
        return cls._of(*present_rows(block, target=True), copy)

    @classmethod
    def of_features(cls, block: Block) -> KeptRows:
        """Keep a copy of a block's features alone."""
        return cls._of(*present_rows(block, target=False), True)

    @classmethod
    def _of(cls, X: Table, Y: np.ndarray, weights: np.ndarray | None, copy: bool) -> KeptRows:
        own = _canonical(X, copy) if not isinstance(X, np.ndarray) else X.copy() if copy else X
        return cls.of_table(own, Y.copy() if copy else Y, weights.copy() if copy and weights is not None else weights)

    @classmethod
    def of_table(cls, X: Table, Y: np.ndarray, weights: np.ndarray | None) -> KeptRows:
        """Keep a table in which no weight is zero."""
        total = float(len(Y)) if weights is None else float(weights.sum())
        if len(Y) == 0:
            return cls(0.0, 0, np.zeros(X.shape[1] + Y.shape[1]), X, Y, weights)
        with np.errstate(invalid="ignore", over="ignore"):
            mean, rest = exact_sum(*_mean(X, Y, weights, total))
        return cls(total, len(Y), mean, X, Y, weights, rest)

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """How many of the columns are features: p."""
        return int(self.X.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether the features are sparse."""
        return not isinstance(self.X, np.ndarray)

    @property
    def is_small(self) -> bool:
        """Whether the rows take less room than their scatter."""
        return takes_less_room(self.X)

    def design(self, *, centered: bool = True) -> DenseDesign | SparseDesign:
        """Give the features for products with them: about their means, or about zero."""
        p = self.n_features
        center, rest = (self.x_mean, self.rest[:p]) if centered else np.zeros((2, p))
        if isinstance(self.X, np.ndarray):
            return DenseDesign(self.X, self.weights, center, rest)
        return SparseDesign(self.X, self.weights, center, rest)

    def target(self, *, centered: bool = True) -> np.ndarray:
        """Give the targets as the design sees the features: about their means if `centered`, times the roots of the weights."""
        p = self.n_features
        away = (self.Y - self.mean[p:]) - self.rest[p:] if centered else self.Y
        return away if self.weights is None else away * np.sqrt(self.weights)[:, None]

    def apart(self, other: KeptRows) -> float:
        """Give the largest difference from other rows that were kept, in units of what rounding can do to their sums."""
        if not self._is_of(other):
            return np.inf
        rounding, p = (self.count + 16) * EPS, self.n_features
        mine, theirs, target, wanted = self.design(), other.design(), self.target(), other.target()
        length, size = theirs.lengths, np.sqrt((wanted**2).sum(axis=0))
        center = np.abs(other.mean)
        full = length + np.sqrt(other.weight) * center[:p]
        return max(
            self._means_apart(other, 4 * rounding * (np.append(length, size) / np.sqrt(other.weight) + center)),
            largest_share(mine.lengths, length, rounding * full),
            largest_share(mine.back(target), theirs.back(wanted), 4 * rounding * np.outer(length, size)),
            largest_share(target.T @ target, wanted.T @ wanted, 4 * rounding * np.outer(size, size)),
        )

    def moments(self) -> Moments:
        """Multiply out the scatter."""
        if self.count == 0 or not isinstance(self.X, np.ndarray):
            return self._sparse_moments()
        p, Z = self.n_features, np.empty((self.count, len(self.mean)))
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            np.subtract(self.X, self.mean[:p], out=Z[:, :p])
            np.subtract(self.Y, self.mean[p:], out=Z[:, p:])
            if self.rest.any():
                Z -= self.rest
            if self.weights is not None:
                Z *= np.sqrt(self.weights)[:, None]
            scatter, behind = products_of_rows(Z.T), (None, roundings_of(self.count), None, self._doubt)
            if not scatter.diagonal().min() >= VANISHED:
                scatter.flat[:: len(scatter) + 1][vanishes(scatter.diagonal(), np.abs(Z).max(axis=0))] = np.nan
            return Moments(self.weight, self.count, self.mean, scatter, p, self.rest, *behind)  # type: ignore[arg-type]

    def vanishes(self, lengths: np.ndarray, target: np.ndarray, *, centered: bool) -> bool:
        """Say whether squares of columns that vary, or of the targets, are too small to be held."""
        few = np.flatnonzero(lengths**2 < VANISHED)
        away = np.abs(dense(self.X[:, few]) - self.x_mean[few] * centered).max(axis=0, initial=0.0)
        lost = vanishes(lengths[few] ** 2, away).any()
        return bool(lost or vanishes((target**2).sum(axis=0), np.abs(target).max(axis=0, initial=0.0)).any())

    def _sparse_moments(self) -> Moments:
        """Multiply out sparse columns as they are and take their means away after that, unless this would cost digits."""
        design, p = self.design(), self.n_features
        far = np.abs(self.x_mean) * np.sqrt(self.weight) > NEAR * design.lengths
        if self.count == 0 or isinstance(self.X, np.ndarray) or (far & (design.lengths > 0)).any():
            return Moments.of(Block(self.X, self.Y, self.weights))
        scatter = np.empty((len(self.mean), len(self.mean)))
        sparse_gram(self.X, self._each(), scatter)
        for start in range(0, p, 64):
            part = slice(start, min(start + 64, p))
            scatter[part, :p] -= np.multiply.outer(self.weight * self.x_mean[part], self.x_mean)
        scatter[p:, p:], scatter[:p, p:] = self.yy, design.back(self.target())
        scatter[p:, :p] = scatter[:p, p:].T
        still = np.append(design.lengths == 0, np.zeros(len(self.mean) - p, dtype=bool))
        scatter[still], scatter[:, still] = 0.0, 0.0
        scatter[np.arange(p), np.arange(p)] = design.lengths**2
        bulk = scatter.diagonal() + np.append(self.weight * self.x_mean**2, np.zeros(len(self.mean) - p))
        behind = (bulk, roundings_of(self.count), None, self._doubt)
        return Moments(self.weight, self.count, self.mean, scatter, p, self.rest, *behind)  # type: ignore[arg-type]

    @property
    def _doubt(self) -> float:
        """By how much the weight is off, at most."""
        return 0.0 if self.weights is None else weight_doubt(self.count, self.weight)

    @property
    def scatter(self) -> np.ndarray:
        """The weighted sums of squares and products about the mean, of shape (p + q, p + q), multiplied out when asked for."""
        return self.moments().scatter

    @property
    def xx(self) -> np.ndarray:
        """The scatter of the features, of shape (p, p), multiplied out when asked for."""
        return self.moments().xx

    @property
    def xy(self) -> np.ndarray:
        """The scatter of features with targets, of shape (p, q)."""
        return self.design().back(self.target())

    @property
    def yy(self) -> np.ndarray:
        """The scatter of the targets, of shape (q, q)."""
        target = self.target()
        return np.asarray(target.T @ target)

    @property
    def is_finite(self) -> bool:
        """Whether all values are finite; whether their squares are, too, the lengths of the design tell."""
        return bool(np.isfinite(self.mean).all())

    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others."""
        return self.fingerprint_by(self.design())

    def fingerprint_by(self, design: DenseDesign | SparseDesign, xy: np.ndarray | None = None) -> Fingerprint:
        """Give the fingerprint where the centred features are at hand, and maybe their products with the target."""
        target, spread = self.target(), design.lengths**2
        xy, yy = design.back(target) if xy is None else xy, target.T @ target
        return Fingerprint.of_sums(self.count, self.weight, self.x_mean, spread, self.y_mean, xy, yy)

    def __add__(self, other: KeptRows | Moments) -> KeptRows | Moments:
        self._check_alike(other)
        if not isinstance(other, KeptRows) or self.is_sparse != other.is_sparse:
            return self.moments() + (other.moments() if isinstance(other, KeptRows) else other)
        if other.count == 0 or self.count == 0:
            return self if other.count == 0 else other
        weight = self.weight + other.weight
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            mean, rest = self._joined(other)
        weights = None
        if self.weights is not None or other.weights is not None:
            weights = np.concatenate([self._each(), other._each()])
        table = join([self.X, other.X]), np.vstack([self.Y, other.Y]), weights
        both = KeptRows(weight, self.count + other.count, mean, *table, rest)
        return both if both.is_small else both.moments()

    def __sub__(self, other: KeptRows | Moments) -> KeptRows | Moments:
        """Leave rows out; where they are not among these to the last bit, let `Moments` judge."""
        self._check_alike(other)
        kept = self._without(other) if isinstance(other, KeptRows) else None
        if kept is None:
            return self.moments() - (other.moments() if isinstance(other, KeptRows) else other)
        weights = None if self.weights is None else self.weights[kept]
        return KeptRows.of_table(self.X[kept], self.Y[kept], weights)

    def _without(self, other: KeptRows) -> list[int] | None:
        """Say which rows stay when those of `other` go; None if one of those is not here, or none stay."""
        places = defaultdict(list)
        for place, key in enumerate(self._keys()):
            places[key].append(place)
        gone = set()
        for key in other._keys():
            if not places[key]:
                return None
            gone.add(places[key].pop())
        return [place for place in range(self.count) if place not in gone] if len(gone) < self.count else None

    def _each(self) -> np.ndarray:
        return np.ones(self.count) if self.weights is None else self.weights

    def _keys(self) -> list[bytes]:
        """Give the bytes of every row, equal where rows are equal."""
        own = np.column_stack([self.Y, self._each()]) + 0.0
        if isinstance(self.X, np.ndarray):
            return [row.tobytes() for row in np.hstack([self.X + 0.0, own])]
        ends, columns, values = self.X.indptr, self.X.indices.astype(np.int64), self.X.data.astype(np.float64)
        spans = [slice(start, stop) for start, stop in pairwise(ends)]
        return [columns[span].tobytes() + values[span].tobytes() + row.tobytes() for span, row in zip(spans, own)]


def keep(block: Block) -> KeptRows | Moments:
    """Keep the rows of a block where they take less room than their scatter, and take their moments where not."""
    return KeptRows.of(block) if takes_less_room(block.X) else Moments.of(block)


def keep_features(block: Block) -> KeptRows | Moments:
    """Do the same with the features alone."""
    return KeptRows.of_features(block) if takes_less_room(block.X) else Moments.of_features(block)


def takes_less_room(X: Table, times: float = 1.0) -> bool:
    """Say whether a table takes less room than the products of its columns, or than so many times that if it is sparse."""
    n, p = X.shape
    return bool(n <= p if isinstance(X, np.ndarray) else 1.5 * X.nnz + 2 * n <= times * p**2)


def _mean(X: Table, Y: np.ndarray, weights: np.ndarray | None, total: float) -> tuple[np.ndarray, np.ndarray]:
    """Give the mean as a point and a step from it; far from zero, columns are summed about a typical row, so that costs no digits."""
    each = np.ones(len(Y)) if weights is None else weights
    if not isinstance(X, np.ndarray):
        middle = typical_row(np.empty((len(Y), 0)), Y)
        return np.concatenate([np.zeros(X.shape[1]), middle]), np.concatenate(
            [row_sums(X, each), each @ (Y - middle)]
        ) / total
    p, shift = X.shape[1], typical_row(X, Y)
    if _is_near(X[:: max(1, len(Y) // 8)]):
        shift[:p], sums = 0.0, each @ X
    else:
        sums, step = np.zeros(p), max(1, STRIP // p)
        for start in range(0, len(Y), step):
            part = slice(start, start + step)
            sums += each[part] @ (X[part] - shift[:p])
    return shift, np.concatenate([sums, each @ (Y - shift[p:])]) / total


def _is_near(some: np.ndarray) -> bool:
    """Say whether all columns are so near to zero that their sums lose no digits, by some of their rows."""
    return bool((np.abs(some.mean(axis=0)) <= NEAR * np.ptp(some, axis=0)).all())


def _canonical(X: sparse.csr_array, copy: bool) -> sparse.csr_array:
    """Give a sparse matrix in which no place is stored twice, and if asked for a copy."""
    unique = X.has_canonical_format
    own = sparse.csr_array(X, copy=copy or not unique)
    if not unique:
        own.sum_duplicates()
    return own
