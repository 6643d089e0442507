r"""A fully connected layer: :math:`Z = XW + b` for a batch of rows.

With the slope :math:`\Delta` of :math:`Z`, those of the others are :math:`X^T\Delta` for the weights, the sum of the rows of
:math:`\Delta` for the offsets, and :math:`\Delta W^T` for the rows: three products in all, of the same size.
"""

from __future__ import annotations

from qed.neural.engine.node import Array, Operation, Slopes


class Affine(Operation):
    """Rows times weights, and an offset for each column where one is given."""

    def forward(self, *values: Array) -> Array:
        rows, weight, *offset = values
        product = rows @ weight
        if offset:
            product += offset[0]
        return product

    def backward(self, slope: Array, value: Array, *values: Array) -> Slopes:
        rows, weight, *offset = values
        rows_needed, weight_needed, *_ = self.needed
        found: list[Array | None] = [
            slope @ weight.T if rows_needed else None,
            rows.T @ slope if weight_needed else None,
        ]
        if offset:
            found.append(slope.sum(axis=0))
        return tuple(found)
