"""O-KERNKM, O-VORONOI, O-CIRCLE: k-means in the features of a kernel, whose cells may be rings in the table."""

from itertools import pairwise, product

import numpy as np
import pytest

import qed
from qed.kernels import RBF, Linear, Polynomial


def explicit_costs(features, labels, k):
    """Give squared distances from the means of clusters, by the features themselves."""
    means = np.array([features[labels == c].mean(axis=0) for c in range(k)])
    return ((features[:, None] - means) ** 2).sum(axis=2)


def two_rings(n=120, seed=0):
    return qed.data.synthetic.rings(n, noise=0.05, random_state=seed)


def agrees(labels, truth):
    """Say whether two groupings into two are the same."""
    same = np.asarray(labels) == np.asarray(truth)
    return same.all() or not same.any()


def test_distances_are_those_of_the_explicit_features():
    """K_ii - 2 mean K_ij + mean K_jl is the squared distance from the mean of the features of a polynomial kernel of degree two."""
    X = np.random.default_rng(0).normal(size=(30, 2))
    kernel = Polynomial(2, gamma=1.0, coef0=1.0)
    model = qed.KernelKMeans(3, kernel=kernel, random_state=0).fit(X)
    features = kernel.features(X)
    away = explicit_costs(features, model.labels_, 3)
    assert (away.argmin(axis=1) == model.labels_).all()
    # Sums of 30 terms of the size of the largest similarity.
    assert model.inertia_ == pytest.approx(away.min(axis=1).sum(), rel=1e-12)
    new = np.random.default_rng(1).normal(size=(20, 2))
    means = np.array([features[model.labels_ == c].mean(axis=0) for c in range(3)])
    nearest = ((kernel.features(new)[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (model.predict(new) == nearest).all()


@pytest.mark.parametrize("far", [0.0, 1e6])
def test_a_linear_kernel_makes_it_k_means_from_the_same_start(far):
    X = np.random.default_rng(3).normal(size=(90, 3)) + far
    start = np.arange(90) % 4
    centers = np.array([X[start == c].mean(axis=0) for c in range(4)])
    plain = qed.KMeans(4, init=centers, tol=0.0).fit(X)
    kernel = qed.KernelKMeans(4, kernel="linear", init=start).fit(X)
    assert (plain.labels_ == kernel.labels_).all() and bool(kernel.certificate_)
    assert kernel.inertia_ == pytest.approx(plain.inertia_, rel=1e-9)
    new = np.random.default_rng(4).normal(size=(40, 3)) + far
    assert (plain.predict(new) == kernel.predict(new)).all()


def test_the_objective_falls_and_the_steps_are_those_of_lloyd():
    X, _ = two_rings()
    steps = list(qed.steps(qed.KernelKMeans(3, gamma=2.0, n_init=1, random_state=1), X))
    objectives = [step.objective for step in steps if not step.prepares]
    assert len(objectives) > 2
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(objectives))


def test_rings_are_parted_by_a_kernel_and_not_by_k_means():
    X, ring = two_rings()
    assert not agrees(qed.KMeans(2, random_state=0).fit(X).labels_, ring)
    model = qed.KernelKMeans(2, gamma=0.5, random_state=0).fit(X)
    assert agrees(model.labels_, ring) and bool(model.certificate_)
    # Squares have the rings for a fixed point, though not for the best one: the outer ring is wide in their features.
    squares = qed.KernelKMeans(2, kernel=Polynomial(2, gamma=1.0, coef0=0.0), init=ring).fit(X)
    assert (squares.labels_ == ring).all() and bool(squares.certificate_)


def squared_radius(X):
    return (np.asarray(X) ** 2).sum(axis=1, keepdims=True)


def test_points_on_circles_are_told_apart_in_the_features_that_make_circles_planes():
    """O-CIRCLE: z1 + z2 with z = (x1^2, x2^2) is constant on a circle, and k-means of z is a kernel's k-means of x from the same start."""
    angle = np.linspace(0, 2 * np.pi, 41)[:-1]
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    X, ring = np.vstack([circle, 3 * circle]), np.repeat([0, 1], 40)
    kernel = Linear().mapped(squared_radius)
    model = qed.KernelKMeans(2, kernel=kernel, random_state=0).fit(X)
    assert agrees(model.labels_, ring) and model.inertia_ == 0
    start = np.arange(80) % 3
    squares = qed.KernelKMeans(3, kernel=Linear().mapped(np.square), init=start).fit(X)
    centers = np.array([(X[start == c] ** 2).mean(axis=0) for c in range(3)])
    plain = qed.KMeans(3, init=centers, tol=0.0).fit(X**2)
    assert (squares.labels_ == plain.labels_).all()
    assert squares.inertia_ == pytest.approx(plain.inertia_, rel=1e-9)


def test_clusters_are_cells_of_voronoi_in_the_features():
    """O-VORONOI: phi(x)'(m2 - m1) <= (|m2|^2 - |m1|^2) / 2 for every row of the first, and the midpoint of two means is on the border."""
    X, _ = two_rings()
    K = RBF(1.5)(X)
    model = qed.KernelKMeans(3, kernel=RBF(1.5), random_state=0).fit(X)
    shares = np.eye(3)[model.labels_] / model.weights_
    along = K @ shares
    for first, second in product(range(3), repeat=2):
        inside = model.labels_ == first
        side = along[inside, second] - along[inside, first]
        # Means of 120 numbers of at most one.
        assert (side <= (model.norms_[second] - model.norms_[first]) / 2 + 1e-12).all()
    inner = shares.T @ K @ shares
    middle = (inner[0] + inner[1]) / 2
    assert middle[1] - middle[0] == pytest.approx((model.norms_[1] - model.norms_[0]) / 2, abs=1e-14)


def test_no_clusters_cost_less_than_the_spectrum_says():
    """The trace of the centred Gram matrix less its k - 1 largest eigenvalues is below the best of all groupings, and this reaches it."""
    X = np.random.default_rng(5).normal(size=(9, 2))
    kernel = RBF(0.5)
    K = kernel(X)
    centred = qed.kernels.centred(K)
    least = np.trace(centred) - np.linalg.eigvalsh(centred)[-1]
    best = np.inf
    for labels in product(range(2), repeat=9):
        labels = np.array(labels)
        if 0 < labels.sum() < 9:
            cost = sum(K[np.ix_(labels == c, labels == c)].sum() / (labels == c).sum() for c in range(2))
            best = min(best, np.trace(K) - cost)
    model = qed.KernelKMeans(2, kernel=kernel, n_init=20, random_state=0).fit(X)
    assert least <= best + 1e-12 and model.inertia_ == pytest.approx(best, rel=1e-12)
    share = model.certificate_["no clusters cost less"].value
    assert share * model.inertia_ == pytest.approx(least, abs=1e-12)
