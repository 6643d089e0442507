"""One decorator for compiled kernels.

Kernels are plain functions over arrays, compiled on first use and cached on disk. Where no directory can be written,
Numba refuses to make a cached function at all, and the import of qed would fail with it; where the disk is full, the first
call would. Here the kernel then simply goes uncached. `COMPILED` remembers every kernel, so that ``qed warmup`` can say what it compiled.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pickle import PickleError
from types import FunctionType
from typing import Any, cast

import numba
import numpy as np
from numba import njit

from qed.base.lazy import later

passes = later("qed.base.passes")
COMPILED: list[Any] = []
# The version of Numba whose inner parts `qed.base.passes` knows.
PARTS_KNOWN_FOR = ["0", "68"]
# How many times as many values as are few do not wait for a kernel, for how many seconds of plain Python in its stead, and after how
# many of them few values are worth loading it from disk.
MANY_MORE, PATIENCE, LOADING = 16, 2.0, 0.25
_SPENT: dict[Any, float] = {}
# Nobody calls a kernel from C, and a way to do so would be compiled with the whole kernel inside it.
SETTINGS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(
    function: Callable[..., Any] | None = None, *, within: bool = False, side_by_side: bool = False, **options: Any
) -> Any:
    """Compile `function` with Numba: no GIL held, cached on disk, NumPy's rules for division.

    It sees arrays and numbers only. Options, such as ``fastmath={"contract"}``, are passed to ``numba.njit``. One that is called
    `within` other kernels is part of what is kept of them, and is compiled sooner without a way in from Python; who calls it from there
    calls a copy. Where one does the same to several neighbours in memory, written out `side_by_side`, one instruction does it to all
    of them: the bits are the same, and compiling takes longer.
    """
    if function is None:
        return lambda inner: kernel(inner, within=within, side_by_side=side_by_side, **options)
    if within:
        return _part(function, options)
    settings: dict[str, Any] = {**SETTINGS, **_compiler("side by side" if side_by_side else "kernel"), **options}
    try:
        compiled = _forgiving(njit(cache=True, **settings)(function))
    except RuntimeError:
        compiled = njit(**settings)(function)
    COMPILED.append(compiled)
    return compiled


def _part(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """Compile a function for other kernels."""
    settings: dict[str, Any] = {**SETTINGS, "no_cpython_wrapper": True, **_compiler("part"), **options}
    compiled = njit(**settings)(function)

    @cache
    def copy() -> Any:
        return kernel(function, **options)

    # Numba would jump to nowhere if it found here what it compiled for others.
    compiled._insert = lambda *entry, **named: None
    compiled._compile_for_args = lambda *args, **named: copy()
    COMPILED.append(compiled)
    return compiled


@cache
def _compiler(kind: str) -> dict[str, Any]:
    """Give a compiler that is faster with kernels, where Numba's inner parts are those that it was written for; else nothing."""
    if numba.__version__.split(".")[:2] != PARTS_KNOWN_FOR:
        return {}
    return {"pipeline_class": passes.COMPILERS[kind]}


def _forgiving(compiled: Any) -> Any:
    """Let a compiled function be used that could not be written to the cache."""
    save = compiled._cache.save_overload

    def try_to_save(signature: object, overload: object) -> None:
        with suppress(OSError):
            save(signature, overload)

    compiled._cache.save_overload = try_to_save
    return compiled


def is_ready(compiled: Any, **absent: bool) -> bool:
    """Say whether a kernel was compiled before: here, or by a process that left it in the cache on disk.

    Of arguments that may be None, `absent` says which are; with others it is another kernel.
    """
    places = {compiled.py_func.__code__.co_varnames.index(name): nothing for name, nothing in absent.items()}

    def fits(types: Any) -> bool:
        return all((types[place] == numba.types.none) is nothing for place, nothing in places.items())

    return any(fits(one) for one in compiled.signatures) or any(fits(one) for one in _on_disk(compiled))


def _on_disk(compiled: Any) -> list[Any]:
    """List the types of arguments for which a kernel is in the cache on disk."""
    with suppress(AttributeError, OSError, EOFError, PickleError):
        return [types for types, *_ in compiled._cache._cache_file._load_index()]
    return []


@cache
def interpreted(compiled: Any, *kept: Any) -> Callable[..., Any]:
    """Give a kernel as plain Python, with all the kernels that it calls but the `kept` ones: where compiling would take the longest.

    >>> half = kernel(lambda values: values[0] / 2)
    >>> interpreted(half)(np.array([3.0])).item(), half.signatures
    (1.5, [])
    """
    plain = _plain(compiled, *kept)

    @wraps(plain)
    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return plain(*args)

    return run


def unless_few(compiled: Any, values: int, few: int, same: bool = True) -> Callable[..., Any]:
    """Give a kernel for a table of some values, or as plain Python where so `few` are not worth compiling.

    Up to `MANY_MORE` times as many do not wait for a kernel that was never compiled either, until plain Python has taken about as long,
    and few take one that is there already; but only where both give the `same` bits, because what a model is must not depend on what was
    compiled before.
    """
    plain = interpreted(compiled)
    if not same:
        return cast(Callable[..., Any], plain if values <= few else compiled)
    if values > few and (values > MANY_MORE * few or _SPENT.get(compiled, 0.0) >= PATIENCE or is_ready(compiled)):
        return cast(Callable[..., Any], compiled)

    def run(*args: Any) -> Any:
        if _is_there(compiled, args):
            return compiled(*args)
        began = time.thread_time()
        try:
            return plain(*args)
        finally:
            _SPENT[compiled] = _SPENT.get(compiled, 0.0) + time.thread_time() - began

    return run


def _is_there(compiled: Any, args: tuple[Any, ...]) -> bool:
    """Say whether a kernel for these arguments is in memory, or on disk where it is worth loading."""
    types = tuple(compiled.typeof_pyval(one) for one in args)
    return types in compiled.overloads or (_SPENT.get(compiled, 0.0) >= LOADING and types in _on_disk(compiled))


@cache
def _plain(compiled: Any, *kept: Any) -> FunctionType:
    """Give the function behind a kernel, such that it calls the functions behind other kernels."""
    function = compiled.py_func
    called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    others = {name: value for name, value in called.items() if hasattr(value, "py_func") and value not in kept}
    inner = {name: _plain(value, *kept) for name, value in others.items()}
    return FunctionType(function.__code__, {**function.__globals__, **inner}, function.__name__, function.__defaults__)
