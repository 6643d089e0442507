"""Factors against moments, certified results of NIST, and least squares of every rank."""

import pickle
import warnings
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from qed.base.errors import InputError
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows
from qed.stats import Factor, Moments, complements, least_squares
from tests.reference.nist_linear import PRINTED, PROBLEMS
from tests.rounding import UNIT


@pytest.mark.parametrize("size", [1000, 7, 1], ids=["whole", "seven rows", "single rows"])
@pytest.mark.parametrize("name", sorted(PROBLEMS))
def test_certified_coefficients(name, size):
    problem = PROBLEMS[name]
    X, y = problem.X, problem.y
    parts = [Factor.of(Block(X[i : i + size], y[i : i + size])) for i in range(0, len(y), size)]
    found = least_squares(reduce(add, parts), intercept=problem.intercept)
    beta = np.r_[found.intercept, found.coefficients[:, 0]] if problem.intercept else found.coefficients[:, 0]
    assert found.rank == X.shape[1]
    assert np.all(np.abs(beta / problem.coefficients - 1) <= problem.coefficient_errors())
    off = np.abs(np.sqrt(found.residual) - problem.residual)
    assert off <= problem.exact.moved * problem.exact.size + PRINTED * problem.residual


def table(rows=60, p=5, q=2, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((rows, p)) + 3, rng.standard_normal((rows, q)), rng.uniform(0.2, 3, rows)


@pytest.mark.parametrize("rows", [1, 2, 4, 60, 5000])
@pytest.mark.parametrize("weighted", [False, True])
def test_square_is_the_scatter(rows, weighted):
    X, Y, weight = table(rows)
    weight = weight if weighted else None
    factor, moments = Factor.of(Block(X, Y, weight)), Moments.of(Block(X, Y, weight))
    assert factor.R.shape == (min(rows, 7), 7)
    assert np.allclose(factor.R, np.triu(factor.R))
    np.testing.assert_allclose(factor.R.T @ factor.R, moments.scatter, atol=1e-12 * rows)
    np.testing.assert_allclose(factor.mean, moments.mean, rtol=1e-13, atol=1e-14)
    assert (factor.weight, factor.count) == (moments.weight, moments.count)
    about_zero = factor.uncentered()
    np.testing.assert_allclose(about_zero.T @ about_zero, moments.uncentered(), rtol=1e-11)
    same = Factor.of(Block(sparse.csr_array(X), Y, weight))
    assert np.array_equal(same.R, factor.R)


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.integers(0, 100), st.booleans())
def test_sums_do_not_depend_on_the_grouping(sizes, seed, backwards):
    X, Y, weight = table(sum(sizes), 3, 1, seed)
    cuts = np.cumsum([0, *sizes])
    parts = [Factor.of(Block(X[a:b], Y[a:b], weight[a:b])) for a, b in pairwise(cuts)]
    total = reduce(add, parts[::-1] if backwards else parts)
    whole = Moments.of(Block(X, Y, weight))
    assert total.count == whole.count
    np.testing.assert_allclose(total.R.T @ total.R, whole.scatter, atol=1e-11)
    np.testing.assert_allclose(total.mean, whole.mean, atol=1e-12)


def test_weights_are_repetitions_and_zero_is_absence():
    X, Y, _ = table(30)
    weight = np.arange(30) % 3
    spoiled = X.copy()
    spoiled[weight == 0] = np.nan
    found, wanted = (
        Factor.of(Block(spoiled, Y, weight.astype(float))),
        Factor.of(Block(X.repeat(weight, 0), Y.repeat(weight, 0))),
    )
    assert found.is_finite
    assert found.count == 20
    assert found.weight == wanted.weight == 30
    np.testing.assert_allclose(found.R.T @ found.R, wanted.R.T @ wanted.R, atol=1e-12)
    np.testing.assert_allclose(found.mean, wanted.mean, rtol=1e-14)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_least_squares_of_full_rank(intercept, weighted):
    X, Y, weight = table(200)
    weight = weight if weighted else None
    root = np.sqrt(np.ones(200) if weight is None else weight)[:, None]
    D = np.column_stack([np.ones(200), X]) if intercept else X
    wanted, rss, *_ = np.linalg.lstsq(root * D, root * Y)
    found = least_squares(ArrayRows(X, Y, weight, size=23).fold(Factor.of), intercept=intercept)
    np.testing.assert_allclose(found.coefficients, wanted[-5:], rtol=1e-10)
    np.testing.assert_allclose(found.intercept, wanted[0] if intercept else [0, 0], rtol=1e-10)
    np.testing.assert_allclose(found.residual, rss, rtol=1e-11)
    assert found.rank == 5
    assert np.all(np.diff(found.singular_values) <= 0)


