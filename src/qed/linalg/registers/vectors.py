"""What compiled kernels that are written in vectors have in common: how many numbers a register holds, and how a vector is loaded.

The compiler by itself neither keeps many sums in registers nor uses the widest ones, so the few kernels to which that matters say it.
"""

from __future__ import annotations

from functools import cache

from llvmlite import ir
from numba.core.registry import cpu_target

# What a register holds, in bytes, with AVX-512; with AVX2, and on ARM as two registers that are used as one; and without either.
WIDEST, WIDE, NARROW = 64, 32, 16


@cache
def target() -> tuple[str, str, str]:
    """Give what Numba compiles for: the system, the processor and the features of its instruction set."""
    found: tuple[str, str, str] = cpu_target.target_context.codegen().magic_tuple()
    return found


def has_widest(features: str) -> bool:
    """Say whether there are registers of 64 bytes, and 32 of them."""
    return "+avx512f" in features.split(",")


def on_arm(triple: str) -> bool:
    """Say whether the processor is one of ARM, whose 32 registers hold 16 bytes each."""
    return triple.startswith(("aarch64", "arm64"))


def has_wide(triple: str, features: str) -> bool:
    """Say whether registers are at least middling, and can multiply and add at once."""
    return has_widest(features) or {"+avx2", "+fma"} <= set(features.split(",")) or on_arm(triple)


def register_bytes(triple: str, features: str) -> int:
    """Say how many bytes a register holds that multiplies and adds at once."""
    if has_widest(features):
        return WIDEST
    return WIDE if has_wide(triple, features) and not on_arm(triple) else NARROW


def beats_blas() -> bool:
    """Say whether a kernel in vectors is worth its compilation: not where registers are narrow or can not multiply and add at once."""
    triple, _, features = target()
    return has_wide(triple, features)


def lanes(triple: str, name: str, features: str) -> int:
    """Say how many columns a panel has: what one register holds of float64.

    A tile of registers is one panel against three: with AVX-512 that is 24 sums in 32 registers of eight, with AVX2 12 sums in 16
    registers of four, on ARM 24 sums in 32 registers of two.
    """
    return (WIDEST if has_widest(features) else WIDE) // 8


def integer(value: int) -> ir.Constant:
    """Give a constant of compiled code."""
    return ir.Constant(ir.IntType(64), value)


def vector_at(builder: ir.IRBuilder, kind: ir.VectorType, base: ir.Value, offset: ir.Value) -> ir.Value:
    """Give the place of a vector, so many numbers after some other place."""
    return builder.bitcast(builder.gep(base, [offset]), kind.as_pointer())


def everywhere(builder: ir.IRBuilder, kind: ir.VectorType, value: ir.Value) -> ir.Value:
    """Copy a number into every lane of a vector."""
    empty = ir.Constant(kind, ir.Undefined)
    places = ir.VectorType(ir.IntType(32), kind.count)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(places, [0] * kind.count))


def multiplied(builder: ir.IRBuilder, factor: ir.Value, value: ir.Value, total: ir.Value) -> ir.Value:
    """Give ``factor * value + total``, rounded once where the processor can."""
    product = builder.fmul(factor, value, flags=("contract",))
    return builder.fadd(product, total, flags=("contract",))
