"""bv-experiment: degrees 0, 1, 2 on ten points about a line."""

import numpy as np
import pytest

import qed


@pytest.fixture(scope="module")
def found():
    return qed.polynomial_experiment(repetitions=1000)


def test_degree_0(found):
    """Bias² is 4x² (22/15 on the grid), and the variance (4/3 + 1/4) / 10 everywhere: inputs are random."""
    x = found[0].X[:, 0]
    np.testing.assert_allclose(found[0].bias_squared, 4 * x**2, atol=0.15)
    assert found[0].bias_squared.mean() == pytest.approx(22 / 15, rel=0.05)
    np.testing.assert_allclose(found[0].variance, 0.158333, rtol=0.15)
    assert np.ptp(found[0].variance) < 1e-12
    assert found[0].bias_squared[10] < 0.01 < found[0].bias_squared[0]


@pytest.mark.slow
def test_the_variance_of_degree_0_to_the_accuracy_stated():
    """0.158333 to 5 %: of 10 000 draws a variance is known to a standard deviation of 1.4 %."""
    found = qed.polynomial_experiment([0], repetitions=10_000)[0]
    np.testing.assert_allclose(found.variance, 0.158333, rtol=0.05)
    np.testing.assert_allclose(found.bias_squared, 4 * found.X[:, 0] ** 2, atol=0.05)


def test_degrees_1_and_2_are_right_on_average(found):
    assert found[1].bias_squared.mean() < 1e-3
    assert found[2].bias_squared.mean() < 1e-3


def test_variance_of_the_line(found):
    """Low in the middle, higher at the edges."""
    assert found[1].variance[10] == pytest.approx(0.029, rel=0.2)
    assert found[1].variance[0] == pytest.approx(0.124, rel=0.2)
    assert found[1].variance.mean() == pytest.approx(0.064, rel=0.15)


def test_the_parabola_varies_more_everywhere(found):
    assert (found[2].variance > found[1].variance).all()


def test_the_line_has_the_lowest_error(found):
    assert min(found, key=lambda degree: found[degree].error.mean()) == 1


def test_all_certificates_hold(found):
    assert all(one.certificate for one in found.values())
