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

from qed.base.engine import one_blas_thread
from qed.base.random import generator
from qed.linalg.sharing import finish, spans

# Matrices of so few rows are decomposed whole; in the space of a larger one there are so many columns at the most.
SMALL, MOST_COLUMNS = 500, 480
# How good the vectors are to be, relative to the largest eigenvalue, and by how many columns more than are wanted the space grows.
ENOUGH, MORE = 2e-11, 6
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
    basis, images = (np.empty((n, most * width), order="F") for _ in range(2))
    new = generator(0, "columns of a matrix").standard_normal((n, width))
    with one_blas_thread:
        for step in range(most):
            own = slice(step * width, (step + 1) * width)
            basis[:, own] = _orthonormal(new, basis[:, : own.start])
            new = images[:, own] = times(matrix, np.ascontiguousarray(basis[:, own]))
            # To look whether all is there takes the longer the more columns there are, so it is done seldom then.
            if step >= 3 and (own.stop >= 1.12 * looked or step + 1 == most):
                looked = own.stop
                found = _settled(basis[:, : own.stop], images[:, : own.stop], wanted)
                if found is not None:
                    return found
    return None


def _settled(basis: np.ndarray, images: np.ndarray, wanted: int) -> np.ndarray | None:
    """Give the vectors wanted if they are in the space of a basis whose images are known."""
    values, turn = np.linalg.eigh(basis.T @ images)
    values, turn = values[::-1][:wanted], turn[:, ::-1][:, :wanted]
    left = images @ turn - (basis @ turn) * values
    if np.linalg.norm(left, axis=0).max() > ENOUGH * max(float(np.abs(values).max()), np.finfo(float).tiny):
        return None
    return np.asarray(np.linalg.qr(basis @ turn)[0])


def _orthonormal(columns: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Make columns orthonormal, and orthogonal to others that are: twice, since once leaves rounding."""
    for _ in range(2):
        columns = np.linalg.qr(columns - others @ (others.T @ columns))[0]
    return columns


def times(matrix: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Multiply a matrix with some columns, strip by strip on all threads.

    >>> times(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0], [1.0]])).ravel()
    array([3., 7.])
    """
    out = np.empty((len(matrix), right.shape[1]))
    finish(partial(np.matmul, matrix[strip], right, out=out[strip]) for strip in spans(len(matrix), STRIP))
    return out
