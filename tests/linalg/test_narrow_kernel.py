"""The compiled product with a few columns against that of NumPy."""

import importlib.util
import sys

import numpy as np
import pytest
from numba import njit

from qed.base import compile as compiling
from qed.linalg.krylov import leading, narrow_kernel

EPS = np.finfo(float).eps


@pytest.mark.parametrize("shape", [(501, 1), (513, 8), (600, 17), (700, 40)])
def test_products_are_right_and_do_not_depend_on_the_cut(shape, monkeypatch):
    rng = np.random.default_rng(0)
    n, q = shape
    matrix, right = rng.standard_normal((n, n)), rng.standard_normal((n, q))
    found = leading.times(matrix, right)
    # A sum of n products is off by at most n roundings of the sum of their sizes.
    assert (np.abs(found - matrix @ right) <= 2 * n * EPS * (np.abs(matrix) @ np.abs(right))).all()
    half = np.ascontiguousarray(matrix[:, : n // 2])  # nor need a matrix be square
    np.testing.assert_allclose(
        leading.times(half, right[: n // 2]), half @ right[: n // 2], rtol=1e-9, atol=n * EPS * n
    )
    monkeypatch.setattr(leading, "STRIP", 100)
    np.testing.assert_array_equal(leading.times(matrix, right), found)
    monkeypatch.setattr(leading, "beats_blas", lambda: False)
    np.testing.assert_allclose(leading.times(matrix, right), found, rtol=1e-9, atol=n * EPS * n)


def test_the_tile_for_narrower_registers(monkeypatch):
    monkeypatch.setattr(compiling, "kernel", lambda function=None: njit(function, nogil=True))
    spec = importlib.util.spec_from_file_location("narrower_kernel", narrow_kernel.__file__)
    narrower = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "narrower_kernel", narrower)
    spec.loader.exec_module(narrower)
    monkeypatch.undo()
    narrower.lanes = lambda *target: 4
    rng = np.random.default_rng(1)
    rows, right = rng.standard_normal((23, 31)), rng.standard_normal((31, 11))
    out = np.empty((23, 12))
    narrower.multiply_narrow(rows, narrower.in_panels(right), out, 4, narrower.height())
    np.testing.assert_allclose(out[:, :11], rows @ right, rtol=1e-12, atol=1e-13)
    assert not out[:, 11].any()
