"""Moments against sums in extended precision, and the algebra that folding, forgetting and saving rely on."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from qed.base.engine import threads
from qed.base.errors import DegenerateError, InputError
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows
from qed.stats import Moments, moments, products


def exact(Z, weight=None):
    """Mean and scatter in two passes of extended precision."""
    Z = np.asarray(Z, dtype=np.longdouble)
    w = np.ones(len(Z), np.longdouble) if weight is None else np.asarray(weight, np.longdouble)
    D, mean = Z - Z[0], Z[0]
    for _ in range(2):
        step = (w[:, None] * D).sum(0) / w.sum()
        D, mean = D - step, mean + step
    return mean, (w[:, None] * D).T @ D


def assert_close(found, Z, weight=None, rtol=1e-13):
    """Compare with the extended sums, on the scale of each column's spread."""
    mean, scatter = exact(Z, weight)
    spread = np.sqrt(np.diag(scatter)) + 1e-300
    assert np.all(np.abs(found.scatter - scatter) <= rtol * np.outer(spread, spread))
    count = np.longdouble(found.weight)
    assert np.all(np.abs(found.mean - mean) <= rtol * spread / np.sqrt(count) + 2.3e-16 * np.abs(mean))


def assert_alike(a, b, size=1.0, atol=1e-9):
    assert a.count == b.count
    assert a.weight == pytest.approx(b.weight, abs=atol)
    np.testing.assert_allclose(a.mean, b.mean, atol=atol * size, rtol=1e-9)
    np.testing.assert_allclose(a.scatter, b.scatter, atol=atol * size**2, rtol=1e-9)


values = st.floats(-1e3, 1e3, width=32)


@st.composite
def tables(draw, least=0, weighted=True):
    n, p, q = draw(st.integers(least, 24)), draw(st.integers(1, 4)), draw(st.integers(0, 2))
    Z = draw(hnp.arrays(np.float64, (n, p + q), elements=values))
    weight = draw(hnp.arrays(np.float64, n, elements=st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0]))) if weighted else None
    return Z, p, weight


def block_of(Z, p, weight=None, chosen=slice(None)):
    y = Z[chosen, p:] if Z.shape[1] > p else None
    return Block(Z[chosen, :p], y, None if weight is None else weight[chosen])


