"""Maximum a posteriori with a Gaussian prior: the model beyond the catalogue's lines."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from qed.base.errors import InputError, ParameterError
from qed.data.synthetic import ar1_covariance
from qed.regression.gaussian.linear_gaussian import linear_gaussian
from qed.regression.gaussian.map import GaussianMAP
from tests.conformance.checks import run_check


@parametrize_with_checks([GaussianMAP(0.5, 2.0, 0.3, fit_intercept=True)])
def test_scikit_learn_contract(estimator, check):
    run_check(estimator, check)


PRIOR = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, -0.3], [0.0, -0.3, 0.7]])
MEAN = np.array([0.5, -1.0, 2.0])


@pytest.fixture
def table():
    random = np.random.default_rng(3)
    X = random.normal([3, 0, -1], size=(50, 3))
    return X, X @ [1.0, -2.0, 0.5] + 4 + random.normal(size=50)


@pytest.mark.parametrize("noise", [0.3, np.linspace(0.2, 2, 50), ar1_covariance(50, 0.6)])
def test_equals_the_function(table, noise):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, noise).fit(X, y)
    found = linear_gaussian(X, y, noise=noise, prior=PRIOR, prior_mean=MEAN)
    np.testing.assert_allclose(model.coef_, found.mean, rtol=1e-10)
    np.testing.assert_allclose(model.covariance_, found.covariance, rtol=1e-9)
    assert model.intercept_ == 0.0 and model.certificate_ and qed.certify(model, X, y)


@pytest.mark.parametrize("noise", [0.3, np.linspace(0.2, 2, 50), ar1_covariance(50, 0.6)])
def test_intercept_has_a_flat_prior(table, noise):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, noise, fit_intercept=True).fit(X, y)
    design = np.column_stack([np.ones(50), X])
    prior = np.zeros((4, 4))
    prior[0, 0], prior[1:, 1:] = 1e10, PRIOR
    found = linear_gaussian(design, y, noise=noise, prior=prior, prior_mean=[0, *MEAN])
    np.testing.assert_allclose(model.inference_.coefficients, found.mean, rtol=1e-7)
    np.testing.assert_allclose(model.inference_.covariance, found.covariance, rtol=1e-6)
    assert model.inference_.names == ("intercept", "x0", "x1", "x2")
    assert model.certificate_ and qed.certify(model, X, y)


def test_is_the_minimum_of_the_negative_log_posterior(table):
    X, y = table

    def objective(w):
        return ((y - X @ w) ** 2).sum() / 0.3 + (w - MEAN) @ np.linalg.solve(PRIOR, w - MEAN)

    best = minimize(objective, np.zeros(3), tol=1e-12).x
    np.testing.assert_allclose(GaussianMAP(MEAN, PRIOR, 0.3).fit(X, y).coef_, best, rtol=1e-5)


def test_partial_fit_and_forget(table):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, 0.3)
    model.partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    whole = GaussianMAP(MEAN, PRIOR, 0.3).fit(X, y)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-10)
    model.forget(X[20:], y[20:])
    part = GaussianMAP(MEAN, PRIOR, 0.3).fit(X[:20], y[:20])
    np.testing.assert_allclose(model.coef_, part.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.covariance_, part.covariance_, rtol=1e-8)
    assert model.certificate_


def test_yesterdays_posterior_is_todays_prior(table):
    X, y = table
    first = GaussianMAP(MEAN, PRIOR, 0.3).fit(X[:20], y[:20])
    second = GaussianMAP(first.coef_, first.covariance_, 0.3).fit(X[20:], y[20:])
    whole = GaussianMAP(MEAN, PRIOR, 0.3).fit(X, y)
    np.testing.assert_allclose(second.coef_, whole.coef_, rtol=1e-9)
    np.testing.assert_allclose(second.covariance_, whole.covariance_, rtol=1e-8)


@pytest.mark.parametrize("noise", [0.5, "variances"])
def test_weights_are_repetitions(table, noise):
    X, y = table
    weight = np.arange(50) % 3
    variances = np.linspace(0.5, 2, 50)
    one = GaussianMAP(MEAN, PRIOR, variances if noise == "variances" else noise, fit_intercept=True)
    two = clone(one).set_params(noise_variance=np.repeat(variances, weight) if noise == "variances" else noise)
    one.fit(X, y, sample_weight=weight)
    two.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(one.coef_, two.coef_, rtol=1e-10)
    np.testing.assert_allclose(one.inference_.covariance, two.inference_.covariance, rtol=1e-9)


def test_predictive_standard_deviation(table):
    X, y = table
    new = np.array([[0.0, 0.0, 0.0], [3.0, 1.0, -2.0]])
    for fit_intercept in (False, True):
        model = GaussianMAP(MEAN, PRIOR, 0.3, fit_intercept=fit_intercept).fit(X, y)
        mean, std = model.predict(new, return_std=True)
        np.testing.assert_array_equal(mean, model.predict(new))
        design = np.column_stack([np.ones(2), new]) if fit_intercept else new
        expected = np.einsum("ij,jk,ik->i", design, model.inference_.covariance, design) + 0.3
        np.testing.assert_allclose(std**2, expected, rtol=1e-10)
    coloured = GaussianMAP(MEAN, PRIOR, ar1_covariance(50, 0.5)).fit(X, y)
    _, std = coloured.predict(new, return_std=True)
    np.testing.assert_allclose(std**2, np.einsum("ij,jk,ik->i", new, coloured.covariance_, new), rtol=1e-10)


def test_credible_intervals_cover_the_truth():
    """Drawing coefficients from the prior and data from the model, 90 % intervals hold nine times of ten."""
    random = np.random.default_rng(0)
    half, hits = np.linalg.cholesky(PRIOR), 0
    for _ in range(400):
        w = MEAN + half @ random.normal(size=3)
        X = random.normal(size=(8, 3))
        y = X @ w + np.sqrt(0.3) * random.normal(size=8)
        low, high = GaussianMAP(MEAN, PRIOR, 0.3).fit(X, y).inference_.intervals(0.9).T
        hits += ((low < w) & (w < high)).sum()
    assert abs(hits / 1200 - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 1200)


def test_several_outputs_share_the_covariance(table):
    X, y = table
    both = GaussianMAP(MEAN, PRIOR, 0.3, fit_intercept=True).fit(X, np.column_stack([y, -y]))
    assert both.coef_.shape == (2, 3) and both.covariance_.shape == (3, 3) and len(both.inference_) == 2
    for k, target in enumerate((y, -y)):
        one = GaussianMAP(MEAN, PRIOR, 0.3, fit_intercept=True).fit(X, target)
        np.testing.assert_allclose(both.coef_[k], one.coef_, rtol=1e-10)
    mean, std = both.predict(X, return_std=True)
    assert mean.shape == (50, 2) and std.shape == (50,)


@pytest.mark.parametrize("noise", [0.3, np.linspace(0.2, 2, 50), ar1_covariance(50, 0.6)])
@pytest.mark.parametrize("j", range(4))
def test_certificate_objects_to_a_change(table, noise, j):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, noise, fit_intercept=True).fit(X, y)
    assert qed.certify(model, X, y)
    if j < 3:
        model.coef_[j] *= 1.001
    else:
        model.intercept_ *= 1.001
    assert not qed.certify(model, X, y)


def test_certificate_objects_to_a_wrong_covariance(table):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, 0.3).fit(X, y)
    model.covariance_ = model.covariance_ * 1.001
    assert not qed.certify(model, X, y)


def test_known_coefficient_stays_and_is_proven(table):
    X, y = table
    model = GaussianMAP([0, 7, 0], [1.0, 0.0, 1.0], 0.3).fit(X, y)
    assert model.coef_[1] == pytest.approx(7, abs=1e-14) and model.certificate_
    model.coef_[1] = 7.007
    assert not qed.certify(model, X, y)


@pytest.mark.parametrize("variance", [1e-12, 1e-4, 1e4, 1e12])
def test_narrow_and_broad_priors_are_certified(table, variance):
    X, y = table
    model = GaussianMAP(0.0, variance, 0.3, fit_intercept=True).fit(X, y)
    assert model.certificate_ and qed.certify(model, X, y)
    assert model.certificate_[f"equals ridge regression with alpha = {0.3 / variance:.6g}"].holds
    model.coef_[0] *= 1.001
    assert not qed.certify(model, X, y)


def test_nearly_dependent_columns_keep_their_digits():
    x = np.linspace(0, 1, 60)
    X = np.vander(x, 9)
    w = np.random.default_rng(0).normal(size=9)
    model = GaussianMAP(0.0, 1e6, 1e-8).fit(X, X @ w)
    direct = linear_gaussian(X, X @ w, noise=1e-8, prior=1e6)
    np.testing.assert_allclose(model.coef_, direct.mean, rtol=1e-6)
    assert qed.certify(model, X, X @ w)


def test_sparse_files_and_blocks_agree(table, tmp_path):
    from scipy import sparse

    X, y = table
    X = np.where(np.abs(X) > 1, X, 0.0)
    whole = GaussianMAP(MEAN, PRIOR, 0.3, fit_intercept=True).fit(X, y)
    for source in (qed.rows(X, y, block_size=9), qed.rows(sparse.csr_array(X), y)):
        found = GaussianMAP(MEAN, PRIOR, 0.3, fit_intercept=True).fit(source)
        np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-10)
        _, std = found.predict(X if isinstance(source.X, np.ndarray) else sparse.csr_array(X), return_std=True)
        np.testing.assert_allclose(std, whole.predict(X, return_std=True)[1], rtol=1e-10)


def test_float32_stays_float32(table):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, 0.3).fit(X.astype(np.float32), y.astype(np.float32))
    mean, std = model.predict(X.astype(np.float32), return_std=True)
    assert mean.dtype == std.dtype == np.float32
    assert model.certificate_


def test_one_variance_can_be_cross_validated_and_an_array_can_not(table):
    X, y = table
    assert np.isfinite(cross_val_score(GaussianMAP(MEAN, PRIOR, 0.3), X, y, cv=3)).all()
    coloured = GaussianMAP(MEAN, PRIOR, np.ones(50))
    with pytest.raises(ParameterError, match="50 rows, but 30 rows"):
        coloured.fit(X[:30], y[:30])
    with pytest.raises(ParameterError, match="partial_fit needs one noise_variance"):
        coloured.partial_fit(X, y)
    with pytest.raises(ParameterError, match="forget needs one noise_variance"):
        coloured.fit(X, y).forget(X[:2], y[:2])
    with pytest.raises(InputError, match="full covariance matrix"):
        GaussianMAP(noise_variance=np.eye(50)).fit(X, y, sample_weight=np.ones(50))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"prior_mean": [1, 2]}, "prior_mean .* 3 coefficients"),
        ({"prior_mean": "zero"}, "prior_mean must be"),
        ({"prior_covariance": -1.0}, "prior_covariance must be"),
        ({"prior_covariance": [1, -1, 1]}, "prior_covariance: the variance of coefficient 1"),
        ({"prior_covariance": np.eye(2)}, "3 x 3 matrix"),
        ({"noise_variance": 0.0}, "noise_variance must be"),
        ({"noise_variance": np.zeros(50)}, "noise_variance: the variance of row 0 is 0"),
    ],
)
def test_bad_parameters_are_named(table, options, words):
    X, y = table
    with pytest.raises(ParameterError, match=words):
        GaussianMAP(**options).fit(X, y)


@pytest.mark.parametrize("noise", [1.0, np.ones(50), np.eye(50)])
def test_values_too_large_and_missing_values_are_refused(table, noise):
    X, y = table
    with pytest.raises(InputError, match="overflow"):
        GaussianMAP(noise_variance=noise).fit(X * 1e200, y)
    X = X.copy()
    X[7, 2] = np.nan
    with pytest.raises(InputError, match=r"NaN.*column number 2, row 7"):
        GaussianMAP(noise_variance=noise).fit(X, y)


def test_saved_and_loaded(table, tmp_path):
    X, y = table
    model = GaussianMAP(MEAN, PRIOR, 0.3, fit_intercept=True).fit(X, y)
    qed.save(model, tmp_path / "model.qed")
    again = qed.load(tmp_path / "model.qed")
    np.testing.assert_array_equal(again.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
    assert qed.certify(again, X, y)
    np.testing.assert_array_equal(again.inference_.standard_errors, model.inference_.standard_errors)
