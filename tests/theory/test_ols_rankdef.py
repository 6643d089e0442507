"""ols-rankdef: dependent columns leave many solutions; the shortest is taken."""

import numpy as np
import pytest

import qed
from qed.base.errors import DegenerateWarning

X = np.array([[1.0, 1.0], [1.0, 1.0]])
Y = np.array([1.0, 3.0])


def fit(X, y):
    with pytest.warns(DegenerateWarning, match="follow from the others"):
        return qed.LinearRegression(fit_intercept=False).fit(X, y)


def test_fixture():
    model = fit(X, Y)
    np.testing.assert_allclose(model.coef_, [1.0, 1.0], atol=1e-14)
    for t in (-2.0, 0.0, 0.7):
        np.testing.assert_allclose(X @ [1 + t, 1 - t], model.predict(X), rtol=1e-14)
    assert np.sum((model.predict(X) - Y) ** 2) == pytest.approx(2.0)


def test_a_normal_equations_hold_for_any_rank():
    generator = np.random.default_rng(0)
    for rank in (1, 2, 3):
        A = generator.standard_normal((20, rank)) @ generator.standard_normal((rank, 4))
        y = generator.standard_normal(20)
        model = fit(A, y)
        assert model.rank_ == rank and model.certificate_
        assert np.abs(A.T @ (y - A @ model.coef_)).max() < 1e-10


def test_b_null_space_changes_neither_loss_nor_fitted_values():
    model = fit(X, Y)
    moved = model.coef_ + 3 * np.array([1.0, -1.0])
    np.testing.assert_allclose(X @ moved, X @ model.coef_, atol=1e-14)
    assert np.linalg.norm(moved) > np.linalg.norm(model.coef_)


def test_c_hessian_is_definite_iff_the_solution_is_unique():
    full = qed.LinearRegression(fit_intercept=False).fit([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [1.0, 2.0, 3.0])
    assert full.rank_ == 2
    assert fit(X, Y).rank_ == 1


def test_d_shortest_solution_is_the_limit_of_ridge():
    ridge = qed.Ridge(alpha=1e-9, fit_intercept=False).fit(X, Y)
    np.testing.assert_allclose(ridge.coef_, fit(X, Y).coef_, atol=1e-6)


def test_certificate_objects_to_a_longer_solution():
    model = fit(X, Y)
    model.coef_ = model.coef_ + [0.01, -0.01]
    assert not qed.certify(model, X, Y)
    assert qed.certify(model, X, Y)["residuals are orthogonal"].holds


def test_the_warning_names_the_columns():
    import pandas

    frame = pandas.DataFrame(
        {"height": [1.0, 2.0, 3.0, 5.0], "age": [1.0, 0.0, 4.0, 1.0], "inches": [2.0, 4.0, 6.0, 10.0]}
    )
    with pytest.warns(DegenerateWarning, match="'height', 'inches'"):
        qed.LinearRegression().fit(frame, [1.0, 2.0, 3.0, 4.0])
