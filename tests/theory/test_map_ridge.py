"""map-ridge: MAP with a prior N(0, sigma_h² I) and ridge with lambda = sigma² / sigma_h² are one, as a run-time certificate."""

import numpy as np
import pytest

import qed
from tests.theory.fixtures import T_X, T_Y, problem


@pytest.mark.parametrize(("sigma", "spread"), [(1.0, 1.0), (0.1, 1.0), (2.0, 0.5), (1e-3, 10.0), (30.0, 0.2)])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_both_solutions_are_equal(sigma, spread, fit_intercept):
    """Equality for any pair (sigma, sigma_h)."""
    X, y, _ = problem()
    ridge = qed.Ridge(sigma**2 / spread**2, fit_intercept=fit_intercept).fit(X, y)
    model = qed.GaussianMAP(0.0, spread**2, sigma**2, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-9)
    assert model.intercept_ == pytest.approx(ridge.intercept_, rel=1e-9, abs=1e-14)


def test_only_the_ratio_matters():
    """Pairs with one ratio give one solution (though not one posterior variance)."""
    X, y, _ = problem()
    one, two = qed.GaussianMAP(0.0, 0.5, 2.0).fit(X, y), qed.GaussianMAP(0.0, 5.0, 20.0).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-12)
    np.testing.assert_allclose(10 * one.covariance_, two.covariance_, rtol=1e-10)


def test_certificate_says_so_at_run_time():
    """The claim is made with its number, from the statistics at the fit and from the data at any time."""
    model = qed.GaussianMAP(0.0, 1.0, 1.0).fit(T_X, T_Y)
    np.testing.assert_allclose(model.coef_, [0.8, 0.6], rtol=1e-12)
    claim = qed.certify(model, T_X, T_Y)["equals ridge regression with alpha = 1"]
    assert claim.holds and claim.value < 1e-12
    model.coef_[0] *= 1.001
    assert not qed.certify(model, T_X, T_Y)["equals ridge regression"].holds


@pytest.mark.parametrize("options", [{"prior_mean": 1.0}, {"prior_covariance": [1.0, 2.0]}])
def test_other_priors_claim_nothing_of_the_kind(options):
    """With another centre or unequal variances it is not ridge, and is not said to be."""
    model = qed.GaussianMAP(**options).fit(T_X, T_Y)
    assert not any(claim.says.startswith("equals ridge") for claim in model.certificate_)
