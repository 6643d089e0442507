"""Conic fitting beyond the catalogue's lines: kinds of curves, weights, bad input, the certificate."""

import dataclasses

import numpy as np
import pytest

from qed.base.errors import DegenerateError, DegenerateWarning, InputError, NotAvailableError
from qed.data.synthetic import ellipse
from qed.regression.total.conic import Conic, conic_features, fit_conic


def hyperbola(n=20):
    """Points on (x1 - 1)²/4 - (x2 + 2)²/9 = 1, both branches."""
    t = np.linspace(-1.5, 1.5, n // 2)
    right = np.column_stack([1 + 2 * np.cosh(t), -2 + 3 * np.sinh(t)])
    left = np.column_stack([1 - 2 * np.cosh(t), -2 + 3 * np.sinh(t)])
    return np.vstack([right, left])


@pytest.mark.parametrize("angle", [-1.4, -0.3, 0.0, 0.7, np.pi / 2])
@pytest.mark.parametrize("center", [(0.0, 0.0), (1.0, -0.5), (-30.0, 12.0)])
def test_geometry_of_an_ellipse_is_recovered(angle, center):
    found = fit_conic(ellipse(25, semi_axes=(3, 1), center=center, angle=angle))
    assert found.is_ellipse and found.kind == "ellipse" and found.discriminant < 0
    np.testing.assert_allclose(found.center, center, atol=1e-8)
    np.testing.assert_allclose(found.semi_axes, [3, 1], rtol=1e-7)
    # an axis has no direction: angles that differ by pi are the same
    assert abs(np.sin(found.angle - angle)) < 1e-8
    assert -np.pi / 2 < found.angle <= np.pi / 2


def test_points_lie_on_the_curve_and_go_once_around():
    found = fit_conic(ellipse(30, semi_axes=(3, 1), center=(1, -0.5), angle=0.4))
    drawn = found.points(200)
    assert drawn.shape == (200, 2)
    assert np.abs(found.distance(drawn)).max() < 1e-10
    z = drawn - found.center
    turned = np.diff(np.unwrap(np.arctan2(z[:, 1], z[:, 0])))
    assert (turned > 0).all() and turned.sum() < 2 * np.pi


def test_hyperbola_is_named_with_its_axes():
    found = fit_conic(hyperbola())
    assert found.kind == "hyperbola" and not found.is_ellipse and found.discriminant > 0
    np.testing.assert_allclose(found.center, [1, -2], atol=1e-9)
    np.testing.assert_allclose(found.semi_axes, [2, 3], rtol=1e-9)
    assert abs(np.sin(found.angle)) < 1e-9
    assert "not an ellipse" in str(found) and "a hyperbola" in str(found)
    with pytest.raises(NotAvailableError, match="hyperbola"):
        found.points()


def test_parabola_has_no_centre():
    x = np.linspace(-2, 2, 11)
    found = fit_conic(np.column_stack([x, x**2 + 1]))
    np.testing.assert_allclose(found.coef, [-1, 0, 0, 0, 1], atol=1e-10)
    assert found.kind == "parabola"
    with pytest.raises(NotAvailableError, match="parabola"):
        _ = found.center


@pytest.mark.parametrize(
    "coef",
    [
        pytest.param([0, 0, 0, 1, 1], id="a line"),
        pytest.param([1, 0, 0, 0, 0], id="two parallel lines"),
        pytest.param([0.25, -0.25, 0, 0, 1], id="two crossing lines"),
        pytest.param([-1, -1, 0, 0, 0], id="no real point"),
        pytest.param([-1, -1, 0, 2, 0], id="a single point"),
    ],
)
def test_degenerate_curves_are_named(coef):
    curve = Conic(np.array(coef, dtype=float))
    assert curve.kind == "degenerate"
    assert "degenerate" in str(curve)
    with pytest.raises(NotAvailableError):
        _ = curve.semi_axes


def test_circle():
    found = fit_conic(ellipse(12, semi_axes=(2, 2), center=(0.5, 0.5)))
    np.testing.assert_allclose(found.semi_axes, [2, 2], rtol=1e-12)
    assert np.isfinite(found.angle)


def test_weights_are_repetitions_and_zero_is_absence():
    points = ellipse(15, noise=0.2, random_state=0)
    weight = np.arange(15) % 4
    weighted = fit_conic(points, weight)
    repeated = fit_conic(np.repeat(points, weight, axis=0))
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-10)
    assert weighted.residual == pytest.approx(repeated.residual, rel=1e-10)
    assert weighted.certificate and repeated.certify(points, weight)


@pytest.mark.parametrize("j", range(5))
def test_certificate_objects_to_a_changed_coefficient(j):
    points = ellipse(40, semi_axes=(3, 1), center=(1, -0.5), angle=0.3, noise=0.05, random_state=1)
    found = fit_conic(points)
    assert found.certify(points)
    coef = found.coef.copy()
    coef[j] *= 1.001
    assert not dataclasses.replace(found, coef=coef).certify(points)


def test_scale_of_the_points_does_not_matter():
    points = ellipse(20, semi_axes=(2, 1), center=(0.3, 0.1), noise=0.01, random_state=0)
    small, large = fit_conic(points * 1e-6), fit_conic(points * 1e6)
    np.testing.assert_allclose(small.semi_axes * 1e6, large.semi_axes * 1e-6, rtol=1e-8)
    assert small.certificate and large.certificate


def test_features_are_in_the_order_of_the_course():
    np.testing.assert_array_equal(conic_features([[2, 3]]), [[4, 9, 6, 2, 3]])


@pytest.mark.parametrize(
    ("points", "weight", "error", "words"),
    [
        (np.ones((6, 3)), None, InputError, "two coordinates"),
        (ellipse(4), None, InputError, "at least five"),
        (np.array([[0, 0], [1, 1], [2, np.nan], [3, 1], [4, 0]]), None, InputError, "number 2"),
        ([["a", "b"]] * 5, None, InputError, "numbers"),
        (ellipse(6), [1, 1, 1, 1, -1, 1], InputError, "point 4"),
        (ellipse(6), [1, 1], InputError, "6 points"),
        (ellipse(6), [1, 1, 0, 0, 1, 1], InputError, "only 4 points"),
        (np.column_stack([np.arange(8), 2 * np.arange(8) + 1]), None, DegenerateError, "line"),
        (np.repeat(ellipse(4), 3, axis=0), None, DegenerateError, "differ"),
    ],
)
def test_bad_input_is_explained(points, weight, error, words):
    with pytest.raises(error, match=words):
        fit_conic(points, weight)


def test_far_from_the_origin_is_reported():
    with pytest.warns(DegenerateWarning, match="move the origin"):
        fit_conic(ellipse(20, center=(1e9, 1e9)))
