"""C6-EM-MOG: the M step zeroes the gradients of the bound, and keeps mean and second moments."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import qed
from qed.base.sources.open import rows
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.shapes import spread_like
from qed.clustering.mixtures.shares import Held, Shares


def data(offset=0.0):
    generator = np.random.default_rng(2)
    return (
        np.vstack([generator.standard_normal((80, 3)), generator.standard_normal((120, 3)) * [1, 2, 0.5] + 3]) + offset
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_after_an_m_step_gradients_vanish_and_moments_are_those_of_the_rows(offset):
    X = data(offset)
    before = Mixture.of("full", np.array([0.3, 0.7]), X[[0, 150]], spread_like(2.0, "full", 2, 3))
    shares = np.exp(before.log_joint(X))
    shares /= shares.sum(axis=1, keepdims=True)
    after = rows(X).fold(Shares.of, before, Held("full")).updated(before, Held("full"))
    for j in range(2):
        away = X - after.means[j]
        pull = np.linalg.solve(after.covariances[j], shares[:, j] @ away)
        inner = 0.5 * np.einsum("i,iab->ab", shares[:, j], after.covariances[j] - away[:, :, None] * away[:, None])
        assert np.abs(pull).max() <= 1e-8 * max(1.0, offset) and np.abs(inner).max() <= 1e-8 * max(1.0, offset)
    assert after.weights.sum() == pytest.approx(1, abs=1e-15)
    middle = X.mean(axis=0)
    assert np.abs(after.weights @ (after.means - middle)).max() <= 1e-10 * max(1.0, offset)
    total = np.tensordot(after.weights, after.covariances, 1)
    total = total + ((after.means - middle) * after.weights[:, None]).T @ (after.means - middle)
    assert np.abs(total - np.cov(X.T, bias=True)).max() <= 1e-10 * max(1.0, offset)


def test_equal_shares_give_the_mean_and_covariance_of_all_rows():
    X = data()
    one = qed.GaussianMixture(1, reg_covar=0.0).fit(X)
    assert np.allclose(one.means_[0], X.mean(axis=0), rtol=1e-13) and np.allclose(
        one.covariances_[0], np.cov(X.T, bias=True), rtol=1e-12
    )


def test_the_likelihood_never_falls():
    with qed.watch() as seen:
        model = qed.GaussianMixture(4, random_state=0, tol=1e-9, max_iter=300, reg_covar=0.0).fit(data())
    assert seen is not None
    assert np.diff(model.lower_bounds_).min() >= -1e-13
    assert model.certificate_


def test_a_component_that_shrinks_to_a_point_is_held_by_the_floor_and_that_is_said():
    X = np.vstack([np.random.default_rng(0).standard_normal((60, 2)), np.full((10, 2), 20.0)])
    model = qed.GaussianMixture(2, reg_covar=0.0, covariance_floor=1e-4, random_state=0, tol=1e-8).fit(X)
    point = int(np.argmax(model.means_[:, 0]))
    assert model.floored_[point] == 2 and model.floored_[1 - point] == 0
    assert np.allclose(np.linalg.eigvalsh(model.covariances_[point]), 1e-4)
    assert np.diff(model.lower_bounds_).min(initial=0.0) >= -1e-13
    assert qed.certify(model, X)
    with pytest.raises(ValueError, match="covariance_floor"):
        qed.GaussianMixture(2, reg_covar=0.0, random_state=0).fit(X)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_the_steps_of_the_model_are_the_m_step_of_its_posterior(kind):
    """Shares by this step, moments by the next: N_k = N alpha_k (the multiplier is N), means, and covariances about the new means."""
    X = data()
    n = len(X)
    walk = qed.steps(qed.GaussianMixture(2, covariance_type=kind, means_init=X[[0, 150]], reg_covar=0.0), X)
    steps = [step for step, _ in zip(walk, range(6)) if not step.prepares]
    for now, after in pairwise(steps):
        full = np.array([_as_matrix(now.covariances, kind, j) for j in range(2)])
        logs = np.column_stack(
            [np.log(now.weights[j]) + multivariate_normal(now.means[j], full[j]).logpdf(X) for j in range(2)]
        )
        q = np.exp(logs - logs.max(axis=1, keepdims=True))
        q /= q.sum(axis=1, keepdims=True)
        weight = q.sum(axis=0)
        # Sums of two hundred products of numbers below ten.
        np.testing.assert_allclose(weight, n * after.weights, rtol=1e-11)
        np.testing.assert_allclose(after.means, q.T @ X / weight[:, None], rtol=1e-10, atol=1e-11)
        scatters = np.array([(q[:, j, None] * (X - after.means[j])).T @ (X - after.means[j]) for j in range(2)])
        wanted = {
            "full": scatters / weight[:, None, None],
            "tied": scatters.sum(axis=0) / n,
            "diag": np.diagonal(scatters, axis1=1, axis2=2) / weight[:, None],
            "spherical": np.trace(scatters, axis1=1, axis2=2) / weight / 3,
        }[kind]
        np.testing.assert_allclose(after.covariances, wanted, rtol=1e-9, atol=1e-11)


def _as_matrix(covariances, kind, j):
    if kind == "tied":
        return covariances
    return covariances[j] if kind == "full" else np.eye(3) * covariances[j]
