"""Catalogue entry feature-map: least squares on functions of the columns is linear in w, whatever the functions are."""

import numpy as np
import pytest

import qed

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.1 * rng.normal(size=80)


def solve(Phi, y):
    return qed.LinearRegression(fit_intercept=False).fit(Phi, y).coef_


def test_the_identity_map_is_plain_least_squares():
    Phi = qed.FeatureMap(lambda X: X).fit_transform(X)
    np.testing.assert_array_equal(Phi, X)
    np.testing.assert_array_equal(qed.FeatureMap().fit_transform(X), X)
    np.testing.assert_allclose(solve(Phi, y), solve(X, y), rtol=1e-12)


def test_the_rows_of_the_matrix_are_the_features_of_each_row():
    def phi(X):
        return np.column_stack([np.ones(len(X)), X[:, 0], np.sin(X[:, 1])])

    Phi = qed.FeatureMap(phi).fit_transform(X)
    for i in (0, 17, 79):
        np.testing.assert_array_equal(Phi[i], [1, X[i, 0], np.sin(X[i, 1])])


def test_the_hypothesis_is_linear_in_w_and_not_in_x():
    phi = qed.FeatureMap([np.sin, np.cos]).fit(X)
    Phi = phi.transform(X)
    w, v = rng.normal(size=(2, 4))
    np.testing.assert_allclose(Phi @ (2 * w - 3 * v), 2 * (Phi @ w) - 3 * (Phi @ v), rtol=1e-12, atol=1e-13)
    assert np.abs(phi.transform(2 * X) @ w - 2 * (Phi @ w)).max() > 0.1


def test_training_error_never_rises_when_a_feature_is_appended():
    functions = [lambda X, k=k: np.cos(k * X[:, 0] + X[:, 1]) for k in range(12)]
    errors = []
    for count in range(1, len(functions) + 1):
        Phi = qed.FeatureMap(functions[:count]).fit_transform(X)
        errors.append(np.sum((y - Phi @ solve(Phi, y)) ** 2))
    assert all(after <= before * (1 + 1e-12) for before, after in zip(errors, errors[1:]))
    assert errors[-1] < errors[0]


def test_the_same_map_is_applied_to_new_rows():
    phi = qed.FeatureMap({"sine": lambda X: np.sin(2 * X[:, 0]), "square": lambda X: X[:, 1] ** 2}).fit(X)
    w = solve(phi.transform(X), y)
    np.testing.assert_allclose(w, [1, 1], atol=0.1)
    new = np.array([[0.3, -1.2]])
    np.testing.assert_allclose(phi.transform(new) @ w, [w[0] * np.sin(0.6) + w[1] * 1.44], rtol=1e-12)


def test_a_map_that_would_not_be_the_same_for_new_rows_is_refused():
    with pytest.raises(qed.base.errors.InputError, match="depend on the rows around"):
        qed.FeatureMap(lambda X: X / X.std(axis=0)).fit(X)
