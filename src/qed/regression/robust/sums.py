r"""What robust regression needs of the rows: residuals, cut off at :math:`\delta`, in one fold.

With the residual :math:`r_i = y_i - x_i^\top w - b` and :math:`\psi_i = \operatorname{clip}(r_i, -\delta, \delta)`, Huber's loss is

.. math:: \rho_\delta(r) = \begin{cases} \tfrac12 r^2 & |r| \le \delta \\ \delta |r| - \tfrac12 \delta^2 & |r| > \delta \end{cases}
          \;=\; \psi r - \tfrac12 \psi^2, \qquad \rho_\delta'(r) = \psi .

So the sums of :math:`\psi r`, of :math:`\psi^2` and of :math:`\psi\,(x, 1)` give the value and the gradient, and the moments of the rows
*inside* (:math:`|r| \le \delta`, where the loss is curved) give the Hessian: it is the Gram matrix of these rows. No number
belongs to a single row, so files and clusters are folded like arrays. A fold costs :math:`O(np)`, and :math:`O(p^2)` for each row inside.

Huber (1981), Robust Statistics, chapter 7.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from scipy.sparse import csr_array

from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.regression.robust.columns import Columns, Plane
from qed.stats.moments import Moments
from qed.stats.products import present_rows


@dataclass(frozen=True, eq=False)
class HuberSums:
    """Sums over rows at one place.

    >>> block = Block(np.array([[0.0], [1.0], [2.0]]), np.array([0.5, 0.0, 9.0]))
    >>> sums = HuberSums.of(block, Plane(np.zeros(1), 0.0), 1.0, Columns(np.zeros(1)))
    >>> sums.loss, sums.pull, sums.inside.count
    (8.625, array([2.]), 2)
    """

    weight: float  # the sum of the weights
    # The sum of the sizes of the target; and of those whose rounding psi feels, which it does not in a row that is clearly outside.
    target: float
    felt: float
    absolute: float  # the sum of `|r|`
    # The sums of `psi * r` and of `psi ** 2`.
    product: float
    square: float
    pull: np.ndarray  # (k,): the sum of `psi * x`
    level: float  # the sum of `psi`
    inside: Moments | None  # of features and residual, where `|r| <= delta`; None where it was not asked for

    @classmethod
    def of(cls, block: Block, plane: Plane, delta: float, columns: Columns, curved: bool = True) -> HuberSums:
        """Take the sums of a block at a plane, with residuals cut off at `delta`; x is what `columns` read."""
        X, Y, weight = present_rows(block, target=True)
        y, given = Y[:, 0], weight
        weight = np.ones(len(y)) if weight is None else weight
        residual = y - np.asarray(X @ plane.coef, dtype=np.float64) - plane.intercept
        psi, far, size = residual.clip(-delta, delta), np.abs(residual), np.abs(y)
        weighted, X = weight * psi, columns.read(X)
        return cls(
            float(weight.sum()),
            float(weight @ size),
            float(weight @ (size * (far < delta + 64 * EPS * size))),
            float(weight @ far),
            float(weighted @ residual),
            float(weighted @ psi),
            np.asarray(X.T @ weighted, dtype=np.float64),
            float(weighted.sum()),
            _rows_inside(X, residual, given, far <= delta) if curved else None,
        )

    def __add__(self, other: HuberSums) -> HuberSums:
        names = [field.name for field in fields(self) if field.name != "inside"]
        inside = None if self.inside is None or other.inside is None else self.inside + other.inside
        return HuberSums(**{name: getattr(self, name) + getattr(other, name) for name in names}, inside=inside)

    @property
    def loss(self) -> float:
        """The sum of Huber's loss."""
        return self.product - 0.5 * self.square


def _rows_inside(
    X: np.ndarray | csr_array, residual: np.ndarray, weight: np.ndarray | None, near: np.ndarray
) -> Moments:
    """Take the moments of features and residual of the rows that are `near`."""
    some = X.compress(near, axis=0) if isinstance(X, np.ndarray) else X[near]
    return Moments.of(Block(some, residual[near], None if weight is None else weight[near]))
