"""O-COMPRESS: a representative and coefficients in the place of rows."""

import numpy as np
import pytest

import qed
from qed.reduction import stored
from qed.stats import low_rank, project_on_line


def test_counts():
    """Numbers: 8 to 6 on a line, 10 000 to 600 on a plane of three dimensions."""
    assert (stored(4, 2), stored(4, 2, 1)) == (8, 6)
    assert (stored(100, 100), stored(100, 100, 3)) == (10_000, 600)


def test_points_on_a_line():
    """Numbers: (-7, -14), (2.5, 5), (0.5, 1), (0, 0) are (1, 2) times -7, 2.5, 0.5, 0; the unit vector has sqrt 5 times these."""
    points = np.array([[-7.0, -14.0], [2.5, 5.0], [0.5, 1.0], [0.0, 0.0]])
    coefficients, proxies = project_on_line(points, [1.0, 2.0])
    np.testing.assert_allclose(coefficients, [-7, 2.5, 0.5, 0], atol=1e-14)
    np.testing.assert_allclose(proxies, points, atol=1e-14)
    unit, _ = project_on_line(points, np.array([1.0, 2.0]) / 5**0.5)
    np.testing.assert_allclose(unit, 5**0.5 * coefficients, atol=1e-13)


def test_rows_of_rank_three_come_back():
    """Numbers: 100 x 100 of rank 3 is 600 numbers; of PCA, which keeps a mean, too, 700; and reconstruction is exact."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((100, 3)) @ generator.standard_normal((3, 100))
    np.testing.assert_allclose(low_rank(X, 3), X, atol=1e-12)
    model = qed.PCA(3).fit(X)
    assert model.storage() == (10_000, 700)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-12)


def test_it_pays_below_a_rank_alone():
    """Note: k (d + n) < d n."""
    assert stored(10, 10, 4) < stored(10, 10) < stored(10, 10, 6)
    assert stored(10, 10, 5) == pytest.approx(stored(10, 10))
