"""O-PCA: variance caught, error left, and the four points of the text."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize("small", [0.5, 1e-3])
def test_four_points(small):
    """Numbers: (1, 1), (-1, -1), (e, -e), (-e, e): u = (1, 1) / sqrt 2, scores +-sqrt 2, 0, 0, eigenvalues 1, e² (erratum: not 2, 2e²)."""
    X = np.array([[1.0, 1.0], [-1.0, -1.0], [small, -small], [-small, small]])
    model = qed.PCA(None).fit(X)
    np.testing.assert_allclose(model.components_[0], [2**-0.5, 2**-0.5], rtol=1e-14)
    np.testing.assert_allclose(model.transform(X)[:, 0], [2**0.5, -(2**0.5), 0, 0], atol=1e-14)
    np.testing.assert_allclose(model.singular_values_**2 / 4, [1, small**2], atol=1e-14)


@pytest.mark.parametrize("m", range(1, 5))
def test_mean_error_is_what_is_dropped(m):
    """Checkable: mean squared reconstruction error = sum of the eigenvalues dropped; scores uncorrelated, variances the eigenvalues."""
    X = np.random.default_rng(0).standard_normal((80, 4)) @ np.diag([4.0, 3.0, 2.0, 1.0]) - 3
    values = np.sort(np.linalg.eigvalsh(np.cov(X.T, bias=True)))[::-1]
    model = qed.PCA(m).fit(X)
    assert model.reconstruction_error(X) / 80 == pytest.approx(values[m:].sum(), rel=1e-10, abs=1e-11)
    Z = model.transform(X)
    np.testing.assert_allclose(Z.T @ Z / 80, np.diag(values[:m]), atol=1e-11)
    assert np.abs(Z.mean(axis=0)).max() < 1e-12
    assert (qed.PCA(4).fit(X).singular_values_ ** 2).sum() / 80 == pytest.approx(
        np.trace(np.cov(X.T, bias=True)), rel=1e-12
    )


def test_a_rotation_turns_the_plane_with_it():
    """Checkable: the plane of rotated rows is the rotated plane."""
    generator = np.random.default_rng(1)
    X, Q = generator.standard_normal((60, 3)) * [3, 2, 1], np.linalg.qr(generator.standard_normal((3, 3)))[0]
    here, there = qed.PCA(2).fit(X).components_ @ Q.T, qed.PCA(2).fit(X @ Q.T).components_
    np.testing.assert_allclose(here.T @ here, there.T @ there, atol=1e-11)


def test_height_and_weight():
    """Example: of two correlated columns of equal variance the components are (h + w) / sqrt 2 and (w - h) / sqrt 2."""
    common, own = np.random.default_rng(2).standard_normal((2, 500))
    X = np.column_stack([common + 0.3 * own, common - 0.3 * own])
    X = X - X.mean(axis=0)
    X = X / X.std(axis=0)
    np.testing.assert_allclose(np.abs(qed.PCA(2).fit(X).components_), 2**-0.5, atol=1e-10)


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
def test_the_randomised_way_tells_its_error(shape):
    """With svd_solver="randomized" the error above the least possible is proven, and falls with more rounds."""
    generator = np.random.default_rng(3)
    X = generator.standard_normal(shape) * 0.8 ** np.arange(shape[1])
    best = qed.PCA(5).fit(X).explained_variance_ratio_.sum()
    errors = []
    for rounds in (0, 2, 6):
        model = qed.PCA(5, svd_solver="randomized", iterated_power=rounds, random_state=0).fit(X)
        assert best - model.explained_variance_ratio_.sum() <= model.error_ + 1e-12
        assert model.certificate_ and qed.certify(model, X)
        errors.append(model.error_)
    assert errors[0] > errors[1] > errors[2] and errors[2] < 1e-5
