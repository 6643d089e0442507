"""What compiled kernels that are written in vectors have in common: how many numbers a register holds, and how a vector is loaded.

The compiler by itself neither keeps many sums in registers nor uses the widest ones, so the few kernels to which that matters say it.
"""

from __future__ import annotations

from functools import cache

from llvmlite import ir
from numba.core.registry import cpu_target


@cache
def target() -> tuple[str, str, str]:
    """Give what Numba compiles for: the system, the processor and the features of its instruction set."""
    found: tuple[str, str, str] = cpu_target.target_context.codegen().magic_tuple()
    return found


def beats_blas() -> bool:
    """Say whether such a kernel is worth its compilation: not where registers are narrow or can not multiply and add at once."""
    return suits(*target())


def suits(triple: str, name: str, features: str) -> bool:
    """Say the same of some processor."""
    found = set(features.split(","))
    return "+avx512f" in found or {"+avx2", "+fma"} <= found or triple.startswith(("aarch64", "arm64"))


def lanes(triple: str, name: str, features: str) -> int:
    """Say how many columns a panel has: what one register holds of float64.

    A tile of registers is one panel against three: with AVX-512 that is 24 sums in 32 registers of eight, with AVX2 12 sums in 16
    registers of four, on ARM 24 sums in 32 registers of two.
    """
    return 8 if "+avx512f" in features.split(",") else 4


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
