r"""No eigenvalue of a symmetric matrix was missed: what lies beyond a Krylov space is too small.

In an orthonormal basis of which the first columns span the space, the matrix is

.. math:: \begin{pmatrix} T & C^\top \\ C & R \end{pmatrix}, \qquad C^\top C = \begin{pmatrix} 0 & \\ & B^\top B \end{pmatrix}, \qquad
    \|R\|^2 \le \|R\|_F^2 = \|A\|_F^2 - \|T\|_F^2 - 2 \|B\|_F^2 =: \rho^2,

and of all of it but R everything is known. Let P take some vectors of the space away. Where :math:`\ell > \rho`, no eigenvalue of what
is left is above :math:`\ell` if

.. math:: \ell I - PTP - \frac{1}{\ell - \rho}\, P C^\top C P

has a Cholesky factor: its Schur complement is the smallest that an R of that size leaves. That takes :math:`O(m^3 + n m^2)` operations for
m columns where a factor of the whole takes :math:`n^3 / 3`. It needs eigenvalues that fall so quickly that all those beyond the space
together are less than the level; a few blocks more than the vectors needed are often enough.
"""

from functools import partial

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS, TINY
from qed.linalg.cholesky import factor_in_place
from qed.linalg.krylov.leading import STRIP, LeadingSpace
from qed.linalg.sharing import finish, products_of_rows, spans

# The bound of what lies beyond is to be below so much of the level, and blocks are added for that while they take no longer than this
# share of what a factor of the whole matrix takes.
BELOW, WORTH = 0.9, 0.5
# What is not as orthonormal as that proves nothing.
MOST_SKEW = 1e-3


def nothing_above(level: float, space: LeadingSpace, vectors: np.ndarray) -> bool:
    """Say whether it is proven that the matrix has no eigenvalue above a level but for what lies along some vectors.

    The space may grow for it; False says nothing.

    Parameters
    ----------
    level : float
        The level, positive.
    space : LeadingSpace
        A space of the matrix.
    vectors : ndarray of shape (n, k)
        Orthonormal vectors V: of ``(I - V V') A (I - V V')`` no eigenvalue is to be above the level.

    Examples
    --------
    >>> space = LeadingSpace.of(np.diag(0.5 ** np.arange(600.0)), 2)
    >>> nothing_above(0.26, space, space.vectors), nothing_above(0.24, space, space.vectors)
    (True, False)
    """
    square = sum_of_squares(space.matrix)
    # Squares that leave the range of numbers tell nothing.
    if not 1e-250 < square < 1e250:
        return False
    with one_blas_thread:
        while not _rest(space, square) < BELOW * level:
            if space.is_full or not _is_worth_growing(space, square, BELOW * level):
                return False
            space.grow()
        return _is_below(level, space, vectors, square)


def sum_of_squares(matrix: np.ndarray) -> float:
    """Add up the squares of all entries, strip by strip on all threads.

    >>> sum_of_squares(np.array([[1.0, 2.0], [2.0, 0.0]]))
    9.0
    """
    strips = spans(len(matrix), STRIP)
    found = np.empty(len(strips))
    finish(partial(_add_squares, matrix[strip], found[i : i + 1]) for i, strip in enumerate(strips))
    return float(found.sum())


def _add_squares(strip: np.ndarray, out: np.ndarray) -> None:
    with np.errstate(over="ignore", under="ignore"):
        out[0] = np.einsum("ij,ij->i", strip, strip).sum()


def _rest(space: LeadingSpace, square: float) -> float:
    """Give about the length of what lies beyond a space, as a matrix; square is that of the length of all."""
    return max(square - float((space.inner**2).sum()) - 2 * float((space.triangle**2).sum()), 0.0) ** 0.5


def _is_worth_growing(space: LeadingSpace, square: float, goal: float) -> bool:
    """Say whether a space that goes on to take in as much as with its last blocks has soon left less than a goal."""
    n, width, size = len(space.matrix), space.width, space.size
    known = space.inner[: size - width, : size - width]
    gain = float((space.inner**2).sum() - (known**2).sum()) + 2 * float((space.triangle**2).sum())
    gain -= 2 * float((space.inner[size - width :, size - 2 * width : size - width] ** 2).sum())
    blocks = (_rest(space, square) ** 2 - goal**2) / max(gain, TINY)
    each = 2 * n * width * (n + 2 * (size + blocks * width / 2))
    return not space.is_full and size + blocks * width <= space.most * width and blocks * each <= WORTH * n**3 / 3


def _is_below(level: float, space: LeadingSpace, vectors: np.ndarray, square: float) -> bool:
    """Say whether a space and the length of what lies beyond prove it, with all that rounding may have done."""
    n, size, width = len(space.matrix), space.size, space.width
    length, T, B, Q = (square * (1 + 4 * n * EPS)) ** 0.5, space.inner, space.triangle, space.basis
    inside = Q.T @ vectors
    beside = float(np.linalg.norm(vectors - Q @ inside)) + _skew(vectors)
    skew = _skew(space.with_next)
    if not max(beside, skew) <= MOST_SKEW:
        return False
    # What products with the matrix lose, what was left out on the way, and what comes of bases that are orthonormal but for rounding.
    lost = (n + 4 * size) * EPS * size**0.5 * length + 2 * space.slip**0.5 + 8 * (skew + beside) * length
    parts = float(np.linalg.norm(T)), float(np.linalg.norm(B))
    rest = max(length**2 - max(parts[0] - lost, 0.0) ** 2 - 2 * max(parts[1] - lost, 0.0) ** 2, 0.0) ** 0.5
    if not rest < level:
        return False
    along = np.linalg.qr(inside)[0]
    found = T.copy()
    found[size - width :, size - width :] += B.T @ B / (level - rest)
    found -= along @ (along.T @ found)
    found -= (found @ along) @ along.T
    np.negative(found, out=found)
    rounding = 8 * size * (size + 1) * EPS * (parts[0] + parts[1] ** 2 / (level - rest) + level)
    found.flat[:: size + 1] += level - rounding - lost - (2 * parts[1] + lost) * lost / (level - rest)
    return factor_in_place(np.asfortranarray((found + found.T) / 2))


def _skew(columns: np.ndarray) -> float:
    """Say by how much the products of columns are not those of orthonormal ones."""
    found = products_of_rows(np.ascontiguousarray(columns.T))
    found.flat[:: len(found) + 1] -= 1.0
    return float(np.linalg.norm(found)) + len(columns) * EPS * columns.shape[1]
