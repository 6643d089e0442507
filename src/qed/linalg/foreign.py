"""BLAS and LAPACK in place, on parts of larger arrays, while other threads run.

SciPy's wrappers of most of these routines keep all other threads of Python waiting, and copy what is part of a larger array. SciPy also
exports the routines themselves (``scipy.linalg.cython_blas``); called as functions of C they do neither.
"""

import ctypes
from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from scipy.linalg import cython_blas, cython_lapack


def call(routine: str, *arguments: str | int | float | np.ndarray) -> None:
    """Call a routine with letters, whole numbers, numbers and arrays, in the order of its documentation.

    Arrays are of float64 where its name begins with d, of float32 where it begins with s (and of int32 where LAPACK says integer), and
    stand for the place where they begin; how far columns lie apart is an argument of its own (`step`).

    >>> L, B = np.array([[2.0, 9.0], [1.0, 4.0]], order="F"), np.array([[2.0, 9.0]], order="F")
    >>> call("dtrsm", "R", "L", "T", "N", 1, 2, 1.0, L, step(L), B, step(B))
    >>> B
    array([[1., 2.]])
    """
    number = ctypes.c_float if routine[0] == "s" else ctypes.c_double
    values: list[object] = []
    for given in arguments:
        if isinstance(given, np.ndarray):
            values.append(given.ctypes.data)
        elif isinstance(given, str):
            values.append(ctypes.byref(ctypes.c_char(given.encode())))
        else:
            values.append(ctypes.byref(ctypes.c_int(given) if isinstance(given, int) else number(given)))
    _function(routine, len(values))(*values)


def step(array: np.ndarray) -> int:
    """Say how far apart the columns of an array in Fortran order lie: the leading dimension of LAPACK."""
    return max(1, array.strides[1] // array.itemsize)


@cache
def _function(routine: str, count: int) -> Callable[..., None]:
    exported: Mapping[str, object] = {**cython_lapack.__pyx_capi__, **cython_blas.__pyx_capi__}
    capsule, known = exported[routine], ctypes.pythonapi
    name = ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.py_object)(("PyCapsule_GetName", known))(capsule)
    pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", known))
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(pointer(capsule, name))
