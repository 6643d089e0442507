"""cca-vs-pca: noise that is not shared takes the components of PCA, and CCA does not see it."""

import numpy as np

import qed
from qed.reduction import pearson


def test_noise_axis():
    """Numbers: n = 2000, noise 30 N(0, 1) along (1, 1, 0) / sqrt 2: PCA finds the noise (correlation with X < 0.1), CCA has S > 0.99."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((2000, 3))
    axis = np.array([1.0, 1.0, 0.0]) / 2**0.5
    Y = X + np.outer(30 * generator.standard_normal(2000), axis)
    first = qed.PCA(1).fit(Y)
    np.testing.assert_allclose(first.components_[0], axis, atol=0.01)
    scores = first.transform(Y)[:, 0]
    assert qed.CCA().fit(X, scores).correlations_[0] < 0.1
    found = qed.CCA().fit(X, Y).correlations_
    assert (found[:2] > 0.99).all() and found[2] < 0.1


def test_isotropic_noise_only_lowers_all():
    """Pitfall: the contrast needs noise in few directions; the same in all lowers all correlations."""
    generator = np.random.default_rng(1)
    X = generator.standard_normal((2000, 3))
    Y = X + 3 * generator.standard_normal((2000, 3))
    found = qed.CCA().fit(X, Y).correlations_
    # Each is about 1 / sqrt(1 + 9).
    np.testing.assert_allclose(found, 10**-0.5, atol=0.08)
    assert abs(pearson(X[:, 0], Y[:, 0])) < 0.5
