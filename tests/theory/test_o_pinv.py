"""O-PINV: all solutions of a deficient problem, and the shortest of them."""

import numpy as np
import pytest

import qed


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_all_solutions_fit_alike_and_u_zero_is_the_shortest():
    generator = np.random.default_rng(0)
    Phi = generator.standard_normal((10, 3)) @ generator.standard_normal((3, 6))
    y = generator.standard_normal(10)
    shortest = qed.LinearRegression(fit_intercept=False).fit(Phi, y).coef_
    pinv = np.linalg.pinv(Phi)
    np.testing.assert_allclose(shortest, pinv @ y, atol=1e-10)
    for u in generator.standard_normal((20, 6)):
        w = pinv @ y + (np.eye(6) - pinv @ Phi) @ u
        np.testing.assert_allclose(Phi @ w, Phi @ shortest, atol=1e-10)
        assert np.linalg.norm(w) > np.linalg.norm(shortest)


def test_fewer_rows_than_columns_interpolates():
    generator = np.random.default_rng(1)
    X, y = generator.standard_normal((5, 12)), generator.standard_normal(5)
    model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, np.linalg.pinv(X) @ y, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), y, atol=1e-10)
    assert model.certificate_
