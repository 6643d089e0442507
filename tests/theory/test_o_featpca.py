"""O-FEATPCA: principal components of features, and of their kernel."""

import numpy as np
import pytest

import qed
from qed.kernels import Linear, Polynomial


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_equals_kernel_pca(degree):
    """Check: the scores are those of kernel PCA with the kernel phi'phi, up to sign; of new rows, too."""
    generator = np.random.default_rng(degree)
    X, new = generator.standard_normal((60, 3)), generator.standard_normal((7, 3))
    here = qed.FeatureSpacePCA(3, kernel="poly", degree=degree).fit(X)
    there = qed.KernelPCA(3, kernel="poly", degree=degree).fit(X)
    np.testing.assert_allclose(here.singular_values_**2, there.eigenvalues_, rtol=1e-10)
    signs = np.sign((here.transform(X) * there.transform(X)).sum(axis=0))
    np.testing.assert_allclose(here.transform(X), there.transform(X) * signs, atol=1e-8)
    np.testing.assert_allclose(here.transform(new), there.transform(new) * signs, atol=1e-8)
    assert here.certificate_ and there.certificate_


def test_identity_features_are_pca():
    """Check: the identity reproduces PCA, bit by bit but for rounding."""
    X = np.random.default_rng(5).standard_normal((40, 4)) * [4, 3, 2, 1] + 2
    here, plain = qed.FeatureSpacePCA(2, kernel="linear").fit(X), qed.PCA(2).fit(X)
    np.testing.assert_allclose(here.components_, plain.components_, atol=1e-12)
    np.testing.assert_allclose(here.transform(X), plain.transform(X), atol=1e-12)


def test_a_map_of_ones_own():
    """Computes: columns phi_j(x_i), centred, and their eigenvectors."""
    X = np.random.default_rng(6).standard_normal((50, 2))

    def phi(table):
        return np.column_stack([table, table[:, 0] * table[:, 1], np.sin(table[:, 0])])

    model = qed.FeatureSpacePCA(2, kernel=Linear().mapped(phi)).fit(X)
    features = phi(X) - phi(X).mean(axis=0)
    values, vectors = np.linalg.eigh(features.T @ features)
    np.testing.assert_allclose(model.singular_values_**2, values[::-1][:2], rtol=1e-11)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(features @ vectors[:, ::-1][:, :2]), atol=1e-10)


def test_rows_may_come_in_parts_and_go():
    """One pass: rows are added and forgotten, since features are summed."""
    X = np.random.default_rng(7).standard_normal((90, 2))
    parts = qed.FeatureSpacePCA(2, kernel=Polynomial(2)).partial_fit(X[:50]).partial_fit(X[50:])
    np.testing.assert_allclose(
        parts.components_, qed.FeatureSpacePCA(2, kernel=Polynomial(2)).fit(X).components_, atol=1e-11
    )
    parts.forget(X[50:])
    np.testing.assert_allclose(
        parts.singular_values_, qed.FeatureSpacePCA(2, kernel=Polynomial(2)).fit(X[:50]).singular_values_, rtol=1e-9
    )


def test_a_kernel_without_features_is_refused():
    with pytest.raises(ValueError, match="no finite features"):
        qed.FeatureSpacePCA(2, kernel="rbf").fit(np.eye(3))
