"""Least absolute deviations: linear programming as oracle, medians, ties, bad columns, sources, resuming."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog
from sklearn.linear_model import QuantileRegressor

import qed
from qed.base.errors import ConvergenceWarning, InputError
from qed.base.sources.block import Block
from qed.base.sources.rows import ArrayRows
from qed.regression.robust.columns import Columns, Plane
from qed.regression.robust.sums import HuberSums
from tests.property.nasty import regression_problems

QUICK = settings(max_examples=30, deadline=None)


def program(A, y, weight):
    """The least sum of absolute residuals, by a linear program in well-scaled numbers; evaluated at its solution."""
    n, p = A.shape
    size, top = np.abs(A).max(axis=0), np.abs(y).max() or 1.0
    size = np.where(size > 0, size, 1.0)
    B = A / size
    found = linprog(
        np.r_[np.zeros(2 * p), weight, weight],
        A_eq=np.hstack([B, -B, np.eye(n), -np.eye(n)]),
        b_eq=y / top,
        method="highs",
    )
    w = (found.x[:p] - found.x[p : 2 * p]) * top / size
    return weight @ np.abs(y - A @ w)


def data(n=200, p=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    return X, X @ np.arange(1.0, p + 1) + 2 + generator.standard_t(1.5, n)


def objective(model, X, y, weight=None):
    return np.average(np.abs(y - model.predict(X)), weights=weight)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("n", "p"), [(60, 1), (200, 4), (80, 30), (31, 30)])
def test_the_minimum_is_that_of_a_linear_program(n, p, intercept):
    X, y = data(n, p, seed=n)
    weight = np.random.default_rng(1).integers(0, 4, n).astype(float)
    model = qed.LeastAbsoluteDeviations(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    A = np.column_stack([X, np.ones(n)]) if intercept else X
    assert weight @ np.abs(y - model.predict(X)) == pytest.approx(program(A, y, weight), rel=1e-9, abs=1e-9)
    assert model.certificate_ and model.ending_.reason is qed.Reason.CERTIFIED


def test_the_coefficients_are_those_of_the_median_regression():
    X, y = data()
    model = qed.LeastAbsoluteDeviations().fit(X, y)
    oracle = QuantileRegressor(quantile=0.5, alpha=0.0, solver="highs").fit(X, y)
    np.testing.assert_allclose(model.coef_, oracle.coef_, atol=1e-8)
    assert model.intercept_ == pytest.approx(oracle.intercept_, abs=1e-8)


def test_the_plane_goes_through_as_many_rows_as_it_has_coefficients():
    X, y = data()
    residual = np.abs(y - qed.LeastAbsoluteDeviations().fit(X, y).predict(X))
    assert np.sum(residual < 1e-10) == 5


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=15), st.integers(0, 2**32 - 1))
@QUICK
def test_of_a_constant_column_it_is_the_weighted_median(values, seed):
    y = np.array(values)
    weight = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    model = qed.LeastAbsoluteDeviations().fit(np.zeros((len(y), 1)), y, sample_weight=weight)
    least = min(weight @ np.abs(y - value) for value in y)
    assert weight @ np.abs(y - model.intercept_) <= least * (1 + 1e-8) + 1e-11 * (weight @ np.abs(y))


def test_the_median_of_an_even_number_is_any_number_between_the_middle_two():
    model = qed.LeastAbsoluteDeviations().fit(np.zeros((4, 1)), [1.0, 2.0, 4.0, 100.0])
    assert 2.0 - 1e-12 <= model.intercept_ <= 4.0 + 1e-12
    assert model.certificate_


@given(regression_problems(), st.booleans(), st.booleans())
@QUICK
def test_nasty_data_are_proven_or_it_is_said_that_they_are_not(problem, intercept, weighted):
    X, y = problem
    weight = np.random.default_rng(len(y)).integers(0, 3, len(y)).astype(float) if weighted else np.ones(len(y))
    weight[0] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = qed.LeastAbsoluteDeviations(fit_intercept=intercept).fit(X, y, sample_weight=weight)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_)
    A = np.column_stack([X, np.ones(len(y))]) if intercept else X
    if model.certificate_:
        found = weight @ np.abs(y - model.predict(X))
        assert found <= program(A, y, weight) * (1 + 1e-6) + 1e-9 * (weight @ np.abs(y))


def test_powers_of_a_column_keep_their_digits():
    """Powers up to the twelfth: sums of products have no digit left, the QR factorisation does."""
    x = np.linspace(0, 1, 80)
    X = x[:, None] ** np.arange(1, 13)
    y = np.sin(6 * x) + 0.1 * np.random.default_rng(0).standard_t(1.5, 80)
    model = qed.LeastAbsoluteDeviations().fit(X, y)
    chebyshev = np.polynomial.chebyshev.chebvander(2 * x - 1, 12)
    assert model.certificate_
    assert np.abs(y - model.predict(X)).sum() == pytest.approx(program(chebyshev, y, np.ones(80)), rel=1e-6)


def test_rows_that_lie_on_a_plane_are_followed_whatever_the_others_do():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((100, 3))
    y = X @ [1.0, -2.0, 3.0] + 4.0
    y[:40] += 1e3 * generator.standard_cauchy(40)
    model = qed.LeastAbsoluteDeviations().fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 3.0], atol=1e-9)
    assert model.certificate_


def test_an_exact_fit_and_its_certificate():
    X, _ = data(30, 3)
    y = X @ [1.0, 2.0, 3.0] - 1
    model = qed.LeastAbsoluteDeviations().fit(X, y)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-12)
    assert qed.certify(model, X, y)
    model.coef_ = model.coef_ * [1.001, 1, 1]
    assert not qed.certify(model, X, y)


def test_the_witness_proves_and_a_wrong_witness_does_not():
    """theta = clip(r / delta) of the smoothed plane is a dual point: every plane's sum is at least that of theta y."""
    X, y = data()
    model = qed.LeastAbsoluteDeviations().fit(X, y)
    theta = np.clip((y - X @ model.smooth_coef_ - model.smooth_intercept_) / model.delta_, -1, 1)
    np.testing.assert_allclose(np.column_stack([X, np.ones(200)]).T @ theta, 0.0, atol=1e-7)
    assert theta @ y == pytest.approx(np.abs(y - model.predict(X)).sum(), rel=1e-9)
    model.smooth_coef_ = model.smooth_coef_ + 0.1
    assert not qed.certify(model, X, y)


