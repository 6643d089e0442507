"""On linear functions nonlinear least squares is linear least squares, whatever the table looks like."""

import warnings

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import qed
from qed.optim import LevenbergMarquardt, Residuals
from qed.optim.functions.tangent import Tangent
from tests.property.nasty import regression_problems


def linear(X, w):
    return X @ w


@settings(max_examples=30)
@given(regression_problems(min_rows=1), st.booleans())
def test_a_linear_function_gives_linear_regression(problem, weighted):
    X, y = problem
    weight = np.arange(len(X)) % 3.0 if weighted and len(X) > 2 else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = qed.NonlinearLeastSquares(linear, np.zeros(X.shape[1])).fit(X, y, sample_weight=weight)
        exact = qed.LinearRegression(fit_intercept=False).fit(X, y, sample_weight=weight)
    used = np.ones(len(X)) if weight is None else weight
    size = max(float(used @ y**2), 1e-300)
    errors = [float(used @ (y - m.predict(X)) ** 2) for m in (model, exact)]
    assert errors[0] <= errors[1] * (1 + 1e-6) + 1e-10 * size
    assert np.isfinite(model.coef_).all()
    if model.certificate_:
        assert model.ending_.reason in (qed.Reason.CERTIFIED, qed.Reason.STALLED)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(1, 5), st.integers(1, 29))
def test_the_tangent_of_all_rows_is_the_sum_of_its_parts(seed, n, d, cut):
    generator = np.random.default_rng(seed)
    J, r = generator.standard_normal((n, d)), generator.standard_normal(n)
    whole = Tangent.of(J, r)
    cut = min(cut, n)
    parts = Tangent.of(J[:cut], r[:cut]) + Tangent.of(J[cut:], r[cut:])
    np.testing.assert_allclose(parts.cost, whole.cost, rtol=1e-12)
    np.testing.assert_allclose(parts.gradient, whole.gradient, atol=1e-12 * n)
    np.testing.assert_allclose(J @ parts.step(), J @ whole.step(), atol=1e-8)
    np.testing.assert_allclose(whole.cost, 0.5 * r @ r, rtol=1e-12)
    np.testing.assert_allclose(whole.gradient, J.T @ r, atol=1e-12 * n)
    wanted = np.linalg.lstsq(J, -r, rcond=None)[0]
    np.testing.assert_allclose(J @ whole.step(), J @ wanted, atol=1e-8)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.floats(-3, 3), st.floats(-3, 3))
def test_levenberg_marquardt_never_climbs(seed, a, b):
    generator = np.random.default_rng(seed)
    x, y = generator.uniform(-1, 1, 15), generator.standard_normal(15)
    objective = Residuals(lambda w: np.sin(w[0] * x) * np.exp(w[1] * x) - y)
    steps = LevenbergMarquardt().steps(objective, [a, b])
    costs = [step.objective for step, _ in zip(steps, range(25))]
    assert all(after <= before * (1 + 1e-12) for before, after in zip(costs, costs[1:]))
