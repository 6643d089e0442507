"""Curves and designs follow the laws that their docstrings state."""

import numpy as np
import pytest

from qed.base.errors import ParameterError
from qed.data.synthetic import collinear, ellipse, line, linear, polynomial, sinusoid


def fit(X, y):
    return np.linalg.lstsq(X, y)[0]


def conic_features(points):
    x1, x2 = points.T
    return np.column_stack([x1**2, x2**2, x1 * x2, x1, x2])


@pytest.mark.parametrize("make", [line, polynomial, sinusoid])
def test_curves_have_shape_range_and_noise(make):
    X, y, truth = make(4000, low=-2.0, high=3.0, noise=0.7, random_state=1, return_truth=True)
    assert X.shape == (4000, 1) and y.shape == (4000,)
    assert X.min() >= -2 and X.max() <= 3 and abs(X.mean() - 0.5) < 4 * 5 / np.sqrt(12 * 4000)
    noise = y - truth["mean"]
    assert abs(noise.mean()) < 4 * 0.7 / np.sqrt(4000)
    assert noise.var() == pytest.approx(0.49, rel=4 * np.sqrt(2 / 4000))


def test_line_is_found_by_least_squares():
    X, y, truth = line(5000, slope=-3.0, intercept=2.0, random_state=0, return_truth=True)
    found = fit(np.column_stack([np.ones(len(X)), X]), y)
    np.testing.assert_allclose(found, [2.0, -3.0], atol=0.06)
    assert truth["coef"].tolist() == [-3.0] and truth["intercept"] == 2.0


def test_polynomial_is_exact_without_noise():
    coef = [0.5, -1.0, 2.0, 3.0]
    X, y = polynomial(50, coef, noise=0.0, random_state=0)
    np.testing.assert_allclose(np.polynomial.polynomial.polyfit(X[:, 0], y, 3), coef, atol=1e-10)


def test_sinusoid_is_exact_without_noise():
    X, y = sinusoid(50, amplitude=1.5, frequency=2.0, phase=0.3, noise=0.0, random_state=0)
    np.testing.assert_allclose(y, 1.5 * np.sin(4 * np.pi * X[:, 0] + 0.3), atol=1e-14)


def test_ellipse_of_the_catalogue():
    """ellipse-fit: semi-axes 3 and 1, turned by 30 degrees, centre (1, -0.5), 20 points."""
    points, truth = ellipse(20, semi_axes=(3, 1), center=(1, -0.5), angle=np.pi / 6, return_truth=True)
    known = [3.8172874, 8.90700393, -8.81564763, -12.04239861, 17.72265155]
    np.testing.assert_allclose(truth["coef"], known, atol=5e-8)
    np.testing.assert_allclose(fit(conic_features(points), np.ones(20)), truth["coef"], rtol=1e-9)


def test_ellipse_through_the_origin_has_no_such_equation():
    points, truth = ellipse(20, semi_axes=(2, 1), center=(2, 0), return_truth=True)
    assert truth["coef"] is None
    features = conic_features(points)
    residual = np.ones(20) - features @ fit(features, np.ones(20))
    assert np.linalg.norm(residual) == pytest.approx(2.0)


def test_ellipse_noise():
    clean, noisy = ellipse(5000), ellipse(5000, noise=0.3, random_state=0)
    assert (noisy - clean).std() == pytest.approx(0.3, rel=0.05)


def test_linear_shapes_and_truth():
    X, y, truth = linear(300, 10, noise=0.0, n_informative=4, intercept=5.0, random_state=3, return_truth=True)
    assert X.shape == (300, 10) and y.shape == (300,) and truth["coef"].shape == (10,)
    assert np.count_nonzero(truth["coef"]) == 4
    np.testing.assert_allclose(X @ truth["coef"] + 5.0, y, atol=1e-12)


