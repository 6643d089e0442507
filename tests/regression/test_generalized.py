"""Generalised least squares: against statsmodels, its special cases, its certificate, and what it refuses."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.utils.estimator_checks import parametrize_with_checks

import qed
from qed.base.errors import DegenerateWarning, InputError, ParameterError
from qed.data.synthetic import ar1_covariance
from qed.regression.gaussian.generalized import GeneralizedLeastSquares
from tests.conformance.checks import run_check


@parametrize_with_checks([GeneralizedLeastSquares(fit_intercept=False, known_scale=True)])
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_scikit_learn_contract(estimator, check):
    run_check(estimator, check)


@pytest.fixture
def table():
    random = np.random.default_rng(7)
    X = random.normal([10, 0, -5], size=(40, 3))
    A = random.normal(size=(40, 40))
    covariance = A @ A.T / 40 + 0.2 * np.eye(40)
    y = X @ [1.0, -2.0, 0.5] + 3 + np.linalg.cholesky(covariance) @ random.normal(size=40)
    return X, y, covariance


def same(model, theirs, *, rtol=1e-8):
    """Compare coefficients and every number of the summary."""
    seen = model.inference_
    np.testing.assert_allclose(seen.coefficients, theirs.params, rtol=rtol)
    np.testing.assert_allclose(seen.standard_errors, theirs.bse, rtol=rtol)
    np.testing.assert_allclose(seen.p_values, theirs.pvalues, rtol=1e-7)
    np.testing.assert_allclose(seen.intervals(), theirs.conf_int(), rtol=rtol)
    assert seen.sigma2 == pytest.approx(theirs.scale, rel=rtol)
    assert seen.r_squared == pytest.approx(theirs.rsquared, rel=rtol)
    assert seen.adjusted_r_squared == pytest.approx(theirs.rsquared_adj, rel=rtol)
    assert seen.f_test.statistic == pytest.approx(theirs.fvalue, rel=rtol)
    assert seen.log_likelihood == pytest.approx(theirs.llf, rel=rtol)
    assert seen.aic == pytest.approx(theirs.aic, rel=rtol)
    assert seen.bic == pytest.approx(theirs.bic, rel=rtol)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_full_matrix_is_statsmodels_gls(table, fit_intercept):
    X, y, covariance = table
    model = GeneralizedLeastSquares(covariance, fit_intercept=fit_intercept).fit(X, y)
    same(model, sm.GLS(y, sm.add_constant(X) if fit_intercept else X, sigma=covariance).fit())


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_variances_are_statsmodels_wls(table, fit_intercept):
    X, y, covariance = table
    variance = np.diagonal(covariance) * np.linspace(0.5, 4, 40)
    model = GeneralizedLeastSquares(variance, fit_intercept=fit_intercept).fit(X, y)
    same(model, sm.WLS(y, sm.add_constant(X) if fit_intercept else X, weights=1 / variance).fit())


def test_longley_with_autoregressive_noise():
    """A textbook case: Longley's rows are years, so their noise is correlated."""
    X, y = qed.data.load("longley").Xy()
    covariance = ar1_covariance(16, 0.3)
    same(
        GeneralizedLeastSquares(covariance).fit(X, y), sm.GLS(y, sm.add_constant(X), sigma=covariance).fit(), rtol=1e-6
    )


