r"""The largest eigenvalues of a large symmetric matrix, and their vectors: the Krylov space of some random columns.

.. math:: \mathcal K = \operatorname{span}\{\Omega, A\Omega, A^2\Omega, \dots\}, \qquad Q^\top A Q = U \Theta U^\top,
    \qquad \|A (Qu) - \theta\, Qu\| \le \tau \theta_1.

The space grows by the image of its last columns until the residuals of the values wanted have vanished (Golub and Underwood, 1977).
That takes a few dozen products of the matrix with a few columns, :math:`O(n^2)` each, where decomposing the matrix takes
:math:`O(n^3)`. Small residuals show that each value is near an eigenvalue, and not that none was missed: who uses it counts
(:meth:`qed.reduction.spread.Spread.exceeds`).

Golub and Underwood (1977), The block Lanczos method for computing eigenvalues.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy.linalg import eigh

from qed.base.engine import one_blas_thread
from qed.base.random import generator
from qed.linalg.krylov.narrow_kernel import height, in_panels, multiply_narrow, panel
from qed.linalg.registers.vectors import beats_blas
from qed.linalg.sharing import finish, spans

# Matrices of so few rows are decomposed whole; in the space of a larger one there are so many columns at the most.
SMALL, MOST_COLUMNS = 500, 480
# How good the vectors are to be, relative to the largest eigenvalue, and by how many columns more than are wanted the space grows.
ENOUGH, MORE = 2e-11, 6
# Columns of which less than this is left have lost so many digits of what they were orthogonal to.
LITTLE = 1e-3
# One in so many columns is new, at the most, when they are looked at again.
LOOK_AFTER = 4
# With fewer vectors wanted than this share of all, the others are not worked out.
FEW = 0.25
STRIP = 256
# With more columns than that BLAS is as fast.
NARROW = 64
# So many of the columns that others are made orthogonal to are one thread's.
SHARE = 64


class LeadingSpace:
    """The Krylov space of a symmetric matrix, grown until its largest eigenvalues are there.

    Attributes
    ----------
    matrix : ndarray of shape (n, n)
        The matrix.
    values : ndarray of shape (wanted,)
        The eigenvalues, the largest first.
    vectors : ndarray of shape (n, wanted)
        Orthonormal vectors that belong to them.
    slip : float
        The square of all that rounding left out of the equation ``A Q = Q T + N B`` of the space, products with the matrix apart.
    """

    def __init__(self, matrix: np.ndarray, width: int) -> None:
        n, most = len(matrix), MOST_COLUMNS // width
        self.matrix, self.width, self.most, self.slip = matrix, width, most, 0.0
        # The columns, block after block, with the block that comes next, and what the matrix is among them.
        self._columns = np.empty((n, (most + 1) * width), order="F")
        self._inner = np.zeros((most * width, most * width))
        start = generator(0, "columns of a matrix").standard_normal((n, width))
        self._columns[:, :width], self.triangle = np.linalg.qr(start)
        self.size, self.values, self.vectors = 0, np.zeros(0), np.zeros((n, 0))

    @classmethod
    def of(cls, matrix: np.ndarray, wanted: int) -> LeadingSpace | None:
        """Find as many eigenvalues as are wanted, and their vectors; None where decomposing the matrix whole is no slower.

        >>> values = 0.5 ** np.arange(600.0)
        >>> found = LeadingSpace.of(np.diag(values), 2)
        >>> np.abs(found.vectors[:3]).round(9)
        array([[1., 0.],
               [0., 1.],
               [0., 0.]])
        >>> LeadingSpace.of(np.eye(3), 1) is None
        True
        """
        width = wanted + MORE
        if len(matrix) <= SMALL or 4 * width > MOST_COLUMNS:
            return None
        look, before = 4 * width, np.inf
        with one_blas_thread:
            space = cls(matrix, width)
            while not space.is_full:
                space.grow()
                if space.size < look and not space.is_full:
                    continue
                left = space._settles(wanted)
                if left <= 1:
                    return space
                # To look whether all is there takes the longer the more columns there are, so it is done when it may be expected.
                blocks = np.ceil(np.log(left) / np.log(before / left)) if 1 < before / left < np.inf else 1.0
                look, before = space.size + width * max(1, int(min(blocks, space.size // LOOK_AFTER // width))), left
        return None

    @property
    def is_full(self) -> bool:
        """Whether there is no room for more columns."""
        return self.size == len(self._inner)

    @property
    def basis(self) -> np.ndarray:
        """The orthonormal columns Q, of shape (n, size)."""
        return self._columns[:, : self.size]

    @property
    def with_next(self) -> np.ndarray:
        """The columns Q and, after them, those of N, into which the matrix maps the last of Q."""
        return self._columns[:, : self.size + self.width]

    @property
    def inner(self) -> np.ndarray:
        """The matrix T in the space, symmetric; the `triangle` B leads out of its last columns."""
        return self._inner[: self.size, : self.size]

    def grow(self) -> None:
        """Add the next block, and find the one after it."""
        width, start, stop = self.width, self.size, self.size + self.width
        own, near = slice(start, stop), slice(max(start - width, 0), stop)
        image = times(self.matrix, np.ascontiguousarray(self._columns[:, own]))
        # The image has a part along the last two blocks, and but for rounding none along those before.
        along = self._columns[:, near].T @ image
        image -= self._columns[:, near] @ along
        middle = (along[-width:] + along[-width:].T) / 2
        self.slip += float(((along[-width:] - middle) ** 2).sum())
        if start:
            self.slip += float(((along[:width].T - self.triangle) ** 2).sum())
            self._inner[near.start : start, own], self._inner[own, near.start : start] = self.triangle.T, self.triangle
        self._inner[own, own] = middle
        found, self.triangle = _orthonormal(image, self._columns[:, :stop])
        self._columns[:, stop : stop + width] = found
        image -= found @ self.triangle
        self.slip += float((image**2).sum())
        self.size = stop

    def _settles(self, wanted: int) -> float:
        """Say how large the worst residual of the vectors wanted is, where one is enough; keep them if so."""
        values, turn = largest(self.inner, wanted)
        enough = ENOUGH * max(float(np.abs(values).max()), np.finfo(float).tiny)
        left = float(np.linalg.norm(self.triangle @ turn[-self.width :], axis=0).max()) / enough
        if not left <= 1:
            return left if np.isfinite(left) else np.inf
        # That was told by the recurrence; the matrix has the last word.
        self.vectors = np.linalg.qr(self.basis @ turn)[0]
        image = times(self.matrix, self.vectors)
        self.values = np.einsum("ij,ij->j", self.vectors, image)
        return float(np.linalg.norm(image - self.vectors * self.values, axis=0).max()) / (2 * enough)


def largest(matrix: np.ndarray, wanted: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Give the largest eigenvalues of a symmetric matrix, all of them or as many as are wanted, and their vectors, by decomposing it.

    >>> largest(np.diag([1.0, 3.0, 2.0]), 2)[0]
    array([3., 2.])
    """
    size = len(matrix)
    few = wanted is not None and 0 < wanted <= FEW * size
    with one_blas_thread:
        values, vectors = eigh(
            matrix, subset_by_index=(size - wanted, size - 1) if few and wanted else None, check_finite=False
        )
        # Where eigenvalues are alike, as those of rows that are nobody's like, LAPACK may find none of some that it was asked for.
        if few and len(values) < (wanted or 0):
            values, vectors = eigh(matrix, check_finite=False)
    return values[::-1][:wanted], vectors[:, ::-1][:, :wanted]


