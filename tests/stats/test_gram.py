"""The compiled kernel against its twin in NumPy."""

import ctypes
import importlib.util
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from qed.base import compile as compiling
from qed.linalg.registers import vectors
from qed.stats import gram, products

UNIT = 2.0**-53


def twin(X, Y, root, shift):
    """Give the matrix in extended precision, and the same of absolute values, which bounds its rounding."""
    Z = np.column_stack([np.hstack([X.astype(np.longdouble), Y]) - shift, np.ones(len(X))])
    Z = Z * (root if len(root) else np.ones(len(X)))[:, None]
    return Z.T @ Z, np.abs(Z).T @ np.abs(Z)


def assert_like_twin(kernel, rows, p, q, dtype=np.float64, order="C", weighted=True):
    """A value is rounded twice when shifted and weighted, a sum of n products at most n + 1 times: n + 6 in all."""
    rng = np.random.default_rng(p * 100 + q)
    X = np.asarray(rng.standard_normal((rows, p)), dtype=dtype, order=order)
    Y, shift = rng.standard_normal((rows, q)), rng.standard_normal(p + q)
    root = rng.uniform(0, 2, rows) if weighted else np.empty(0)
    found, (wanted, size) = kernel(X, Y, root, shift), twin(X, Y, root, shift)
    assert found.dtype == np.float64 and np.array_equal(found, found.T)
    assert (np.abs(found - wanted) <= (rows + 6) * UNIT * size).all()


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
    assert_like_twin(gram.gram_matrix, 200, 21, 2, dtype, order, weighted=False)


def test_no_weights_are_weights_of_one():
    X, Y, shift = np.random.default_rng(0).standard_normal((300, 9)), np.ones((300, 1)), np.ones(10)
    assert np.array_equal(gram.gram_matrix(X, Y, np.empty(0), shift), gram.gram_matrix(X, Y, np.ones(300), shift))


def test_tiles_shrink_for_very_wide_rows():
    assert_like_twin(gram.gram_matrix, 130, 1030, 1)


@pytest.mark.parametrize("p", range(1, 20))
def test_the_last_panel_is_never_read_beyond_the_array(p):
    """The array ends where a page ends that may be read: one value more would be a fault."""
    page = mmap.PAGESIZE
    for rows in (1, 2, 3, 130):
        size = -(-rows * p * 8 // page) * page
        memory = mmap.mmap(-1, size + page)
        space = np.frombuffer(memory, dtype=np.float64)[: size // 8]
        protect, behind = ctypes.CDLL(None).mprotect, ctypes.c_void_p(space.ctypes.data + size)
        assert protect(behind, page, 0) == 0
        X = space[size // 8 - rows * p :].reshape(rows, p)
        X[:] = np.random.default_rng(0).standard_normal((rows, p))
        found = gram.gram_matrix(X, np.empty((rows, 0)), np.empty(0), np.zeros(p))
        wanted, size_of = twin(X, np.empty((rows, 0)), np.empty(0), np.zeros(p))
        assert (np.abs(found - wanted) <= (rows + 6) * UNIT * size_of).all()
        assert protect(behind, page, mmap.PROT_READ | mmap.PROT_WRITE) == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_what_stands_behind_a_row_does_not_matter(dtype, order):
    wide = np.asarray(np.random.default_rng(0).standard_normal((300, 30)), dtype=dtype, order=order)
    wide[:, 13:] = np.nan
    wide[200:] = np.inf
    X, Y, shift = wide[:200, :13], np.ones((200, 1)), np.zeros(14)
    for view in (X, np.ascontiguousarray(X), X[::2]):
        found = gram.gram_matrix(view, Y[: len(view)], np.empty(0), shift)
        wanted, size = twin(view, Y[: len(view)], np.empty(0), shift)
        assert (np.abs(found - wanted) <= (len(view) + 6) * UNIT * size).all()


def fresh_gram(monkeypatch, lanes):
    """Give the module as it is where registers hold so many values, compiled afresh and uncached."""
    monkeypatch.setattr(compiling, "kernel", lambda function=None, within=False: njit(function, nogil=True))
    spec = importlib.util.spec_from_file_location("narrow_gram", gram.__file__)
    narrow = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "narrow_gram", narrow)
    spec.loader.exec_module(narrow)
    monkeypatch.undo()
    narrow.lanes = lambda *target: lanes
    return narrow


def test_the_tile_for_narrower_registers(monkeypatch):
    narrow = fresh_gram(monkeypatch, 4)
    for p in (1, 3, 4, 7, 8, 11, 12, 13, 23, 100, 700):
        assert_like_twin(narrow.gram_matrix, 150, p, 1)


@pytest.mark.parametrize(
    ("target", "size", "suits"),
    [
        (("x86_64-unknown-linux-gnu", "sapphirerapids", "+avx,+avx2,+avx512f,+fma"), 8, True),
        (("x86_64-unknown-linux-gnu", "haswell", "+avx,+avx2,-avx512f,+fma"), 4, True),
        (("x86_64-unknown-linux-gnu", "sandybridge", "+avx,-avx2,-fma,-fma4"), 4, False),
        (("x86_64-unknown-linux-gnu", "generic", ""), 4, False),
        (("arm64-apple-darwin", "apple-m1", ""), 4, True),
    ],
)
def test_the_panel_follows_from_the_instruction_set(target, size, suits):
    assert vectors.lanes(*target) == size
    assert vectors.has_wide(target[0], target[2]) == suits


@pytest.mark.parametrize("weighted", [True, False])
def test_blas_takes_over_where_there_are_no_vectors(monkeypatch, weighted):
    monkeypatch.setattr(products, "beats_blas", lambda: False)

    def by_blas(X, Y, root, shift):
        return products.gram(X, Y, root if weighted else None, shift)

    monkeypatch.setattr(products, "CHUNK_VALUES", 1 << 10)
    monkeypatch.setattr(products, "COMPILED_FROM", 0)
    for dtype in (np.float64, np.float32):
        assert_like_twin(by_blas, 700, 13, 1, dtype, weighted=weighted)


def test_the_compiler_decides_and_not_the_processor():
    """Numba may be told to compile for another processor than this one, and what it is told then holds."""
    code = "from qed.linalg.registers.vectors import beats_blas; print(beats_blas())"
    told = {**os.environ, "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=told, timeout=60)
    assert found.stdout.strip() == "False", found.stderr
