"""One decorator for compiled kernels.

Kernels are plain functions over arrays, compiled on first use and cached on disk. Where no directory can be written,
Numba refuses to make a cached function at all, and the import of qed would fail with it; here the kernel then
simply goes uncached. `COMPILED` remembers every kernel, so that ``qed warmup`` can say what it compiled.
"""

from collections.abc import Callable
from functools import cache, wraps
from types import FunctionType
from typing import Any

import numpy as np

COMPILED: list[Any] = []


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile `function` with Numba: no GIL held, cached on disk, NumPy's rules for division.

    Parameters
    ----------
    function : callable
        The function to compile; it sees arrays and numbers only.
    **options
        Passed to ``numba.njit``, such as ``fastmath={"contract"}``.
    """
    if function is None:
        return lambda inner: kernel(inner, **options)
    from numba import njit

    settings: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy", **options}
    try:
        compiled = njit(**settings)(function)
    except RuntimeError:
        compiled = njit(**{**settings, "cache": False})(function)
    COMPILED.append(compiled)
    return compiled


@cache
def interpreted(compiled: Any) -> Callable[..., Any]:
    """Give a kernel as plain Python, with all the kernels that it calls: for tables so small that compiling would take the longest.

    Parameters
    ----------
    compiled : kernel
        What `kernel` gave.

    Examples
    --------
    >>> half = kernel(lambda values: values[0] / 2)
    >>> interpreted(half)(np.array([3.0])).item(), half.signatures
    (1.5, [])
    """
    plain = _plain(compiled)

    @wraps(plain)
    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return plain(*args)

    return run


@cache
def _plain(compiled: Any) -> FunctionType:
    """Give the function behind a kernel, such that it calls the functions behind other kernels."""
    function = compiled.py_func
    called = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    inner = {name: _plain(value) for name, value in called.items() if hasattr(value, "py_func")}
    return FunctionType(function.__code__, {**function.__globals__, **inner}, function.__name__, function.__defaults__)
