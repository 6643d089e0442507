"""Have a place of an array come nearer, before it is read: for loops that jump about in tables larger than the caches."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.typing.templates import Signature
from numba.extending import intrinsic


def _prefetch(typing: Any, array: Any, place: Any) -> Any:
    """Ask for the element of a one-dimensional array at `place`; nothing waits for it, and nothing is read."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Signature, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        where = builder.bitcast(builder.gep(values.data, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [where.type, number, number, number])
        call = builder.module.declare_intrinsic("llvm.prefetch", (where.type,), shape)
        # To be read, to be kept, and no instructions but data.
        builder.call(call, [where, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


prefetch: Any = intrinsic(_prefetch)
