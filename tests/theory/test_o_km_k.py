"""O-KM-K: AIC = 2m - 2 log L, BIC = m log n - 2 log L with m parameters; BIC finds three clear clusters, the objective alone none."""

import numpy as np
import pytest

import qed


def blobs(seed=0):
    centers = np.array([[0.0, 0.0], [12.0, 0.0], [0.0, 12.0]])
    return np.repeat(centers, 60, axis=0) + np.random.default_rng(seed).normal(size=(180, 2))


@pytest.mark.parametrize("weighted", [False, True])
def test_the_criteria_are_their_formulas(weighted):
    X = blobs()
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float) if weighted else np.ones(len(X))
    path = qed.kmeans_path(X, range(1, 7), random_state=0, sample_weight=weight if weighted else None)
    n, p = weight.sum(), 2
    for k, model, aic, bic in zip(path.n_clusters, path.models, path.aic, path.bic):
        share = np.bincount(model.labels_, weight, k) / n
        variance = model.inertia_ / (n * p)
        # The likelihood of rows and their clusters: share of the cluster times a round normal density, row by row.
        away = ((X - model.cluster_centers_[model.labels_]) ** 2).sum(axis=1)
        logs = np.log(share[model.labels_]) - away / (2 * variance) - p / 2 * np.log(2 * np.pi * variance)
        m = k * p + (k - 1) + 1
        assert aic == pytest.approx(2 * m - 2 * weight @ logs, rel=1e-12)
        assert bic == pytest.approx(m * np.log(n) - 2 * weight @ logs, rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_bic_and_the_silhouette_find_three_and_the_objective_none(seed):
    path = qed.kmeans_path(blobs(seed), range(1, 9), random_state=seed)
    assert path.choices["bic"] == path.choices["silhouette"] == path.choices["elbow"] == 3
    assert path.inertia.argmin() == len(path.inertia) - 1
    assert path.best().n_clusters == 3 and path.best("silhouette") is path.models[2]


def test_the_mixture_counts_its_parameters_too():
    X = blobs()[:, :1]
    path = qed.mixture_path(X, range(1, 5), random_state=0)
    for k, model, aic, bic in zip(path.n_components, path.models, path.aic, path.bic):
        likelihood = model.marginal().log_likelihood(X[:, 0])
        assert aic == pytest.approx(2 * (3 * k - 1) - 2 * likelihood, rel=1e-9)
        assert bic == pytest.approx((3 * k - 1) * np.log(len(X)) - 2 * likelihood, rel=1e-9)


def test_a_number_that_costs_nothing_is_not_chosen_by_a_likelihood():
    X = np.repeat(np.random.default_rng(0).normal(size=(4, 2)), 5, axis=0)
    path = qed.kmeans_path(X, range(1, 5), random_state=0)
    assert path.inertia[-1] < 1e-25 and path.bic[-1] == np.inf and path.choices["bic"] < 4
