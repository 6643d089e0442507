r"""How far two rows are apart.

.. math:: D_q(x, z) = \Bigl(\sum_j |x_j - z_j|^q\Bigr)^{1/q},\quad D_\infty(x, z) = \max_j |x_j - z_j|,\qquad
          D_k(x, z)^2 = k(x, x) - 2 k(x, z) + k(z, z) .

Minkowski's distances (1: Manhattan, 2: Euclid, :math:`\infty`: Chebyshev; for :math:`q < 1` a detour may be shorter, but rows are ranked
all the same), the angle between rows, the distance in the features of a kernel, on the globe, what SciPy knows by name, a function of
the user's, or a matrix of distances. What ranks the neighbours is the *size*, before the root is
taken, so that no two distances become equal by taking it. Sizes of Minkowski are added feature by feature in their order, by NumPy and by
every kernel alike: all ways of searching give the same bits, and equal distances are equal in all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import calling, choice, number, numbers
from qed.base.sources.block import is_sparse
from qed.kernels.kernel import Kernel

NAMED = {
    "euclidean": 2.0,
    "l2": 2.0,
    "sqeuclidean": 2.0,
    "manhattan": 1.0,
    "cityblock": 1.0,
    "l1": 1.0,
    "chebyshev": np.inf,
}
# Distances that SciPy works out; and those of rows of yes and no, where what is not zero is a yes.
BY_SCIPY = ("braycurtis", "canberra", "correlation", "hamming", "mahalanobis")
YES_OR_NO = ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath", "yule")
# Whole powers up to this one are products.
MOST_PRODUCTS = 16
POWER = number(0, above=True, kind="model") | choice(np.inf, kind="model")
NAMES = ("minkowski", *NAMED, "seuclidean", "cosine", "haversine", *BY_SCIPY, *YES_OR_NO, "precomputed")
# What distances take in metric_params, and whether they need it.
TAKEN = {"minkowski": ({"p", "w"}, False), "seuclidean": ({"V"}, True), "mahalanobis": ({"VI"}, True)}
Array = np.ndarray
# A table of rows: an array, or a sparse one.
Matrix: TypeAlias = Any
# A name, a kernel or a function of two rows.
Metric: TypeAlias = Any


class Measure(ABC):
    """A way to say how far rows are apart."""

    def prepared(self, X: Matrix) -> Matrix:
        """Give rows as they are measured."""
        return X

    @abstractmethod
    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        """Give what ranks all rows of `X` by their distance from each row of `Q`, of shape (m, n); both are prepared."""

    def distances(self, sizes: Array) -> Array:
        """Turn sizes into distances."""
        return sizes

    def faded(self, sizes: Array, Q: Matrix, X: Matrix) -> Array:
        """Say which sizes of pairs of rows rank no more, of those that are all but zero or not finite."""
        return ~np.isfinite(sizes)


@dataclass(frozen=True)
class Minkowski(Measure):
    """Minkowski's distance, in which columns may have weights.

    >>> [Minkowski(q).between([0.0, 0.0], [3.0, 4.0]) for q in (1.0, 2.0, np.inf)]
    [7.0, 5.0, 4.0]
    """

    power: float
    weights: tuple[float, ...] | None = None
    squared: bool = False  # whether the size itself is the distance

    @property
    def is_euclid(self) -> bool:
        """Whether it ranks rows as their products do."""
        return self.power == 2 and self.weights is None

    def prepared(self, X: Matrix) -> Matrix:
        if self.weights is not None and len(self.weights) != X.shape[1]:
            raise ParameterError(f"metric_params weigh {len(self.weights)} columns, but there are {X.shape[1]}.")
        return X

    def between(self, x: Matrix, z: Matrix) -> float:
        """Give the distance of two rows."""
        first, second = np.atleast_2d(np.asarray(x, float)), np.atleast_2d(np.asarray(z, float))
        return float(self.distances(self.sizes(first, second))[0, 0])

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        left, right = (_dense(one) for one in (Q, X))
        found = np.zeros((len(left), len(right)))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for j in range(left.shape[1]):
                gap = left[:, j, None].astype(np.float64) - right[:, j].astype(np.float64)
                found = self._with(found, gap, 1.0 if self.weights is None else self.weights[j])
        return found

    def _with(self, total: Array, gap: Array, weight: float) -> Array:
        """Add the differences in one feature."""
        if self.power == 2:
            gap *= gap
        elif self.power == np.inf:
            return np.maximum(total, np.abs(gap))
        else:
            np.abs(gap, out=gap)
            if self.power <= MOST_PRODUCTS and float(self.power).is_integer():
                # Products round in one way everywhere, which powers do not.
                one = gap.copy() if self.power > 1 else gap
                for _ in range(int(self.power) - 1):
                    gap *= one
            else:
                np.power(gap, self.power, out=gap)
        if weight != 1:
            gap *= weight
        total += gap
        return total

    def distances(self, sizes: Array) -> Array:
        if self.power in (1, np.inf) or self.squared:
            return sizes
        return np.sqrt(sizes) if self.power == 2 else sizes ** (1 / self.power)

    def faded(self, sizes: Array, Q: Matrix, X: Matrix) -> Array:
        # Equal rows are nowhere apart.
        other = Q != X if self.weights is None else (Q != X)[:, np.array(self.weights) > 0]
        return np.asarray(np.asarray(other.sum(axis=1)).ravel() > 0)


@dataclass(frozen=True)
class Cosine(Measure):
    """One minus the cosine of the angle between rows: half the squared distance of rows of length one.

    A row of zeros has no direction. It is given one of its own, at right angles to all others.
    """

    def prepared(self, X: Matrix) -> Array:
        dense = _dense(X).astype(np.float64)
        largest = np.abs(dense).max(axis=1, initial=0.0, keepdims=True)
        nothing = largest == 0
        dense = dense / np.where(nothing, 1.0, largest)
        length = np.sqrt((dense * dense).sum(axis=1, keepdims=True))
        return np.hstack([dense / np.where(nothing, 1.0, length), nothing.astype(np.float64)])

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        return Minkowski(2.0).sizes(Q, X)

    def distances(self, sizes: Array) -> Array:
        return sizes / 2


@dataclass(frozen=True)
class InFeatures(Measure):
    """The distance in the features of a kernel, which are never made."""

    kernel: Kernel

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        own, others = self.kernel.diagonal(Q), self.kernel.diagonal(X)
        return np.maximum(own[:, None] - 2 * self.kernel(Q, X).astype(np.float64) + others, 0.0)

    def distances(self, sizes: Array) -> Array:
        return np.sqrt(sizes)


@dataclass(frozen=True)
class Given(Measure):
    """Distances that are known: the rows hold them. What a sparse matrix does not hold is not known, and no neighbour."""

    def prepared(self, X: Matrix) -> Matrix:
        if (X.data if is_sparse(X) else np.asarray(X)).min(initial=0.0) < 0:
            raise InputError("Negative values in data: a matrix of distances has none.")
        return X

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        if not is_sparse(Q):
            return np.asarray(Q, dtype=np.float64)
        found, known = np.full(Q.shape, np.nan), Q.tocoo()
        found[known.coords if hasattr(known, "coords") else (known.row, known.col)] = known.data
        return found

    def faded(self, sizes: Array, Q: Matrix, X: Matrix) -> Array:
        return np.zeros(sizes.shape, dtype=bool)


@dataclass(frozen=True)
class Haversine(Measure):
    """The way along the surface of a globe of radius one; rows are latitude and longitude, in radians."""

    def prepared(self, X: Matrix) -> Matrix:
        if X.shape[1] != 2:
            raise InputError(
                f"The haversine distance is of latitude and longitude, two columns; these are {X.shape[1]}."
            )
        return X

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        left, right = (_dense(one).astype(np.float64) for one in (Q, X))
        half = np.sin((left[:, None] - right) / 2) ** 2
        return np.asarray(half[..., 0] + np.cos(left[:, :1]) * np.cos(right[:, 0]) * half[..., 1])

    def distances(self, sizes: Array) -> Array:
        return np.asarray(2 * np.arcsin(np.sqrt(np.minimum(sizes, 1.0))))


@dataclass(frozen=True, eq=False)
class Named(Measure):
    """What SciPy calls by this name; where it is not defined, rows are as far apart as can be."""

    name: str
    VI: Array | None = None  # of Mahalanobis

    def prepared(self, X: Matrix) -> Matrix:
        # SciPy would read beyond the end of a smaller one.
        if self.VI is not None and self.VI.shape != (X.shape[1], X.shape[1]):
            raise ParameterError(f"metric_params: VI must have the shape ({X.shape[1]}, {X.shape[1]}).")
        return _dense(X) != 0 if self.name in YES_OR_NO else X

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        from scipy.spatial.distance import cdist

        left, right = (_dense(one) for one in (Q, X))
        with np.errstate(all="ignore"):
            if self.VI is None:
                return np.asarray(cdist(left, right, self.name), dtype=np.float64)  # type: ignore[call-overload]
            return cdist(left, right, "mahalanobis", VI=self.VI) ** 2

    def distances(self, sizes: Array) -> Array:
        return sizes if self.VI is None else np.sqrt(sizes)

    def faded(self, sizes: Array, Q: Matrix, X: Matrix) -> Array:
        whole = self.VI is not None and np.linalg.matrix_rank(self.VI) == len(self.VI)
        return Minkowski(2.0).faded(sizes, Q, X) if whole else super().faded(sizes, Q, X)


@dataclass(frozen=True, eq=False)
class Custom(Measure):
    """A function of two rows, and of what else it wants to know."""

    function: Callable[..., float]
    params: Mapping[str, object] = field(default_factory=dict)

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        left, right = (_dense(one) for one in (Q, X))
        with calling("metric", self.function, "two rows and give a number"):
            found = np.array([[float(self.function(x, z, **self.params)) for z in right] for x in left])
        if np.isnan(found).any():
            raise ParameterError(
                f"metric: {getattr(self.function, '__name__', 'the function')} gives NaN for two rows."
            )
        return found.reshape(len(left), len(right))

    def faded(self, sizes: Array, Q: Matrix, X: Matrix) -> Array:
        return np.zeros(sizes.shape, dtype=bool)  # what is infinite is what the function says


def _dense(X: Matrix) -> Array:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def measure_of(metric: Metric, p: float, params: Mapping[str, object] | None = None) -> Measure:
    """Give the measure that scikit-learn's parameters stand for.

    >>> measure_of("minkowski", 2).power, measure_of("manhattan", 2).power
    (2.0, 1.0)
    """
    more: dict[str, Any] = dict(params or {})
    if callable(metric) and not isinstance(metric, (type, Kernel)):
        return Custom(metric, more)
    known, needed = TAKEN.get(metric, (set(), False)) if isinstance(metric, str) else (set(), False)
    if more.keys() - known or (needed and not more):
        wanted = f"take {', '.join(sorted(known)) or 'nothing'}"
        raise ParameterError(f"metric_params of {metric!r} {wanted}, not {', '.join(more) or 'nothing'}.")
    if metric == "minkowski":
        power = float(POWER.checked("p", more.get("p", p)))
        return Minkowski(power, _column_weights("w", more["w"], power) if more.get("w") is not None else None)
    if metric == "seuclidean":
        return Minkowski(2.0, _column_weights("V", more["V"], 2.0))
    if isinstance(metric, str) and metric in NAMED:
        return Minkowski(NAMED[metric], squared=metric == "sqeuclidean")
    if isinstance(metric, str) and metric in (*BY_SCIPY, *YES_OR_NO):
        shape = numbers().checked("metric_params: VI", more["VI"]) if more else None
        return Named(metric, None if shape is None else np.asarray(shape, dtype=np.float64))
    others: dict[str, Measure] = {"cosine": Cosine(), "haversine": Haversine(), "precomputed": Given()}
    if isinstance(metric, str) and metric in others:
        return others[metric]
    if isinstance(metric, Kernel):
        return InFeatures(metric)
    raise ParameterError(f"There is no distance called {metric!r}: use one of {', '.join(map(repr, NAMES))}.")


def _column_weights(name: str, given: Any, power: float) -> tuple[float, ...]:
    """Give weights of the columns: `w` itself, or one over the variances `V`."""
    values = np.asarray(numbers().checked(f"metric_params: {name}", given), dtype=np.float64)
    with np.errstate(divide="ignore"):
        found = 1 / values if name == "V" else values
    if found.ndim != 1 or not np.isfinite(found).all() or (found < 0).any() or power == np.inf:
        raise ParameterError(
            f"metric_params: {name} must hold a number for each column, {'> 0' if name == 'V' else '>= 0'}, "
            f"and p must be finite; not {given!r} with p = {power:g}."
        )
    return tuple(found.tolist())
