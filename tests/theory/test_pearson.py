"""pearson: the correlation of two columns."""

import numpy as np
import pytest

from qed.reduction import SharedLatent, pearson


def test_numbers():
    """Numbers: (1, 2, 3) and (1, 3, 2) have 0.5."""
    assert pearson([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]) == pytest.approx(0.5, rel=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_symmetric_bounded_and_of_any_units(seed):
    """Theory: symmetric; in [-1, 1]; r(ax + b, cy + d) = sign(ac) r(x, y) (erratum: the sign is needed)."""
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((2, 30))
    found = pearson(x, y)
    assert pearson(y, x) == pytest.approx(found, rel=1e-13) and -1 <= found <= 1
    for a, c in ((2.0, 3.0), (-2.0, 3.0), (-0.5, -7.0)):
        assert pearson(a * x + 5, c * y - 1) == pytest.approx(np.sign(a * c) * found, rel=1e-11)
    assert found == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-12)


def test_one_on_lines_alone():
    """Theory: +-1 if and only if points lie on a line."""
    x = np.array([0.0, 1.0, 2.0, 5.0])
    assert pearson(x, 3 * x - 1) == pytest.approx(1, rel=1e-15)
    assert pearson(x, -x) == pytest.approx(-1, rel=1e-15)
    assert abs(pearson(x, x**2)) < 1 - 1e-3


def test_goes_to_the_correlation_of_the_population():
    """Theory: the sample correlation goes to rho by the law of large numbers."""
    X, Y = SharedLatent.of_numbers(2.0, 3.0, -0.25).sample(100_000, random_state=0)
    # Its standard deviation is about (1 - rho^2) / sqrt n.
    assert pearson(X[:, 0], Y[:, 0]) == pytest.approx(-0.25, abs=6 / 100_000**0.5)


def test_what_does_not_vary_is_refused():
    """Pitfall: zero variance has no correlation."""
    with pytest.raises(ValueError, match="x does not vary"):
        pearson([1.0, 1.0], [1.0, 2.0])
    with pytest.raises(ValueError, match="same length"):
        pearson([1.0, 2.0], [1.0, 2.0, 3.0])
