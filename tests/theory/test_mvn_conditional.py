"""mvn-conditional: what is left of the uncertainty when some components are known."""

import numpy as np
import pytest

from qed.base.errors import InputError
from qed.stats import Gaussian

SIGMA = np.array([[2.0, 0.6, 0.3], [0.6, 1.0, -0.2], [0.3, -0.2, 1.5]])
JOINT = Gaussian([1.0, -1.0, 0.5], SIGMA)


def test_the_fixture():
    found = Gaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]]).conditional({1: 2.0})
    assert found.mean[0] == pytest.approx(1.0)
    assert found.covariance[0, 0] == pytest.approx(1.5)


@pytest.mark.parametrize("y", [(-2.0, 0.1), (0.5, 3.0)])
def test_joint_over_marginal(y):
    given = JOINT.conditional({1: y[0], 2: y[1]})
    for x in (-1.0, 0.0, 2.5):
        ratio = JOINT.density([x, *y]) / JOINT.marginal([1, 2]).density(y)
        assert given.density([x]) == pytest.approx(ratio, rel=1e-12)


def test_covariance_does_not_depend_on_the_values_and_is_smaller():
    one, two = JOINT.conditional({2: 0.0}), JOINT.conditional({2: 9.0})
    np.testing.assert_array_equal(one.covariance, two.covariance)
    assert np.linalg.eigvalsh(one.covariance)[0] > 0
    assert np.linalg.eigvalsh(SIGMA[:2, :2] - one.covariance)[0] > -1e-14


def test_inverse_of_a_block_of_the_precision():
    precision = np.linalg.inv(SIGMA)
    np.testing.assert_allclose(JOINT.conditional({2: 1.0}).covariance, np.linalg.inv(precision[:2, :2]), rtol=1e-12)


def test_fully_determined_components():
    """Singular covariances can be conditioned; contradictory values are refused."""
    line = Gaussian([0.0, 0.0, 0.0], [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    found = line.conditional({0: 3.0})
    np.testing.assert_allclose(found.mean, [6.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.covariance, [[0.0, 0.0], [0.0, 1.0]], atol=1e-12)
    with pytest.raises(InputError, match="contradict"):
        line.conditional({0: 3.0, 1: 5.0})


def test_nothing_left_is_refused():
    with pytest.raises(InputError, match="nothing left"):
        JOINT.conditional({0: 0.0, 1: 0.0, 2: 0.0})
