"""KNN-THEORY, CURSE-BALL, CURSE-GAUSS: what many rows promise, and what many dimensions take away."""

import numpy as np
import pytest

import qed
from qed.data.synthetic import noise
from qed.stats import inner_share, length_bound


def test_cover_and_hart():
    """KNN-THEORY: with P(Y = 1) = 0.1 everywhere, one neighbour errs in 2 x 0.1 x 0.9 of the cases, many in 0.1."""
    generator = np.random.default_rng(0)
    n, new = 20_000, 6000
    X, Q = generator.random((n, 2)), generator.random((new, 2))
    y, truth = (generator.random(size) < 0.1 for size in (n, new))
    one = 1 - qed.KNeighborsClassifier(1).fit(X, y).score(Q, truth)
    many = 1 - qed.KNeighborsClassifier(201).fit(X, y).score(Q, truth)
    # Three standard errors of a share of so many rows.
    assert one == pytest.approx(0.18, abs=3 * np.sqrt(0.18 * 0.82 / new)) and one <= 0.2
    assert many == pytest.approx(0.1, abs=3 * np.sqrt(0.1 * 0.9 / new))


@pytest.mark.parametrize(
    ("rim", "d", "wanted"), [(0.01, 100, 0.366032), (0.01, 1000, 4.3171e-5), (0.1, 10, 0.348678), (0.1, 100, 2.6561e-5)]
)
def test_a_ball_is_nearly_all_rim(rim, d, wanted):
    """CURSE-BALL: the worked numbers, below the exponential."""
    assert inner_share(d, rim) == pytest.approx(wanted, rel=1e-4)
    assert inner_share(d, rim) <= np.exp(-rim * d)


def test_points_in_a_ball():
    """CURSE-BALL: as many points of a ball are inside as its share says."""
    generator = np.random.default_rng(1)
    n, d, rim = 20_000, 10, 0.1
    direction = generator.standard_normal((n, d))
    points = direction / np.linalg.norm(direction, axis=1, keepdims=True) * generator.random((n, 1)) ** (1 / d)
    share = inner_share(d, rim)
    assert (np.linalg.norm(points, axis=1) < 1 - rim).mean() == pytest.approx(share, abs=4 * np.sqrt(share / n))


@pytest.mark.parametrize("d", [10, 100, 1000])
def test_lengths_of_gaussians(d):
    """CURSE-GAUSS: mean d s^2, variance 2 d s^4, and Chebyshev's bound holds."""
    n, scale, epsilon = 4000, 1.5, 0.25
    square = (noise((n, d), scale=scale, random_state=d) ** 2).sum(axis=1)
    assert square.mean() == pytest.approx(d * scale**2, abs=4 * np.sqrt(2 * d / n) * scale**2)
    # The fourth moment of a chi-square over its squared variance is 3 + 12/d.
    assert square.var() == pytest.approx(2 * d * scale**4, rel=4 * np.sqrt((2 + 12 / d) / n))
    beyond = (np.abs(square - d * scale**2) >= d ** (0.5 + epsilon)).mean()
    assert beyond <= length_bound(d, epsilon, scale)


def test_the_worked_bounds():
    """CURSE-GAUSS."""
    np.testing.assert_allclose(
        [length_bound(d, 0.25) for d in (10, 100, 1000, 10_000)], [0.632, 0.2, 0.0632, 0.02], rtol=1e-3
    )
    assert length_bound(10, 0.1) > 1


def test_distances_become_alike():
    """O-KNN: in many dimensions the nearest row is hardly nearer than the farthest."""
    generator = np.random.default_rng(2)
    shares = []
    for d in (2, 20, 200, 2000):
        model = qed.NearestNeighbors(n_neighbors=500).fit(generator.random((500, d)))
        distance, _ = model.kneighbors(generator.random((20, d)))
        shares.append((distance[:, 0] / distance[:, -1]).mean())
    assert shares == sorted(shares) and shares[0] < 0.1 and shares[-1] > 0.85
