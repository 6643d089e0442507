"""O-RIDGE-EX: some penalty always beats maximum likelihood in expected squared error."""

import numpy as np

import qed

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((30, 4)) @ np.diag([3.0, 1.0, 0.5, 0.2])
TRUTH = np.array([0.5, -1.0, 0.3, 0.8])
SIGMA = 1.0
VALUE, VECTOR = np.linalg.eigh(X.T @ X)
PART = VECTOR.T @ TRUTH


def expected_error(lam):
    return np.sum((SIGMA**2 * VALUE + lam**2 * PART**2) / (VALUE + lam) ** 2)


def test_formula_agrees_with_monte_carlo():
    draws = 1000
    Y = (X @ TRUTH)[:, None] + SIGMA * np.random.default_rng(1).standard_normal((30, draws))
    for lam in (0.1, 1.0, 5.0):
        found = qed.Ridge(alpha=lam, fit_intercept=False).fit(X, Y).coef_
        errors = np.sum((found - TRUTH) ** 2, axis=1)
        assert abs(errors.mean() - expected_error(lam)) < 4 * errors.std() / np.sqrt(draws)


def test_every_penalty_up_to_the_bound_improves():
    """By the matrix that takes y to the coefficients, read off our own fits: bias and variance of every one are exact."""
    bound = 2 * SIGMA**2 / (TRUTH @ TRUTH)

    def error(lam):
        model = qed.Ridge(alpha=lam, fit_intercept=False) if lam else qed.LinearRegression(fit_intercept=False)
        takes = model.fit(X, np.eye(len(X))).coef_
        return float(((takes.T @ (X @ TRUTH) - TRUTH) ** 2).sum() + SIGMA**2 * (takes**2).sum())

    plain = error(0.0)
    assert plain == np.float64(plain) and abs(plain - expected_error(0.0)) < 1e-8 * plain
    for lam in np.linspace(1e-3, bound, 20):
        assert error(lam) < plain and abs(error(lam) - expected_error(lam)) < 1e-8 * plain
