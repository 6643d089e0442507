"""O-SIMILARITY: inner products of features measure similarity; a prediction is a sum of importances times similarities."""

import numpy as np
import pytest

import qed
from qed.kernels import RBF, Linear, Polynomial

X = np.random.default_rng(0).standard_normal((30, 2))
y = np.sin(2 * X[:, 0]) + X[:, 1]


def test_the_inner_product_of_unit_vectors_is_the_cosine_of_their_angle():
    angles = np.linspace(0, np.pi, 7)
    rows = np.column_stack([np.cos(angles), np.sin(angles)])
    similar = Linear()(rows[:1], rows)[0]
    np.testing.assert_allclose(similar, np.cos(angles), atol=1e-15)
    assert (np.diff(similar) < 0).all(), "the larger the angle, the less alike"
    np.testing.assert_allclose(Linear().normalized()(5 * rows[:1], 0.1 * rows)[0], np.cos(angles), atol=1e-15)


def test_a_map_defines_a_similarity_and_large_similarity_is_small_distance_of_features():
    """||phi(x) - phi(z)||^2 = k(x, x) + k(z, z) - 2 k(x, z)."""
    for kernel in (Linear(), Polynomial(2)):
        Phi, K = kernel.features(X), kernel(X)
        square = np.sum((Phi[:, None] - Phi[None]) ** 2, axis=2)
        np.testing.assert_allclose(np.diagonal(K)[:, None] + np.diagonal(K) - 2 * K, square, atol=1e-10)


@pytest.mark.parametrize("kernel", [Linear(), Polynomial(2), RBF(1.0)], ids=repr)
def test_a_prediction_is_the_sum_of_importance_times_similarity(kernel):
    model = qed.KernelRidge(alpha=0.1, kernel=kernel, form="dual").fit(X, y)
    new = np.array([[0.3, -0.2]])
    terms = [model.dual_coef_[i] * kernel(X[[i]], new)[0, 0] for i in range(len(X))]
    assert sum(terms) == pytest.approx(model.predict(new)[0], rel=1e-10)
    if kernel.n_features(2) is not None:
        Phi = kernel.features(X)
        plain = qed.Ridge(alpha=0.1, fit_intercept=False).fit(Phi, y)
        assert sum(terms) == pytest.approx(plain.predict(kernel.features(new))[0], rel=1e-8)


def test_only_near_points_matter_for_a_narrow_gaussian():
    """As with neighbours weighted by distance: what is far from the new point has no say."""
    kernel = RBF(sigma=0.2)
    model = qed.KernelRidge(alpha=1e-3, kernel=kernel, form="dual").fit(X, y)
    new = X[[4]] + 0.01
    terms = model.dual_coef_ * kernel(X, new)[:, 0]
    far = np.linalg.norm(X - new, axis=1) > 5 * 0.2
    assert far.sum() > 10 and np.abs(terms[far]).sum() < 1e-3 * np.abs(terms).sum()
