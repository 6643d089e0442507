"""Huber's regression: scikit-learn as oracle, a given scale, degenerate scales, bad columns, sources, resuming."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize as scipy_minimize
from sklearn.linear_model import HuberRegressor as Peer

import qed
from qed.base.errors import ConvergenceWarning, InputError, ParameterError
from qed.base.sources.rows import ArrayRows
from qed.optim import HuberLoss
from tests.property.nasty import regression_problems

QUICK = settings(max_examples=25, deadline=None)


def data(n=200, p=4, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    return X, X @ np.arange(1.0, p + 1) + 2 + generator.standard_t(1.5, n)


def objective(X, y, coef, intercept, scale, weight=None, epsilon=1.35, alpha=0.0001):
    """scikit-learn's objective, written as in its documentation."""
    weight = np.ones(len(y)) if weight is None else weight
    z = np.abs(y - X @ coef - intercept) / scale
    H = np.where(z < epsilon, z**2, 2 * epsilon * z - epsilon**2)
    return weight @ (scale + H * scale) + alpha * coef @ coef


def value(model, X, y, weight=None):
    parameters = {"epsilon": model.epsilon, "alpha": model.alpha}
    return objective(X, y, model.coef_, model.intercept_, model.scale_, weight, **parameters)


@pytest.mark.parametrize("epsilon", [1.05, 1.35, 3.0])
@pytest.mark.parametrize("alpha", [0.0, 0.0001, 5.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_it_is_scikit_learns_model(epsilon, alpha, intercept):
    X, y = data()
    weight = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    settings = {"epsilon": epsilon, "alpha": alpha, "fit_intercept": intercept}
    model = qed.HuberRegressor(**settings).fit(X, y, sample_weight=weight)
    peer = Peer(**settings, tol=1e-11, max_iter=10000).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    assert model.intercept_ == pytest.approx(peer.intercept_, abs=1e-4)
    assert model.scale_ == pytest.approx(peer.scale_, rel=1e-4)
    theirs = objective(X, y, peer.coef_, peer.intercept_, peer.scale_, weight, epsilon, alpha)
    assert value(model, X, y, weight) <= theirs * (1 + 1e-12)
    assert model.ending_.step.objective == pytest.approx(value(model, X, y, weight), rel=1e-12)
    assert model.certificate_ and model.ending_.reason is qed.Reason.CERTIFIED


def test_outliers_are_the_rows_beyond_epsilon_scales():
    X, y = data()
    model = qed.HuberRegressor().fit(X, y)
    np.testing.assert_array_equal(model.outliers_, np.abs(y - model.predict(X)) > 1.35 * model.scale_)
    np.testing.assert_array_equal(model.outliers_, Peer(tol=1e-10, max_iter=1000).fit(X, y).outliers_)


def test_the_scale_balances_squares_and_rows():
    """At the minimum the sum of clip(r / scale, -epsilon, epsilon)^2 is the number of rows."""
    X, y = data()
    model = qed.HuberRegressor().fit(X, y)
    cut = np.clip((y - model.predict(X)) / model.scale_, -1.35, 1.35)
    assert np.sum(cut**2) == pytest.approx(len(y), rel=1e-9)


@pytest.mark.parametrize("scale", [0.2, 1.0, 50.0])
@pytest.mark.parametrize("alpha", [0.0, 2.0])
def test_a_given_scale_is_the_loss_of_the_course(scale, alpha):
    X, y = data()
    delta = 1.35 * scale
    model = qed.HuberRegressor(scale=scale, alpha=alpha).fit(X, y)

    def course(point):
        return HuberLoss(delta).value(X @ point[:4] + point[4], y) + alpha * scale / 2 * point[:4] @ point[:4]

    oracle = scipy_minimize(course, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    np.testing.assert_allclose([*model.coef_, model.intercept_], oracle.x, atol=1e-5)
    assert model.scale_ == scale and model.certificate_


def test_the_scale_that_was_found_can_be_given():
    X, y = data()
    found = qed.HuberRegressor().fit(X, y)
    given = qed.HuberRegressor(scale=found.scale_).fit(X, y)
    np.testing.assert_allclose(given.coef_, found.coef_, atol=1e-6)


def test_a_large_delta_is_least_squares_and_a_small_one_least_absolute_deviations():
    X, y = data()
    wide = qed.HuberRegressor(scale=1e6, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(wide.coef_, qed.LinearRegression().fit(X, y).coef_, rtol=1e-9)
    narrow = qed.HuberRegressor(scale=1e-7, alpha=0.0).fit(X, y)
    np.testing.assert_allclose(narrow.coef_, qed.LeastAbsoluteDeviations().fit(X, y).coef_, atol=1e-5)


@pytest.mark.parametrize("factor", [1e-8, 1e-3, 1e6])
def test_units_of_the_target_do_not_matter(factor):
    X, y = data()
    one, other = (qed.HuberRegressor(alpha=0.0).fit(X, y * unit) for unit in (1.0, factor))
    np.testing.assert_allclose(other.coef_ / factor, one.coef_, rtol=1e-6)
    assert other.scale_ / factor == pytest.approx(one.scale_, rel=1e-6)
    assert other.certificate_


@pytest.mark.parametrize("moved", ["coef_", "intercept_", "scale_"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_certify_objects_when_anything_is_moved(moved, alpha):
    X, y = data()
    model = qed.HuberRegressor(alpha=alpha).fit(X, y)
    assert qed.certify(model, X, y)
    setattr(model, moved, getattr(model, moved) * 1.001)
    assert not qed.certify(model, X, y)


def test_where_most_rows_lie_on_a_plane_no_scale_is_best_and_the_least_is_taken():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((100, 3))
    y = X @ [1.0, -2.0, 3.0] + 4.0
    y[:20] += 50 * generator.standard_normal(20)
    model = qed.HuberRegressor(alpha=0.0).fit(X, y)
    assert model.scale_ <= 1e-8 * y.std()
    np.testing.assert_allclose(model.coef_, [1.0, -2.0, 3.0], atol=1e-7)
    assert model.certificate_


@given(regression_problems(), st.booleans(), st.sampled_from([0.0, 1e-4, 1.0]))
@QUICK
def test_nasty_data_are_proven_or_it_is_said_that_they_are_not(problem, intercept, alpha):
    X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.HuberRegressor(alpha=alpha, fit_intercept=intercept).fit(X, y)
        try:
            peer = Peer(alpha=alpha, fit_intercept=intercept, tol=1e-10, max_iter=1000).fit(X, y)
        except ValueError:  # the peer gives up on some of these tables
            peer = model
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_) and model.scale_ > 0
    if model.certificate_:
        scale = max(peer.scale_, model.scale_)
        theirs = objective(X, y, peer.coef_, peer.intercept_, scale, alpha=alpha)
        slack = 1e-8 * np.abs(y - y.mean()).sum() + 1e-13 * np.abs(y).sum()
        assert value(model, X, y) - len(y) * model.scale_ <= theirs * (1 + 1e-6) + slack


def test_sparse_matrices_are_not_made_dense(monkeypatch):
    generator = np.random.default_rng(0)
    X = sparse.random_array((300, 20), density=0.1, rng=generator, format="csr")
    y = X @ generator.standard_normal(20) + generator.standard_t(2, 300)
    full = qed.HuberRegressor().fit(X.toarray(), y)
    monkeypatch.setattr("qed.regression.robust.columns.dense", None)
    thin = qed.HuberRegressor().fit(X, y)
    np.testing.assert_allclose(thin.coef_, full.coef_, atol=1e-6)
    assert thin.certificate_ and qed.certify(thin, X, y)


def test_going_on_changes_no_bit():
    X, y = data()
    whole = qed.HuberRegressor().fit(X, y)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        part = qed.HuberRegressor(max_iter=2).fit(X, y)
    part.set_params(max_iter=100).resume(X, y)
    np.testing.assert_array_equal(part.coef_, whole.coef_)
    assert part.scale_ == whole.scale_ and part.n_iter_ == whole.n_iter_


def test_blocks_do_not_matter():
    X, y = data()
    whole, blocks = (qed.HuberRegressor().fit(ArrayRows(X, y, size=size)) for size in (200, 7))
    np.testing.assert_allclose(blocks.coef_, whole.coef_, rtol=1e-10)
    np.testing.assert_array_equal(blocks.outliers_, whole.outliers_)


@pytest.mark.parametrize("wrong", [{"epsilon": 0.9}, {"scale": 0.0}, {"scale": "guessed"}, {"alpha": -1.0}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        qed.HuberRegressor(**wrong).fit(*data(20))


def test_two_targets_are_refused():
    X, y = data(20)
    with pytest.raises(InputError, match="one column"):
        qed.HuberRegressor().fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.sampled(2)
def test_many_sparse_columns_are_fitted_as_dense_ones(intercept, twice):
    """They are multiplied out at once, not block by block; a column that stands there twice has no factor, but a basis."""
    generator = np.random.default_rng(5)
    X = np.where(generator.random((900, 130)) < 0.2, generator.standard_normal((900, 130)), 0.0)
    if twice:
        X[:, 129] = X[:, 0]
    y = X[:, :5].sum(axis=1) + 1.0 + generator.standard_t(1.5, 900)
    weight = generator.integers(0, 3, 900).astype(float)
    settings = {"fit_intercept": intercept, "alpha": 0.1}
    found = qed.HuberRegressor(**settings).fit(sparse.csr_array(X), y, weight)
    dense = qed.HuberRegressor(**settings).fit(X, y, weight)
    assert found.certificate_ and dense.certificate_
    np.testing.assert_allclose(found.coef_, dense.coef_, atol=1e-5)
    # Both are within their tolerance, 1e-10 relative, of the same minimum.
    assert value(found, X, y, weight) == pytest.approx(value(dense, X, y, weight), rel=4e-10)
    assert (found.outliers_ == dense.outliers_).mean() > 0.99
    assert bool(qed.certify(found, sparse.csr_array(X), y, weight))
