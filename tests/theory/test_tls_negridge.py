"""tls-negridge: total least squares is ridge with a negative penalty. The off-diagonals of E[Z'Z] vanish because the *columns* of Z are
independent [ERR 22]."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import problem


@pytest.mark.parametrize("seed", range(5))
def test_equals_the_solution_by_singular_vectors(seed):
    """Computes: (X'X - s^2 I) w = X'y, and [w; -1] is the eigenvector of the augmented Gram matrix for s^2."""
    X, y, _ = problem(n=25, p=4, seed=seed)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    w, square = model.coef_, model.error_
    np.testing.assert_allclose(np.linalg.solve(X.T @ X - square * np.eye(4), X.T @ y), w, rtol=1e-9)
    both = np.column_stack([X, y])
    vector = np.append(w, -1)
    assert np.abs(both.T @ both @ vector - square * vector).max() < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_longer_than_least_squares(seed):
    """Theory: ||w_TLS|| >= ||w_OLS||."""
    X, y, _ = problem(n=25, p=4, seed=seed)
    total = qed.TotalLeastSquares(fit_intercept=False).fit(X, y).coef_
    plain = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    assert np.linalg.norm(total) >= np.linalg.norm(plain)


def test_noise_adds_a_multiple_of_the_identity():
    """Theory: E[Z'Z] = n sigma^2 I; taking it away from E[X'X] leaves what the true columns have."""
    n, d, draws, sigma = 30, 3, 4000, 0.5
    truth = np.random.default_rng(0).standard_normal((n, d))
    noise = qed.data.synthetic.noise((draws, n, d), scale=sigma, random_state=0)
    mean = np.einsum("kni,knj->ij", noise, noise) / draws
    np.testing.assert_allclose(mean, n * sigma**2 * np.eye(d), atol=0.1)
    noisy = truth + noise
    gram = np.einsum("kni,knj->ij", noisy, noisy) / draws
    np.testing.assert_allclose(gram - n * sigma**2 * np.eye(d), truth.T @ truth, atol=0.5)


def test_shared_noise_would_not_vanish_off_the_diagonal():
    """[ERR 22]: rows can be as independent as they like; it is independence of the columns that is needed."""
    column = qed.data.synthetic.noise((20_000, 1), random_state=0)
    apart = qed.data.synthetic.noise((20_000, 2), random_state=0)
    dependent = np.hstack([column, column])
    assert (dependent.T @ dependent)[0, 1] / len(column) > 0.9
    assert abs((apart.T @ apart)[0, 1]) / len(column) < 4 / np.sqrt(20_000)
