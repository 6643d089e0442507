r"""Few rows that stand for many: a table with the same products between its columns.

.. math:: A^\top A = S_{xx}, \qquad A^\top b = S_{xy}, \qquad b^\top b = S_{yy}.

Whatever depends on a table through squares and products of its (centred, weighted) columns, as every least-squares
problem does on any choice of them, is the same for :math:`(A, b)`, which has at most one row more than columns. One
pass folds the scatter matrices, and a Cholesky factorisation gives :math:`A`; where columns are so nearly dependent
that this would cost digits, a second pass folds the R factor of a QR, which is such a table itself.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.linalg.normal import equilibrate, factorised
from qed.optim.least_squares.evidence import about_zero
from qed.stats.factor import Factor
from qed.stats.moments import Moments

CONDITION = 1e-10


def few_rows(rows: Rows | None, moments: Moments | None = None, *, centered: bool) -> tuple[np.ndarray, np.ndarray]:
    """Compress a table.

    Where the rows are gone, their moments have to do. Of the targets only the square of each is kept, not the products
    between two.

    >>> from qed.base.sources.open import rows
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    >>> A, b = few_rows(rows(X, y), centered=False)
    >>> (A.T @ A).round(12), (A.T @ b).ravel().round(12), (b**2).sum().round(12)
    (array([[3., 3.],
           [3., 5.]]), array([5., 6.]), np.float64(9.0))
    """
    if moments is None:
        assert rows is not None
        moments = rows.fold(Moments.of)
    seen = moments if centered else about_zero(moments)
    found = _by_cholesky(seen)
    if found is not None:
        return found
    return _by_eigenvectors(seen) if rows is None else _by_factor(rows, centered)


def _by_cholesky(seen: Moments) -> tuple[np.ndarray, np.ndarray] | None:
    """Take the triangular root; None where the columns are too nearly dependent for that."""
    scaled, length = equilibrate(seen.xx)
    empty = np.diagonal(scaled) == 0
    scaled[empty, empty] = 1.0
    lower, reciprocal = factorised(scaled)
    if reciprocal < CONDITION:
        return None
    B = np.asarray(lapack.dtrtrs(lower, seen.xy / length[:, None], lower=1)[0])
    return _with_rest(lower.T * np.where(empty, 0.0, length), B, seen)


def _by_factor(rows: Rows, centered: bool) -> tuple[np.ndarray, np.ndarray]:
    """Go back to the rows for a QR: slower, but it does not square the condition number."""
    factor = rows.fold(Factor.of)
    R = factor.R if centered else factor.uncentered()
    return np.ascontiguousarray(R[:, : rows.n_features]), np.ascontiguousarray(R[:, rows.n_features :])


def _by_eigenvectors(seen: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Take the root that also dependent columns have."""
    scaled, length = equilibrate(seen.xx)
    value, vector = np.linalg.eigh(scaled)
    known = value > 4 * len(value) * EPS * max(float(value[-1]), EPS)
    root = np.sqrt(value[known])[:, None]
    return _with_rest(root * vector[:, known].T * length, vector[:, known].T @ (seen.xy / length[:, None]) / root, seen)


def _with_rest(A: np.ndarray, B: np.ndarray, seen: Moments) -> tuple[np.ndarray, np.ndarray]:
    """Add a row for what no column explains."""
    last = np.sqrt(np.maximum(seen.yy.diagonal() - (B**2).sum(axis=0), 0.0))
    return np.concatenate([A, np.zeros((1, A.shape[1]))]), np.concatenate([B, last[None]])
