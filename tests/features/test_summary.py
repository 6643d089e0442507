"""The compiled summary of a block is the one that NumPy gives, and adding and taking away are inverse."""

import numpy as np
import pytest
from scipy import sparse

from qed.base.sources.block import Block
from qed.base.summary import COMPILED_FROM, Summary
from qed.base.summary_kernel import summarise


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_kernel_and_its_twin(dtype, weighted):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(10_001, 5)) * [1, 2, 3, 1e-3, 1e3] + [0, 1, 1e4, 0, -5]).astype(dtype)
    weight = rng.random(10_001) + 0.1 if weighted else np.ones(10_001)
    mean, deviation, low, high = summarise(X, weight, 256)
    wide = X.astype(np.float64)
    center = np.average(wide, weights=weight, axis=0)
    np.testing.assert_allclose(mean, center, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(deviation, weight @ (wide - center) ** 2, rtol=1e-12)
    np.testing.assert_array_equal(low, wide.min(axis=0))
    np.testing.assert_array_equal(high, wide.max(axis=0))
    assert X.size >= COMPILED_FROM
    plain = Summary.of(Block(np.asfortranarray(X), weight=weight))
    found = Summary.of(Block(X, weight=weight))
    np.testing.assert_allclose(found.mean, plain.mean, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.deviation, plain.deviation, rtol=1e-12)


def test_holes_and_infinities_in_large_blocks():
    X = np.ones((20_000, 2))
    X[3, 0], X[5, 1] = np.nan, np.inf
    found = Summary.of(Block(X))
    assert found.missing.tolist() == [1, 0] and not found.is_complete and not found.is_finite


def test_taking_away():
    X = np.random.default_rng(1).normal(size=(100, 3)) + 1e6
    rest = Summary.of(Block(X)) - Summary.of(Block(X[60:]))
    kept = Summary.of(Block(X[:60]))
    np.testing.assert_allclose(rest.mean, kept.mean, rtol=1e-14)
    np.testing.assert_allclose(rest.deviation, kept.deviation, rtol=1e-8)
    assert rest.count == 60 and np.isnan(rest.low).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_kernel_for_holes_and_its_twin(order, dtype):
    rng = np.random.default_rng(2)
    X = (rng.normal(size=(9000, 5)) * [1, 2, 3, 1e-3, 1e3] + [0, 1, 1e4, 0, -5]).astype(dtype)
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:, 3] = np.nan
    weight = rng.random(9000) + 0.1
    found = Summary.of(Block(np.array(X, order=order), weight=weight))
    there = ~np.isnan(X)
    wide = np.where(there, X, 0).astype(np.float64)
    total = weight @ there
    center = np.divide(weight @ wide, total, out=np.zeros(5), where=total > 0)
    np.testing.assert_allclose(found.weight, total, rtol=1e-13)
    np.testing.assert_allclose(found.mean, center, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.deviation, weight @ np.where(there, (wide - center) ** 2, 0), rtol=1e-11)
    np.testing.assert_array_equal(found.missing, (~there).sum(axis=0))
    assert found.low[3] == np.inf and found.high[0] == np.nanmax(X[:, 0])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_kernel_for_sparse_blocks_and_its_dense_twin(dtype, weighted):
    rng = np.random.default_rng(2)
    X = np.where(rng.random((3000, 30)) < 0.5, rng.normal(3.0, 1.0, (3000, 30)), 0.0).astype(dtype)
    X[:, 0], X[:, 1], X[:, 2], X[rng.random(3000) < 0.1, 3] = 0.0, 7.0, np.abs(X[:, 2]) + 1, np.nan
    weight = rng.integers(0, 3, 3000).astype(float) if weighted else None
    table = sparse.csr_array(X)
    assert table.nnz >= COMPILED_FROM
    found, plain = Summary.of(Block(table, weight=weight)), Summary.of(Block(X, weight=weight))
    for name in ("count", "weight", "low", "high", "missing"):
        np.testing.assert_array_equal(getattr(found, name), getattr(plain, name))
    np.testing.assert_allclose(found.mean, plain.mean, rtol=1e-12)
    np.testing.assert_allclose(found.deviation, plain.deviation, rtol=1e-11, atol=1e-11)


def test_wide_blocks_are_summarised_as_their_panels_are():
    """Columns have nothing to do with each other, so no bit depends on which of them are taken together."""
    X = np.random.default_rng(3).normal(size=(700, 300)) + 1e3
    whole = Summary.of(Block(X))
    for first in (0, 100, 200):
        part = Summary.of(Block(np.ascontiguousarray(X[:, first : first + 100])))
        for name in ("mean", "deviation", "low", "high"):
            np.testing.assert_array_equal(getattr(whole, name)[first : first + 100], getattr(part, name))
