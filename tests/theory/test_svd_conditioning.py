"""svd-conditioning: near-collinear columns have tiny singular values, huge coefficients, and a warning number."""

import numpy as np
import pandas
import pytest

import qed
from tests.theory.fixtures import problem


def test_singular_values_of_the_inverse_gram_matrix():
    """They are 1 / s²: the variances of the weights along the principal directions, as our posterior without a prior has them."""
    X, y, _ = problem()
    s = np.linalg.svd(X, compute_uv=False)
    spread = qed.linear_gaussian(X, y, noise=1.0).covariance
    np.testing.assert_allclose(np.linalg.svd(spread, compute_uv=False), np.sort(s**-2)[::-1], rtol=1e-8)


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_rank_is_the_same_for_the_gram_matrix():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((12, 3)) @ generator.standard_normal((3, 5))
    ranks = [qed.LinearRegression(fit_intercept=False).fit(A, np.arange(len(A)) + 1.0).rank_ for A in (X, X.T, X.T @ X)]
    assert ranks == [3, 3, 3]


def test_condition_number_is_squared_by_the_gram_matrix():
    X, y, _ = problem()
    assert qed.optim.condition_number(X.T @ X) == pytest.approx(qed.optim.condition_number(X) ** 2, rel=1e-8)
    # Of columns scaled to equal length it is estimated on the way of a fit, to less than a factor of two.
    estimate = qed.LinearRegression(fit_intercept=False).fit(X, y).condition_
    assert 0.5 < estimate / np.linalg.cond(X / np.linalg.norm(X, axis=0)) < 2


def test_condition_is_reported_and_grows_as_columns_turn_parallel():
    generator = np.random.default_rng(1)
    a, b = generator.standard_normal((2, 200))
    y = a + generator.standard_normal(200)
    conditions, lengths, ridge = [], [], []
    for angle in (1.0, 1e-2, 1e-4, 1e-6):
        X = np.column_stack([a, np.cos(angle) * a + np.sin(angle) * b])
        model = qed.LinearRegression(fit_intercept=False).fit(X, y)
        assert model.certificate_
        scaled = X / np.linalg.norm(X, axis=0)
        assert model.condition_ == pytest.approx(np.linalg.cond(scaled), rel=0.5)
        conditions.append(model.condition_)
        lengths.append(np.linalg.norm(model.coef_))
        ridge.append(np.linalg.norm(qed.Ridge(alpha=1.0, fit_intercept=False).fit(X, y).coef_))
    assert conditions == sorted(conditions) and conditions[-1] > 1e5
    assert lengths[-1] > 1e3 and max(ridge) < 2


def test_collinear_columns_are_warned_of_by_name():
    generator = np.random.default_rng(3)
    a, b = generator.standard_normal((2, 50))
    frame = pandas.DataFrame({"metres": a, "feet": 3.280839895 * a, "other": b})
    with pytest.warns(qed.base.errors.DegenerateWarning, match="'metres' and 'feet'|'feet' and 'metres'|metres.*feet"):
        model = qed.LinearRegression().fit(frame, a + b)
    assert model.rank_ == 2


def test_certificate_fails_when_rounding_may_have_eaten_the_coefficients():
    generator = np.random.default_rng(2)
    a, b = generator.standard_normal((2, 100))
    X = np.column_stack([a, a + 1e-13 * b])
    model = qed.LinearRegression(fit_intercept=False).fit(X, a + 0.1 * b)
    assert model.rank_ == 1 or not model.certificate_["relative error of coefficients"].holds
