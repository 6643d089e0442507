"""The way of a kernel through Numba: what kernels of the house need, and nothing found out twice.

Half of the time that Numba takes goes by before machine code is made. Most of that is the search for what each call means: all that can be
meant by ``a + b`` is tried for every sum of every kernel. The answer for the same types is the same, so it is kept here while a kernel of
the house is compiled. Kernels are plain loops: they have no closures or comprehensions, no ``with``, no sentences with numbers in what they
raise, and no lists of different types to unroll, so that passes that look for those are left out.

Numba makes machine code of every function that it compiles, also of one that nobody but other compiled functions calls. These take in its
intermediate code, and make machine code of their own from it, so that of the part is never run; to make it takes as long as to optimise it.
So kernels that are parts of others are compiled as far as those take them in, and no further.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import config
from numba.core import untyped_passes as untyped
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering, NopythonTypeInference
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


class SideBySideCompiler(KernelCompiler):
    """The same, for kernels that do one thing to several neighbours in memory: Numba leaves it out to find such places.

    Like all of Numba's compilers it has the lock of all, so nobody else compiles meanwhile.
    """

    def compile_extra(self, func: Any) -> Any:
        settings: Any = config
        before, settings.SLP_VECTORIZE = settings.SLP_VECTORIZE, 1
        try:
            return super().compile_extra(func)
        finally:
            settings.SLP_VECTORIZE = before


class _Part(JITCodeLibrary):
    """A library that others are linked with, and that is not loaded itself."""

    # Where sums may be taken in any order, that order is chosen here, once for all who take the part in.
    free = True

    def _optimize_final_module(self) -> None:
        if self.free:
            super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Numba's last pass, without its end: the function gets a name by which others find its code, and no address."""

    _name = "part_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.free = bool(state.flags.fastmath)
        state.flags.no_compile = True
        super().run_pass(state)
        name = object()
        state.targetctx.insert_user_function(name, state["cr"].fndesc, [state.library])
        state["cr"] = state["cr"]._replace(cfunc=name)
        return True


class PartCompiler(KernelCompiler):
    """The compiler of kernels with that end."""

    instead = {**KernelCompiler.instead, NativeLowering: _PartLowering}


COMPILERS = {"kernel": KernelCompiler, "side by side": SideBySideCompiler, "part": PartCompiler}
