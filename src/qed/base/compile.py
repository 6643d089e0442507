"""One decorator for compiled kernels.

Kernels are plain functions over arrays, compiled on first use and cached on disk. Where no directory can be written,
Numba refuses to make a cached function at all, and the import of qed would fail with it; here the kernel then
simply goes uncached. `COMPILED` remembers every kernel, so that ``qed warmup`` can say what it compiled.
"""

from collections.abc import Callable
from typing import Any

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
