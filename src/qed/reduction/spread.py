r"""How rows are spread about their mean: the scatter matrix :math:`S = A^\top A` of centred rows, and its directions.

Where there are more rows than columns, the matrix itself is known. Where there are fewer, the rows are, and their products
:math:`AA^\top` have the same eigenvalues: with :math:`AA^\top u = \lambda u` the direction is :math:`A^\top u / \sqrt\lambda`. The cost is
:math:`O(n p \min(n, p))` either way.

That no direction outside some orthonormal :math:`V` has more than a level :math:`\ell` is seen by an inertia count: the matrix
:math:`\ell I - (I - VV^\top) S (I - VV^\top)` has a Cholesky factor (Sylvester's law), or the same of the rows' products.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.base.random import generator
from qed.linalg.cholesky import factor_in_place
from qed.linalg.design import DenseDesign, SparseDesign
from qed.linalg.krylov.beyond import nothing_above
from qed.linalg.krylov.leading import LeadingSpace, largest
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments


class Spread(ABC):
    """The scatter of rows about their mean, seen through what can be asked of it."""

    total: float  # the sum of all squares: the trace
    noise: float  # rounding moved no eigenvalue by more than that
    _space: LeadingSpace | None = None  # in which its directions were found, where that was the way

    @property
    @abstractmethod
    def matrix(self) -> np.ndarray:
        """A matrix with the same eigenvalues, but for zeros: the smaller of the two."""

    @abstractmethod
    def applied(self, directions: np.ndarray) -> np.ndarray:
        """Give ``S v`` for directions v, the rows of a matrix of shape (k, p)."""

    @abstractmethod
    def _directions(self, vectors: np.ndarray) -> np.ndarray:
        """Give the directions that belong to eigenvectors of the matrix, as rows of length one."""

    def _vectors(self, directions: np.ndarray) -> np.ndarray | None:
        """Give the eigenvectors of the matrix that belong to directions; None where these are of another space."""
        return directions.T

    @abstractmethod
    def _without(self, directions: np.ndarray) -> np.ndarray:
        """Give the matrix without what lies in some directions."""

    def leading(self, wanted: int | None) -> tuple[np.ndarray, np.ndarray]:
        """Give as many eigenvalues as are wanted, or all, the largest first, and the directions, of shape (k, p)."""
        if wanted is not None and (space := LeadingSpace.of(self.matrix, wanted)) is not None:
            self._space, values, vectors = space, space.values, space.vectors
        else:
            values, vectors = largest(self.matrix, wanted)
        return np.maximum(values, 0.0), _turned(self._directions(vectors))

    def sketched(self, wanted: int, more: int, rounds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Give about the same, from the images of a few random directions: no matrix is made where rows are fewer than columns.

        Parameters
        ----------
        wanted : int
            How many.
        more : int
            With how many directions more the work is done.
        rounds : int
            How often their images are taken again: each time smaller eigenvalues lose a share of their part.
        seed : int
            What the directions are drawn with.
        """
        width = min(wanted + more, self.width)
        found = generator(seed, "directions").standard_normal((width, self.width))
        with one_blas_thread:
            for _ in range(rounds + 1):
                found = np.linalg.qr(self.applied(np.linalg.qr(found.T)[0].T).T)[0].T
            values, turn = np.linalg.eigh(found @ self.applied(found).T)
            basis = np.linalg.qr((turn[:, ::-1][:, :wanted].T @ found).T)[0].T
        return np.maximum(values[::-1][:wanted], 0.0), _turned(basis)

    @property
    def width(self) -> int:
        """The number of entries of a direction: p."""
        return len(self.matrix)

    @property
    def lost(self) -> float:
        """What rounding can do to the levels of `exceeds`, as a share of them."""
        return 2.0 * self._size * (self._size + 1) * EPS

    @property
    def _size(self) -> int:
        return len(self.matrix)

    def exceeds(self, level: float, directions: np.ndarray) -> bool:
        """Say whether some direction orthogonal to those given may have squares above a level; if not, that is proven.

        Where directions were found in a space that holds nearly everything, what lies beyond it is known to be small; else eigenvalues
        are counted. A factor is that of a matrix off by n + 1 roundings of the roots of its diagonal in each entry, which is taken off the
        level.
        """
        vectors = self._vectors(directions)
        if self._space is not None and vectors is not None and nothing_above(level, self._space, vectors):
            return False
        left = np.ascontiguousarray(self._without(directions))
        np.negative(left, out=left)
        left.flat[:: len(left) + 1] += level * (1 - self.lost)
        # It is symmetric but for rounding, so that turned it is the same in the order that factors want.
        return not factor_in_place(left.T)


