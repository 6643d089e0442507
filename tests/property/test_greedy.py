"""Pursuits, best subsets and total least squares on nasty data: certified, or honest about why not; never NaN, never a crash."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.base.errors import DegenerateError
from qed.base.sources.rows import ArrayRows
from tests.property.nasty import regression_problems

pytestmark = pytest.mark.filterwarnings(
    "ignore::qed.base.errors.DegenerateWarning", "ignore::qed.base.errors.ConvergenceWarning"
)
QUICK = settings(max_examples=30, deadline=None)
PURSUITS = st.sampled_from([qed.OrthogonalMatchingPursuit, qed.MatchingPursuit])


@QUICK
@given(regression_problems(), PURSUITS, st.integers(1, 6), st.booleans())
def test_pursuits_are_certified(problem, kind, size, intercept):
    X, y = problem
    given_size = min(size, X.shape[1])
    more = {"max_iter": 5000} if kind is qed.MatchingPursuit else {}
    model = kind(n_nonzero_coefs=given_size, fit_intercept=intercept, **more).fit(X, y)
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_)
    assert np.count_nonzero(model.coef_) <= given_size
    assert (np.diff(model.errors_) <= 0).all()
    # Where columns nearly alike cancel what is far larger than the target, predictions are rounding: that can not be proven.
    rounding = np.finfo(float).eps * float((np.abs(X) @ np.abs(model.coef_)).max())
    if model.ending_.reason is qed.Reason.CERTIFIED and rounding < 1e-5 * np.linalg.norm(y - y.mean() * intercept):
        assert model.certificate_, f"{model.certificate_}"
        assert qed.certify(model, X, y), f"{qed.certify(model, X, y)}"


@QUICK
@given(regression_problems(min_rows=3), PURSUITS, st.data())
def test_weights_are_repetitions(problem, kind, data):
    X, y = problem
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    if not weight.any():
        weight[0] = 1
    weighted = kind(n_nonzero_coefs=1).fit(X, y, sample_weight=weight)
    repeated = kind(n_nonzero_coefs=1).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(
        weighted.errors_[-1], repeated.errors_[-1], rtol=1e-6, atol=1e-9 * (weight @ y**2 + 1e-30)
    )


@QUICK
@given(regression_problems(min_rows=2), PURSUITS, st.sampled_from([1, 3, 7]))
def test_threads_do_not_matter(problem, kind, size):
    X, y = problem
    with qed.threads(1):
        one = kind(n_nonzero_coefs=1).fit(ArrayRows(X, y, size=size))
    with qed.threads(3):
        three = kind(n_nonzero_coefs=1).fit(ArrayRows(X, y, size=size))
    np.testing.assert_array_equal(one.coef_, three.coef_)


@QUICK
@given(regression_problems(), st.integers(1, 6), st.booleans())
def test_best_subsets_are_never_worse_than_greedy(problem, size, intercept):
    X, y = problem
    k = min(size, X.shape[1])
    best = qed.BestSubset(n_nonzero_coefs=k, fit_intercept=intercept).fit(X, y)
    greedy = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=intercept).fit(X, y)
    assert np.isfinite(best.coef_).all() and np.isfinite(best.errors_).all()
    scale = greedy.errors_[0]
    turns = len(greedy.errors_)
    assert (best.errors_[:turns] <= greedy.errors_ + 1e-8 * scale).all()
    assert best.certificate_, f"{best.certificate_}"


@QUICK
@given(regression_problems(), st.booleans())
def test_total_least_squares_is_certified_or_has_no_solution(problem, intercept):
    X, y = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = qed.TotalLeastSquares(fit_intercept=intercept).fit(X, y)
        except DegenerateError as error:
            assert "no solution" in str(error)
            return
    assert np.isfinite(model.coef_).all()
    plain = qed.LinearRegression(fit_intercept=intercept).fit(X, y)

    def error(fitted):
        vertical = np.sum((y - fitted.predict(X)) ** 2)
        return vertical / (1 + fitted.coef_ @ fitted.coef_)

    scale = np.sum((X - X.mean(axis=0) * intercept) ** 2) + np.sum((y - y.mean() * intercept) ** 2)
    assert error(model) <= error(plain) + 1e-9 * scale