@pytest.mark.parametrize("rows", [40, 3000], ids=["blas", "kernel"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_agrees_with_extended_precision(rows, weighted, dtype):
    rng = np.random.default_rng(0)
    X = (rng.standard_normal((rows, 21)) * 10.0 ** rng.uniform(-4, 4, 21) + rng.uniform(-50, 50, 21)).astype(dtype)
    y = rng.standard_normal((rows, 2))
    weight = rng.exponential(size=rows) if weighted else None
    found = Moments.of(Block(X, y, weight))
    assert found.scatter.dtype == np.float64
    assert found.count == rows
    assert found.weight == pytest.approx(rows if weight is None else weight.sum(), rel=1e-14)
    assert_close(found, np.hstack([X.astype(np.float64), y]), weight)


@pytest.mark.parametrize("rows", [40, 3000], ids=["blas", "kernel"])
def test_memory_layout_does_not_change_a_bit(rows):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((rows, 19)), rng.standard_normal(rows)
    wanted = Moments.of(Block(X, y))
    wide = np.zeros((2 * rows, 38))
    wide[::2, ::2] = X
    fixed = X.copy()
    fixed.setflags(write=False)
    tall = np.asfortranarray(np.vstack([X[:5], X, X[:3]]))
    for same in (np.asfortranarray(X), wide[::2, ::2], fixed, tall[5:-3], X.astype(">f8")):
        found = Moments.of(Block(same, y))
        assert np.array_equal(found.scatter, wanted.scatter)
        assert np.array_equal(found.mean, wanted.mean)


def test_target_may_be_absent_flat_or_wide():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    flat, column, none = Moments.of(Block(X, y)), Moments.of(Block(X, y[:, None])), Moments.of(Block(X))
    assert np.array_equal(flat.scatter, column.scatter)
    assert (flat.n_features, flat.n_targets, none.n_targets) == (3, 1, 0)
    np.testing.assert_allclose(none.scatter, flat.xx, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(flat.xy[:, 0], (X - X.mean(0)).T @ (y - y.mean()), rtol=1e-12)
    np.testing.assert_allclose(flat.yy[0, 0], ((y - y.mean()) ** 2).sum(), rtol=1e-13)
    np.testing.assert_allclose(np.r_[flat.x_mean, flat.y_mean], np.r_[X.mean(0), y.mean()], rtol=1e-12)
    labels = Block(X, np.array(["a", "b"] * 15))
    assert np.array_equal(Moments.of_features(labels).scatter, none.scatter)
    with pytest.raises(InputError, match="not numbers"):
        Moments.of(labels)


@pytest.mark.parametrize("rows", [50, 4000], ids=["blas", "kernel"])
@pytest.mark.parametrize("offset", [1e4, 1e8, -1e12])
def test_large_means_cost_no_digits(rows, offset):
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((rows, 18)) + offset
    weight = rng.uniform(0.5, 2, rows)
    folded = ArrayRows(Z[:, :17], Z[:, 17], weight, size=rows // 3).fold(Moments.of)
    assert_close(Moments.of(Block(Z[:, :17], Z[:, 17], weight)), Z, weight)
    assert_close(folded, Z, weight)
    part = Moments.of(Block(Z[: rows // 3, :17], Z[: rows // 3, 17], weight[: rows // 3]))
    assert_close(folded - part, Z[rows // 3 :], weight[rows // 3 :])


@pytest.mark.parametrize("rows", [60, 3000], ids=["blas", "kernel"])
def test_a_misleading_typical_row_is_noticed(rows):
    """The rows looked at first carry no weight to speak of, and lie a million spreads away."""
    rng = np.random.default_rng(4)
    Z, weight = rng.standard_normal((rows, 20)), np.ones(rows)
    looked_at = np.arange(5) * (rows - 1) // 4
    Z[looked_at] += 1e6
    weight[looked_at] = 1e-20
    shift = products.typical_row(Z[:, :19], Z[:, 19:])
    assert np.all(shift > 1e5)
    assert moments._about(Z[:, :19], Z[:, 19:], np.sqrt(weight), shift)[2].all()
    assert_close(Moments.of(Block(Z[:, :19], Z[:, 19], weight)), Z, weight, rtol=1e-12)


@pytest.mark.parametrize("constant", [0.1, 1e8 / 3, -7.0, 0.0, 1e-200, np.float32(0.1)])
@pytest.mark.parametrize("rows", [37, 5000], ids=["blas", "kernel"])
def test_constant_columns_have_exactly_no_scatter(constant, rows):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((rows, 16)).astype(np.float32 if isinstance(constant, np.float32) else np.float64)
    X[:, [3, 15]] = constant
    source = ArrayRows(X, np.full(rows, 3.3), rng.uniform(0, 3, rows), size=rows // 4)
    parts = list(source.each(Moments.of))
    total = source.fold(Moments.of)
    for found in (total, total - parts[1], parts[0]):
        assert np.all(found.scatter[[3, 15, 16], :] == 0)
        assert np.all(found.scatter[:, [3, 15, 16]] == 0)
        assert np.all(found.mean[[3, 15]] == float(constant))
        assert np.all(np.delete(found.scatter.diagonal(), [3, 15, 16]) > 0)


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5])
def test_fewer_rows_than_columns(rows):
    Z = np.random.default_rng(6).standard_normal((rows, 7)) + 100
    found = Moments.of(Block(Z[:, :6], Z[:, 6]))
    assert_close(found, Z)
    assert np.linalg.matrix_rank(found.scatter, tol=1e-9) == rows - 1


def test_scatter_is_symmetric_to_the_bit():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((6000, 23)) + rng.uniform(-5, 5, 23)
    weight = rng.uniform(0, 2, 6000)
    total = ArrayRows(X, weight=weight, size=2500).fold(Moments.of)
    part = Moments.of(Block(X[:2500], None, weight[:2500]))
    for found in (total, part, total - part):
        assert np.array_equal(found.scatter, found.scatter.T)
    assert np.array_equal(total.uncentered(), total.uncentered().T)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(8)
    source = ArrayRows(rng.standard_normal((40000, 12)), rng.standard_normal(40000), size=3000)
    with threads(1):
        one = source.fold(Moments.of)
    with threads(3):
        three = source.fold(Moments.of)
    assert np.array_equal(one.scatter, three.scatter)
    assert np.array_equal(one.mean, three.mean)


@settings(deadline=None, max_examples=30)
@given(tables(), st.integers(0, 24), st.integers(0, 24))
def test_sums_do_not_depend_on_the_grouping(table, first, second):
    Z, p, weight = table
    lo, hi = sorted((min(first, len(Z)), min(second, len(Z))))
    a, b, c = (Moments.of(block_of(Z, p, weight, part)) for part in (slice(lo), slice(lo, hi), slice(hi, None)))
    whole = Moments.of(block_of(Z, p, weight))
    for total in ((a + b) + c, a + (b + c), (c + a) + b):
        assert_alike(total, whole, size=1e3)


@settings(deadline=None, max_examples=30)
@given(tables(), st.integers(0, 24))
def test_subtraction_undoes_addition(table, cut):
    Z, p, weight = table
    a, b = (Moments.of(block_of(Z, p, weight, part)) for part in (slice(cut), slice(cut, None)))
    assert_alike((a + b) - b, a, size=1e3, atol=1e-7)  # a spread of which rounding left nothing becomes zero
    assert_alike((a + b) - a, b, size=1e3, atol=1e-7)
    assert ((a + b) - (a + b)).count == 0


@settings(deadline=None, max_examples=30)
@given(tables(weighted=False), st.data())
def test_whole_weights_are_repetitions(table, data):
    Z, p, _ = table
    weight = data.draw(hnp.arrays(np.int64, len(Z), elements=st.integers(0, 3)))
    weighted = Moments.of(block_of(Z, p, weight.astype(float)))
    repeated = Moments.of(block_of(np.repeat(Z, weight, axis=0), p))
    assert weighted.count == np.count_nonzero(weight)
    assert weighted.weight == repeated.weight
    if repeated.count:
        np.testing.assert_allclose(weighted.mean, repeated.mean, atol=1e-9)
        np.testing.assert_allclose(weighted.scatter, repeated.scatter, atol=1e-6)


@settings(deadline=None, max_examples=25)
@given(tables())
def test_rows_without_weight_are_absent(table):
    Z, p, weight = table
    spoiled = Z.copy()
    spoiled[weight == 0] = np.nan
    there = weight != 0
    found, wanted = Moments.of(block_of(spoiled, p, weight)), Moments.of(block_of(Z[there], p, weight[there]))
    assert found.is_finite
    assert np.array_equal(found.scatter, wanted.scatter)
    assert np.array_equal(found.mean, wanted.mean)


@settings(deadline=None, max_examples=30)
@given(tables(least=1), st.floats(-1e9, 1e9))
def test_scatter_is_a_scatter(table, offset):
    """No negative variances and no correlations above one, whatever the offset."""
    Z, p, weight = table
    S = Moments.of(block_of(Z + offset, p, weight)).scatter
    assert np.all(S.diagonal() >= 0)
    assert np.all(np.abs(S) <= np.sqrt(np.outer(S.diagonal(), S.diagonal())) * (1 + 1e-9) + 1e-300)


def test_empty_is_neutral():
    rng = np.random.default_rng(9)
    some, none = Moments.of(Block(rng.standard_normal((9, 2)), rng.standard_normal(9))), Moments.empty(2, 1)
    assert some + none is some
    assert none + some is some
    assert some - none is some
    assert (none + none).count == 0
    assert Moments.of(Block(np.empty((0, 2)), np.empty(0))).weight == 0
    assert Moments.of(Block(np.ones((4, 2)), np.ones(4), np.zeros(4))).count == 0


def test_what_does_not_go_together_is_refused():
    rng = np.random.default_rng(10)
    a, b = Moments.of(Block(rng.standard_normal((9, 2)))), Moments.of(Block(rng.standard_normal((5, 2)) * 30))
    with pytest.raises(InputError, match="3 features and 0 targets"):
        a + Moments.empty(3)
    with pytest.raises(InputError, match="2 features and 1 targets"):
        a - Moments.empty(2, 1)
    with pytest.raises(InputError, match="not that many"):
        b - a
    with pytest.raises(InputError, match="not that many"):
        Moments(2.0, 4, np.zeros(1), np.eye(1), 1) - Moments(3.0, 2, np.zeros(1), np.eye(1), 1)
    with pytest.raises(InputError, match="not among those that were added"):
        a - b


def test_forgetting_what_made_the_variance_leaves_a_constant():
    rng = np.random.default_rng(11)
    calm, wild = np.full((50, 1), 0.3), rng.standard_normal((50, 1)) * 1e5
    a, b = Moments.of(Block(calm)), Moments.of(Block(wild))
    assert ((a + b) - b).scatter[0, 0] == 0


@pytest.mark.parametrize("rows", [30, 3000], ids=["blas", "kernel"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e200])
def test_what_is_not_finite_shows_without_warnings(rows, bad):
    rng = np.random.default_rng(12)
    X, y = rng.standard_normal((rows, 20)), rng.standard_normal(rows)
    good = Moments.of(Block(X[9:], y[9:]))
    X[0, 4] = bad
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = Moments.of(Block(X, y))
        sums = [found, found + good, good + found, found - good, Moments.of(Block(sparse.csr_array(X), y))]
        assert not any(one.is_finite for one in sums)
        found.uncentered()
    assert good.is_finite
    assert np.isfinite(np.delete(found.scatter.diagonal(), 4)).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_blocks_give_the_same(weighted):
    rng = np.random.default_rng(13)
    X = rng.standard_normal((400, 12)) * (rng.random((400, 12)) < 0.1)
    X[:, 2] = 5.5
    X[:, 7] = rng.standard_normal(400) + 1e8
    X[:, 9] = 0
    y = rng.standard_normal(400) + 3
    weight = rng.integers(0, 3, 400) * 0.7 if weighted else None
    for matrix in (sparse.csr_array(X), sparse.csr_matrix(X)):
        found = Moments.of(Block(matrix, y, weight))
        wanted = Moments.of(Block(X, y, weight))
        assert found.count == wanted.count
        assert np.all(found.scatter[2] == 0)
        assert np.all(found.scatter[9] == 0)
        assert_close(found, np.c_[X, y], weight, rtol=1e-12)
    single = Moments.of(Block(sparse.csr_array(X.astype(np.float32)), y))
    np.testing.assert_allclose(
        single.scatter, Moments.of(Block(X.astype(np.float32), y)).scatter, atol=1e-10, rtol=1e-12
    )


def test_covariance_and_uncentered():
    rng = np.random.default_rng(14)
    X, weight = rng.standard_normal((40, 3)) + 2, rng.integers(1, 5, 40).astype(float)
    found = Moments.of(Block(X, None, weight))
    np.testing.assert_allclose(found.covariance(ddof=1), np.cov(X.T, fweights=weight.astype(int)), rtol=1e-12)
    np.testing.assert_allclose(found.covariance(), np.cov(X.T, fweights=weight.astype(int), ddof=0), rtol=1e-12)
    np.testing.assert_allclose(found.uncentered(), (X * weight[:, None]).T @ X, rtol=1e-12)
    with pytest.raises(DegenerateError, match="ddof=1"):
        Moments.of(Block(np.ones((1, 2)))).covariance(ddof=1)


def test_values_are_frozen_and_travel():
    rng = np.random.default_rng(15)
    found = Moments.of(Block(rng.standard_normal((30, 2)), rng.standard_normal(30)))
    with pytest.raises(ValueError, match="read-only"):
        found.scatter[0, 0] = 1
    with pytest.raises(AttributeError):
        found.weight = 3.0
    for copy in (pickle.loads(pickle.dumps(found)), Moments.from_dict(found.to_dict())):
        assert (copy.weight, copy.count, copy.n_features) == (found.weight, found.count, found.n_features)
        assert np.array_equal(copy.scatter, found.scatter)
        assert np.array_equal((copy + found).mean, (found + found).mean)
    sums = {"weight", "count", "mean", "scatter", "n_features", "rest"}
    assert set(found.to_dict()) == sums | {"bulk", "roundings", "drift", "doubt"}
    # Of what was saved before drift and doubt were kept they are those of a single block.
    before = {name: value for name, value in found.to_dict().items() if name not in ("drift", "doubt")}
    assert np.array_equal(Moments.from_dict(before).drift, found.drift)
