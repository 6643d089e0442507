"""Catalogue entry O-POLYREG: polynomial regression is least squares on expanded features."""

import numpy as np

import qed

rng = np.random.default_rng(1)


def test_three_and_six_coefficients():
    assert qed.PolynomialFeatures(2).fit(np.ones((1, 1))).n_output_features_ == 3
    assert qed.PolynomialFeatures(2).fit(np.ones((1, 2))).n_output_features_ == 6
    names = qed.PolynomialFeatures(2).fit(np.ones((1, 2))).get_feature_names_out(["x1", "x2"]).tolist()
    assert names == ["1", "x1", "x2", "x1^2", "x1 x2", "x2^2"]


def test_a_noiseless_quadratic_is_recovered_exactly():
    x = rng.uniform(-3, 3, size=(20, 1))
    y = 2 - 3 * x[:, 0] + 0.5 * x[:, 0] ** 2
    model = qed.LinearRegression().fit(qed.PolynomialFeatures(2, include_bias=False).fit_transform(x), y)
    np.testing.assert_allclose(model.coef_, [-3, 0.5], rtol=1e-11)
    np.testing.assert_allclose(model.intercept_, 2, rtol=1e-11)


def test_a_noiseless_bivariate_quadratic_is_recovered_exactly():
    X = rng.uniform(-2, 2, size=(30, 2))
    a, b = X.T
    w0, w1, w2, w3, w4, w5 = 1.0, -2.0, 3.0, 0.5, -0.25, 4.0
    y = w5 * b**2 + w4 * a**2 + w3 * a * b + w2 * b + w1 * a + w0
    Phi = qed.PolynomialFeatures(2).fit_transform(X)
    model = qed.LinearRegression(fit_intercept=False).fit(Phi, y)
    assert model.rank_ == 6 and ((y - model.predict(Phi)) ** 2).sum() < 1e-24
    np.testing.assert_allclose(model.coef_, [w0, w1, w2, w4, w3, w5], rtol=1e-11)


def test_it_equals_least_squares_on_the_expanded_features():
    x = rng.uniform(-1, 1, size=(50, 1))
    y = np.sin(3 * x[:, 0]) + 0.1 * rng.normal(size=50)
    Phi = qed.PolynomialFeatures(5).fit_transform(x)
    np.testing.assert_allclose(Phi, np.vander(x[:, 0], 6, increasing=True), rtol=1e-14)
    model = qed.LinearRegression(fit_intercept=False).fit(Phi, y)
    np.testing.assert_allclose(model.coef_, np.polyfit(x[:, 0], y, 5)[::-1], rtol=1e-8)
