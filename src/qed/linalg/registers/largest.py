"""The first of the largest of some numbers, inside compiled kernels: found in registers, in one reading.

A loop that remembers the largest so far waits for every comparison, and the compiler does not widen it because it has to remember where.
Here every lane of some registers has a largest of its own, and the step at which it came; the first of the best lanes is chosen at the
end. The answer does not depend on how wide the registers are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, cast

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, overload

from qed.linalg.registers.vectors import everywhere, integer, register_bytes, target, vector_at

# So many registers take turns, and nobody waits for a comparison.
ACROSS = 4
WHOLE = ir.IntType(64)
# Numbers and their places, lane by lane.
State: TypeAlias = tuple[ir.Value, ir.Value]


def first_largest(values: np.ndarray) -> tuple[int, float]:
    """Find the first of the largest of some numbers: give its place, and it; -1 where none is above minus infinity. NaN is not allowed.

    Kernels call it, too.

    >>> first_largest(np.array([1.0, 3.0, 2.0, 3.0]))
    (1, 3.0)
    """
    place = int(np.argmax(values)) if len(values) else -1
    most = float(values[place]) if len(values) else -np.inf
    return (place, most) if most > -np.inf else (-1, most)


def _count_in_strip(typing):  # type: ignore[no-untyped-def]
    """Give how many numbers are looked at in one step, which the compiler then knows."""
    return types.intp(), lambda context, builder, signature, arguments: integer(ACROSS * _lanes())


def _find_in_strips(typing, values):  # type: ignore[no-untyped-def]
    """Find the same among as many numbers as fill whole strips; -1 and minus infinity where there are too few."""
    signature = types.Tuple((types.intp, types.float64))(values)

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        found = _write(builder, array.data, builder.extract_value(array.shape, 0))
        return context.make_tuple(builder, signature.return_type, found)

    return signature, generate


_strip = cast(Callable[[], int], intrinsic(_count_in_strip))
_of_whole_strips = cast(Callable[[np.ndarray], tuple[int, float]], intrinsic(_find_in_strips))


@overload(first_largest)
def _compiled(values):  # type: ignore[no-untyped-def]
    if not isinstance(values, types.Array) or values.dtype != types.float64 or values.layout != "C":
        return None

    def find(values):  # type: ignore[no-untyped-def]
        place, most = _of_whole_strips(values)
        for t in range(len(values) - len(values) % _strip(), len(values)):
            if values[t] > most:
                place, most = t, values[t]
        return place, most

    return find


def _lanes() -> int:
    triple, _, features = target()
    return register_bytes(triple, features) // 8


def _write(builder: ir.IRBuilder, data: ir.Value, count: ir.Value) -> list[ir.Value]:
    """Write the loop over strips, and what chooses among the lanes."""
    lanes = _lanes()
    kind, places = ir.VectorType(ir.DoubleType(), lanes), ir.VectorType(WHOLE, lanes)
    ended = builder.sub(count, builder.srem(count, integer(ACROSS * lanes)))
    before, test = builder.block, builder.append_basic_block("strips")
    loop, after = builder.append_basic_block("strip"), builder.append_basic_block("chosen")
    builder.branch(test)
    builder.position_at_end(test)
    at = builder.phi(WHOLE)
    best, found = [builder.phi(kind) for _ in range(ACROSS)], [builder.phi(places) for _ in range(ACROSS)]
    builder.cbranch(builder.icmp_signed("<", at, ended), loop, after)
    builder.position_at_end(loop)
    step, following = everywhere(builder, places, at), builder.add(at, integer(ACROSS * lanes))
    at.add_incoming(integer(0), before)
    at.add_incoming(following, loop)
    for v in range(ACROSS):
        value = builder.load(vector_at(builder, kind, data, builder.add(at, integer(v * lanes))), align=8)
        more = builder.fcmp_ordered(">", value, best[v])
        best[v].add_incoming(ir.Constant(kind, [float("-inf")] * lanes), before)
        best[v].add_incoming(builder.select(more, value, best[v]), loop)
        found[v].add_incoming(ir.Constant(places, [-ACROSS * lanes] * lanes), before)
        found[v].add_incoming(builder.select(more, step, found[v]), loop)
    builder.branch(test)
    builder.position_at_end(after)
    numbers = [
        builder.add(found[v], ir.Constant(places, [v * lanes + lane for lane in range(lanes)])) for v in range(ACROSS)
    ]
    state = best[0], numbers[0]
    for v in range(1, ACROSS):
        state = _better(builder, state, (best[v], numbers[v]))
    while lanes > 1:
        lanes //= 2
        state = _better(builder, _part(builder, state, 0, lanes), _part(builder, state, lanes, lanes))
    most, place = (builder.extract_element(part, ir.Constant(ir.IntType(32), 0)) for part in state)
    return [builder.select(builder.icmp_signed("<", place, integer(0)), integer(-1), place), most]


def _better(builder: ir.IRBuilder, one: State, other: State) -> State:
    """Choose, lane by lane, the larger of two numbers, of equal ones that which comes first."""
    less = builder.fcmp_ordered("<", one[0], other[0])
    alike = builder.fcmp_ordered("==", one[0], other[0])
    taken = builder.or_(less, builder.and_(alike, builder.icmp_signed("<", other[1], one[1])))
    return builder.select(taken, other[0], one[0]), builder.select(taken, other[1], one[1])


def _part(builder: ir.IRBuilder, state: State, first: int, lanes: int) -> State:
    """Take some lanes out of a register."""
    chosen = ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(first, first + lanes)))
    best, place = (builder.shuffle_vector(one, ir.Constant(one.type, ir.Undefined), chosen) for one in state)
    return best, place
