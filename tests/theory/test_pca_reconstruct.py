"""pca-reconstruct, O-COMPRESS, O-PCA-DUAL, O-WHITEN, rayleigh: what a plane keeps of rows, and what it misses."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.numbers import EPS


def cloud(seed, n=40, p=5):
    generator = np.random.default_rng(seed)
    return generator.standard_normal((n, p)) @ generator.standard_normal((p, p)) + 3.0


@pytest.mark.parametrize("kept", [1, 2, 4])
def test_error_is_what_was_discarded(kept):
    """(a), (b): the error is the sum of the eigenvalues left out, Eckart and Young's least; (c) residuals are orthogonal to the plane."""
    X = cloud(1)
    model, away = qed.PCA(kept).fit(X), X - X.mean(axis=0)
    values = np.linalg.svd(away, compute_uv=False) ** 2
    assert model.reconstruction_error(X) == pytest.approx(values[kept:].sum(), rel=1e-11)
    left, sizes, right = np.linalg.svd(away, full_matrices=False)
    nearest = (left[:, :kept] * sizes[:kept]) @ right[:kept] + X.mean(axis=0)
    back = model.inverse_transform(model.transform(X))
    np.testing.assert_allclose(back, nearest, atol=1e-11 * np.abs(X).max())
    assert np.abs((X - back) @ model.components_.T).max() < 1e-12 * np.abs(X).max()


def test_no_other_plane_is_nearer():
    """(d): planes drawn at random miss more."""
    X, generator = cloud(2), np.random.default_rng(0)
    model, away = qed.PCA(2).fit(X), X - X.mean(axis=0)
    for _ in range(200):
        basis, _ = np.linalg.qr(generator.standard_normal((5, 2)))
        assert np.sum((away - away @ basis @ basis.T) ** 2) >= model.reconstruction_error(X)


def test_the_last_direction_is_total_least_squares():
    """(e): the last component of columns and target, which is orthogonal to the plane of total least squares."""
    X = cloud(3, p=3)
    last = qed.PCA(None).fit(X).components_[-1]
    plane = qed.TotalLeastSquares().fit(X[:, :2], X[:, 2])
    np.testing.assert_allclose(-last[:2] / last[2], plane.coef_, rtol=1e-9)


def test_rows_on_a_line_need_few_numbers():
    """O-COMPRESS: points on a line through the origin: exact with one direction; 100 x 100 of rank 3: 600 numbers for 10 000."""
    points = np.array([[-7.0, -14.0], [2.5, 5.0], [0.5, 1.0], [0.0, 0.0]])
    model = qed.PCA(1).fit(points)
    np.testing.assert_allclose(model.inverse_transform(model.transform(points)), points, atol=64 * EPS * 14)
    generator = np.random.default_rng(0)
    table = generator.standard_normal((100, 3)) @ generator.standard_normal((3, 100))
    table -= table.mean(axis=0)
    model = qed.PCA(3).fit(table)
    scores = model.transform(table)
    assert scores.size + model.components_.size == 600
    np.testing.assert_allclose(model.inverse_transform(scores), table, atol=1e-12 * np.abs(table).max())


@pytest.mark.parametrize("seed", range(2))
def test_fewer_rows_than_columns(seed):
    """O-PCA-DUAL: products of rows have the same eigenvalues, and directions are sums of rows with (x'w) / l as coefficients."""
    X = np.random.default_rng(seed).standard_normal((8, 30)) + 2.0
    model, away = qed.PCA(5).fit(X), X - X.mean(axis=0)
    values = np.linalg.eigvalsh(away @ away.T)[::-1]
    np.testing.assert_allclose(model.singular_values_**2, values[:5], rtol=1e-12)
    coefficients = (away @ model.components_.T) / model.singular_values_**2
    np.testing.assert_allclose(away.T @ coefficients, model.components_.T, atol=1e-12)
    tall = qed.PCA(5).fit(np.repeat(X, 5, axis=0))
    np.testing.assert_allclose(np.abs((tall.components_ * model.components_).sum(axis=1)), 1.0, rtol=1e-9)


def test_whitening():
    """O-WHITEN: the covariance of whitened rows is the identity; where rows do not vary, that is refused."""
    X = cloud(4)
    model = qed.PCA(None, whiten=True).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(5), atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(Z), X, atol=1e-11 * np.abs(X).max())
    flat = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="n_components=5"):
        qed.PCA(None, whiten=True).fit(flat).transform(flat)


def test_quotients_lie_between_the_eigenvalues():
    """rayleigh: v'Sv is between the least and the largest eigenvalue for unit v, and equal at their directions."""
    X, generator = cloud(6), np.random.default_rng(0)
    model, away = qed.PCA(None).fit(X), X - X.mean(axis=0)
    tried = generator.standard_normal((2000, 5))
    tried /= np.linalg.norm(tried, axis=1)[:, None]
    quotients = ((away @ tried.T) ** 2).sum(axis=0)
    values = model.singular_values_**2
    assert values[-1] < quotients.min() and quotients.max() < values[0]
    np.testing.assert_allclose(((away @ model.components_.T) ** 2).sum(axis=0), values, rtol=1e-10)


@pytest.mark.parametrize("shape", [(300, 20), (20, 300)])
def test_sparse_rows_have_the_components_of_dense_ones(shape):
    """O-PCA-DUAL and centering: sparse rows stay sparse, and the mean is taken away in products."""
    X = sparse.random_array(shape, density=0.1, random_state=0, format="csr") * 2.0
    models = [qed.PCA(5).fit(table) for table in (X, X.toarray())]
    size = np.sum(X.toarray() ** 2)
    values = [model.singular_values_**2 for model in models]
    np.testing.assert_allclose(*values, atol=64 * sum(shape) * EPS * size)
    assert all(model.certificate_ for model in models) and qed.certify(models[0], X)
    away = X.toarray() - X.mean(axis=0)
    np.testing.assert_allclose(models[0].transform(X) ** 2, (away @ models[1].components_.T) ** 2, atol=1e-9 * size)
