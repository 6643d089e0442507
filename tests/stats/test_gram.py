"""The compiled kernel against its twin in NumPy."""

import importlib.util
import sys

import numpy as np
import pytest
from llvmlite import binding
from numba import njit

from qed.base import compile as compiling
from qed.stats import gram


def twin(X, Y, root, shift):
    Z = np.column_stack([np.hstack([X.astype(np.float64), Y]) - shift, np.ones(len(X))]) * root[:, None]
    return Z.T @ Z


def assert_like_twin(kernel, rows, p, q, dtype=np.float64, order="C"):
    rng = np.random.default_rng(p * 100 + q)
    X = np.asarray(rng.standard_normal((rows, p)), dtype=dtype, order=order)
    Y, root, shift = rng.standard_normal((rows, q)), rng.uniform(0, 2, rows), rng.standard_normal(p + q)
    found, wanted = kernel(X, Y, root, shift), twin(X, Y, root, shift)
    assert np.array_equal(found, found.T)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12 * rows)


@pytest.mark.parametrize("p", [0, 1, 2, 6, 7, 8, 9, 14, 15, 16, 17, 22, 23, 24, 31, 32, 39, 40, 47, 63, 100])
def test_every_number_of_panels(p):
    assert_like_twin(gram.gram_matrix, 50, p, 1)


@pytest.mark.parametrize("rows", [0, 1, 127, 128, 129, 300])
@pytest.mark.parametrize("q", [0, 1, 9])
def test_every_number_of_rows_and_targets(rows, q):
    assert_like_twin(gram.gram_matrix, rows, 21, q)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_and_orders(dtype, order):
    assert_like_twin(gram.gram_matrix, 200, 21, 2, dtype, order)


def test_no_weights_are_weights_of_one():
    X, Y, shift = np.random.default_rng(0).standard_normal((300, 9)), np.ones((300, 1)), np.ones(10)
    assert np.array_equal(gram.gram_matrix(X, Y, np.empty(0), shift), gram.gram_matrix(X, Y, np.ones(300), shift))


def test_tiles_shrink_for_very_wide_rows():
    assert_like_twin(gram.gram_matrix, 70, 2500, 1)


@pytest.mark.slow
def test_the_tile_for_narrower_registers(monkeypatch):
    """The variant for processors without AVX-512, compiled afresh and uncached."""
    monkeypatch.setattr(binding, "get_host_cpu_features", lambda: {"avx512f": False})
    monkeypatch.setattr(compiling, "kernel", njit(nogil=True))
    spec = importlib.util.spec_from_file_location("narrow_gram", gram.__file__)
    narrow = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "narrow_gram", narrow)
    spec.loader.exec_module(narrow)
    monkeypatch.undo()
    assert (narrow.HEIGHT, narrow.WIDTH) == (4, 1)
    for p in (1, 7, 8, 23, 100):
        assert_like_twin(narrow.gram_matrix, 150, p, 1)
