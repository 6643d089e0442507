r"""Coordinates in which columns vary alike and are not correlated, and the correlation of two columns.

.. math:: S = U \Lambda U^\top, \qquad W = U \Lambda^{-1/2} U^\top, \qquad W S W = I, \qquad
    \hat\rho(x, y) = \frac{\tilde x^\top \tilde y}{\sqrt{\tilde x^\top \tilde x \cdot \tilde y^\top \tilde y}}.

Of all matrices that whiten, W is the symmetric one: it moves rows least.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import DegenerateError, InputError
from qed.base.numbers import EPS


def whitening_matrix(scatter: ArrayLike, alpha: float = 0.0) -> np.ndarray:
    """Give the symmetric positive matrix W with ``W S W = I``, where S is the scatter or the covariance of some columns.

    Parameters
    ----------
    scatter : array-like of shape (p, p)
        A symmetric matrix without negative eigenvalues.
    alpha : float, default=0.0
        Such a share of the mean of its diagonal is added to the diagonal first, where columns may be dependent.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.reduction import whitening_matrix
    >>> whitening_matrix([[4.0, 0.0], [0.0, 0.25]])
    array([[0.5, 0. ],
           [0. , 2. ]])
    """
    S = np.asarray(scatter, dtype=np.float64)
    if S.ndim != 2 or S.shape[0] != S.shape[1] or not S.size or not np.isfinite(S).all():
        raise InputError(f"Whitening needs a finite square matrix; the shape of this one is {S.shape}.")
    if np.abs(S - S.T).max() > 1e-8 * np.abs(S).max():
        raise InputError("Whitening needs a symmetric matrix, such as X.T @ X of centred columns.")
    S = (S + S.T) / 2 + alpha * float(np.trace(S)) / len(S) * np.eye(len(S))
    values, vectors = np.linalg.eigh(S)
    if not values[0] > len(S) * EPS * values[-1]:
        raise DegenerateError(
            f"These columns can not be whitened: they are dependent, the smallest eigenvalue being {values[0]:.3g} and the largest "
            f"{values[-1]:.3g}. Drop columns that follow from others, or give alpha, such as 1e-6."
        )
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T)


def pearson(x: ArrayLike, y: ArrayLike) -> float:
    """Give the correlation of two columns, between -1 and 1: how nearly they are on a line, and whether it rises.

    Parameters
    ----------
    x, y : array-like of shape (n,)
        The columns. One that does not vary has no correlation, and is refused.

    Examples
    --------
    >>> from qed.reduction import pearson
    >>> round(pearson([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]), 12)
    0.5
    """
    left, right = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if left.ndim != 1 or left.shape != right.shape or not (np.isfinite(left).all() and np.isfinite(right).all()):
        raise InputError(
            f"A correlation is of two finite columns of the same length; the shapes are {left.shape}, {right.shape}."
        )
    away = [_centred(column, name) for column, name in ((left, "x"), (right, "y"))]
    return float(np.clip(away[0] @ away[1], -1.0, 1.0))


def _centred(column: np.ndarray, name: str) -> np.ndarray:
    """Give a column about its mean, of length one."""
    if len(column) < 2 or not column.max() > column.min():
        raise DegenerateError(f"The correlation is not defined: {name} does not vary.")
    away = column / np.abs(column).max()
    away = away - away.mean()
    away = away / np.abs(away).max()
    return np.asarray(away / np.linalg.norm(away))
