"""Medians by counting bits are those of sorting, to the last bit, from blocks and files, with weights and holes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import qed
from qed.base.sources.rows import ArrayRows
from qed.stats.medians import medians

VALUES = st.one_of(st.floats(-1e300, 1e300), st.just(np.nan))


def sorted_median(x):
    x = np.sort(x[~np.isnan(x)])
    return np.nan if not len(x) else x[(len(x) - 1) // 2] / 2 + x[len(x) // 2] / 2


@settings(max_examples=30, deadline=None)
@given(X=hnp.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=VALUES))
def test_any_numbers(X):
    wanted = [sorted_median(x) for x in X.T]
    np.testing.assert_array_equal(medians(ArrayRows(X, size=7)), wanted)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [1, 2, 5, 100, 3001])
def test_weights_are_repetitions(n, dtype):
    rng = np.random.default_rng(n)
    X = (rng.normal(size=(n, 4)) * [1, 100, 1e-5, 0]).round(3).astype(dtype)
    X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(0, 4, n)
    weight[0] = 1
    wanted = [sorted_median(x.repeat(weight).astype(float)) for x in X.T]
    np.testing.assert_array_equal(medians(ArrayRows(X, weight=weight.astype(float), size=512)), wanted)


def test_files_take_few_passes_and_give_the_same(tmp_path):
    X = np.random.default_rng(0).normal(size=(1000, 3))
    np.save(tmp_path / "rows.npy", X)
    np.testing.assert_array_equal(medians(qed.rows(str(tmp_path / "rows.npy"))), medians(ArrayRows(X)))


def test_threads_change_nothing():
    X = np.random.default_rng(1).normal(size=(5000, 2))
    weight = np.random.default_rng(2).random(5000)
    with qed.threads(1):
        one = medians(ArrayRows(X, weight=weight, size=100))
    with qed.threads(4):
        four = medians(ArrayRows(X, weight=weight, size=100))
    np.testing.assert_array_equal(one, four)