def _orthonormal(columns: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make columns orthonormal, and orthogonal to others that are; give the triangle that leads back to the columns, too.

    Once leaves rounding, which where little was left of a column is most of it: then it is done again.
    """
    found, triangle = np.linalg.qr(_without(columns, others))
    left = np.abs(triangle.diagonal())
    if not left.min() > LITTLE * np.abs(columns).max(initial=0.0):
        found, again = np.linalg.qr(_without(found, others))
        triangle = again @ triangle
    return found, triangle


def _without(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Give columns without their part along others, which are orthonormal; threads share the work as its size says."""
    along, out = np.empty((others.shape[1], columns.shape[1])), np.empty_like(columns)
    finish(partial(np.matmul, others[:, part].T, columns, out=along[part]) for part in spans(len(along), SHARE))
    finish(partial(_take_away, columns, others, along, strip, out) for strip in spans(len(columns), 4 * STRIP))
    return out


def _take_away(columns: np.ndarray, others: np.ndarray, along: np.ndarray, strip: slice, out: np.ndarray) -> None:
    np.subtract(columns[strip], others[strip] @ along, out=out[strip])


def times(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Multiply a matrix with some columns, strip by strip on all threads.

    >>> times(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [1.0]])).ravel()
    array([3., 7.])
    """
    n, q = len(matrix), right.shape[1]
    if (
        n > SMALL
        and q <= NARROW
        and matrix.flags.c_contiguous
        and matrix.dtype == right.dtype == np.float64
        and beats_blas()
    ):
        whole = in_panels(right)
        out = np.empty((n, whole.shape[1]))
        finish(
            partial(multiply_narrow, matrix[strip], whole, out[strip], panel(), height()) for strip in spans(n, STRIP)
        )
        return out[:, :q]
    out = np.empty((n, q))
    finish(partial(np.matmul, matrix[strip], right, out=out[strip]) for strip in spans(n, STRIP))
    return out
