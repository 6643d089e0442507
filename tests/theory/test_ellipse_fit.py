"""ellipse-fit: least squares for w1 x1² + w2 x2² + w3 x1 x2 + w4 x1 + w5 x2 = 1, with a target of ones."""

import numpy as np
import pytest

from qed.base.errors import DegenerateWarning, NotAvailableError
from qed.data.synthetic import ellipse
from qed.regression.total.conic import conic_features, fit_conic


def test_minimises_the_distance_of_the_features_to_ones():
    """Computes: the least-squares solution for the n x 5 matrix of features in the stated order, and no other target."""
    points = ellipse(30, center=(0.2, 0.1), noise=0.1, random_state=0)
    x1, x2 = points.T
    features = np.column_stack([x1**2, x2**2, x1 * x2, x1, x2])
    np.testing.assert_array_equal(conic_features(points), features)
    expected = np.linalg.lstsq(features, np.ones(30))[0]
    found = fit_conic(points)
    np.testing.assert_allclose(found.coef, expected, rtol=1e-9)
    assert found.residual == pytest.approx(np.linalg.norm(features @ expected - 1), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_points_on_an_ellipse_give_it_back(seed):
    """Theory: noise-free points on an ellipse that can be represented leave no residual and give its coefficients."""
    random = np.random.default_rng(seed)
    shape = {
        "semi_axes": random.uniform(1, 4, 2),
        "center": random.uniform(-1, 1, 2) * 0.5,
        "angle": random.uniform(0, np.pi),
    }
    points, truth = ellipse(17, **shape, return_truth=True)
    found = fit_conic(points)
    np.testing.assert_allclose(found.coef, truth["coef"], rtol=1e-8, atol=1e-9)
    assert found.residual < 1e-11
    assert found.certificate


def test_axis_aligned_numbers():
    """Numbers: semi-axes 2 and 1 about the origin give w = (0.25, 1, 0, 0, 0)."""
    found = fit_conic(ellipse(20, semi_axes=(2, 1)))
    np.testing.assert_allclose(found.coef, [0.25, 1, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(found.semi_axes, [2, 1], rtol=1e-12)
    np.testing.assert_allclose(found.center, [0, 0], atol=1e-12)
    assert abs(found.angle) < 1e-12


def test_rotated_numbers():
    """Numbers: semi-axes 3 and 1, turned by 30 degrees, centre (1, -0.5), twenty equally spaced parameter values."""
    found = fit_conic(ellipse(20, semi_axes=(3, 1), center=(1, -0.5), angle=np.pi / 6))
    expected = [3.8172874, 8.90700393, -8.81564763, -12.04239861, 17.72265155]
    np.testing.assert_allclose(found.coef, expected, rtol=1e-8)
    assert found.residual < 1e-11
    np.testing.assert_allclose(found.center, [1, -0.5], rtol=1e-9)
    np.testing.assert_allclose(found.semi_axes, [3, 1], rtol=1e-9)
    assert found.angle == pytest.approx(np.pi / 6, rel=1e-9)


def test_it_is_an_ellipse_exactly_when_the_discriminant_is_negative():
    """Pitfall: the fit is a general conic; it is an ellipse only if w3² < 4 w1 w2, and otherwise that is reported."""
    t = np.linspace(-1, 1, 12)
    branch = np.column_stack([np.cosh(t), np.sinh(t)])
    found = fit_conic(branch)
    w1, w2, w3 = found.coef[:3]
    assert w3**2 > 4 * w1 * w2 and found.kind == "hyperbola"
    assert "not an ellipse" in str(found)
    with pytest.raises(NotAvailableError, match="not an ellipse"):
        found.points()
    closed = fit_conic(ellipse(12, noise=0.05, random_state=0))
    w1, w2, w3 = closed.coef[:3]
    assert w3**2 < 4 * w1 * w2 and closed.is_ellipse


def test_a_conic_through_the_origin_is_flagged():
    """Pitfall: semi-axes 2 and 1 about (2, 0) run through the origin: residual norm 2 for 20 points, and w1 < 0."""
    with pytest.warns(DegenerateWarning, match="through the origin"):
        found = fit_conic(ellipse(20, semi_axes=(2, 1), center=(2, 0)))
    assert found.through_origin
    assert found.residual == pytest.approx(2.0, abs=1e-9)
    assert found.coef[0] < 0
    assert "origin" in str(found)


def test_it_depends_on_where_the_origin_is():
    """Pitfall: fitting moved points is not the same as moving the fitted curve."""
    points = ellipse(20, semi_axes=(2, 1), noise=0.1, random_state=3)
    here, there = fit_conic(points), fit_conic(points + np.array([0.5, 0.5]))
    assert np.linalg.norm(there.center - [0.5, 0.5] - here.center) > 1e-3
