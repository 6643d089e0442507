"""O-OLS1D: simple linear regression, in the two forms of the texts."""

import numpy as np

import qed

GENERATOR = np.random.default_rng(0)
X = GENERATOR.uniform(0, 10, 30)
Y = 2 * X - 1 + GENERATOR.standard_normal(30)


def model():
    return qed.LinearRegression().fit(X[:, None], Y)


def test_both_forms_agree():
    normal = np.linalg.solve([[len(X), X.sum()], [X.sum(), np.sum(X**2)]], [Y.sum(), np.sum(X * Y)])
    slope = np.sum((X - X.mean()) * (Y - Y.mean())) / np.sum((X - X.mean()) ** 2)
    np.testing.assert_allclose([model().intercept_, model().coef_[0]], normal, rtol=1e-10)
    np.testing.assert_allclose(model().coef_[0], slope, rtol=1e-12)


def test_residuals_sum_to_zero_and_are_orthogonal_to_x():
    residual = Y - model().predict(X[:, None])
    assert abs(residual.sum()) < 1e-11 and abs(residual @ X) < 1e-10


def test_line_passes_through_the_mean():
    np.testing.assert_allclose(model().predict([[X.mean()]]), [Y.mean()], rtol=1e-13)
