"""mvn-marginal: parts of a Gaussian vector are Gaussian; the converse is false. The upper right block is Sigma_XY, not Sigma_YY."""

import numpy as np
import pytest
from scipy import stats

from qed.base.errors import ParameterError
from qed.stats import Gaussian

JOINT = Gaussian([1.0, -1.0], [[2.0, 0.8], [0.8, 1.0]])


@pytest.mark.parametrize("x", [-1.0, 0.5, 3.0])
def test_marginal_is_the_integral_of_the_joint(x):
    grid = np.linspace(-15, 15, 20_001)
    integral = JOINT.density(np.column_stack([np.full_like(grid, x), grid])).sum() * (grid[1] - grid[0])
    assert JOINT.marginal([0]).density([x]) == pytest.approx(integral, rel=1e-10)


def test_blocks():
    sigma = np.diag([1.0, 2.0, 3.0]) + 0.3
    part = Gaussian([1.0, 2.0, 3.0], sigma).marginal([2, 0])
    np.testing.assert_allclose(part.mean, [3.0, 1.0])
    np.testing.assert_allclose(part.covariance, sigma[np.ix_([2, 0], [2, 0])])


def test_the_false_converse():
    """X ~ N(0,1), Y = SX with a fair sign: both normal and uncorrelated, yet X + Y is zero half of the time, as no Gaussian sum is."""
    random = np.random.default_rng(0)
    X = Gaussian([0.0], [[1.0]]).sample(20_000, random_state=0)[:, 0]
    Y = X * random.choice([-1.0, 1.0], X.size)
    assert stats.kstest(X, "norm").pvalue > 1e-3
    assert stats.kstest(Y, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(X, Y)[0, 1]) < 0.03
    assert np.mean(X + Y == 0) == pytest.approx(0.5, abs=0.02)
    joint = Gaussian([0.0, 0.0], np.eye(2)).map([[1.0, 1.0]])
    assert joint.covariance[0, 0] == pytest.approx(2.0) and not joint.is_degenerate


def test_independent_parts_are_jointly_gaussian():
    joint = Gaussian([0.0, 0.0], np.eye(2)).map([[2.0, -1.0]])
    assert joint.covariance[0, 0] == pytest.approx(5.0)
    combined = joint.sample(20_000, random_state=1)[:, 0] / np.sqrt(5)
    assert stats.kstest(combined, "norm").pvalue > 1e-3


def test_wrong_components_are_refused():
    for wrong in ([2], [0, 0], [], [-1]):
        with pytest.raises(ParameterError, match="from 0 to 1"):
            JOINT.marginal(wrong)
