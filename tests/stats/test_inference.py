"""Standard errors, tests and intervals against statsmodels, in the tails, and where theory gives none."""

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats

import qed
from qed.base.errors import DegenerateError, NotAvailableError, ParameterError
from qed.base.sources.block import Block
from qed.stats.factor import Factor
from qed.stats.inference.coefficients import Inference
from qed.stats.inference.wald import WaldTest
from qed.stats.moments import Moments
from tests.reference.nist_linear import PROBLEMS
from tests.rounding import UNIT, LeastSquares


def least_squares(X, y, weight=None, *, fit_intercept=True, statistic=Moments, **options):
    """Solve by numpy, then ask for the inference."""
    n = len(X)
    root = np.ones(n) if weight is None else np.sqrt(weight)
    design = np.column_stack([np.ones(n), X]) if fit_intercept else X
    solution = np.linalg.lstsq(design * root[:, None], (y.T * root).T)[0]
    intercept, coef = (solution[0], solution[1:]) if fit_intercept else (0.0, solution)
    seen = statistic.of(Block(X, y, weight))
    return Inference.of_least_squares(seen, coef, intercept, fit_intercept=fit_intercept, **options)


def agrees(ours, theirs, rtol=1e-8):
    """Compare every number of a summary."""
    np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=rtol)
    np.testing.assert_allclose(ours.standard_errors, theirs.bse, rtol=rtol)
    np.testing.assert_allclose(ours.t_values, theirs.tvalues, rtol=rtol)
    np.testing.assert_allclose(ours.p_values, theirs.pvalues, rtol=rtol * max(10, theirs.df_resid))
    for level in (0.95, 0.999):
        gap = np.abs(ours.intervals(level) - theirs.conf_int(1 - level)).max(axis=1)
        assert (gap <= 4 * rtol * (np.abs(theirs.params) + theirs.bse)).all()
    np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=rtol)
    assert ours.sigma2 == pytest.approx(theirs.scale, rel=rtol)
    assert ours.r_squared == pytest.approx(theirs.rsquared, rel=rtol)
    assert ours.adjusted_r_squared == pytest.approx(theirs.rsquared_adj, rel=rtol)
    assert ours.f_test.statistic == pytest.approx(theirs.fvalue, rel=rtol)
    # The tail of F falls like F to the power of half the degrees of freedom.
    assert ours.f_test.p_value == pytest.approx(theirs.f_pvalue, rel=rtol * max(10, theirs.df_resid))
    assert ours.degrees_of_freedom == theirs.df_resid


def same_likelihood(ours, theirs, rtol=1e-8):
    assert ours.log_likelihood == pytest.approx(theirs.llf, rel=rtol)
    assert ours.aic == pytest.approx(theirs.aic, rel=rtol)
    assert ours.bic == pytest.approx(theirs.bic, rel=rtol)
    assert ours.n == theirs.nobs


@pytest.fixture(params=["longley", "stackloss"])
def table(request):
    """Give a table, and how far statsmodels, which inverts X'X, may be from the truth: the square of the condition."""
    X, y = qed.data.load(request.param).Xy()
    design = np.column_stack([np.ones(len(y)), X])
    condition = np.linalg.cond(design / np.linalg.norm(design, axis=0))
    return X, y, max(1e-8, len(y) * UNIT * condition**2)


@pytest.mark.parametrize("statistic", [Moments, Factor])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_all_numbers_are_those_of_statsmodels(table, statistic, fit_intercept):
    X, y, digits = table
    theirs = sm.OLS(y, sm.add_constant(X) if fit_intercept else X).fit(method="qr")
    ours = least_squares(X, y, fit_intercept=fit_intercept, statistic=statistic)
    agrees(ours, theirs, digits)
    same_likelihood(ours, theirs)


def test_linear_regression_carries_it(table):
    X, y, digits = table
    theirs = sm.OLS(y, sm.add_constant(X)).fit(method="qr")
    model = qed.LinearRegression().fit(X, y)
    agrees(model.inference_, theirs, digits)
    same_likelihood(model.inference_, theirs)


def test_weights_are_repetitions():
    X, y = qed.data.load("stackloss").Xy()
    weight = np.arange(len(y)) % 4
    theirs = sm.OLS(np.repeat(y, weight), sm.add_constant(np.repeat(X, weight, axis=0))).fit()
    ours = least_squares(X, y, weight.astype(float))
    agrees(ours, theirs)
    same_likelihood(ours, theirs)
    assert ours.n == weight.sum()


def test_weights_as_precisions_count_rows():
    X, y = qed.data.load("stackloss").Xy()
    weight = np.random.default_rng(0).uniform(0.2, 3, len(y))
    theirs = sm.WLS(y, sm.add_constant(X), weights=weight).fit()
    agrees(least_squares(X, y, weight, n=len(y)), theirs)


