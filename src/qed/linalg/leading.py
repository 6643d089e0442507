r"""The largest eigenvalues of a large symmetric matrix, and their vectors: the Krylov space of some random columns.

.. math:: \mathcal K = \operatorname{span}\{\Omega, A\Omega, A^2\Omega, \dots\}, \qquad Q^\top A Q = U \Theta U^\top,
    \qquad \|A (Qu) - \theta\, Qu\| \le \tau \theta_1.

The space grows by the image of its last columns until the residuals of the values wanted have vanished (Golub and Underwood, 1977).
That takes a few dozen products of the matrix with a few columns, :math:`O(n^2)` each, where decomposing the matrix takes
:math:`O(n^3)`. Small residuals show that each value is near an eigenvalue, and not that none was missed: who uses it counts
(:meth:`qed.reduction.spread.Spread.exceeds`).

Golub and Underwood (1977), The block Lanczos method for computing eigenvalues.
"""

from functools import partial

import numpy as np
from scipy.linalg import eigh

from qed.base.engine import one_blas_thread
from qed.base.random import generator
from qed.linalg.sharing import finish, spans

# Matrices of so few rows are decomposed whole; in the space of a larger one there are so many columns at the most.
SMALL, MOST_COLUMNS = 500, 480
# How good the vectors are to be, relative to the largest eigenvalue, and by how many columns more than are wanted the space grows.
ENOUGH, MORE = 2e-11, 6
# Columns of which less than this is left have lost so many digits of what they were orthogonal to.
LITTLE = 1e-3
# With fewer vectors wanted than this share of all, the others are not worked out.
FEW = 0.25
STRIP = 256


def leading_vectors(matrix: np.ndarray, wanted: int) -> np.ndarray | None:
    """Give orthonormal vectors of the largest eigenvalues of a symmetric matrix; None where decomposing it whole is no slower.

    Parameters
    ----------
    matrix : ndarray of shape (n, n)
        The matrix.
    wanted : int
        How many.

    Returns
    -------
    ndarray of shape (n, wanted) or None
        The vectors, that of the largest eigenvalue first.

    Examples
    --------
    >>> values = 0.5 ** np.arange(600.0)
    >>> found = leading_vectors(np.diag(values), 2)
    >>> np.abs(found[:3]).round(9)
    array([[1., 0.],
           [0., 1.],
           [0., 0.]])
    >>> leading_vectors(np.eye(3), 1) is None
    True
    """
    n, width = len(matrix), wanted + MORE
    if n <= SMALL or 4 * width > MOST_COLUMNS:
        return None
    most, looked = MOST_COLUMNS // width, 0
    basis, inner = np.empty((n, most * width), order="F"), np.zeros((most * width, most * width))
    with one_blas_thread:
        new, triangle = np.linalg.qr(generator(0, "columns of a matrix").standard_normal((n, width)))
        for step in range(most):
            own = slice(step * width, (step + 1) * width)
            basis[:, own] = new
            image = times(matrix, np.ascontiguousarray(new))
            # The image has a part along the last two blocks, and but for rounding none along those before.
            near = slice(max(own.start - width, 0), own.stop)
            along = basis[:, near].T @ image
            inner[near, own] = along
            inner[own, near] = along.T
            new, triangle = _orthonormal(image - basis[:, near] @ along, basis[:, : own.stop])
            # To look whether all is there takes the longer the more columns there are, so it is done seldom then.
            if step >= 3 and (own.stop >= 1.08 * looked or step + 1 == most):
                looked = own.stop
                found = _settled(matrix, basis[:, :looked], inner[:looked, :looked], triangle, wanted)
                if found is not None:
                    return found
    return None


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


def _settled(
    matrix: np.ndarray, basis: np.ndarray, inner: np.ndarray, triangle: np.ndarray, wanted: int
) -> np.ndarray | None:
    """Give the vectors wanted if they are in the space of a basis; the matrix maps its last columns out of it by a triangle."""
    values, turn = largest(inner, wanted)
    enough = ENOUGH * max(float(np.abs(values).max()), np.finfo(float).tiny)
    if not np.linalg.norm(triangle @ turn[-len(triangle) :], axis=0).max() <= enough:
        return None
    # That was told by the recurrence; the matrix has the last word.
    vectors = basis @ turn
    left = times(matrix, np.ascontiguousarray(vectors)) - vectors * values
    return np.asarray(np.linalg.qr(vectors)[0]) if np.linalg.norm(left, axis=0).max() <= enough else None


def _orthonormal(columns: np.ndarray, others: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Make columns orthonormal, and orthogonal to others that are; give the triangle that leads back to the columns, too.

    Once leaves rounding, which where little was left of a column is most of it: then it is done again.
    """
    found, triangle = np.linalg.qr(columns - others @ (others.T @ columns))
    left = np.abs(triangle.diagonal())
    if not left.min() > LITTLE * np.abs(columns).max(initial=0.0):
        found, again = np.linalg.qr(found - others @ (others.T @ found))
        triangle = again @ triangle
    return found, triangle


def times(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Multiply a matrix with some columns, strip by strip on all threads.

    >>> times(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [1.0]])).ravel()
    array([3., 7.])
    """
    out = np.empty((len(matrix), right.shape[1]))
    finish(partial(np.matmul, matrix[strip], right, out=out[strip]) for strip in spans(len(matrix), STRIP))
    return out
