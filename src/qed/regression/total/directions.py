r"""Singular directions of a table of features and targets, from which total least squares follows.

With :math:`[X\ Y] = U \Sigma V^\top` and the directions of the q smallest singular values split into the part that
belongs to the features and the part that belongs to the targets, :math:`[W; -I]` spans the same space as
:math:`[V_{12}; V_{22}]`, so :math:`W = -V_{12} V_{22}^{-1}`. Features that are dependent vary in r < d directions
only; there the problem is solved, which gives the shortest of its solutions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS


@dataclass(frozen=True)
class Directions:
    """Singular values and directions of a table of features and targets, with the features reduced to their rank r."""

    # (r + q,) and (r + q, r + q): of the reduced table; directions are columns.
    values: np.ndarray
    vectors: np.ndarray
    all_values: np.ndarray  # (d + q,): of the whole table
    basis: np.ndarray  # (d, r): the directions in which the features vary
    smallest: float  # the smallest singular value of the features in these directions
    lengths: np.ndarray  # (r + q,): of the columns of the reduced table
    far: float  # the norm of the inverse of the table, with columns of length one

    @classmethod
    def of(cls, table: np.ndarray, d: int, tol: float, offset: np.ndarray | None = None) -> Directions:
        """Decompose; what is below `tol` with columns of length one, and relative to how far their centres are, is zero.

        The `offset` is the length that the means of the features would have as columns.
        """
        columns = table.shape[1]
        table = np.vstack([table, np.zeros((max(0, columns - len(table)), columns))])
        length = _lengths(table[:, :d])
        _, found, vector = np.linalg.svd(table[:, :d] / length, full_matrices=False)
        size = np.ones(d) if offset is None else np.hypot(1.0, offset / length)
        part = np.where(
            np.abs(vector) <= 2 * d * EPS, 0.0, vector
        )  # of columns that are nothing but rounding of a direction
        known = found > tol * np.linalg.norm(part * size, axis=1)
        basis = np.eye(d) if known.all() else np.linalg.qr((vector[known] * length).T)[0]
        reduced = np.hstack([table[:, :d] @ basis, table[:, d:]])
        values, vectors = graded_svd(reduced)
        smallest = float(graded_svd(reduced[:, : basis.shape[1]])[0][-1]) if known.any() else 0.0
        scale = _lengths(reduced)
        least = float(np.linalg.svd(reduced / scale, compute_uv=False)[-1])
        everything = graded_svd(table)[0]
        return cls(values, vectors, everything, basis, smallest, scale, 1 / least if least > 0 else np.inf)

    @property
    def rank(self) -> int:
        """How many directions the features vary in."""
        return self.basis.shape[1]

    @property
    def digits(self) -> float:
        """About how many digits of the solution survive that everything was squared."""
        following = float(self.values[self.rank])
        gap = (self.smallest - following) * (self.smallest + following)
        if self.rank < len(self.basis) or gap <= 0:
            return 0.0
        return float(-np.log10(EPS * max(self.values[0] ** 2, EPS**2) / gap))

    @property
    def share_of_target(self) -> float:
        """How much, at least, the trailing directions have to do with the targets, in units of the columns; zero without a solution."""
        trailing = self.vectors[:, self.rank :] * self.lengths[:, None]
        trailing = trailing / np.linalg.norm(trailing, axis=0)
        return float(np.linalg.svd(trailing[self.rank :], compute_uv=False)[-1])

    def coefficients(self) -> np.ndarray:
        """Solve ``[W; -I] = V_2 B`` for the trailing directions."""
        r = self.rank
        inner = -np.linalg.solve(self.vectors[r:, r:].T, self.vectors[:r, r:].T).T
        return self.basis @ inner


def graded_svd(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give singular values, in falling order, and right singular vectors, as columns, of a table with at least as many rows as columns.

    Jacobi's rotations keep the digits of small singular values where these are small because columns are, and not because columns are
    alike (Demmel and Veselic, 1992): the usual way loses what is below rounding of the largest.

    >>> values, _ = graded_svd(np.diag([1e-20, 1.0, 1e20]))
    >>> values
    array([1.e+20, 1.e+00, 1.e-20])
    """
    if not table.any():
        return np.zeros(table.shape[1]), np.eye(table.shape[1])
    with one_blas_thread:
        values, _, vectors, work, _, failed = lapack.dgejsv(table, joba=0, jobu=3, jobv=0, jobr=0, jobt=0, jobp=0)
    if failed:
        _, values, vectors = np.linalg.svd(table, full_matrices=False)
        return values, vectors.T
    return values * (work[0] / work[1]), vectors


def _lengths(table: np.ndarray) -> np.ndarray:
    """Give the lengths of columns, one where they are zero."""
    length = np.linalg.norm(table, axis=0)
    length[length == 0] = 1.0
    return length
