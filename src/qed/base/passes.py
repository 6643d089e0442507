"""The way of a kernel through Numba: what kernels of the house need, and nothing found out twice.

Half of the time that Numba takes goes by before machine code is made. Most of that is the search for what each call means: all that can be
meant by ``a + b`` is tried for every sum of every kernel. The answer for the same types is the same, so it is kept here while a kernel of
the house is compiled. Kernels are plain loops: they have no closures or comprehensions, no ``with``, no sentences with numbers in what they
raise, and no lists of different types to unroll, so that passes that look for those are left out.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import untyped_passes as untyped
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NopythonTypeInference
from numba.core.types.functions import BaseFunction

# What a function means for arguments of some types, with the function, whose address must not be given to another.
_MEANT: dict[tuple[Any, ...], tuple[Any, BaseFunction]] = {}
_SEARCH = BaseFunction.get_call_type
NEEDLESS = (
    untyped.WithLifting,
    untyped.MakeFunctionToJitFunction,
    untyped.FindLiterallyCalls,
    untyped.LiteralUnroll,
    untyped.LiteralPropagationSubPipelinePass,
    untyped.RewriteDynamicRaises,
    untyped.InlineInlinables,
    untyped.InlineClosureLikes,
)


def _remembered(self: BaseFunction, context: Any, args: tuple[Any, ...], kws: dict[str, Any]) -> Any:
    """Say what a call means, as Numba does, and find it once."""
    asked = id(self), context, args, tuple(dict(kws).items())
    if asked not in _MEANT:
        found = _SEARCH(self, context, args, kws)
        if found is None:
            return None
        _MEANT[asked] = found, self
    return _MEANT[asked][0]


@register_pass(mutates_CFG=True, analysis_only=False)
class _TypeInference(NopythonTypeInference):
    """Numba's search for types, which is held by one thread at a time, with a memory."""

    _name = "remembered_type_inference"

    def run_pass(self, state: Any) -> bool:
        functions: Any = BaseFunction
        before, functions.get_call_type = functions.get_call_type, _remembered
        try:
            return bool(super().run_pass(state))
        finally:
            functions.get_call_type = before


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Keep the garbage collector from walking again and again through all that a compiler has in hand."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class KernelCompiler(CompilerBase):
    """Numba's compiler for kernels of the house."""

    # Passes of Numba, and what runs in their place.
    instead: dict[type, type] = {NopythonTypeInference: _TypeInference}

    def compile_extra(self, func: Any) -> Any:
        with _undisturbed():
            return super().compile_extra(func)

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.instead.get(one, one), says) for one, says in passes.passes if one not in NEEDLESS]
        passes.finalize()
        return [passes]
