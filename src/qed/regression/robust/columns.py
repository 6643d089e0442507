r"""The columns that a robust plane is looked for in: those of the rows, or independent combinations of them.

Newton's method works with sums of products of columns, which square the condition number. As long as that leaves enough digits,
the columns are taken as they are. Where they are nearly dependent (a polynomial's powers, large offsets without an intercept), a QR
factorisation is folded once, :math:`X - \mathbf 1 c^\top = QR`, its small factor is decomposed, :math:`R\,D^{-1} = U S V^\top`
with the rounding errors :math:`D` of the columns as their unit, and every block is read as
:math:`Z = (X - \mathbf 1 c^\top)\, D^{-1} V S^{-1}`, whose columns are
orthonormal. Combinations that are nothing but rounding are left out, and of the coefficients that are the same without them the
shortest are taken. Gradients, Hessians and directions are written in :math:`Z`; planes, and with them the residuals, always in
the rows' own columns, as whoever uses the model sees them. Reading a block then costs :math:`O(p^2)` a row.

Golub and Van Loan (2013), Matrix Computations, section 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.normal import equilibrate, shortest
from qed.stats.factor import Factor
from qed.stats.left_out import left_out_claim
from qed.stats.moments import Moments
from qed.stats.products import dense

# Below this least eigenvalue of the columns' correlations, sums of products leave too few digits.
COARSE = 1e-8
# A combination is left out when it is not so many times longer than the rounding of its values: then columns depend on each other.
CLEAR = 1e4
# A combination that is longer than so many roundings, and left out all the same, could have explained something.
MOST_LEFT_OUT = 1024.0
# Where the units of columns are so different that the shortest coefficients predict otherwise by this share, others are taken.
ALIKE = 1e-6


@dataclass(frozen=True)
class Plane:
    """Coefficients and intercept; or a direction in which they go."""

    coef: np.ndarray
    intercept: float

    def moved(self, way: Plane, step: float) -> Plane:
        """Go a way, times `step`."""
        return Plane(self.coef + step * way.coef, self.intercept + step * way.intercept)


@dataclass(frozen=True)
class Columns:
    """Combinations of columns: a row x reads ``(x - shift) @ mix``, or x itself where there is no `mix`.

    >>> Columns(np.ones(2), np.array([[1.0], [2.0]]), None).read(np.array([[3.0, 4.0]]))
    array([[8.]])
    """

    shift: np.ndarray  # (p,): what is subtracted
    mix: np.ndarray | None = None  # (p, k): the combinations
    back: np.ndarray | None = None  # (k, p): the coefficients of a plane become `back @ coef`
    left_out: np.ndarray | None = None  # (p, m): the combinations that were left out

    @classmethod
    def of(cls, rows: Rows, total: Moments, largest: np.ndarray, ridge: float, *, intercept: bool) -> Columns:
        """Take the columns as they are, if their moments leave enough digits or they are sparse; else combine them.

        `largest` has the largest size of the values of each column; `ridge` is about how much a penalty adds to the
        squares of a column, which makes columns independent, too; with an intercept columns may be shifted.
        """
        p = total.n_features
        plain = cls(np.zeros(p))
        if rows.is_sparse:
            return plain
        gram = (total.xx if intercept else total.uncentered()[:p, :p]) + ridge * np.eye(p)
        there = np.flatnonzero(np.diagonal(gram) > 0)
        least = np.linalg.eigvalsh(equilibrate(gram[np.ix_(there, there)])[0]).min(initial=1.0)
        if least >= COARSE:
            return plain
        factor = rows.fold(Factor.of)
        triangle = (factor.R if intercept else factor.uncentered())[:, :p]
        rounding = EPS * np.sqrt(total.weight) * np.where(largest > 0, largest, 1.0)
        _, size, vector = np.linalg.svd(triangle / rounding)
        size = np.append(size, np.zeros(p - len(size)))
        kept = size > CLEAR
        if not kept.any():
            return plain
        shift = factor.x_mean if intercept else np.zeros(p)
        mix = vector[kept].T / size[kept] / rounding[:, None]
        short = shortest(mix, vector[~kept].T / rounding[:, None])
        same = np.abs(triangle @ (short - mix)).max() < ALIKE
        back = size[kept, None] * vector[kept] * rounding
        return cls(shift, short if same else mix, back, vector[~kept].T / rounding[:, None])

    def claims(self, rows: Rows) -> list[Claim]:
        """Claim that what was left out is the same in every row, but for the rounding of a row as large as most are."""
        if self.left_out is None or self.left_out.shape[1] == 0:
            return []
        return [left_out_claim(rows, self.left_out, MOST_LEFT_OUT)]

    def view(self, rows: Rows) -> Rows:
        """Give rows whose columns are the combinations."""
        if self.mix is None:
            return rows
        facts: dict[str, Any] = {"feature_names": None, "dtype": np.dtype(np.float64), "is_sparse": False}
        return rows.through(_combined, self, n_features=self.mix.shape[1], **facts)

    def read(self, X: Any) -> Any:
        """Give the combinations of the columns of `X`."""
        return X if self.mix is None else (dense(X) - self.shift) @ self.mix

    def outward(self, way: Plane) -> Plane:
        """Write a direction of these columns in the rows' own."""
        if self.mix is None:
            return way
        coef = self.mix @ way.coef
        return Plane(coef, float(way.intercept - self.shift @ coef))

    def add_metric(self, matrix: np.ndarray, ridge: float) -> None:
        """Add `ridge` times the squared length of the rows' own coefficients to the leading part of a quadratic form."""
        k = len(self.shift) if self.mix is None else self.mix.shape[1]
        if self.mix is None:
            matrix.flat[: k * len(matrix) : len(matrix) + 1] += ridge
        else:
            matrix[:k, :k] += ridge * (self.mix.T @ self.mix)

    def gradient(self, own: np.ndarray) -> np.ndarray:
        """Write a gradient in the rows' own coefficients in these."""
        return own if self.mix is None else self.mix.T @ own

    def own(self, gradient: np.ndarray) -> np.ndarray:
        """Write a gradient in these coefficients in the rows' own."""
        return gradient if self.back is None else self.back.T @ gradient


def _combined(block: Block, columns: Columns) -> Block:
    return replace(block, X=columns.read(block.X))
