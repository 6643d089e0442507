"""O-PROJ: projection of a point on a line."""

import numpy as np
import pytest

from qed.stats import project_on_line


@pytest.mark.parametrize("seed", range(5))
def test_residual_is_orthogonal_and_pythagoras_holds(seed):
    """Check: what is left is orthogonal to w to 1e-12, and ||x||^2 = ||x - proxy||^2 + ||proxy||^2."""
    random = np.random.default_rng(seed)
    x, w = random.standard_normal((6, 4)), random.standard_normal(4)
    coefficient, proxy = project_on_line(x, w)
    assert np.abs((x - proxy) @ w).max() < 1e-12
    square = (x**2).sum(axis=1)
    np.testing.assert_allclose(((x - proxy) ** 2).sum(axis=1) + (proxy**2).sum(axis=1), square, rtol=1e-12)
    np.testing.assert_allclose(coefficient, x @ w / (w @ w), rtol=1e-12)


def test_no_other_multiple_is_nearer():
    """Computes: c* = x'w / w'w minimises ||x - c w||."""
    random = np.random.default_rng(0)
    x, w = random.standard_normal(3), random.standard_normal(3)
    coefficient, proxy = project_on_line(x, w)
    others = coefficient + np.linspace(-2, 2, 81)[:, None]
    assert (np.linalg.norm(x - others * w, axis=1) >= np.linalg.norm(x - proxy) - 1e-14).all()


def test_unit_vectors_need_no_division():
    """Computes: for ||w|| = 1 the proxy is (x'w) w."""
    x, w = np.array([3.0, -1.0]), np.array([0.6, 0.8])
    np.testing.assert_allclose(project_on_line(x, w)[1], (x @ w) * w, rtol=1e-14)


def test_points_on_a_line_come_back_exactly():
    """Numbers of the text: four points on the line of (1, 2) have the coefficients -7, 2.5, 0.5, 0."""
    points = np.array([[-7.0, -14.0], [2.5, 5.0], [0.5, 1.0], [0.0, 0.0]])
    coefficient, proxy = project_on_line(points, [1.0, 2.0])
    np.testing.assert_allclose(coefficient, [-7, 2.5, 0.5, 0], atol=1e-14)
    np.testing.assert_allclose(proxy, points, atol=1e-14)


def test_a_line_needs_a_direction():
    with pytest.raises(ValueError, match="not zero"):
        project_on_line([1.0, 2.0], [0.0, 0.0])
    with pytest.raises(ValueError, match="shape"):
        project_on_line([1.0, 2.0, 3.0], [1.0, 0.0])