def test_linear_with_several_outputs():
    X, y, truth = linear(300, 6, n_outputs=3, noise=0.0, n_informative=2, random_state=0, return_truth=True)
    assert y.shape == (300, 3) and truth["coef"].shape == (3, 6)
    assert (np.count_nonzero(truth["coef"], axis=0) > 0).sum() == 2
    np.testing.assert_allclose(X @ truth["coef"].T, y, atol=1e-12)


@pytest.mark.parametrize("rho", [0.0, 0.8, -0.5, 1.0])
def test_linear_columns_are_correlated_as_asked(rho):
    X, _ = linear(20_000, 4, rho=rho, random_state=0)
    lags = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    np.testing.assert_allclose(np.cov(X.T), rho**lags, atol=0.05)


@pytest.mark.parametrize("family", ["gaussian", "uniform", "laplace"])
def test_linear_noise_has_the_asked_variance(family):
    _, y, truth = linear(20_000, 2, noise=1.5, family=family, random_state=0, return_truth=True)
    assert (y - truth["mean"]).var() == pytest.approx(2.25, rel=0.08)


def test_linear_with_nothing_to_find():
    _, y, truth = linear(50, 5, n_informative=0, noise=0.0, random_state=0, return_truth=True)
    assert not truth["coef"].any() and not y.any()


@pytest.mark.parametrize("angle", [0.0, 1e-6, 0.01, 1.0, np.pi / 2, 3.0])
def test_collinear_angle_is_exact(angle):
    X, _, truth = collinear(40, angle=angle, random_state=5, return_truth=True)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-13)
    np.testing.assert_allclose((X**2).mean(axis=0), 1.0, rtol=1e-12)
    found = np.linalg.svd(X, compute_uv=False)
    np.testing.assert_allclose(found, truth["singular_values"], rtol=1e-8, atol=1e-13)
    assert truth["singular_values"][0] ** 2 == pytest.approx(40 * (1 + abs(np.cos(angle))))


def test_collinear_estimates_explode_as_the_angle_shrinks():
    sizes = []
    for angle in (1.0, 0.01, 0.0001):
        X, y = collinear(100, angle=angle, random_state=0)
        sizes.append(np.linalg.norm(fit(X, y) - 1.0))
    assert sizes[0] < sizes[1] < sizes[2] and sizes[2] > 100 * sizes[0]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: line(0), "n must be a whole number"),
        (lambda: line(2.5), "n must be a whole number"),
        (lambda: line(True), "n must be a whole number"),
        (lambda: line(5, noise=-1), "noise must be a finite number >= 0"),
        (lambda: line(5, noise=np.nan), "noise"),
        (lambda: line(5, slope="steep"), "slope"),
        (lambda: line(5, low=1, high=1), "low must be smaller than high"),
        (lambda: line(5, family="cauchy"), "family must be 'gaussian' or"),
        (lambda: line(5, random_state=-1), "random_state"),
        (lambda: line(5, random_state="seed"), "random_state"),
        (lambda: polynomial(5, []), "coef must have shape any"),
        (lambda: polynomial(5, ["a"]), "coef must be numbers"),
        (lambda: polynomial(5, [np.inf]), "coef must be finite"),
        (lambda: ellipse(5, semi_axes=(1, 0)), "semi_axes must be a finite number > 0"),
        (lambda: ellipse(5, center=(1, 2, 3)), "center must have shape 2"),
        (lambda: linear(5, 0), "p must be a whole number"),
        (lambda: linear(5, 2, rho=1.1), "rho must be a finite number >= -1 and <= 1"),
        (lambda: linear(5, 2, n_informative=3), "n_informative=3 columns can not matter"),
        (lambda: linear(5, 2, n_informative=-1), "n_informative must be a whole number"),
        (lambda: linear(5, 2, n_outputs=0), "n_outputs"),
        (lambda: collinear(2), "n must be a whole number >= 3"),
        (lambda: collinear(5, angle=4.0), "angle"),
    ],
)
def test_bad_parameters_are_named(make, name):
    with pytest.raises(ParameterError, match=name):
        make()
