r"""The least of some scores for each of many rows, with the second least: inside compiled kernels, all of it in registers.

.. math:: s_{rc} = b_c + a_c^\top x_r, \qquad \min_c s_{rc}, \quad \operatorname{argmin}_c s_{rc}, \quad
    \text{and the least of the others}.

A product of matrices would write all scores down, to be read again once. Here some rows, as many as fill two registers of float32, meet
four points at a time: their scores stay in registers until they are compared with the best so far, which stays there, too. The points come
in any order that is told, so a few of them can be taken without copying them together.

A score is off by at most :math:`(p + 1) u (|b_c| + \sum_j |a_{cj} x_{rj}|)` for p terms and the unit roundoff u of float32.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from qed.linalg.registers.vectors import everywhere, integer, multiplied, register_bytes, target, vector_at

# Registers of rows, and points that meet them at a time: with the eight sums the processor is never waiting for one.
ACROSS, TAKEN = 2, 4


@cache
def rows_in_lead() -> int:
    """Say how many rows are taken together."""
    triple, _, features = target()
    return ACROSS * register_bytes(triple, features) // 4


def padded(count: int) -> int:
    """Give the number of points with as many more as make it a multiple of those that are taken at a time.

    >>> padded(4), padded(5)
    (4, 8)
    """
    return -(-count // TAKEN) * TAKEN


class _State:
    """What is known of the rows so far: the least score, the second, and whose the first is; an ``ir`` value for each register."""

    def __init__(self, best: list[Any], second: list[Any], found: list[Any]) -> None:
        self.best, self.second, self.found = best, second, found

    def all(self) -> list[Any]:
        return [*self.best, *self.second, *self.found]

    def meets(self, builder: ir.IRBuilder, v: int, score: ir.Value, number: ir.Value) -> None:
        """Take one more score of the rows of a register in."""
        best, second = self.best[v], self.second[v]
        less = builder.fcmp_ordered("<", score, best)
        other = builder.select(less, best, score)
        self.second[v] = builder.select(builder.fcmp_ordered("<", other, second), other, second)
        self.found[v] = builder.select(less, number, self.found[v])
        self.best[v] = builder.select(less, score, best)


def _lead(typing, columns, points, begins, order, count, best, second, found):  # type: ignore[no-untyped-def]
    """Make the instruction that sets `best`, `second` and `found` for the rows in `columns`, of shape (p, `rows_in_lead`).

    `points`, of shape (m, p), and `begins`, of m, say what scores are made of; the points looked at are the first `count` numbers in
    `order`, of int32, a multiple of `TAKEN`. A score that is no number is not the least.
    """
    signature = types.void(columns, points, begins, order, types.intp, best, second, found)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, arguments)
            if kind != types.intp
        ]
        _write(builder, arrays, arguments[4])
        return context.get_dummy_value()

    return signature, generate


def _write(builder: ir.IRBuilder, arrays: list[Any], count: ir.Value) -> None:
    """Write the loop over points, four at a time."""
    columns, points, begins, order, *out = arrays
    kind = ir.VectorType(ir.FloatType(), rows_in_lead() // ACROSS)
    whole = ir.VectorType(ir.IntType(32), kind.count)
    depth = builder.extract_value(columns.shape, 0)
    before, loop = builder.block, builder.append_basic_block("points")
    builder.branch(loop)
    builder.position_at_end(loop)
    at = builder.phi(ir.IntType(64))
    kinds = [*[kind] * 2 * ACROSS, *[whole] * ACROSS]
    phis = [builder.phi(one) for one in kinds]
    state = _State(phis[:ACROSS], phis[ACROSS : 2 * ACROSS], phis[2 * ACROSS :])
    numbers = [builder.load(builder.gep(order.data, [builder.add(at, integer(i))])) for i in range(TAKEN)]
    places = [builder.sext(number, ir.IntType(64)) for number in numbers]
    sums = _scores(builder, kind, columns.data, points.data, begins.data, places, depth)
    for i, number in enumerate(numbers):
        name = everywhere(builder, whole, number)
        for v in range(ACROSS):
            state.meets(builder, v, sums[i * ACROSS + v], name)
    following = builder.add(at, integer(TAKEN))
    last, after = builder.block, builder.append_basic_block("done")
    builder.cbranch(builder.icmp_signed("<", following, count), loop, after)
    at.add_incoming(integer(0), before)
    at.add_incoming(following, last)
    for phi, one, value in zip(phis, kinds, state.all(), strict=True):
        begin = ir.Constant(one, [0 if one is whole else float("inf")] * one.count)
        phi.add_incoming(begin, before)
        phi.add_incoming(value, last)
    builder.position_at_end(after)
    goals = [
        vector_at(builder, one, array.data, integer(v * kind.count))
        for array, one in zip(out, (kind, kind, whole))
        for v in range(ACROSS)
    ]
    for value, goal in zip(state.all(), goals, strict=True):
        builder.store(value, goal, align=4)


def _scores(
    builder: ir.IRBuilder,
    kind: ir.VectorType,
    columns: ir.Value,
    points: ir.Value,
    begins: ir.Value,
    places: list[ir.Value],
    depth: ir.Value,
) -> list[ir.Value]:
    """Write the loop over columns, and give the scores of four points for each register of rows."""
    starts = [builder.gep(points, [builder.mul(place, depth)]) for place in places]
    begin = [everywhere(builder, kind, builder.load(builder.gep(begins, [place]))) for place in places]
    before, loop, after = builder.block, builder.append_basic_block("terms"), builder.append_basic_block("scored")
    builder.branch(loop)
    builder.position_at_end(loop)
    j = builder.phi(ir.IntType(64))
    sums = [builder.phi(kind) for _ in range(TAKEN * ACROSS)]
    first = builder.mul(j, integer(ACROSS * kind.count))
    values = [
        builder.load(vector_at(builder, kind, columns, builder.add(first, integer(v * kind.count))), align=4)
        for v in range(ACROSS)
    ]
    found = []
    for i, start in enumerate(starts):
        factor = everywhere(builder, kind, builder.load(builder.gep(start, [j])))
        found += [multiplied(builder, factor, values[v], sums[i * ACROSS + v]) for v in range(ACROSS)]
    following = builder.add(j, integer(1))
    builder.cbranch(builder.icmp_signed("<", following, depth), loop, after)
    j.add_incoming(integer(0), before)
    j.add_incoming(following, loop)
    for number, (phi, value) in enumerate(zip(sums, found, strict=True)):
        phi.add_incoming(begin[number // ACROSS], before)
        phi.add_incoming(value, loop)
    builder.position_at_end(after)
    return found


lead: Any = intrinsic(_lead)
