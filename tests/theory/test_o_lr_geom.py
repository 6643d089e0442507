"""O-LR-GEOM: the geometry of least squares for two features and three points."""

import numpy as np

import qed

X = np.array([[1.0, 0.5], [-1.0, 2.0], [0.5, 1.0]])
Y = np.array([1.0, -2.0, 0.7])


def test_fitted_vector_is_orthogonal_to_the_residual():
    fitted = qed.LinearRegression(fit_intercept=False).fit(X, Y).predict(X)
    assert abs((Y - fitted) @ fitted) < 1e-13


def test_hat_matrix_is_idempotent():
    H = qed.LinearRegression(fit_intercept=False).fit(X, np.eye(3)).predict(X).T
    np.testing.assert_allclose(H @ H, H, atol=1e-13)
    np.testing.assert_allclose(H @ Y, qed.LinearRegression(fit_intercept=False).fit(X, Y).predict(X), atol=1e-13)
