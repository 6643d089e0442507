"""Least squares on nasty data: certified, or honest about why not; never NaN, never a crash."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.sources.rows import ArrayRows
from tests.property.nasty import regression_problems

pytestmark = pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
QUICK = settings(max_examples=30, deadline=None)


@QUICK
@given(regression_problems(), st.booleans())
def test_least_squares_is_finite_and_as_good_as_numpy(problem, intercept):
    X, y = problem
    model = qed.LinearRegression(fit_intercept=intercept).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_)
    A = np.column_stack([np.ones(len(y)), X]) if intercept else X
    scale = np.where(np.linalg.norm(A, axis=0) > 0, np.linalg.norm(A, axis=0), 1.0)
    best = A / scale @ np.linalg.lstsq(A / scale, y, rcond=None)[0]
    ours, least = np.sum((model.predict(X) - y) ** 2), np.sum((best - y) ** 2)
    assert ours <= least + 1e-8 * np.sum(y**2) + 1e-20
    assert model.rank_ <= min(X.shape)


@QUICK
@given(regression_problems(), st.sampled_from([1e-3, 1.0, 1e3]), st.booleans())
def test_ridge_is_certified(problem, alpha, intercept):
    X, y = problem
    model = qed.Ridge(alpha=alpha, fit_intercept=intercept).fit(X, y)
    assert np.isfinite(model.coef_).all()
    assert model.certificate_, f"{model.certificate_}"
    assert qed.certify(model, X, y), f"{qed.certify(model, X, y)}"


@QUICK
@given(regression_problems(min_rows=4), st.integers(1, 3))
def test_learning_in_parts_and_forgetting(problem, size):
    X, y = problem
    whole = qed.Ridge(alpha=1.0).fit(X, y)
    parts = qed.Ridge(alpha=1.0)
    for start in range(0, len(y), size):
        parts.partial_fit(X[start : start + size], y[start : start + size])
    tolerance = 1e-7 * (np.abs(whole.predict(X)).max() + np.abs(y).max() + 1e-12)
    np.testing.assert_allclose(parts.predict(X), whole.predict(X), rtol=1e-7, atol=tolerance)
    kept = qed.Ridge(alpha=1.0).fit(X[2:], y[2:])
    left = qed.Ridge(alpha=1.0).fit(X, y).forget(X[:2], y[:2])
    np.testing.assert_allclose(left.predict(X), kept.predict(X), rtol=1e-5, atol=100 * tolerance)


@QUICK
@given(regression_problems(min_rows=2), st.sampled_from([1, 2, 3, 7]))
def test_blocks_and_threads_do_not_matter(problem, size):
    X, y = problem
    whole = qed.Ridge(alpha=0.5).fit(ArrayRows(X, y))
    with qed.threads(1):
        one = qed.Ridge(alpha=0.5).fit(ArrayRows(X, y, size=size))
    with qed.threads(3):
        three = qed.Ridge(alpha=0.5).fit(ArrayRows(X, y, size=size))
    np.testing.assert_array_equal(one.coef_, three.coef_)
    atol = 1e-8 * (np.abs(y).max() + 1e-12)
    np.testing.assert_allclose(one.predict(X), whole.predict(X), rtol=1e-8, atol=atol)


@QUICK
@given(regression_problems(min_rows=3), st.data())
def test_weights_are_repetitions_and_zero_is_absence(problem, data):
    X, y = problem
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    if not weight.any():
        weight[0] = 1
    weighted = qed.Ridge(alpha=1.0).fit(X, y, sample_weight=weight)
    repeated = qed.Ridge(alpha=1.0).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    atol = 1e-7 * (np.abs(y).max() + 1e-12)
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-7, atol=atol)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "model", [qed.LinearRegression(), qed.Ridge(), qed.GradientRidge()], ids=lambda m: type(m).__name__
)
def test_missing_and_infinite_values_are_named(model, bad):
    X, y = np.ones((5, 3)), np.arange(5.0)
    X[:, 0] = np.arange(5) ** 2
    X[3, 1] = bad
    with pytest.raises(ValueError, match=r"column number 1, row 3"):
        model.fit(X, y)


def test_values_whose_squares_overflow_are_refused():
    X = np.array([[1e200], [-1e200], [3e199]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="overflow"):
            qed.LinearRegression().fit(X, [1.0, 2.0, 3.0])


def test_a_single_row_and_a_single_value():
    model = qed.Ridge().fit([[2.0, 1.0]], [3.0])
    assert model.predict([[2.0, 1.0]]) == pytest.approx([3.0])
    assert model.certificate_
