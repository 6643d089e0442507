"""C6-MOG: the density of a mixture integrates to one, posteriors sum to one, and its sampler has its moments."""

import numpy as np
import pytest

import qed


def blobs(seed=0, n=120):
    generator = np.random.default_rng(seed)
    return np.vstack(
        [generator.standard_normal((n, 2)), generator.standard_normal((n, 2)) @ [[2.0, 0.0], [1.5, 0.4]] + [6.0, 1.0]]
    )


@pytest.mark.parametrize("p", [1, 2])
def test_the_density_integrates_to_one_on_the_line_and_in_the_plane(p):
    X, step = blobs()[:, :p], 0.2
    model = qed.GaussianMixture(2, random_state=0).fit(X)
    deviation = np.sqrt(np.linalg.eigvalsh(model.covariances_))
    reach = 9 * deviation.max()
    axes = [
        np.arange(low - reach, high + reach, step)
        for low, high in zip(model.means_.min(axis=0), model.means_.max(axis=0))
    ]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, p)
    found = np.exp(model.score_samples(grid)).sum() * step**p
    # Equal steps miss a Gaussian by 2 exp(-2 (pi s / h)²) in each direction (Poisson's sum); less than 1e-18 lies beyond nine deviations.
    missed = 2 * p * np.exp(-2 * (np.pi * deviation.min() / step) ** 2) + 1e-18
    assert missed < 1e-12
    # The density is right to the roundings of its exponent, which is below 200.
    assert abs(found - 1) <= missed + 1e3 * np.finfo(float).eps


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
