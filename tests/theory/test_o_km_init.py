"""O-KM-INIT: three beginnings (rows, points of the domain, k-means++), several of each, and the best end."""

import numpy as np
import pytest

import qed


def blobs(centers, each=40, spread=1.0, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(np.asarray(centers, dtype=float), each, axis=0) + spread * rng.normal(
        size=(each * len(centers), 2)
    )


@pytest.mark.parametrize("init", ["random", "random-domain", "k-means++"])
def test_every_beginning_ends_at_a_fixed_point(init):
    X = blobs([[0, 0], [9, 0], [0, 9]])
    first = next(step for step in qed.steps(qed.KMeans(3, init=init, n_init=4, random_state=0), X) if not step.prepares)
    assert (first.centers >= X.min(axis=0)).all() and (first.centers <= X.max(axis=0)).all()
    if init != "random-domain":
        assert {tuple(center) for center in first.centers} <= {tuple(row) for row in X}
    many = qed.KMeans(3, init=init, n_init=4, random_state=0, tol=0).fit(X)
    one = qed.KMeans(3, init=init, n_init=1, random_state=0, tol=0).fit(X)
    # Clusters with other numbers are added up in another order.
    assert many.certificate_ and one.certificate_ and many.inertia_ <= one.inertia_ * (1 + 1e-12)


@pytest.mark.parametrize("kind", [qed.KMeans, qed.KMedians, qed.SoftKMeans])
@pytest.mark.parametrize("init", ["random", "random-domain", "k-means++"])
def test_all_models_around_centres_begin_alike(kind, init):
    X = blobs([[0, 0], [9, 0], [0, 9]])
    first, peer = (
        next(step for step in qed.steps(model(3, init=init, n_init=1, random_state=5), X) if not step.prepares)
        for model in (kind, qed.KMeans)
    )
    np.testing.assert_array_equal(first.centers, peer.centers)
