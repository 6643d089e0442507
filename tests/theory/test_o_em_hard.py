"""O-EM-HARD: with equal weights and one known variance hard EM is k-means from the same start."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize("variance", [0.5, 1.0, 30.0])
def test_hard_em_is_k_means(variance):
    generator = np.random.default_rng(0)
    X = generator.standard_normal((200, 2)) + 3 * generator.integers(0, 3, (200, 1))
    start = X[:3]
    clusters = qed.KMeans(3, init=start, tol=0.0).fit(X)
    model = qed.GaussianMixture(
        3,
        covariance_type="spherical",
        covariance=variance,
        equal_weights=True,
        algorithm="hard",
        means_init=start,
        tol=0.0,
    ).fit(X)
    assert np.array_equal(model.predict(X), clusters.labels_)
    assert np.allclose(model.means_, clusters.cluster_centers_, rtol=1e-12)
    # Its objective is the inertia in other units.
    constant = -np.log(2 * np.pi * variance) - np.log(3)
    assert model.lower_bound_ == pytest.approx(constant - clusters.inertia_ / (2 * variance * len(X)), rel=1e-12)


def test_hard_em_raises_the_likelihood_of_rows_and_labels():
    X = np.random.default_rng(1).standard_normal((150, 2))
    model = qed.GaussianMixture(3, algorithm="hard", random_state=0, reg_covar=0.0, max_iter=300).fit(X)
    assert np.diff(model.lower_bounds_).min(initial=0.0) >= -1e-13
    assert model.certificate_
    assert model.lower_bound_ <= model.score(X)
