"""pca, O-PCA, O-LINE, O-DEFLATE, centering, O-PCA-K: the directions in which rows vary most."""

import numpy as np
import pytest

import qed
from qed.base.numbers import EPS


def cloud(seed, n=60, p=4):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, p)) @ generator.standard_normal((p, p)) + 3.0


def near(X):
    """Give how far rounding of sums over the rows carries an eigenvalue."""
    return 64 * (len(X) + X.shape[1]) * EPS * np.sum((X - X.mean(axis=0)) ** 2)


def test_four_points():
    """Numbers: rows (+-2, 0), (0, +-1): scatter diag(8, 2), first direction e1, variances 2 and 0.5 with the divisor n."""
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    model = qed.PCA(None).fit(X)
    np.testing.assert_array_equal(model.components_, np.eye(2))
    np.testing.assert_allclose(model.singular_values_**2, [8, 2], rtol=4 * EPS)
    np.testing.assert_allclose(model.explained_variance_ * 3 / 4, [2, 0.5], rtol=4 * EPS)


@pytest.mark.parametrize("small", [0.5, 1e-3])
def test_two_diagonals(small):
    """O-PCA: (1, 1), (-1, -1), (e, -e), (-e, e): first direction (1, 1) / sqrt 2, scores sqrt 2, -sqrt 2, 0, 0, eigenvalues 1 and e^2."""
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [small, -small], [-small, small]])
    model = qed.PCA(None).fit(X)
    np.testing.assert_allclose(model.components_[0], [2**-0.5] * 2, rtol=8 * EPS)
    np.testing.assert_allclose(model.transform(X)[:, 0], [2**0.5, -(2**0.5), 0, 0], atol=8 * EPS)
    np.testing.assert_allclose(model.explained_variance_ * 3 / 4, [1, small**2], atol=16 * EPS)


@pytest.mark.parametrize("seed", range(3))
def test_eigenvectors_scores_and_sums(seed):
    """(a) S v = l v, (b) V'V = I, (c) objective l, (d) scores uncorrelated, (g) the sum is all squares, (h) all components: a rotation."""
    X = cloud(seed)
    model, away = qed.PCA(None).fit(X), X - X.mean(axis=0)
    S, V, values, blur = away.T @ away, model.components_, model.singular_values_**2, near(X)
    assert np.abs(S @ V.T - V.T * values).max() < blur
    assert np.abs(V @ V.T - np.eye(4)).max() < 64 * EPS
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z, np.diag(values), atol=blur)
    assert values.sum() == pytest.approx(np.sum(away**2), abs=blur)
    assert model.explained_variance_ratio_.sum() == pytest.approx(1, abs=64 * EPS)
    distances = [np.linalg.norm(T[:, None] - T[None], axis=2) for T in (X, Z)]
    np.testing.assert_allclose(*distances, atol=1e-12 * distances[0].max())
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-12 * np.abs(X).max())


@pytest.mark.parametrize("seed", range(3))
def test_no_direction_has_more_variance(seed):
    """(f), O-LINE: the sum of squares along any unit vector is at most the first eigenvalue; what is missed and what is caught is all."""
    X = cloud(seed)
    model, away = qed.PCA(1).fit(X), X - X.mean(axis=0)
    tried = np.random.default_rng(seed).standard_normal((10_000, 4))
    tried /= np.linalg.norm(tried, axis=1)[:, None]
    caught = ((away @ tried.T) ** 2).sum(axis=0)
    assert caught.max() <= model.singular_values_[0] ** 2 + near(X)
    missed = model.reconstruction_error(X)
    assert missed + model.singular_values_[0] ** 2 == pytest.approx(np.sum(away**2), rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_deflation_gives_the_same(seed):
    """(e), O-DEFLATE: the first direction of what is left, again and again; after as many rounds as directions nothing is left."""
    X = cloud(seed) @ np.diag([1.0, 1.0, 1.0, 0.0])
    left, whole = X - X.mean(axis=0), qed.PCA(3).fit(X)
    size = np.linalg.norm(left)
    for direction in whole.components_:
        found = qed.PCA(1).fit(left).components_[0]
        # Directions are as well determined as their eigenvalues are apart.
        gap = np.diff(np.append(whole.singular_values_, 0.0) ** 2).__abs__().min()
        np.testing.assert_allclose(found, direction, atol=1e3 * near(X) / gap)
        left = left - np.outer(left @ found, found)
    assert np.linalg.norm(left) < 1e-6 * size


def test_centring(seed=0):
    """centering: data and a constant have the same components; the mean is kept, and new rows are taken from it."""
    X = cloud(seed)
    here, there = qed.PCA(2).fit(X), qed.PCA(2).fit(X + 1e6)
    np.testing.assert_allclose(here.components_, there.components_, atol=1e-8)
    assert np.abs(there.transform(X + 1e6).mean(axis=0)).max() < 1e-6
    np.testing.assert_allclose(there.mean_, (X + 1e6).mean(axis=0), rtol=4 * EPS)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.999])
def test_share_of_variance(share):
    """O-PCA-K: the least number of components with the share; one fewer has less."""
    X = cloud(5, p=8)
    ratio = qed.PCA(None).fit(X).explained_variance_ratio_
    kept = qed.PCA(share).fit(X).n_components_
    assert ratio[:kept].sum() >= share - 64 * EPS
    assert ratio[: kept - 1].sum() < share
    assert qed.PCA().fit(X).n_components_ == qed.PCA(0.95).fit(X).n_components_


def test_units_matter():
    """pca-limits: a column times 1000 becomes the first direction."""
    X = np.random.default_rng(0).standard_normal((500, 3)) * [3.0, 2.0, 1.0]
    for j in range(3):
        scaled = X * np.where(np.arange(3) == j, 1000.0, 1.0)
        assert abs(qed.PCA(1).fit(scaled).components_[0, j]) > 0.999999
