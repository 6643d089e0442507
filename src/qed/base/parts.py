"""Kernels that are parts of others: compiled as far as those take them in, and no further.

Numba makes machine code of every function that it compiles, also of one that nobody but other compiled functions calls. These take in its
intermediate code, and make machine code of their own from it, so that of the part is never run; to make it takes as long as to optimise it.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering

from qed.base.passes import KernelCompiler


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