def test_known_variance_uses_the_normal_law():
    X, y = qed.data.load("stackloss").Xy()
    ours = least_squares(X, y, sigma2=4.0)
    free = least_squares(X, y)
    assert math.isinf(ours.degrees_of_freedom)
    np.testing.assert_allclose(ours.standard_errors, free.standard_errors * 2 / math.sqrt(free.sigma2), rtol=1e-10)
    z = ours.coefficients / ours.standard_errors
    np.testing.assert_allclose(ours.p_values, special.erfc(np.abs(z) / math.sqrt(2)), rtol=1e-9)
    np.testing.assert_allclose(ours.intervals()[:, 1], ours.coefficients + stats.norm.isf(0.025) * ours.standard_errors)
    residual = y - X @ ours.coefficients[1:] - ours.coefficients[0]
    assert ours.log_likelihood == pytest.approx(stats.norm(0, 2).logpdf(residual).sum(), rel=1e-10)
    assert "p>|z|" in ours.summary() and "chi2(3)" in ours.summary()


def test_several_targets_give_one_inference_each():
    X, y = qed.data.load("stackloss").Xy()
    both = least_squares(X, np.column_stack([y, y**2]))
    assert isinstance(both, tuple) and len(both) == 2
    agrees(both[0], sm.OLS(y, sm.add_constant(X)).fit())
    agrees(both[1], sm.OLS(y**2, sm.add_constant(X)).fit())


@pytest.mark.parametrize("statistic", [Moments, Factor])
def test_longley_to_the_digits_of_the_certified_values(statistic):
    longley = PROBLEMS["Longley"]
    seen, off = least_squares(longley.X, longley.y, statistic=statistic), longley.deviation_error()
    np.testing.assert_allclose(seen.standard_errors, longley.deviations, rtol=off)
    assert math.sqrt(seen.sigma2) == pytest.approx(304.854073561965, rel=off)
    assert seen.r_squared == pytest.approx(0.995479004577296, rel=off)
    assert seen.f_test.statistic == pytest.approx(330.285339234588, rel=off)


def test_factor_keeps_digits_that_moments_lose():
    x = np.linspace(0, 1, 50)
    X = np.column_stack([x**j for j in range(1, 9)])
    y = np.sin(7 * x)
    design = np.column_stack([np.ones(50), X])
    R = np.linalg.qr(design, mode="r")
    solution = np.linalg.lstsq(design, y)[0]
    residual = np.linalg.norm(y - design @ solution)
    expected = np.linalg.norm(np.linalg.inv(R), axis=1) * residual / np.sqrt(41)
    exact = LeastSquares(design, y, solution, residual)

    def lost(statistic):
        return np.abs(least_squares(X, y, statistic=statistic).standard_errors / expected - 1).max()

    # What is expected is itself rounded as a factor is.
    linear, squared = 2 * exact.deviation_error(), exact.moved * exact.condition**2 + exact.squares_error()
    assert lost(Factor) <= linear < lost(Moments) <= squared


class TestTails:
    def test_student_one_and_two_degrees_of_freedom(self):
        t = np.array([1e-3, 0.5, 3.0, 1e4, 1e30])
        one = Inference(t, np.eye(5), degrees_of_freedom=1)
        np.testing.assert_allclose(one.p_values, 2 / np.pi * np.arctan(1 / t), rtol=1e-12)
        two = Inference(t, np.eye(5), degrees_of_freedom=2)
        s = np.sqrt(2 + t**2)
        np.testing.assert_allclose(two.p_values, 2 / (s * (s + t)), rtol=1e-12)

    def test_normal(self):
        z = np.array([0.0, 1.0, 5.0, 20.0, 37.0])
        seen = Inference(z, np.eye(5))
        np.testing.assert_allclose(seen.p_values, special.erfc(z / np.sqrt(2)), rtol=1e-12)
        assert 0 < seen.p_values[-1] < 1e-290

    def test_intervals_are_the_inverse_of_p_values(self):
        for degrees in (1, 3.5, 17, 1e6, math.inf):
            for level in (0.5, 0.95, 1 - 1e-9):
                reach = Inference([0.0], [[1.0]], degrees_of_freedom=degrees).intervals(level)[0, 1]
                again = Inference([reach], [[1.0]], degrees_of_freedom=degrees).p_values[0]
                assert again == pytest.approx(1 - level, rel=1e-6)

    def test_f_with_two_restrictions_is_closed(self):
        # F(2, v) has the tail (1 + 2 f / v)^(-v / 2)
        for f in (0.1, 5.0, 1e4):
            assert WaldTest.of(2 * f, 2, 10.0).p_value == pytest.approx((1 + 2 * f / 10) ** -5, rel=1e-12)

    def test_chi_squared_with_two_restrictions_is_closed(self):
        for q in (0.1, 5.0, 1200.0):
            assert WaldTest.of(q, 2, math.inf).p_value == pytest.approx(math.exp(-q / 2), rel=1e-12)