def test_sparse_matrices_are_not_made_dense(monkeypatch):
    generator = np.random.default_rng(0)
    X = sparse.random_array((300, 20), density=0.1, rng=generator, format="csr")
    y = X @ generator.standard_normal(20) + generator.standard_t(2, 300)
    dense = qed.LeastAbsoluteDeviations().fit(X.toarray(), y)
    monkeypatch.setattr("qed.regression.robust.columns.dense", None)
    thin = qed.LeastAbsoluteDeviations().fit(X, y)
    assert objective(thin, X, y) == pytest.approx(objective(dense, X.toarray(), y), rel=1e-9)
    assert thin.certificate_ and qed.certify(thin, X, y)


def test_single_precision_in_and_out():
    X, y = data()
    model = qed.LeastAbsoluteDeviations().fit(X.astype(np.float32), y.astype(np.float32))
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert model.certificate_


def test_going_on_changes_no_bit():
    X, y = data()
    whole = qed.LeastAbsoluteDeviations().fit(X, y)
    for cut in (1, 5, whole.n_iter_ - 1):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            part = qed.LeastAbsoluteDeviations(max_iter=cut).fit(X, y)
        part.set_params(max_iter=1000).resume(X, y)
        np.testing.assert_array_equal(part.coef_, whole.coef_)
        assert part.n_iter_ == whole.n_iter_


def test_blocks_do_not_matter():
    X, y = data()
    whole, blocks = (qed.LeastAbsoluteDeviations().fit(ArrayRows(X, y, size=size)) for size in (200, 7))
    np.testing.assert_allclose(blocks.coef_, whole.coef_, rtol=1e-10)


def test_two_targets_and_too_large_numbers_are_refused():
    X, y = data(20)
    with pytest.raises(InputError, match="one column"):
        qed.LeastAbsoluteDeviations().fit(X, np.column_stack([y, y]))
    with pytest.raises(InputError, match="overflow"):
        qed.LeastAbsoluteDeviations().fit(X * 1e200, y)


def test_the_sums_are_those_of_the_rows():
    X, y = data(50)
    weight = np.random.default_rng(3).uniform(0, 2, 50)
    w, b, delta = np.array([1.0, 2.0, 2.0, 4.0]), 1.5, 0.7
    sums = ArrayRows(X, y, weight, size=8).fold(HuberSums.of, Plane(w, b), delta, Columns(np.zeros(4)))
    r = y - X @ w - b
    psi, inside = np.clip(r, -delta, delta), np.abs(r) <= delta
    huber = np.where(inside, 0.5 * r**2, delta * np.abs(r) - 0.5 * delta**2)
    assert sums.loss == pytest.approx(weight @ huber, rel=1e-12)
    assert sums.absolute == pytest.approx(weight @ np.abs(r), rel=1e-12)
    np.testing.assert_allclose(sums.pull, X.T @ (weight * psi), atol=1e-12)
    assert sums.inside.count == inside.sum()
    np.testing.assert_allclose(sums.inside.uncentered()[:4, :4], (X[inside].T * weight[inside]) @ X[inside], atol=1e-11)


def test_combined_columns_are_orthonormal_and_keep_the_plane():
    from qed.stats.moments import Moments

    x = np.linspace(1, 2, 50)
    X = x[:, None] ** np.arange(1, 9)
    rows = ArrayRows(X, x)
    columns = Columns.of(rows, rows.fold(Moments.of), np.abs(X).max(axis=0), 0.0, intercept=True)
    Z = columns.read(X)
    np.testing.assert_allclose(Z.T @ Z, np.eye(Z.shape[1]), atol=1e-4)
    way = columns.outward(Plane(np.ones(Z.shape[1]), 0.5))
    np.testing.assert_allclose(X @ way.coef + way.intercept, Z.sum(axis=1) + 0.5, atol=1e-5)
    block = Block(X, x)
    assert HuberSums.of(block, Plane(np.zeros(8), 0.0), 1.0, columns).pull.shape == (Z.shape[1],)
