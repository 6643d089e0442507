"""change-of-vars: f_Z(z) = f_U(R^-1 z) / |det R|."""

import numpy as np
import pytest

from qed.base.errors import DegenerateError
from qed.stats import Gaussian, mapped_density

R = np.array([[2.0, 1.0], [0.0, 1.0]])


def standard(u):
    return np.exp(-0.5 * (np.asarray(u) ** 2).sum(axis=-1)) / (2 * np.pi)


def test_area_of_the_image_of_the_unit_square():
    """The uniform density on the square becomes 1 / area on its image: one over |det R| = 2."""
    square = mapped_density(lambda u: ((np.asarray(u) >= 0) & (np.asarray(u) <= 1)).all(axis=-1).astype(float), R)
    corners = np.array([[0, 0], [1, 0], [1, 1], [0, 1]]) @ R.T
    x, y = corners.T
    area = 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert 1 / float(square(corners.mean(axis=0))) == pytest.approx(area) == pytest.approx(2.0)
    assert float(square([10.0, 10.0])) == 0


def test_density_at_the_origin():
    assert mapped_density(standard, R)([0.0, 0.0]) == pytest.approx(1 / (4 * np.pi))
    assert Gaussian([0.0, 0.0], R @ R.T).density([0.0, 0.0]) == pytest.approx(1 / (4 * np.pi))


def test_same_count_of_samples_in_a_set_and_in_its_image():
    """P(U in A) = P(Z in T(A)), Z being the image of U."""
    n = 40_000
    u = Gaussian(np.zeros(2), np.eye(2)).sample(n, random_state=0)
    z = Gaussian(np.zeros(2), np.eye(2)).map(R).sample(n, random_state=1)
    inside = (((u - [0.5, 0.3]) ** 2).sum(axis=1) < 0.25).mean()
    image = (((np.linalg.solve(R, z.T).T - [0.5, 0.3]) ** 2).sum(axis=1) < 0.25).mean()
    assert abs(inside - image) < 4 * np.sqrt(2 * inside / n)


def test_same_probability_by_riemann_sums():
    grid = np.linspace(-1, 1, 401)
    step = grid[1] - grid[0]
    cell = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1).reshape(-1, 2)
    cell = cell[((cell - [0.2, 0.1]) ** 2).sum(axis=1) < 0.5]
    before = standard(cell).sum() * step**2
    after = mapped_density(standard, R)(cell @ R.T).sum() * abs(np.linalg.det(R)) * step**2
    assert after == pytest.approx(before, rel=1e-12)


def test_the_naive_formula_is_wrong_unless_the_determinant_is_one():
    u = np.array([0.3, -0.2])
    right = mapped_density(standard, R)(R @ u)
    assert right == pytest.approx(standard(u) / 2)
    assert abs(right - standard(u)) > 0.05
    shear = np.array([[1.0, 5.0], [0.0, 1.0]])
    assert mapped_density(standard, shear)(shear @ u) == pytest.approx(standard(u))


def test_it_integrates_to_one():
    grid = np.linspace(-25, 25, 1001)
    z = np.stack(np.meshgrid(grid, grid), axis=-1)
    assert mapped_density(standard, R, [0.5, -1.0])(z).sum() * (grid[1] - grid[0]) ** 2 == pytest.approx(1.0, abs=1e-9)


def test_a_singular_map_is_refused():
    with pytest.raises(DegenerateError, match="singular"):
        mapped_density(standard, [[1.0, 2.0], [2.0, 4.0]])
