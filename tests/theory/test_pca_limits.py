"""pca-limits: noise and units decide what PCA sees, and not what CCA sees."""

import numpy as np

import qed


def test_strong_noise_takes_the_first_component():
    """(i) Correlated noise that is much larger than the signal dominates the components."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((500, 3)) + np.outer(50 * generator.standard_normal(500), [0.6, 0.8, 0.0])
    np.testing.assert_allclose(np.abs(qed.PCA(1).fit(X).components_[0]), [0.6, 0.8, 0.0], atol=0.01)


def test_units_turn_components_and_leave_canonical_correlations():
    """(ii) A column times 1000 is the first direction, |v1 e_j| > 0.999999 (deviations 3, 2, 1); canonical correlations are unchanged."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((500, 3)) * [3.0, 2.0, 1.0]
    Y = X @ generator.standard_normal((3, 2)) + generator.standard_normal((500, 2))
    plain = qed.CCA().fit(X, Y).correlations_
    for j in range(3):
        scaled = X * np.where(np.arange(3) == j, 1000.0, 1.0)
        assert abs(qed.PCA(1).fit(scaled).components_[0, j]) > 0.999999
        np.testing.assert_allclose(qed.CCA().fit(scaled, Y).correlations_, plain, rtol=1e-11)
