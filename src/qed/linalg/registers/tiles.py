r"""Products of small matrices inside compiled kernels: tiles of sums that stay in registers.

.. math:: C_{ij} \mathrel{+}= \sum_p A_{ip} B_{pj} .

A tile of :math:`C` has as many rows as the processor has registers for, and two vectors of columns; it runs down :math:`p` without
writing anything. A library of products for matrices of any size first copies both sides to where it likes them, which costs as much as
the product itself where one side is a batch or a filter. Nothing is copied here: the values of :math:`A` may lie anywhere in even steps,
and each row of :math:`B` begins where a table says. So the windows of an image need not be written out to be multiplied with filters.

Each sum is off by at most :math:`k u \sum_p |A_{ip} B_{pj}|` for :math:`k` terms and the unit roundoff :math:`u` of the values, and its
bits do not depend on the other rows and columns. Goto and van de Geijn (2008), Anatomy of high-performance matrix multiplication.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.base import BaseContext
from numba.extending import intrinsic

from qed.base.compile import kernel
from qed.linalg.registers.vectors import (
    everywhere,
    has_widest,
    integer,
    multiplied,
    on_arm,
    register_bytes,
    target,
    vector_at,
)

# Vectors side by side in a tile: two, so that each value of A that is loaded is used twice.
ACROSS = 2


@cache
def tile_rows() -> int:
    """Say how many rows a tile has: with 32 registers eight, which is 16 sums, with 16 registers six."""
    triple, _, features = target()
    return 8 if has_widest(features) or on_arm(triple) else 6


def tile_columns(dtype: np.dtype) -> int:
    """Say how many columns a tile has."""
    triple, _, features = target()
    return ACROSS * register_bytes(triple, features) // np.dtype(dtype).itemsize


def _vector(context: BaseContext, array: types.Array) -> tuple[ir.VectorType, int]:
    """Give the vector for the values of an array, and how they are aligned."""
    triple, _, features = target()
    item = context.get_value_type(array.dtype)
    size = context.get_abi_sizeof(item)
    return ir.VectorType(item, register_bytes(triple, features) // size), size


class _Loop:
    """A loop from zero up to a limit, with sums that begin with zeros; `close` with what they become."""

    def __init__(self, builder: ir.IRBuilder, limit: ir.Value, step: int, kind: ir.VectorType, sums: int) -> None:
        self.builder, self.limit, self.step = builder, limit, step
        before, self.block = builder.block, builder.append_basic_block("along")
        builder.branch(self.block)
        builder.position_at_end(self.block)
        self.at = builder.phi(ir.IntType(64))
        self.sums = [builder.phi(kind) for _ in range(sums)]
        for phi, zero in [(self.at, integer(0)), *((one, ir.Constant(kind, [0.0] * kind.count)) for one in self.sums)]:
            phi.add_incoming(zero, before)

    def close(self, found: list[ir.Value]) -> None:
        builder, following = self.builder, self.builder.add(self.at, integer(self.step))
        self.at.add_incoming(following, self.block)
        for phi, one in zip(self.sums, found, strict=True):
            phi.add_incoming(one, self.block)
        after = builder.append_basic_block("done")
        builder.cbranch(builder.icmp_signed("<", following, self.limit), self.block, after)
        builder.position_at_end(after)


def _rows_of(
    builder: ir.IRBuilder, base: ir.Value, first: ir.Value, step: ir.Value, rows: ir.Value, count: int
) -> list[ir.Value]:
    """Give where rows begin; beyond the last row comes the last again, so that a tile has always as many."""
    last = builder.sub(rows, integer(1))
    numbers = [builder.select(builder.icmp_signed("<", integer(i), rows), integer(i), last) for i in range(count)]
    return [builder.gep(base, [builder.add(first, builder.mul(number, step))]) for number in numbers]


def _store(builder: ir.IRBuilder, found: list[ir.Value], places: list[ir.Value], add: ir.Value, align: int) -> None:
    """Write sums, or add them to what is there. All is read before anything is written: places may come twice."""
    before = builder.block
    adding, writing = builder.append_basic_block("add"), builder.append_basic_block("write")
    builder.cbranch(add, adding, writing)
    builder.position_at_end(adding)
    added = [builder.fadd(value, builder.load(place, align=align)) for value, place in zip(found, places, strict=True)]
    builder.branch(writing)
    builder.position_at_end(writing)
    results = [builder.phi(value.type) for value in found]
    for phi, value, total in zip(results, found, added, strict=True):
        phi.add_incoming(value, before)
        phi.add_incoming(total, adding)
    for phi, place in zip(results, places, strict=True):
        builder.store(phi, place, align=align)


def _data(context, builder, signature, arguments, number):  # type: ignore[no-untyped-def]
    return context.make_array(signature.args[number])(context, builder, arguments[number]).data


def _tile(typing, A, a, down, along, B, b, beneath, places, C, c, under, rows, depth, add):  # type: ignore[no-untyped-def]
    """Make the instruction ``C[i, j] (+)= sum_p A[i, p] B[p, j]`` of one tile, the arrays being flat.

    ``A[i, p]`` is at ``a + i down + p along``, ``B[p, j]`` at ``b + beneath places[p] + j``, ``C[i, j]`` at ``c + i under + j``. There are
    `rows` rows, one to `tile_rows`, and always `tile_columns` columns; what was in C is added where `add` says so.
    """
    number = types.intp
    signature = types.void(
        A, number, number, number, B, number, number, places, C, number, number, number, number, types.boolean
    )

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        _, a, down, along, _, b, beneath, _, _, c, under, rows, depth, add = arguments
        kind, align = _vector(context, signature.args[0])
        left, right, table, goal = (_data(context, builder, signature, arguments, k) for k in (0, 4, 7, 8))
        factors = _rows_of(builder, left, a, down, rows, tile_rows())
        right = builder.gep(right, [b])
        loop = _Loop(builder, depth, 1, kind, tile_rows() * ACROSS)
        row = builder.gep(right, [builder.mul(builder.load(builder.gep(table, [loop.at])), beneath)])
        values = [
            builder.load(vector_at(builder, kind, row, integer(v * kind.count)), align=align) for v in range(ACROSS)
        ]
        offset = builder.mul(loop.at, along)
        found = []
        for i, factor in enumerate(factors):
            spread = everywhere(builder, kind, builder.load(builder.gep(factor, [offset])))
            found += [multiplied(builder, spread, values[v], loop.sums[i * ACROSS + v]) for v in range(ACROSS)]
        loop.close(found)
        goals = _rows_of(builder, goal, c, under, rows, tile_rows())
        _store(
            builder,
            found,
            [vector_at(builder, kind, one, integer(v * kind.count)) for one in goals for v in range(ACROSS)],
            add,
            align,
        )
        return context.get_dummy_value()

    return signature, generate


def _lanes(typing, A, a, down, B, b, places, first, last, C, c, under, rows, length):  # type: ignore[no-untyped-def]
    """Make the instruction ``C[i, r, :] += sum_t A[i, t] B[r, t]``, the sum of each lane of a vector by itself.

    ``A[i, t]`` is at ``a + i down + t``, ``B[r, t]`` at ``b + places[r] + t``, for r = `first` and the one behind, but not beyond `last`;
    of C each (i, r) has a vector of its own, at ``c + i under + r lanes``. `length` is read in whole vectors.
    """
    number = types.intp
    signature = types.void(
        A, number, number, B, number, places, number, number, C, number, number, number, number
    )  # fmt: skip

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        _, a, down, _, b, _, first, last, _, c, under, rows, length = arguments
        kind, align = _vector(context, signature.args[0])
        left, right, table, goal = (_data(context, builder, signature, arguments, k) for k in (0, 3, 5, 8))
        factors = _rows_of(builder, left, a, down, rows, tile_rows())
        seconds = builder.add(first, integer(1))
        second = builder.select(builder.icmp_signed("<", seconds, last), seconds, first)
        columns = [first, second]
        windows = [builder.gep(right, [builder.add(b, builder.load(builder.gep(table, [r])))]) for r in columns]
        loop = _Loop(builder, length, kind.count, kind, tile_rows() * ACROSS)
        values = [builder.load(vector_at(builder, kind, window, loop.at), align=align) for window in windows]
        found = []
        for i, factor in enumerate(factors):
            given = builder.load(vector_at(builder, kind, factor, loop.at), align=align)
            found += [multiplied(builder, given, values[v], loop.sums[i * ACROSS + v]) for v in range(ACROSS)]
        loop.close(found)
        goals = _rows_of(builder, goal, c, under, rows, tile_rows())
        starts = [builder.mul(r, integer(kind.count)) for r in columns]
        places = [vector_at(builder, kind, one, start) for one in goals for start in starts]
        _store(builder, found, places, ir.Constant(ir.IntType(1), 1), align)
        return context.get_dummy_value()

    return signature, generate


add_tile: Any = intrinsic(_tile)
add_lanes: Any = intrinsic(_lanes)


def _rows(typing):  # type: ignore[no-untyped-def]
    """Make the number of rows of a tile, as a constant of the compiled code."""
    return types.intp(), lambda context, builder, signature, arguments: integer(tile_rows())


def _columns(typing, array):  # type: ignore[no-untyped-def]
    """Make the number of columns of a tile of such values."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return integer(ACROSS * _vector(context, signature.args[0])[0].count)

    return types.intp(array), generate