def test_without_covariance_it_is_linear_regression(table):
    X, y, _ = table
    for covariance in (None, 3.0, np.full(40, 2.0), 5 * np.eye(40)):
        model = GeneralizedLeastSquares(covariance).fit(X, y)
        plain = qed.LinearRegression().fit(X, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
        assert model.intercept_ == pytest.approx(plain.intercept_, rel=1e-10)
        np.testing.assert_allclose(model.inference_.standard_errors, plain.inference_.standard_errors, rtol=1e-9)


def test_known_scale_takes_the_covariance_at_its_word(table):
    X, y, covariance = table
    design = sm.add_constant(X)
    exact = np.linalg.inv(design.T @ np.linalg.solve(covariance, design))
    model = GeneralizedLeastSquares(covariance, known_scale=True).fit(X, y)
    np.testing.assert_allclose(model.inference_.covariance, exact, rtol=1e-8)
    assert np.isinf(model.inference_.degrees_of_freedom)
    from scipy.stats import multivariate_normal

    line = model.intercept_ + X @ model.coef_
    assert model.inference_.log_likelihood == pytest.approx(multivariate_normal(line, covariance).logpdf(y), rel=1e-10)


def test_weights_are_repetitions_beside_variances(table):
    X, y, covariance = table
    variance, weight = np.diagonal(covariance), np.arange(40) % 3
    weighted = GeneralizedLeastSquares(variance).fit(X, y, sample_weight=weight)
    repeated = GeneralizedLeastSquares(np.repeat(variance, weight)).fit(
        np.repeat(X, weight, axis=0), np.repeat(y, weight)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-10)
    np.testing.assert_allclose(weighted.inference_.covariance, repeated.inference_.covariance, rtol=1e-9)
    assert weighted.inference_.log_likelihood == pytest.approx(repeated.inference_.log_likelihood, rel=1e-12)


def test_weights_beside_a_matrix_are_refused(table):
    X, y, covariance = table
    with pytest.raises(InputError, match="full covariance matrix"):
        GeneralizedLeastSquares(covariance).fit(X, y, sample_weight=np.ones(40))


@pytest.mark.parametrize("kind", ["none", "variances", "matrix"])
@pytest.mark.parametrize("j", range(4))
def test_certificate_objects_to_a_change(table, kind, j):
    X, y, covariance = table
    noise = {"none": None, "variances": np.diagonal(covariance), "matrix": covariance}[kind]
    model = GeneralizedLeastSquares(noise).fit(X, y)
    assert model.certificate_ and qed.certify(model, X, y)
    if j < 3:
        model.coef_[j] *= 1.001
    else:
        model.intercept_ *= 1.001
    assert not qed.certify(model, X, y)


def test_certificate_objects_to_another_covariance(table):
    X, y, covariance = table
    model = GeneralizedLeastSquares(covariance).fit(X, y)
    model.covariance = np.diagonal(covariance).copy()
    assert not qed.certify(model, X, y)


def test_blocks_do_not_matter(table):
    X, y, covariance = table
    for noise in (np.diagonal(covariance), covariance):
        whole = GeneralizedLeastSquares(noise).fit(X, y)
        pieces = GeneralizedLeastSquares(noise).fit(qed.rows(X, y, block_size=7))
        np.testing.assert_allclose(pieces.coef_, whole.coef_, rtol=1e-12)
        assert pieces.certificate_


def test_threads_do_not_matter(table):
    X, y, covariance = table
    found = []
    for count in (1, 2):
        with qed.threads(count):
            found.append(GeneralizedLeastSquares(np.diagonal(covariance)).fit(qed.rows(X, y, block_size=7)).coef_)
    np.testing.assert_array_equal(*found)


def test_float32_stays_float32(table):
    X, y, covariance = table
    model = GeneralizedLeastSquares(covariance).fit(X.astype(np.float32), y.astype(np.float32))
    assert model.predict(X.astype(np.float32)).dtype == np.float32
    assert model.certificate_


def test_large_means_cost_no_digits(table):
    X, y, covariance = table
    near = GeneralizedLeastSquares(covariance).fit(X, y)
    far = GeneralizedLeastSquares(covariance).fit(X + 2.0**20, y)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-8)
    assert far.certificate_


def test_dependent_columns_give_the_shortest_solution():
    random = np.random.default_rng(0)
    x = random.normal(size=20)
    X, y, covariance = np.column_stack([x, 2 * x]), random.normal(size=20), ar1_covariance(20, 0.5)
    with pytest.warns(DegenerateWarning, match="only 1 of 2"):
        model = GeneralizedLeastSquares(covariance).fit(X, y)
    single = GeneralizedLeastSquares(covariance).fit(x[:, None], y)
    np.testing.assert_allclose(model.coef_, single.coef_ * np.array([0.2, 0.4]), rtol=1e-9)
    assert not hasattr(model, "inference_")


def test_another_number_of_rows_is_explained(table):
    X, y, covariance = table
    model = GeneralizedLeastSquares(covariance)
    with pytest.raises(ParameterError, match="for 40 rows, but 30 rows") as error:
        model.fit(X[:30], y[:30])
    assert "cross-validation" in str(error.value) and "sample_weight" in str(error.value)


@pytest.mark.parametrize(
    ("covariance", "words"),
    [
        (np.zeros(40), "variance of row 0 is 0"),
        (-np.eye(40), "not positive definite"),
        (np.ones((40, 3)), "40 x 40 matrix"),
        (0.0, "covariance must be"),
        ("ar1", "covariance must be"),
    ],
)
def test_bad_covariances_are_explained(table, covariance, words):
    X, y, _ = table
    with pytest.raises(ParameterError, match=words):
        GeneralizedLeastSquares(covariance).fit(X, y)


def test_missing_values_are_named(table):
    X, y, covariance = table
    X = X.copy()
    X[3, 1] = np.nan
    with pytest.raises(InputError, match=r"NaN.*column number 1, row 3"):
        GeneralizedLeastSquares(covariance).fit(X, y)


@pytest.mark.parametrize("kind", ["variances", "matrix"])
def test_values_too_large_to_be_squared_are_refused(table, kind):
    X, y, covariance = table
    noise = covariance if kind == "matrix" else np.diagonal(covariance)
    with pytest.raises(InputError, match="overflow"):
        GeneralizedLeastSquares(noise).fit(X * 1e200, y)


def test_saved_and_loaded(table, tmp_path):
    X, y, covariance = table
    model = GeneralizedLeastSquares(covariance).fit(X, y)
    qed.save(model, tmp_path / "model.qed")
    again = qed.load(tmp_path / "model.qed")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert qed.certify(again, X, y)
    np.testing.assert_array_equal(again.inference_.standard_errors, model.inference_.standard_errors)
