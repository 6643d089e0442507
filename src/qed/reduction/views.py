r"""Three other looks at principal components: what they save, Rayleigh's quotient, and one direction after the other.

*Storage.* Rows of p numbers that lie on a plane of k dimensions through zero are k representatives and k coefficients for each row:
:math:`k(n + p)` numbers in the place of :math:`np`.

*Rayleigh.* The sum of squares along a direction v is :math:`v^\top S v / v^\top v`. It lies between the smallest and the largest
eigenvalue of S, and is one of them for eigenvectors alone.

*Deflation.* The first direction of what the directions before leave of the rows is the next: the same components, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS
from qed.reduction.spread import spread_of
from qed.stats.kept import KeptRows


def stored(n: int, p: int, k: int | None = None) -> int:
    """Count the numbers that n rows of p columns are made of; on a plane of k dimensions, its directions and their coefficients.

    Parameters
    ----------
    n, p : int
        The numbers of rows and of columns.
    k : int, optional
        The dimension of the plane; none for the rows as they are.

    Examples
    --------
    >>> from qed.reduction import stored
    >>> stored(4, 2), stored(4, 2, 1), stored(100, 100), stored(100, 100, 3)
    (8, 6, 10000, 600)
    """
    return n * p if k is None else k * (n + p)


def rayleigh_quotient(matrix: ArrayLike, directions: ArrayLike) -> np.ndarray:
    r"""Give :math:`v^\top A v / v^\top v` for one direction, or for each row of some.

    Parameters
    ----------
    matrix : array-like of shape (p, p)
        A symmetric matrix A.
    directions : array-like of shape (p,) or (m, p)
        The directions, none of them zero.

    Examples
    --------
    >>> from qed.reduction import rayleigh_quotient
    >>> rayleigh_quotient([[8.0, 0.0], [0.0, 2.0]], [[1.0, 0.0], [0.0, -3.0], [1.0, 1.0]])
    array([8., 2., 5.])
    """
    A, V = np.asarray(matrix, dtype=np.float64), np.asarray(directions, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or np.abs(A - A.T).max(initial=0.0) > 1e-8 * np.abs(A).max(initial=0.0):
        raise InputError(f"Rayleigh's quotient is of a symmetric matrix; this one has the shape {A.shape}.")
    if V.ndim not in (1, 2) or V.shape[-1] != len(A):
        raise InputError(f"Directions must have {len(A)} entries each; their shape is {V.shape}.")
    size = np.abs(V).max(axis=-1, keepdims=True, initial=0.0)
    if not (np.isfinite(size) & (size > 0)).all():
        raise InputError("A direction must be finite and not zero.")
    V = V / size
    return np.asarray(((V @ A) * V).sum(axis=-1) / (V * V).sum(axis=-1))


def deflation(X: ArrayLike, n_components: int | None = None) -> Iterator[tuple[np.ndarray, float, np.ndarray]]:
    """Find principal directions one by one: the best line, then the best line of what it leaves, and so on.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The rows.
    n_components : int, optional
        How many directions; by default until nothing but rounding is left.

    Yields
    ------
    direction : ndarray of shape (p,)
        The next direction, of length one.
    squares : float
        The sum of squares along it: an eigenvalue of the scatter.
    left : ndarray of shape (n, p)
        What is left of the centred rows.

    Examples
    --------
    >>> from qed.reduction import deflation
    >>> rows = [[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    >>> [(direction.tolist(), squares) for direction, squares, _ in deflation(rows)]
    [([1.0, 0.0], 8.0), ([0.0, 1.0], 2.0)]
    """
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise InputError(f"Deflation needs a finite table of rows; the shape of this one is {table.shape}.")
    n, p = table.shape
    if n_components is not None and not 1 <= n_components <= p:
        raise ParameterError(f"deflation: n_components must be between 1 and the {p} columns, not {n_components}.")
    left = table - table.mean(axis=0)
    noise = (16 * (n + p) * EPS) ** 2 * float((left**2).sum())
    found = np.zeros((0, p))
    for _ in range(p if n_components is None else n_components):
        if n_components is None and float((left**2).sum()) <= noise:
            return
        spread = spread_of(KeptRows.of_table(left, np.zeros((n, 0)), None))
        direction = spread.leading(1)[1][0]
        # What rounding has left of earlier directions is taken off.
        direction = direction - (direction @ found.T) @ found
        direction = direction / np.linalg.norm(direction)
        scores = left @ direction
        left = left - np.outer(scores, direction)
        found = np.vstack([found, direction])
        yield direction, float(scores @ scores), left
