"""O-L1MAP: the regularised error as minus the logarithm of a posterior.

The text says that the hypothesis which *maximises* the regularised error is the MAP one (S19); it is the one that minimises it.
"""

import numpy as np
import pytest
from scipy.optimize import minimize as scipy_minimize
from scipy.stats import laplace, norm

from qed.optim import L1, L2, SquaredLoss, minimize, penalised
from tests.theory.fixtures import problem

X, Y, _ = problem(n=30, p=3, seed=2)
NOISE, WIDTH = 0.8, 0.5


def log_posterior(w, prior):
    """Gaussian noise of deviation NOISE, and a prior of the coefficients; up to a constant."""
    return norm(X @ w, NOISE).logpdf(Y).sum() + prior.logpdf(w).sum()


def lasso(alpha):
    return penalised(X, Y, SquaredLoss(), L1(alpha))


def test_minus_the_log_posterior_is_the_regularised_error_up_to_scale_and_a_constant():
    """1/2 |y - Xw|^2 + alpha |w|_1 with alpha = NOISE^2 / WIDTH."""
    objective, prior = lasso(NOISE**2 / WIDTH), laplace(0, WIDTH)
    differences = [
        objective.value(w) + NOISE**2 * log_posterior(w, prior)
        for w in np.random.default_rng(0).standard_normal((6, 3))
    ]
    np.testing.assert_allclose(differences, differences[0], rtol=1e-12)


@pytest.mark.parametrize("width", [0.02, 0.1, 0.5])
def test_laplace_prior_gives_the_lasso(width):
    prior = laplace(0, width)
    found = minimize(lasso(NOISE**2 / width), np.zeros(3), method="proximal", tol=1e-14)
    starts = [found.point, np.zeros(3), np.linalg.lstsq(X, Y)[0]]
    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 10**4, "maxfev": 10**4}

    def minus(w):
        """Minus the logarithm of the posterior, but for a constant, and faster than by the distributions of SciPy."""
        return ((X @ w - Y) ** 2).sum() / (2 * NOISE**2) + np.abs(w).sum() / width

    modes = [scipy_minimize(minus, start, method="Nelder-Mead", options=options) for start in starts]
    mode = min(modes, key=lambda one: one.fun)
    np.testing.assert_allclose(found.point, mode.x, atol=1e-5)
    assert log_posterior(found.point, prior) >= log_posterior(mode.x, prior) - 1e-9


def test_gaussian_prior_gives_ridge():
    alpha = NOISE**2 / WIDTH**2
    found = minimize(penalised(X, Y, SquaredLoss(), L2(alpha)), np.zeros(3), method="proximal", tol=1e-14)
    np.testing.assert_allclose(found.point, np.linalg.solve(X.T @ X + alpha * np.eye(3), X.T @ Y), atol=1e-6)
    mode = scipy_minimize(lambda w: -log_posterior(w, norm(0, WIDTH)), np.zeros(3), options={"gtol": 1e-9})
    np.testing.assert_allclose(found.point, mode.x, atol=1e-5)


def test_the_minimiser_is_the_map_hypothesis_and_a_maximiser_there_is_none():
    objective, prior = lasso(NOISE**2 / WIDTH), laplace(0, WIDTH)
    best = minimize(objective, np.zeros(3), method="proximal", tol=1e-14)
    generator = np.random.default_rng(1)
    for size in (1e-3, 1.0, 1e3):
        other = best.point + size * generator.standard_normal(3)
        assert objective.value(other) > best.value
        assert log_posterior(other, prior) < log_posterior(best.point, prior)
