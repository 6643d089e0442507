r"""How far two rows are apart.

.. math:: D_q(x, z) = \Bigl(\sum_j |x_j - z_j|^q\Bigr)^{1/q},\quad D_\infty(x, z) = \max_j |x_j - z_j|,\qquad
          D_k(x, z)^2 = k(x, x) - 2 k(x, z) + k(z, z) .

Minkowski's distances for :math:`q \ge 1` (1: Manhattan, 2: Euclid, :math:`\infty`: Chebyshev), the angle between rows, the distance in
the features of a kernel, a function of the user's, or a matrix of distances. What ranks the neighbours is the *size*, before the root is
taken, so that no two distances become equal by taking it. Sizes of Minkowski are added feature by feature in their order, by NumPy and by
every kernel alike: all ways of searching give the same bits, and equal distances are equal in all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import choice, number
from qed.base.sources.block import is_sparse
from qed.kernels.kernel import Kernel

NAMED = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "cityblock": 1.0, "l1": 1.0, "chebyshev": np.inf}
POWER = number(1, kind="model") | choice(np.inf, kind="model")
NAMES = ("minkowski", *NAMED, "cosine", "precomputed")
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


@dataclass(frozen=True)
class Minkowski(Measure):
    """Minkowski's distance with an exponent of at least one.

    >>> [Minkowski(q).between([0.0, 0.0], [3.0, 4.0]) for q in (1.0, 2.0, np.inf)]
    [7.0, 5.0, 4.0]
    """

    power: float

    def between(self, x: Matrix, z: Matrix) -> float:
        """Give the distance of two rows."""
        first, second = np.atleast_2d(np.asarray(x, float)), np.atleast_2d(np.asarray(z, float))
        return float(self.distances(self.sizes(first, second))[0, 0])

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        left, right = (one.toarray() if is_sparse(one) else one for one in (Q, X))
        found = np.zeros((len(left), len(right)))
        with np.errstate(over="ignore", invalid="ignore", under="ignore"):
            for j in range(left.shape[1]):
                gap = left[:, j, None].astype(np.float64) - right[:, j].astype(np.float64)
                found = self._with(found, gap)
        return found

    def _with(self, total: Array, gap: Array) -> Array:
        """Add the differences in one feature."""
        if self.power == 2:
            gap *= gap
        elif self.power == np.inf:
            return np.maximum(total, np.abs(gap))
        else:
            np.abs(gap, out=gap)
            if self.power != 1:
                np.power(gap, self.power, out=gap)
        total += gap
        return total

    def distances(self, sizes: Array) -> Array:
        if self.power in (1, np.inf):
            return sizes
        return np.sqrt(sizes) if self.power == 2 else sizes ** (1 / self.power)


@dataclass(frozen=True)
class Cosine(Measure):
    """One minus the cosine of the angle between rows: half the squared distance of rows of length one.

    A row of zeros has no direction. It is given one of its own, at right angles to all others.
    """

    def prepared(self, X: Matrix) -> Array:
        dense = X.toarray() if is_sparse(X) else np.asarray(X)
        dense = dense.astype(np.float64)
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
    """Distances that are known: the rows hold them."""

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        return np.asarray(Q.toarray() if is_sparse(Q) else Q, dtype=np.float64)


@dataclass(frozen=True)
class Custom(Measure):
    """A function of two rows."""

    function: Callable[[Array, Array], float]

    def sizes(self, Q: Matrix, X: Matrix) -> Array:
        left, right = (one.toarray() if is_sparse(one) else np.asarray(one) for one in (Q, X))
        found = np.array([[float(self.function(x, z)) for z in right] for x in left])
        return found.reshape(len(left), len(right))


def measure_of(metric: Metric, p: float) -> Measure:
    """Give the measure that scikit-learn's two parameters stand for.

    >>> measure_of("minkowski", 2), measure_of("manhattan", 2)
    (Minkowski(power=2.0), Minkowski(power=1.0))
    """
    if isinstance(metric, Kernel):
        return InFeatures(metric)
    if callable(metric) and not isinstance(metric, type):
        return Custom(metric)
    if metric == "minkowski":
        return Minkowski(float(POWER.checked("p", p)))
    if isinstance(metric, str) and metric in NAMED:
        return Minkowski(NAMED[metric])
    if metric in ("cosine", "precomputed"):
        return Cosine() if metric == "cosine" else Given()
    raise ParameterError(f"There is no distance called {metric!r}: use one of {', '.join(map(repr, NAMES))}.")
