"""O-EM-2G: two normal distributions with a known common deviation and equal weights: heights of men and women."""

import numpy as np

import qed


def heights():
    generator = np.random.default_rng(0)
    return np.concatenate([generator.normal(178, 7, 300), generator.normal(165, 7, 300)])[:, None]


def model(**settings):
    return qed.GaussianMixture(
        2, covariance_type="spherical", covariance=49.0, equal_weights=True, means_init=[[190.0], [150.0]], **settings
    )


def test_the_steps_are_those_of_the_text_and_of_soft_k_means():
    X = heights()
    means = np.array([190.0, 150.0])
    beta = 1 / (2 * 49.0)
    for step, _ in zip(qed.steps(model(), X), range(8)):
        assert np.allclose(step.means.ravel(), means, rtol=1e-11)
        assert np.array_equal(step.weights, [0.5, 0.5]) and np.array_equal(step.covariances, [49.0, 49.0])
        # E[z_1] and E[z_2], which are the softmax of -beta times squared distances.
        shares = np.exp(-beta * (X - means) ** 2)
        shares /= shares.sum(axis=1, keepdims=True)
        means = X.ravel() @ shares / shares.sum(axis=0)


def test_the_likelihood_rises_and_the_certificate_says_so():
    X = heights()
    found = model(tol=1e-8, max_iter=500).fit(X)
    assert np.diff(found.lower_bounds_).min() >= -1e-13
    assert qed.certify(found, X)
    # Three standard errors of a mean of 300, and what the overlap blurs.
    assert np.abs(np.sort(found.means_.ravel()) - [165, 178]).max() < 3
    found.covariances_ = found.covariances_ * 1.001
    assert not qed.certify(found, X)
