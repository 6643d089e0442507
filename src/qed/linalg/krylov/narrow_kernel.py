r"""Products of a large matrix with a few columns, :math:`AR`: a compiled kernel that reads the matrix once and does nothing else.

BLAS first copies a matrix into an order that it likes, which for a product with so few columns takes longer than the product. Here some
rows at a time meet two panels of columns, each as wide as a register, and all their sums stay in registers down to the end of the rows.
Every sum is that of one row and one column from the first to the last term, however rows are shared among threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from qed.base.compile import kernel
from qed.linalg.registers.vectors import everywhere, integer, lanes, multiplied, target, vector_at


def panel() -> int:
    """Give the number of columns in a panel.

    >>> panel() in (4, 8)
    True
    """
    return lanes(*target())


def height() -> int:
    """Give the number of rows that are taken together: with two panels their sums fill three quarters of the registers."""
    return panel() * 3 // 2


def _tile(width: int) -> Any:
    """Make the instruction ``out[i : i + height, j : j + width * panel] = rows[i : i + height] @ right[:, j : j + width * panel]``."""

    @intrinsic
    def multiply(typing, rows, right, out, i, j):  # type: ignore[no-untyped-def]
        signature = types.void(rows, right, out, types.intp, types.intp)

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            given = zip(signature.args, arguments[:3])
            rows, right, out = (context.make_array(kind)(context, builder, value) for kind, value in given)
            i, j = arguments[3:]
            _write(builder, ir.VectorType(ir.DoubleType(), panel()), rows, right, out, i, j, width)
            return context.get_dummy_value()

        return signature, generate

    return multiply


def _write(builder, kind, rows, right, out, i, j, width):  # type: ignore[no-untyped-def]
    """Write the loop over the terms, with one register of sums for every row and panel."""
    count, columns = builder.extract_value(rows.shape, 1), builder.extract_value(right.shape, 1)
    lines = [builder.add(i, integer(r)) for r in range(height())]
    starts = [builder.gep(rows.data, [builder.mul(line, count)]) for line in lines]
    places = [builder.add(j, integer(kind.count * v)) for v in range(width)]
    before, loop, after = builder.block, builder.append_basic_block("terms"), builder.append_basic_block("done")
    builder.branch(loop)
    builder.position_at_end(loop)
    term = builder.phi(ir.IntType(64))
    term.add_incoming(integer(0), before)
    sums = [[builder.phi(kind) for _ in range(width)] for _ in lines]
    first = builder.mul(term, columns)
    values = [
        builder.load(vector_at(builder, kind, right.data, builder.add(first, place)), align=8) for place in places
    ]
    found = []
    for start, line in zip(starts, sums):
        factor = everywhere(builder, kind, builder.load(builder.gep(start, [term])))
        for value, total in zip(values, line):
            more = multiplied(builder, factor, value, total)
            total.add_incoming(ir.Constant(kind, [0.0] * kind.count), before)
            total.add_incoming(more, loop)
            found.append(more)
    following = builder.add(term, integer(1))
    term.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    builder.position_at_end(after)
    goals = [builder.add(builder.mul(line, columns), place) for line in lines for place in places]
    for goal, value in zip(goals, found):
        builder.store(value, vector_at(builder, kind, out.data, goal), align=8)


_multiply_one, _multiply_two = _tile(1), _tile(2)


@kernel
def multiply_narrow(rows, right, out, size, height):  # type: ignore[no-untyped-def]
    """Set `out` to the products of rows, of which there are `height` at least, with columns that fill panels of a `size`."""
    n, columns = out.shape
    for begin in range(0, n, height):
        # The last rows are worked on twice where they do not fill a tile.
        i, j = min(begin, n - height), 0
        while j + 2 * size <= columns:
            _multiply_two(rows, right, out, i, j)
            j += 2 * size
        if j < columns:
            _multiply_one(rows, right, out, i, j)


def in_panels(columns: np.ndarray) -> np.ndarray:
    """Give columns with as many of zeros behind them as fill a panel.

    >>> found = in_panels(np.ones((3, 2)))
    >>> float(found.sum()), found.shape[1] % panel()
    (6.0, 0)
    """
    n, count = columns.shape
    found = np.zeros((n, -(-count // panel()) * panel()))
    found[:, :count] = columns
    return found