class SpreadOfColumns(Spread):
    """The scatter as folded from any number of rows."""

    def __init__(self, moments: Moments) -> None:
        self._matrix = moments.xx
        self.total = float(np.trace(self._matrix))
        # Entries are off by no more than h[j] h[k], so the matrix by no more than the square of the length of h.
        self.noise = float((moments.noise[: moments.n_features] ** 2).sum())

    @property
    def matrix(self) -> np.ndarray:
        return self._matrix

    def applied(self, directions: np.ndarray) -> np.ndarray:
        return np.asarray((self.matrix @ directions.T).T)

    def _directions(self, vectors: np.ndarray) -> np.ndarray:
        return vectors.T

    def _without(self, directions: np.ndarray) -> np.ndarray:
        image = self.applied(directions)
        both = directions.T @ image
        return np.asarray(self.matrix - both - both.T + directions.T @ (image @ directions.T) @ directions)


class SpreadOfRows(Spread):
    """The scatter of rows that are fewer than their columns, by the products of the rows; sparse ones stay sparse."""

    def __init__(self, kept: KeptRows) -> None:
        self.design = design = kept.design()
        self.total = float((design.lengths**2).sum())
        # Sparse rows are multiplied before their mean is taken away.
        size = (
            self.total if isinstance(design, DenseDesign) else self.total + kept.weight * float((kept.x_mean**2).sum())
        )
        self.noise = (kept.count + kept.n_features + 8) * EPS * size
        self._count, self._width = kept.count, kept.n_features

    @property
    def width(self) -> int:
        return self._width

    @property
    def _size(self) -> int:
        return self._count

    @cached_property
    def matrix(self) -> np.ndarray:
        return self.design.outer() if isinstance(self.design, DenseDesign) else _outer(self.design)

    def applied(self, directions: np.ndarray) -> np.ndarray:
        return self.design.back(self.design.times(directions.T)).T

    def _directions(self, vectors: np.ndarray) -> np.ndarray:
        # Of small eigenvalues the directions are not orthogonal to the last digit, and of zeros they are anything: QR makes them so.
        with one_blas_thread:
            basis, triangle = np.linalg.qr(self.design.back(vectors))
        return np.asarray(basis.T * np.where(np.diagonal(triangle) < 0, -1.0, 1.0)[:, None])

    def _vectors(self, directions: np.ndarray) -> None:
        return None

    def _without(self, directions: np.ndarray) -> np.ndarray:
        image = self.design.times(directions.T)
        return np.asarray(self.matrix - image @ image.T)


def _outer(design: SparseDesign) -> np.ndarray:
    """Give the products of centred sparse rows with each other, of shape (n, n)."""
    center = np.where(design.varying, design.center, 0.0)
    chosen = design.X * design.varying
    along = chosen @ center
    found = (chosen @ chosen.T).toarray() - along[:, None] - along + float(center @ center)
    return np.asarray(found * design.root * design.root[:, None])


def spread_of(statistic: Moments | KeptRows) -> Spread:
    """Give the spread of rows of which so much is known; sparse ones may have been kept though they are many."""
    if isinstance(statistic, KeptRows) and statistic.count <= statistic.n_features:
        return SpreadOfRows(statistic)
    return SpreadOfColumns(statistic.moments())


def _turned(directions: np.ndarray) -> np.ndarray:
    """Give directions the sign with which their largest entry is positive, of equal ones the first."""
    largest = np.abs(directions).argmax(axis=1)
    signs = np.where(directions[np.arange(len(directions)), largest] < 0, -1.0, 1.0)
    return np.asarray(directions * signs[:, None])