@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-6])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_dependent_columns_give_the_shortest_solution(scale, offset):
    rng = np.random.default_rng(3)
    B = rng.standard_normal((300, 3))
    X = np.column_stack([B, B[:, 0], B @ [0.1, 0.7, 0.3], np.full(300, 2.0)]) + offset
    X[:, 1] *= scale
    y = B @ [1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(300)
    found = least_squares(ArrayRows(X, y, size=50).fold(Factor.of))
    assert found.rank == 3
    C, z = X - X.mean(0), y - y.mean()
    C[:, 3], C[:, 4] = C[:, 0], (C[:, :3] / [1, scale, 1]) @ [0.1, 0.7, 0.3]
    C[:, 5] = 0
    U = np.linalg.svd(C / np.array([1, scale, 1, 1, 1, 1]), full_matrices=False)[0]
    fitted = U[:, :3] @ (U[:, :3].T @ z)
    # Rounding moves columns by u of their distance from the origin, and the shortest solution answers with the ratio of their lengths.
    moved = len(X) * UNIT * (1 + offset + max(scale, 1 / scale))
    np.testing.assert_allclose(C @ found.coefficients[:, 0], fitted, atol=moved * np.linalg.norm(z))
    np.testing.assert_allclose(found.residual, ((z - fitted) ** 2).sum(), rtol=moved * (z @ z) / found.residual.item())
    shortest = np.linalg.pinv(C, rcond=1e-13) @ fitted
    np.testing.assert_allclose(found.coefficients[:, 0], shortest, rtol=0, atol=moved * np.linalg.norm(shortest))


@pytest.mark.parametrize("rows", [1, 2, 5, 6, 7])
@pytest.mark.parametrize("intercept", [True, False])
def test_fewer_rows_than_columns(rows, intercept):
    X, Y, _ = table(rows, 6, 1)
    found = least_squares(Factor.of(Block(X, Y)), intercept=intercept)
    C, z = (X - X.mean(0), Y - Y.mean(0)) if intercept else (X, Y)
    np.testing.assert_allclose(found.coefficients, np.linalg.pinv(C, rcond=1e-12) @ z, atol=1e-9)
    assert found.rank == min(6, rows - intercept)
    assert found.singular_values.shape == (6,)
    np.testing.assert_allclose(found.residual, 0, atol=1e-18 if rows < 7 else 100)


def test_units_do_not_matter():
    X, Y, _ = table(100)
    units = 10.0 ** np.array([-12, 8, 0, 3, -5])
    plain, scaled = (least_squares(Factor.of(Block(Z, Y))) for Z in (X, X * units))
    assert plain.rank == scaled.rank == 5
    np.testing.assert_allclose(scaled.coefficients * units[:, None], plain.coefficients, rtol=1e-11)
    np.testing.assert_allclose(scaled.singular_values, plain.singular_values, rtol=1e-11)


def test_large_means_cost_no_digits():
    rng = np.random.default_rng(4)
    X = np.round(rng.standard_normal((500, 4)), 3) * 1024 + 2.0**33
    y = (X - 2.0**33) @ [1.0, -2.0, 0.5, 3.0]
    found = least_squares(ArrayRows(X, y, size=64).fold(Factor.of))
    np.testing.assert_allclose(found.coefficients[:, 0], [1, -2, 0.5, 3], rtol=1e-12)


def test_no_rows_and_no_columns():
    nothing = Factor.empty(3, 1)
    some = Factor.of(Block(*table(8, 3, 1)[:2]))
    assert nothing + some is some
    assert some + nothing is some
    assert Factor.of(Block(np.empty((0, 3)), np.empty(0))).count == 0
    found = least_squares(nothing)
    assert found.rank == 0
    assert np.array_equal(found.coefficients, np.zeros((3, 1)))
    y = np.arange(5.0)
    alone = least_squares(Factor.of(Block(np.empty((5, 0)), y)))
    assert alone.intercept == pytest.approx(2)
    assert alone.residual == pytest.approx(10)


def test_what_is_not_finite_is_seen_and_refused():
    X, Y, _ = table(30)
    X[3, 1] = np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bad = Factor.of(Block(X, Y))
        assert not (bad + Factor.of(Block(X[5:], Y[5:]))).is_finite
    with pytest.raises(InputError, match="finite"):
        least_squares(bad)
    with pytest.raises(InputError, match="same columns"):
        bad + Factor.empty(2)


def test_values_are_frozen_and_travel():
    found = Factor.of(Block(*table()))
    with pytest.raises(ValueError, match="read-only"):
        found.R[0, 0] = 1
    for copy in (pickle.loads(pickle.dumps(found)), Factor.from_dict(found.to_dict())):
        assert np.array_equal((copy + found).R, (found + found).R)
        assert (copy.weight, copy.count, copy.n_features) == (found.weight, found.count, found.n_features)


def test_complements_are_the_sums_of_the_others():
    X, Y, weight = table(90)
    folds = np.arange(90) % 6
    for kind, square in ((Factor, lambda s: s.R.T @ s.R), (Moments, lambda s: s.scatter)):
        parts = [kind.of(Block(X[folds == k], Y[folds == k], weight[folds == k])) for k in range(6)]
        for k, training in enumerate(complements(parts)):
            wanted = Moments.of(Block(X[folds != k], Y[folds != k], weight[folds != k]))
            assert training.count == wanted.count
            np.testing.assert_allclose(square(training), wanted.scatter, atol=1e-11)
    assert complements(["a", "b"]) == ["b", "a"]
    with pytest.raises(InputError, match="at least two"):
        complements([1])


def test_complements_stand_an_outlier_in_one_fold():
    """Total minus fold would keep nothing of the small folds."""
    calm = [Moments.of(Block(np.random.default_rng(k).standard_normal((20, 1)))) for k in range(3)]
    wild = Moments.of(Block(np.array([[1e12], [-1e12], [0.0]])))
    assert complements([*calm, wild])[3].scatter[0, 0] == pytest.approx(reduce(add, calm).scatter[0, 0], rel=1e-14)
