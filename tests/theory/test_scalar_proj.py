"""scalar-proj: the length of the shadow of a vector, and the shadow."""

import numpy as np
import pytest

from qed.reduction import pearson
from qed.stats import project_on_line


@pytest.mark.parametrize("seed", range(3))
def test_cosine_and_pythagoras(seed):
    """Theory: x'v = ||x|| ||v|| cos(angle), and the squares of shadow and rest add up."""
    generator = np.random.default_rng(seed)
    x, v = generator.standard_normal((2, 5))
    v /= np.linalg.norm(v)
    length, shadow = project_on_line(x, v)
    # The angle from the sides of the triangle of x and v.
    cosine = (x @ x + 1 - (x - v) @ (x - v)) / (2 * np.linalg.norm(x))
    assert length == pytest.approx(np.linalg.norm(x) * cosine, rel=1e-12)
    np.testing.assert_allclose(shadow, length * v, rtol=1e-12)
    assert np.sum((x - shadow) ** 2) + np.sum(shadow**2) == pytest.approx(x @ x, rel=1e-12)


def test_a_correlation_is_such_a_cosine():
    """Theory: of centred columns the cosine of the angle is Pearson's correlation."""
    x, y = np.random.default_rng(5).standard_normal((2, 40))
    away, unit = x - x.mean(), y - y.mean()
    unit = unit / np.linalg.norm(unit)
    assert float(project_on_line(away, unit)[0]) / np.linalg.norm(away) == pytest.approx(pearson(x, y), rel=1e-12)
