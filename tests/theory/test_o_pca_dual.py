"""O-PCA-DUAL: with fewer rows than columns their products tell all."""

import numpy as np
import pytest

import qed
from qed.reduction.spread import SpreadOfRows


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_other_way(seed):
    """Checkable: K a = n l a, a'Ka = 1, w = X'a of length one, with coefficients x'w / (n l); the same as the columns' way."""
    X = np.random.default_rng(seed).standard_normal((12, 40))
    X = X - X.mean(axis=0)
    model = qed.PCA(5).fit(X)
    values, beta = np.linalg.eigh(X @ X.T)
    values, beta = values[::-1][:5], beta[:, ::-1][:, :5]
    alpha = beta / np.sqrt(values)
    np.testing.assert_allclose(model.singular_values_**2, values, rtol=1e-10)
    W = (X.T @ alpha).T
    np.testing.assert_allclose(np.abs((W * model.components_).sum(axis=1)), 1, rtol=1e-10)
    scores = X @ model.components_.T
    np.testing.assert_allclose((X.T @ (scores / values)).T, model.components_, atol=1e-10)


def test_only_products_of_rows_are_made():
    """Complexity: the matrix that is decomposed is n x n, and the model keeps rows, no p x p matrix."""
    X = np.random.default_rng(0).standard_normal((10, 3000))
    model = qed.PCA(3).fit(X)
    assert SpreadOfRows(model.statistic_).matrix.shape == (10, 10)
    assert max(np.size(value) for value in vars(model.statistic_).values()) <= X.size
    assert model.certificate_


def test_zero_eigenvalues_are_dropped_before_dividing():
    """Pitfall: rows that repeat leave zeros; directions stay orthonormal."""
    X = np.repeat(np.random.default_rng(1).standard_normal((4, 30)), 3, axis=0)
    model = qed.PCA(8).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(8), atol=1e-12)
    assert (model.explained_variance_[3:] < 1e-12).all()
