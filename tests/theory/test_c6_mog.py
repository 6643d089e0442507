"""C6-MOG: the density of a mixture integrates to one, posteriors sum to one, and its sampler has its moments."""

import numpy as np
from scipy.integrate import dblquad, quad

import qed


def blobs(seed=0, n=120):
    generator = np.random.default_rng(seed)
    return np.vstack(
        [generator.standard_normal((n, 2)), generator.standard_normal((n, 2)) @ [[2.0, 0.0], [1.5, 0.4]] + [6.0, 1.0]]
    )


def test_the_density_integrates_to_one_on_the_line_and_in_the_plane():
    X = blobs()
    line = qed.GaussianMixture(2, random_state=0).fit(X[:, :1])
    # The quadrature says itself how far it may be off; the tails beyond 12 deviations weigh less than 1e-30.
    found, error = quad(lambda x: float(np.exp(line.score_samples([[x]])[0])), -20, 25, points=[0.0, 6.0], limit=200)
    assert abs(found - 1) <= 1e-6 + error
    plane = qed.GaussianMixture(2, random_state=0).fit(X)
    found, error = dblquad(lambda y, x: float(np.exp(plane.score_samples([[x, y]])[0])), -6, 17, -6, 10, epsabs=1e-4)
    assert abs(found - 1) <= 1e-3 + error


def test_posteriors_sum_to_one_and_choose_the_component():
    X = blobs()
    model = qed.GaussianMixture(3, random_state=0).fit(X)
    probability = model.predict_proba(X)
    assert np.abs(probability.sum(axis=1) - 1).max() <= 8 * np.finfo(float).eps
    assert np.array_equal(model.predict(X), probability.argmax(axis=1))


def test_the_sampler_has_the_moments_of_the_mixture():
    model = qed.GaussianMixture(2, random_state=0).fit(blobs())
    n = 40_000
    drawn, label = model.sample(n)
    share = np.bincount(label, minlength=2) / n
    # Five standard errors of a share, and of a mean.
    assert (np.abs(share - model.weights_) <= 5 * np.sqrt(model.weights_ * (1 - model.weights_) / n)).all()
    for j in range(2):
        deviation = np.sqrt(np.diagonal(model.covariances_[j]) / (label == j).sum())
        assert (np.abs(drawn[label == j].mean(axis=0) - model.means_[j]) <= 5 * deviation).all()


def test_clusters_are_round_only_where_covariances_are():
    X = blobs()
    model = qed.GaussianMixture(2, covariance_type="spherical", random_state=0).fit(X)
    assert model.covariances_.shape == (2,)
    full = qed.GaussianMixture(2, random_state=0).fit(X)
    ratio = np.linalg.cond(full.covariances_).max()
    assert ratio > 5 and full.score(X) > model.score(X)
