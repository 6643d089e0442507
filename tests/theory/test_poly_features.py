"""Catalogue entry poly-features: all monomials up to a degree, and what a linear model in them can fit."""

import numpy as np
import pytest

import qed

TABLE = {
    0: {"1"},
    1: {"x1", "x2"},
    2: {"x1^2", "x2^2", "x1 x2"},
    3: {"x1^3", "x2^3", "x1^2 x2", "x1 x2^2"},
}


def test_the_table_of_bivariate_monomials():
    for degree in range(4):
        model = qed.PolynomialFeatures(degree).fit(np.ones((1, 2)))
        wanted = set().union(*(TABLE[k] for k in range(degree + 1)))
        assert set(model.get_feature_names_out(["x1", "x2"])) == wanted
        exactly = qed.PolynomialFeatures((degree, degree), include_bias=degree == 0).fit(np.ones((1, 2)))
        assert set(exactly.get_feature_names_out(["x1", "x2"])) == TABLE[degree]


def test_the_univariate_powers():
    x = np.array([[2.0], [-3.0]])
    assert qed.PolynomialFeatures(4).fit_transform(x).tolist() == [[1, 2, 4, 8, 16], [1, -3, 9, -27, 81]]


def test_each_column_is_the_product_of_its_powers():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = qed.PolynomialFeatures(4).fit(X)
    wanted = np.prod(X[:, None, :] ** model.powers_[None], axis=2)
    np.testing.assert_allclose(model.transform(X), wanted, rtol=1e-13)
    assert model.powers_.sum(axis=1).max() == 4
    assert len(np.unique(model.powers_, axis=0)) == len(model.powers_)


@pytest.mark.parametrize("p, degree", [(1, 5), (2, 3), (3, 2)])
def test_a_polynomial_of_that_degree_is_fitted_without_error(p, degree):
    rng = np.random.default_rng(degree)
    X = rng.uniform(-1, 1, size=(60, p))
    Phi = qed.PolynomialFeatures(degree).fit_transform(X)
    truth = rng.normal(size=Phi.shape[1])
    y = Phi @ truth
    model = qed.LinearRegression(fit_intercept=False).fit(Phi, y)
    np.testing.assert_allclose(model.coef_, truth, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.predict(Phi), y, rtol=1e-10, atol=1e-11)
    lower = qed.PolynomialFeatures(degree - 1).fit_transform(X)
    short = qed.LinearRegression(fit_intercept=False).fit(lower, y)
    assert np.abs(short.predict(lower) - y).max() > 1e-3


def test_smooth_functions_are_approximated_better_and_better():
    x = np.linspace(-1, 1, 200)[:, None]
    y = np.exp(x[:, 0])
    errors = []
    for degree in range(1, 9):
        Phi = qed.PolynomialFeatures(degree).fit_transform(x)
        errors.append(np.abs(qed.LinearRegression(fit_intercept=False).fit(Phi, y).predict(Phi) - y).max())
    assert all(after < before for before, after in zip(errors, errors[1:]))
    # Taylor's theorem bounds the best error of degree d by e / (d + 1)!.
    for degree, error in enumerate(errors, 1):
        assert error <= 2 * np.e / np.prod(np.arange(1, degree + 2), dtype=float)


def test_raw_monomials_are_badly_conditioned_and_scaling_helps():
    x = np.linspace(1000, 1010, 50)[:, None]
    raw = qed.PolynomialFeatures(3).fit_transform(x)
    scaled = qed.PolynomialFeatures(3).fit_transform(qed.MinMaxScaler((-1, 1)).fit_transform(x))
    assert np.linalg.cond(scaled) < 20 < 1e10 < np.linalg.cond(raw)
