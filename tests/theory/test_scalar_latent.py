"""scalar-latent: what may be behind the correlation of two numbers."""

import numpy as np
import pytest

from qed.reduction import SharedLatent


def test_numbers():
    """Numbers: sx = 2, sy = 3, rho = -0.25: A = 1.7320508, B = 1, C = -1.5, D = 2.5980762."""
    told = SharedLatent.of_numbers(2.0, 3.0, -0.25)
    found = [float(part[0, 0]) for part in (told.A, told.B, told.C, told.D)]
    np.testing.assert_allclose(found, [1.7320508, 1.0, -1.5, 2.5980762], atol=5e-8)


@pytest.mark.parametrize("rho", [-1.0, -0.6, 0.0, 0.3, 1.0])
def test_identities(rho):
    """Theory: A^2 + B^2 = sx^2, C^2 + D^2 = sy^2, BC = rho sx sy; scaled, the covariance is [[1, rho], [rho, 1]]."""
    told = SharedLatent.of_numbers(0.7, 4.0, rho)
    A, B, C, D = (float(part[0, 0]) for part in (told.A, told.B, told.C, told.D))
    assert pytest.approx(0.49, rel=1e-13) == A**2 + B**2
    assert pytest.approx(16, rel=1e-13) == C**2 + D**2
    assert pytest.approx(rho * 0.7 * 4.0, rel=1e-13, abs=1e-15) == B * C
    scale = np.array([0.7, 4.0])
    np.testing.assert_allclose(told.covariance() / np.outer(scale, scale), [[1, rho], [rho, 1]], rtol=1e-13, atol=1e-15)


def test_impossible_numbers_are_refused():
    with pytest.raises(ValueError, match="rho from -1 to 1"):
        SharedLatent.of_numbers(1.0, 1.0, 1.5)
