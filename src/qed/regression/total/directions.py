r"""Singular directions of a table of features and targets, from which total least squares follows.

With :math:`[X\ Y] = U \Sigma V^\top` and the directions of the q smallest singular values split into the part that
belongs to the features and the part that belongs to the targets, :math:`[W; -I]` spans the same space as
:math:`[V_{12}; V_{22}]`, so :math:`W = -V_{12} V_{22}^{-1}`. Features that are dependent vary in r < d directions
only; there the problem is solved, which gives the shortest of its solutions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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

    @classmethod
    def of(cls, table: np.ndarray, d: int, tol: float, far: float = 0.0) -> Directions:
        """Decompose; what is below `tol`, relative to the largest singular value and to how `far` the centre is, is zero."""
        columns = table.shape[1]
        table = np.vstack([table, np.zeros((max(0, columns - len(table)), columns))])
        _, value, vector = np.linalg.svd(table[:, :d], full_matrices=False)
        known = value > tol * (value[0] + far)
        basis = vector[known].T
        reduced = np.hstack([table[:, :d] @ basis, table[:, d:]])
        _, values, vectors = np.linalg.svd(reduced, full_matrices=False)
        everything = np.linalg.svd(table, compute_uv=False)
        return cls(values, vectors.T, everything, basis, float(value[known][-1]) if known.any() else 0.0)

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
        """How much, at least, the trailing directions have to do with the targets; zero where there is no solution."""
        return float(np.linalg.svd(self.vectors[self.rank :, self.rank :], compute_uv=False)[-1])

    def coefficients(self) -> np.ndarray:
        """Solve ``[W; -I] = V_2 B`` for the trailing directions."""
        r = self.rank
        inner = -np.linalg.solve(self.vectors[r:, r:].T, self.vectors[:r, r:].T).T
        return self.basis @ inner
