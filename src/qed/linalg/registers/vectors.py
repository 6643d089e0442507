"""Vectors as wide as the registers of the processor, for kernels that write their inner loop in vectors.

The compiler by itself neither keeps the sums of a product in registers nor uses the widest ones.
"""

from functools import cache

from llvmlite import ir
from numba.core.registry import cpu_target

# What a register holds, in bytes, with AVX-512; with AVX2, and on ARM as two registers that are used as one; and without either.
WIDEST, WIDE, NARROW = 64, 32, 16


@cache
def target() -> tuple[str, str, str]:
    """Give what Numba compiles for: the system, the processor and the features of its instruction set."""
    return cpu_target.target_context.codegen().magic_tuple()


def has_widest(features: str) -> bool:
    """Say whether there are registers of 64 bytes, and 32 of them."""
    return "+avx512f" in features.split(",")


def has_wide(triple: str, features: str) -> bool:
    """Say whether registers are at least middling, and can multiply and add at once."""
    return has_widest(features) or {"+avx2", "+fma"} <= set(features.split(",")) or on_arm(triple)


def on_arm(triple: str) -> bool:
    """Say whether the processor is one of ARM, whose 32 registers hold 16 bytes each."""
    return triple.startswith(("aarch64", "arm64"))


def integer(value: int) -> ir.Constant:
    """Give a whole number as the compiled code has it."""
    return ir.Constant(ir.IntType(64), value)


def vector_at(builder: ir.IRBuilder, kind: ir.VectorType, base: ir.Value, offset: ir.Value) -> ir.Value:
    """Give the place of a vector that begins so many values behind another place."""
    return builder.bitcast(builder.gep(base, [offset]), kind.as_pointer())


def everywhere(builder: ir.IRBuilder, kind: ir.VectorType, value: ir.Value) -> ir.Value:
    """Copy a number into every lane of a vector."""
    empty = ir.Constant(kind, ir.Undefined)
    lanes = ir.VectorType(ir.IntType(32), kind.count)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(lanes, [0] * kind.count))


def multiplied(builder: ir.IRBuilder, factor: ir.Value, value: ir.Value, total: ir.Value) -> ir.Value:
    """Give ``factor * value + total``, rounded once where the processor can."""
    product = builder.fmul(factor, value, flags=("contract",))
    return builder.fadd(product, total, flags=("contract",))
