"""latent-jg: two tables that share hidden causes."""

import numpy as np
import pytest

import qed
from qed.reduction import SharedLatent


def story(seed=0, p=3, q=2, m=2):
    generator = np.random.default_rng(seed)
    return SharedLatent(*(generator.standard_normal(shape) for shape in ((p, p), (p, m), (q, m), (q, q))))


def test_samples_have_the_covariances():
    """Theory: AA' + BB', CC' + DD' and BC'."""
    told = story()
    X, Y = told.sample(200_000, random_state=1)
    covariance = told.covariance()
    np.testing.assert_allclose(covariance[:3, :3], told.A @ told.A.T + told.B @ told.B.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(covariance[3:, 3:], told.C @ told.C.T + told.D @ told.D.T, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(covariance[:3, 3:], told.B @ told.C.T, rtol=1e-12, atol=1e-12)
    scale = np.sqrt(np.outer(covariance.diagonal(), covariance.diagonal()))
    assert np.abs((np.cov(np.hstack([X, Y]).T) - covariance) / scale).max() < 6 * (2 / 200_000) ** 0.5


@pytest.mark.parametrize("gone", ["B", "C"])
def test_without_shared_causes_nothing_is_correlated(gone):
    """Theory: B = 0 or C = 0 makes all canonical correlations zero."""
    parts = {name: getattr(story(), name) for name in "ABCD"}
    parts[gone] = np.zeros_like(parts[gone])
    X, Y = SharedLatent(**parts).sample(20_000, random_state=0)
    # With n rows the squares of sample correlations are about (p + q) / n.
    assert qed.CCA().fit(X, Y).correlations_.max() < 5 * (5 / 20_000) ** 0.5


def test_stories_are_not_unique():
    """Theory: turned causes tell the same covariance."""
    told = story()
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((2, 2)))[0]
    other = SharedLatent(told.A, told.B @ turn, told.C @ turn, told.D)
    np.testing.assert_allclose(other.covariance(), told.covariance(), atol=1e-12)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="as many columns"):
        SharedLatent(np.eye(2), np.ones((2, 1)), np.ones((2, 2)), np.eye(2))
