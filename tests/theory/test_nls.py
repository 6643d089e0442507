"""NLS: the nonlinear least-squares estimator.

The text prints the gradient of L = 1/2 sum (y - f)^2 as J'(y - F); it is -J'(y - F), also in the linear case. Descending along the
printed one climbs (erratum E1).
"""

import numpy as np
import pytest
from scipy.stats import norm

import qed
from qed.optim import Residuals
from tests.theory.fixtures import problem, slope

X = np.linspace(0, 4, 25)[:, None]
TRUTH = np.array([2.0, 0.7])
Y = TRUTH[0] * np.exp(-TRUTH[1] * X[:, 0]) + 0.05 * np.random.default_rng(0).standard_normal(25)
METHODS = ["levenberg-marquardt", "gauss-newton", "newton", "gradient"]


def decay(X, w):
    return w[0] * np.exp(-w[1] * X[:, 0])


def decay_slopes(X, w):
    falling = np.exp(-w[1] * X[:, 0])
    return np.column_stack([falling, -w[0] * X[:, 0] * falling])


def linear(X, w):
    return X @ w


def loss(w):
    return 0.5 * np.sum((Y - decay(X, w)) ** 2)


@pytest.mark.parametrize("sigma", [0.1, 1.0, 3.0])
def test_likelihood_and_squares_differ_by_a_constant(sigma):
    points = np.random.default_rng(1).uniform(0.1, 3, (20, 2))
    squares = Residuals(lambda w: Y - decay(X, w), lambda w: -decay_slopes(X, w))
    apart = [-norm(decay(X, w), sigma).logpdf(Y).sum() - squares.value(w) / sigma**2 for w in points]
    np.testing.assert_allclose(apart, apart[0], rtol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_every_solver_gives_least_squares_on_a_linear_model(method):
    A, b, _ = problem()
    tol = 1e-8 if method == "gradient" else 1e-10  # a line search sees half of the digits
    model = qed.NonlinearLeastSquares(linear, np.zeros(5), method=method, tol=tol).fit(A, b)
    exact = qed.LinearRegression(fit_intercept=False).fit(A, b)
    # The rule of stopping: within about tol * sqrt(n) standard errors.
    near = 2 * tol * np.sqrt(len(b)) * np.asarray(exact.inference_.standard_errors).max()
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=near)
    np.testing.assert_allclose(A.T @ (b - A @ model.coef_), 0, atol=100 * tol)
    assert model.certificate_


def test_the_jacobian_of_a_linear_model_is_x():
    A, b, _ = problem()
    for w in np.random.default_rng(0).standard_normal((3, 5)):
        plane = Residuals(lambda w: A @ w - b).tangent(w)
        np.testing.assert_allclose(plane.triangle[:, :5].T @ plane.triangle[:, :5], A.T @ A, rtol=1e-10, atol=1e-10)


def test_the_gradient_is_minus_j_transposed_times_the_residual():
    objective = Residuals(lambda w: decay(X, w) - Y)
    for w in np.random.default_rng(2).uniform(0.2, 2, (5, 2)):
        J, rest = decay_slopes(X, w), Y - decay(X, w)
        np.testing.assert_allclose(objective.gradient(w), -J.T @ rest, rtol=1e-9)
        np.testing.assert_allclose(objective.gradient(w), slope(loss, w), rtol=1e-6)
        printed = J.T @ rest
        short = 1e-4 / np.linalg.norm(printed)
        value = objective.value
        assert value(w - short * printed) > value(w) > value(w + short * printed)


def test_stationary_at_the_estimate():
    model = qed.NonlinearLeastSquares(decay, [1.0, 1.0]).fit(X, Y)
    J, rest = decay_slopes(X, model.coef_), Y - decay(X, model.coef_)
    np.testing.assert_allclose(J.T @ rest, 0, atol=1e-10 * np.linalg.norm(J) * np.linalg.norm(rest))
    assert np.abs(model.coef_ - TRUTH).max() < 0.1
    assert model.cost_ == pytest.approx(loss(model.coef_), rel=1e-12)


def test_the_variance_of_the_noise_does_not_move_the_estimate():
    once = qed.NonlinearLeastSquares(decay, [1.0, 1.0]).fit(X, Y).coef_
    weighted = qed.NonlinearLeastSquares(decay, [1.0, 1.0]).fit(X, Y, sample_weight=np.full(25, 1 / 0.3**2)).coef_
    np.testing.assert_allclose(weighted, once, rtol=1e-9)


def wave(X, w):
    return np.sin(w[0] * X[:, 0])


def test_stationary_is_not_minimal():
    """At w = 0 the squares of a cosine model are stationary, and a maximum: the certificate says so."""

    def hill(X, w):
        return np.cos(w[0] * X[:, 0])

    y = np.cos(1.5 * X[:, 0])
    objective = Residuals(lambda w: hill(X, w) - y)
    np.testing.assert_allclose(objective.gradient([0.0]), 0, atol=1e-12)
    assert objective.hessian([0.0])[0, 0] < 0
    with pytest.warns(qed.base.errors.ConvergenceWarning):
        stuck = qed.NonlinearLeastSquares(hill, [0.0]).fit(X, y)
    assert stuck.coef_[0] == 0 and not stuck.certificate_


def test_local_minima_depend_on_the_start():
    y = wave(X, [2.0])
    right = qed.NonlinearLeastSquares(wave, [1.8]).fit(X, y)
    other = qed.NonlinearLeastSquares(wave, [6.0]).fit(X, y)
    assert right.coef_[0] == pytest.approx(2.0, rel=1e-10) and right.certificate_
    assert abs(other.coef_[0]) > 3 and other.cost_ > 1 and other.certificate_
    best = qed.NonlinearLeastSquares(wave, [[6.0], [1.8]]).fit(X, y)
    assert best.coef_[0] == pytest.approx(2.0, rel=1e-10) and best.start_[0] == 1.8