rows_in_tile: Any = intrinsic(_rows)
columns_in_tile: Any = intrinsic(_columns)


@kernel(within=True)
def multiply(A, down, along, B, C, numbers, spare):  # type: ignore[no-untyped-def]
    """Write the product of `A`, flat, with ``A[i, p]`` at ``i down + p along``, and `B` to `C`, both C-contiguous.

    `numbers` counts from zero to the rows of B or further; `spare` has room for a tile more rows than B has.
    """
    high, wide = rows_in_tile(), columns_in_tile(C)
    m, n, depth = C.shape[0], C.shape[1], len(B)
    right, goal = B.reshape(depth * n), C.reshape(m * n)
    whole = n - n % wide
    for j in range(0, whole, wide):
        for i in range(0, m, high):
            add_tile(A, i * down, down, along, right, j, n, numbers, goal, i * n + j, n, min(high, m - i), depth, False)
    if whole < n:
        rest, zero = n - whole, C.dtype.type(0)
        for p in range(depth):
            here, there = B[p, whole:], spare[p * wide : p * wide + wide]
            for t in range(rest):
                there[t] = here[t]
            for t in range(rest, wide):
                there[t] = zero
        for i in range(0, m, high):
            rows = min(high, m - i)
            add_tile(A, i * down, down, along, spare, 0, wide, numbers, spare, depth * wide, wide, rows, depth, False)
            for r in range(rows):
                here, there = spare[(depth + r) * wide : (depth + r) * wide + rest], C[i + r, whole:]
                for t in range(rest):
                    there[t] = here[t]