class TestWald:
    @pytest.fixture
    def seen(self):
        X, y = qed.data.load("longley").Xy()
        return least_squares(X, y), sm.OLS(y, sm.add_constant(X)).fit()

    def test_matrix_of_restrictions(self, seen):
        ours, theirs = seen
        R = np.zeros((2, 7))
        R[0, 1], R[0, 2], R[1, 4] = 1, -1, 1
        r = [0.1, -1.0]
        expected = theirs.f_test((R, r))
        found = ours.wald(R, r)
        assert found.statistic == pytest.approx(float(expected.fvalue), rel=1e-7)
        assert found.p_value == pytest.approx(float(expected.pvalue), rel=1e-6)
        assert (found.restrictions, found.degrees_of_freedom) == (2, 9)

    def test_names(self, seen):
        ours, _ = seen
        assert ours.names == ("intercept", "x0", "x1", "x2", "x3", "x4", "x5")
        one = ours.wald("x3")
        assert one.statistic == pytest.approx(ours.t_values[4] ** 2, rel=1e-9)
        assert one.p_value == pytest.approx(ours.p_values[4], rel=1e-9)
        every = ours.wald([f"x{j}" for j in range(6)])
        assert every.statistic == pytest.approx(ours.f_test.statistic, rel=1e-6)

    def test_chi_squared_when_the_variance_is_known(self):
        seen = Inference([1.0, 2.0], np.diag([1.0, 4.0]))
        found = seen.wald(np.eye(2))
        assert found.statistic == pytest.approx(2.0) and "chi2(2)" in str(found)

    def test_mistakes_are_named(self, seen):
        ours, _ = seen
        with pytest.raises(ParameterError, match="no coefficient 'x9'"):
            ours.wald("x9")
        with pytest.raises(ParameterError, match="7 coefficients"):
            ours.wald(np.eye(3))
        with pytest.raises(DegenerateError, match="depend on each other"):
            ours.wald(np.ones((2, 7)))


class TestWhereTheoryEnds:
    def test_no_rows_left_over(self):
        X = np.random.default_rng(0).normal(size=(4, 3))
        with pytest.raises(NotAvailableError, match="4 rows leave nothing over"):
            least_squares(X, X.sum(axis=1))

    @pytest.mark.parametrize("statistic", [Moments, Factor])
    @pytest.mark.parametrize("extra", ["double", "constant"])
    def test_dependent_columns(self, statistic, extra):
        X = np.random.default_rng(0).normal(size=(10, 2))
        X = np.column_stack([X, 2 * X[:, 0] if extra == "double" else np.full(10, 3.0)])
        with pytest.raises(NotAvailableError, match="follow from the others"):
            least_squares(X, X[:, 1], statistic=statistic)

    def test_perfect_fit_has_infinite_t(self):
        seen = Inference([2.0, 0.0], np.zeros((2, 2)), degrees_of_freedom=5, sigma2=0.0, residual=0.0, total=3.0)
        np.testing.assert_array_equal(seen.t_values, [math.inf, 0])
        np.testing.assert_array_equal(seen.p_values, [0, 1])
        np.testing.assert_array_equal(seen.intervals(), [[2, 2], [0, 0]])
        assert seen.r_squared == 1 and seen.f_test.p_value == 0

    def test_exact_fit_from_moments_is_not_an_error(self):
        X = np.arange(8.0).reshape(-1, 1)
        seen = least_squares(X, 1 + 2 * X[:, 0])
        assert seen.sigma2 < 1e-20 and np.isfinite(seen.standard_errors).all()
        assert seen.summary()

    def test_constant_target(self):
        X = np.random.default_rng(0).normal(size=(9, 2))
        seen = least_squares(X, np.ones(9))
        assert np.isfinite(seen.r_squared)


def test_bad_parameters():
    with pytest.raises(ParameterError, match="p x p covariance"):
        Inference([1.0, 2.0], np.eye(3))
    with pytest.raises(ParameterError, match="degrees_of_freedom"):
        Inference([1.0], [[1.0]], degrees_of_freedom=0)
    with pytest.raises(ParameterError, match="level"):
        Inference([1.0], [[1.0]]).intervals(95)


def test_to_dict_is_plain():
    X, y = qed.data.load("stackloss").Xy()
    content = json.loads(json.dumps(least_squares(X, y).to_dict(), allow_nan=False))
    assert content["names"] == ["intercept", "x0", "x1", "x2"]
    assert content["r_squared"] == pytest.approx(0.9135769, rel=1e-6)
    known = json.loads(json.dumps(Inference([1.0], [[1.0]]).to_dict(), allow_nan=False))
    assert known["degrees_of_freedom"] is None and known["aic"] is None


def test_summary_is_a_table_of_fixed_width():
    X, y = qed.data.load("longley").Xy()
    seen = least_squares(X, y, names=["deflator", "gnp", "unemployed", "armed", "population", "year"])
    lines = str(seen).splitlines()
    rows = lines[2:10]
    assert len({len(line) for line in rows}) == 1
    assert rows[1].startswith("intercept") and rows[-1].startswith("year")
    assert "F(6, 9) = 330.29" in str(seen)
