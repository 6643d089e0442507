"""O-EM-GMM: EM from Lloyd's clusters on the line; soft, monotone, and not bound to the cells of the nearest mean."""

import numpy as np

import qed


def wide_and_narrow():
    generator = np.random.default_rng(0)
    return np.concatenate([generator.standard_normal(400) * 0.5, generator.standard_normal(400) * 5])[:, None]


def test_one_step_is_the_formulas():
    X = wide_and_narrow()
    walk = qed.steps(qed.GaussianMixture(2, random_state=0, reg_covar=0.0), X)
    steps = [step for step, _ in zip(walk, range(60)) if not step.prepares]
    now, after = steps[0], steps[1]
    logs = np.log(now.weights) - 0.5 * np.log(2 * np.pi * now.covariances.ravel())
    logs = logs - (X - now.means.ravel()) ** 2 / (2 * now.covariances.ravel())
    shares = np.exp(logs)
    shares /= shares.sum(axis=1, keepdims=True)
    weight = shares.sum(axis=0)
    means = X.ravel() @ shares / weight
    # Sums of 800 products.
    assert np.allclose(after.weights, weight / len(X), rtol=1e-11)
    assert np.allclose(after.means.ravel(), means, rtol=1e-11, atol=1e-13)
    assert np.allclose(after.covariances.ravel(), ((X - means) ** 2 * shares).sum(axis=0) / weight, rtol=1e-11)


def test_it_begins_with_the_clusters_of_k_means():
    X = wide_and_narrow()
    walk = qed.steps(qed.GaussianMixture(2, random_state=0), X)
    prepared = None
    for step in walk:
        if not step.prepares:
            break
        prepared = step
    clusters = qed.KMeans(2, random_state=0, n_init=1).fit(X)
    assert prepared is not None
    assert np.allclose(np.sort(prepared.means.ravel()), np.sort(clusters.cluster_centers_.ravel()), atol=0.1)


def test_it_stops_when_parameters_stand_still_and_the_likelihood_never_fell():
    X = wide_and_narrow()
    model = qed.GaussianMixture(2, random_state=0, tol=1e-12, max_iter=5000).fit(X)
    last = model.ending_.step
    assert np.abs(last.next_means[0] - last.means).max() <= 1e-4
    assert np.diff(model.lower_bounds_).min() >= -1e-13 and model.converged_


def test_the_narrow_component_owns_an_interval_in_the_middle_of_the_wide_one():
    model = qed.GaussianMixture(2, random_state=0, tol=1e-6, max_iter=2000).fit(wide_and_narrow())
    owners = model.marginal().intervals()[:, 2].astype(int)
    narrow = int(np.argmin(model.covariances_.ravel()))
    assert owners.tolist() == [1 - narrow, narrow, 1 - narrow]
    low, high = model.marginal().intervals()[1, :2]
    label = model.predict([[low - 1e-6], [low + 1e-6], [high - 1e-6], [high + 1e-6]])
    assert label.tolist() == [1 - narrow, narrow, narrow, 1 - narrow]
