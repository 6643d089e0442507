"""The linear Gaussian model beyond the catalogue's lines: forms, singular priors, broad priors, bad input."""

import numpy as np
import pytest

from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.regression.gaussian.linear_gaussian import linear_gaussian
from qed.stats.distributions.covariance import Whitening, root


def problem(n, d, seed=0):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(n, d)), random.normal(size=n)
    A, B = random.normal(size=(n, n)), random.normal(size=(d, d))
    return X, y, A @ A.T + np.eye(n), B @ B.T + np.eye(d), random.normal(size=d)


def by_formula(X, y, noise, mean, prior):
    """The formula as it is printed, with inverses."""
    precision = X.T @ np.linalg.inv(noise) @ X + np.linalg.inv(prior)
    return mean + np.linalg.inv(precision) @ X.T @ np.linalg.inv(noise) @ (y - X @ mean), np.linalg.inv(precision)


@pytest.mark.parametrize(("n", "d"), [(12, 4), (4, 12), (6, 6), (1, 3), (3, 1)])
@pytest.mark.parametrize("form", ["primal", "dual", "auto"])
def test_both_forms_follow_the_formula(n, d, form):
    X, y, noise, prior, mean = problem(n, d)
    w, covariance = by_formula(X, y, noise, mean, prior)
    found = linear_gaussian(X, y, noise=noise, prior=prior, prior_mean=mean, form=form)
    np.testing.assert_allclose(found.mean, w, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(found.standard_deviations**2, np.diagonal(covariance), rtol=1e-8)


def test_the_smaller_system_is_solved_and_said():
    X, y, _, prior, _ = problem(12, 4)
    assert linear_gaussian(X, y, prior=prior).form == "primal"
    found = linear_gaussian(X.T, y[:4], prior=1.0)
    assert found.form == "dual" and found.reason == "4 rows are fewer than 12 coefficients"
    assert linear_gaussian(X, y, prior=1.0, form="dual").reason == "it was asked for"
    assert linear_gaussian(X, y).reason == "there is no prior"


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_singular_prior_leaves_what_is_known(form):
    X, y, noise, _, mean = problem(10, 3)
    found = linear_gaussian(X, y, noise=noise, prior=[1.0, 0.0, 2.0], prior_mean=mean, form=form)
    assert found.mean[1] == pytest.approx(mean[1], abs=1e-15)
    assert np.abs(found.covariance[1]).max() < 1e-15
    rest = linear_gaussian(X[:, [0, 2]], y - X[:, 1] * mean[1], noise=noise, prior=[1.0, 2.0], prior_mean=mean[[0, 2]])
    np.testing.assert_allclose(found.mean[[0, 2]], rest.mean, rtol=1e-10)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_singular_matrix_moves_along_its_range_only(form):
    X, y, _, _, mean = problem(10, 3)
    direction = np.array([1.0, -2.0, 0.5])
    found = linear_gaussian(X, y, prior=np.outer(direction, direction), prior_mean=mean, form=form)
    step = found.mean - mean
    np.testing.assert_allclose(np.cross(step, direction), 0, atol=1e-10)
    x = X @ direction
    np.testing.assert_allclose(step, direction * (x @ (y - X @ mean)) / (x @ x + 1), rtol=1e-9)


def test_broad_priors_keep_their_digits():
    X, y, _, _, _ = problem(5, 8)
    found = linear_gaussian(X, y, prior=1e16, noise=1e-8)
    assert (np.diagonal(found.covariance) >= 0).all()
    np.testing.assert_allclose(found.mean, np.linalg.pinv(X) @ y, rtol=1e-8)
    tall = linear_gaussian(X.T, np.arange(8.0), prior=1e20)
    np.testing.assert_allclose(tall.mean, np.linalg.lstsq(X.T, np.arange(8.0))[0], rtol=1e-8)


def test_condition_number_is_not_squared():
    x = np.linspace(0, 1, 40)
    X = np.vander(x, 11)
    w = np.random.default_rng(0).normal(size=11)
    found = linear_gaussian(X, X @ w)
    assert np.linalg.cond(X) > 1e7
    assert np.abs(found.mean / w - 1).max() < 1e-6


def test_input_is_left_alone():
    X, y, noise, prior, mean = problem(6, 3)
    copies = [a.copy() for a in (X, y, noise, prior, mean)]
    linear_gaussian(X, y, noise=noise, prior=prior, prior_mean=mean)
    for before, after in zip(copies, (X, y, noise, prior, mean)):
        np.testing.assert_array_equal(before, after)


def test_any_root_reproduces_the_covariance():
    _, _, _, prior, _ = problem(3, 4)
    for covariance in (2.0, [1.0, 0.0, 3.0, 4.0], prior, np.ones((4, 4))):
        half = root("prior", covariance, 4)
        wanted = np.asarray(covariance) * np.eye(4) if np.ndim(covariance) < 2 else covariance
        np.testing.assert_allclose(half @ half.T, wanted, atol=1e-12)


def test_log_determinant():
    _, _, noise, _, _ = problem(5, 2)
    assert Whitening(noise, 5).log_determinant() == pytest.approx(np.linalg.slogdet(noise)[1], rel=1e-12)
    assert Whitening([2.0, 3.0], 2).log_determinant(np.array([1, 2])) == pytest.approx(np.log(18))


BAD = np.array([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"noise": [1, 0, 1]}, ParameterError, "variance of row 1 is 0"),
        ({"noise": 0.0}, ParameterError, "variance of row 0 is 0"),
        ({"noise": [1, 1]}, ParameterError, "3 variances"),
        ({"noise": np.ones((3, 3))}, ParameterError, "noise: the covariance matrix is not positive definite"),
        ({"noise": np.triu(np.ones((3, 3)))}, ParameterError, r"symmetric, but entry \(0, 1\)"),
        ({"noise": [1, np.nan, 1]}, ParameterError, r"nan at \[1\]"),
        ({"noise": "loud"}, ParameterError, "noise must be numbers"),
        ({"prior": -1.0}, ParameterError, "variance of coefficient 0 is -1"),
        ({"prior": BAD}, ParameterError, "negative eigenvalue -1"),
        ({"prior": np.eye(3)}, ParameterError, "2 x 2 matrix"),
        ({"prior": 1.0, "prior_mean": [1, 2, 3]}, ParameterError, "2 coefficients"),
        ({"prior_mean": [1, 2]}, ParameterError, "without a prior"),
        ({"form": "dual"}, ParameterError, "needs a prior"),
        ({"form": "quick"}, ParameterError, "'quick'"),
    ],
)
def test_bad_parameters_are_named(options, error, words):
    with pytest.raises(error, match=words):
        linear_gaussian([[1, 0], [1, 1], [1, 2]], [1, 2, 2], **options)


def test_bad_data_are_named():
    with pytest.raises(InputError, match="3 rows of X"):
        linear_gaussian(np.ones((3, 2)), [1, 2])
    with pytest.raises(InputError, match="table"):
        linear_gaussian(np.ones(3), [1, 2, 3])
    with pytest.raises(InputError, match=r"X must be finite numbers, but it has inf at \[1, 0\]"):
        linear_gaussian([[1.0], [np.inf]], [1, 2])


@pytest.mark.parametrize("X", [np.ones((4, 2)), np.column_stack([np.arange(4.0), np.zeros(4)]), np.eye(2, 3)])
def test_dependent_columns_need_a_prior(X):
    with pytest.raises(DegenerateError, match="give a prior"):
        linear_gaussian(X, np.ones(len(X)))
    assert np.isfinite(linear_gaussian(X, np.ones(len(X)), prior=1.0).mean).all()
