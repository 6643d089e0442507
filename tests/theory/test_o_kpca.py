"""O-KPCA: principal components in the features of a kernel."""

import numpy as np
import pytest

import qed
from qed.kernels import RBF, centred


def rows(seed=0, n=60, p=3):
    return np.random.default_rng(seed).standard_normal((n, p)) * np.arange(1, p + 1) + 2


def test_a_linear_kernel_is_pca():
    """Check: linear kernel = PCA scores, of rows fitted and of new ones."""
    X, new = rows(), rows(1, 8)
    here, plain = qed.KernelPCA(3).fit(X), qed.PCA(3).fit(X)
    signs = np.sign((here.transform(X) * plain.transform(X)).sum(axis=0))
    np.testing.assert_allclose(here.transform(X), plain.transform(X) * signs, atol=1e-10)
    np.testing.assert_allclose(here.transform(new), plain.transform(new) * signs, atol=1e-10)
    np.testing.assert_allclose(here.eigenvalues_, plain.singular_values_**2, rtol=1e-11)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "laplacian", "cosine"])
def test_score_variance_is_the_eigenvalue(kernel):
    """Check: scores have mean zero and variances l_u, and are uncorrelated."""
    X = rows()
    model = qed.KernelPCA(4, kernel=kernel, gamma=0.1).fit(X)
    Z = model.transform(X)
    assert np.abs(Z.mean(axis=0)).max() < 1e-9 * np.abs(Z).max()
    np.testing.assert_allclose(Z.T @ Z, np.diag(model.eigenvalues_), atol=1e-9 * model.eigenvalues_[0])
    assert model.certificate_ and qed.certify(model, X)


def test_the_formula():
    """Computes: K centred, eigenvectors b, a = b / sqrt(n l), representation sum_j a_j K^c_ij; new rows with training means."""
    X, new = rows(), rows(3, 5)
    model, K = qed.KernelPCA(3, kernel="rbf", gamma=0.2).fit(X), RBF(0.2)(X)
    values, beta = np.linalg.eigh(centred(K))
    values, alpha = values[::-1][:3], beta[:, ::-1][:, :3] / np.sqrt(values[::-1][:3])
    np.testing.assert_allclose(model.eigenvalues_, values, rtol=1e-11)
    for table, similar in ((X, K), (new, RBF(0.2)(new, X))):
        np.testing.assert_allclose(np.abs(model.transform(table)), np.abs(centred(K, similar) @ alpha), atol=1e-10)


def test_a_precomputed_matrix():
    X, new = rows(), rows(4, 6)
    here = qed.KernelPCA(3, kernel="rbf", gamma=0.2).fit(X)
    given = qed.KernelPCA(3, kernel="precomputed").fit(RBF(0.2)(X))
    np.testing.assert_allclose(given.transform(RBF(0.2)(new, X)), here.transform(new), atol=1e-11)
    assert given.certificate_


def test_eigenvalues_that_are_zero_are_dropped():
    """Pitfall: drop non-positive eigenvalues: a linear kernel of three columns has three."""
    assert len(qed.KernelPCA().fit(rows()).eigenvalues_) == 3
    kept = qed.KernelPCA(5).fit(rows())
    assert (kept.eigenvalues_[3:] == 0).all() and not kept.transform(rows())[:, 3:].any()
    assert len(qed.KernelPCA(5, remove_zero_eig=True).fit(rows()).eigenvalues_) == 3


def test_a_matrix_that_is_no_kernel_is_refused():
    K = np.array([[0.0, 1.0, -2.0], [1.0, 0.0, 5.0], [-2.0, 5.0, 0.0]])
    with pytest.raises(ValueError, match="significant negative eigenvalues"):
        qed.KernelPCA(kernel="precomputed").fit(K)


def test_many_rows_by_the_krylov_space():
    """More rows than are decomposed whole: the same as the whole decomposition, and certified."""
    X = rows(6, 700)
    model = qed.KernelPCA(6, kernel="rbf", gamma=0.1).fit(X)
    wanted = np.linalg.eigvalsh(centred(RBF(0.1)(X)))[::-1][:6]
    np.testing.assert_allclose(model.eigenvalues_, wanted, rtol=1e-10)
    assert model.certificate_


def test_the_way_back():
    """Rows on a curve come back from their scores, nearly; scores of what comes back are near, too."""
    angle = np.linspace(0, np.pi, 60)
    X = np.column_stack([np.cos(angle), np.sin(angle)])
    model = qed.KernelPCA(4, kernel="rbf", gamma=2.0, fit_inverse_transform=True, alpha=1e-4).fit(X)
    assert np.abs(model.inverse_transform(model.transform(X)) - X).max() < 0.02
    with pytest.raises(AttributeError, match="fit_inverse_transform"):
        qed.KernelPCA(2).fit(X).inverse_transform(np.zeros((1, 2)))


@pytest.mark.parametrize(("n", "k"), [(41, 1), (700, 10)])
def test_rows_that_are_like_no_others(n, k):
    """Where every row is like itself alone, all eigenvalues are one: LAPACK may find none of a few, and the fit goes on all the same."""
    X = np.random.default_rng(0).standard_normal((n, 3))
    model = qed.KernelPCA(k, kernel="rbf", gamma=1e6).fit(X)
    np.testing.assert_allclose(model.eigenvalues_, 1.0, rtol=1e-9)
    assert model.certificate_
