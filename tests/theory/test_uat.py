"""UAT: one hidden layer comes as near to a continuous function as one likes; here by weights that are written down."""

import numpy as np
import pytest

from qed.neural.constructions import hidden_layer, largest_error, relu_network, sigmoid_network, step_network


def wave(x):
    return np.sin(2 * np.pi * x)


@pytest.mark.parametrize(("pieces", "error"), [(10, 0.29389), (50, 0.06267), (126, 0.02492), (200, 0.01571)])
def test_steps(pieces, error):
    found = largest_error(step_network(wave, pieces), wave)
    assert found == pytest.approx(error, abs=6e-6) and found <= np.pi / pieces


@pytest.mark.parametrize(("pieces", "error"), [(10, 0.3025), (20, 0.1599), (40, 0.0810), (80, 0.0407)])
def test_sigmoids(pieces, error):
    assert largest_error(sigmoid_network(wave, pieces), wave) == pytest.approx(error, abs=6e-5)


def test_hinges():
    found = largest_error(relu_network(wave, 10), wave)
    assert found == pytest.approx(0.048943, abs=6e-7) and found <= (2 * np.pi) ** 2 * 0.1**2 / 8 < 0.05


def test_two_rectified_units_make_a_bounded_one():
    """The theorem asks for a bounded activation, which the rectified one is not; a difference of two is."""
    network, x = hidden_layer([0.0, -1.0], [1.0, 1.0], [1.0, -1.0], "relu"), np.linspace(-9, 9, 1001)
    found = network.forward(x[:, None]).ravel()
    assert np.allclose(found, np.clip(x, 0, 1), atol=1e-14)
