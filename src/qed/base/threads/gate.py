"""Where threads meet without the interpreter: the compiled signals and barriers under :class:`qed.base.threads.team.Team`.

A signal is a whole number in shared memory that is read and changed atomically. Who waits for one first pauses the core for some
microseconds, which is how long it takes when all are running; then gives its core to any thread that is ready to run, which
may be the one it waits for; and then sleeps, ever longer, so that a wait costs little however many threads share a core.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic

from qed.base.compile import kernel

# Signals stand a cache line apart, or threads that look at one would slow down those that change another.
LINE = 8
ARRIVED, GENERATION, BROKEN = 0, LINE, 2 * LINE
GATE_SIZE = 3 * LINE

PAUSES, YIELDS, LONGEST_SLEEP = 256, 64, 1000

_give_way: Any = types.ExternalFunction("sched_yield", types.int32())
_sleep: Any = types.ExternalFunction("usleep", types.int32(types.uint32))


def _address(context: Any, builder: ir.IRBuilder, signature: Signature, arguments: Any) -> Any:
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return builder.gep(array.data, [arguments[1]])


def _read(typing: Any, signals: Any, place: Any) -> Any:
    """Read a signal."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, arguments: Any) -> Any:
        return builder.load_atomic(_address(context, builder, signature, arguments), "seq_cst", 8)

    return types.int64(signals, types.intp), generate


def _write(typing: Any, signals: Any, place: Any, value: Any) -> Any:
    """Set a signal."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _address(context, builder, signature, arguments), "seq_cst", 8)
        return context.get_dummy_value()

    return types.void(signals, types.intp, types.int64), generate


def _add(typing: Any, signals: Any, place: Any, value: Any) -> Any:
    """Add to a signal; give what it was."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, arguments: Any) -> Any:
        place = _address(context, builder, signature, arguments)
        return builder.atomic_rmw("add", place, arguments[2], "seq_cst")

    return types.int64(signals, types.intp, types.int64), generate


def _pause(typing: Any) -> Any:
    """Let the core rest for a moment, where its instruction set has a word for that."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, arguments: Any) -> Any:
        if builder.module.triple.startswith("x86_64"):
            rest = builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), ir.FunctionType(ir.VoidType(), []))
            builder.call(rest, [])
        return context.get_dummy_value()

    return types.void(), generate


read: Any = intrinsic(_read)
write: Any = intrinsic(_write)
add: Any = intrinsic(_add)
pause: Any = intrinsic(_pause)


@kernel
def pauses(count: int) -> None:
    """Pause so many times."""
    for _ in range(count):
        pause()


@kernel
def wait(turn: int) -> None:
    """Wait a little, for the `turn`-th time in a row."""
    if turn < PAUSES:
        pause()
    elif turn < PAUSES + YIELDS:
        _give_way()
    else:
        _sleep(np.uint32(min(10 * (turn - PAUSES - YIELDS + 1), LONGEST_SLEEP)))


@kernel
def changed(signals: np.ndarray, place: int, known: int, turns: int, linger: int) -> int:
    """Wait, for so many turns at most, until a signal is no longer what is known; linger; and give what it is then."""
    turn = 0
    while read(signals, place) == known and turn < turns:
        wait(turn)
        turn += 1
    pauses(linger)
    return int(read(signals, place))


@kernel
def reached(signals: np.ndarray, place: int, wanted: int, turns: int) -> bool:
    """Wait, for so many turns at most, until a signal is at least what is wanted; say whether it is."""
    turn = 0
    while read(signals, place) < wanted and turn < turns:
        wait(turn)
        turn += 1
    return read(signals, place) >= wanted


@kernel
def report(signals: np.ndarray, place: int, count: int, await_place: int, known: int, turns: int, linger: int) -> int:
    """Add to one signal, then wait until another one changes."""
    add(signals, place, count)
    return changed(signals, await_place, known, turns, linger)


@kernel
def meet(gate: np.ndarray, members: int) -> bool:
    """Wait until all members have come here; False when one of them failed, and the others should leave.

    To be called from kernels that :meth:`qed.base.threads.team.Team.together` runs. What a member wrote before the meeting, all
    can read after it.
    """
    generation = read(gate, GENERATION)
    if add(gate, ARRIVED, 1) == members - 1:
        write(gate, ARRIVED, 0)
        write(gate, GENERATION, generation + 1)
    turn = 0
    while read(gate, GENERATION) == generation and read(gate, BROKEN) == 0:
        wait(turn)
        turn += 1
    return read(gate, BROKEN) == 0
