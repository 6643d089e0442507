"""whiten: the symmetric matrix after which columns vary alike and are not correlated."""

import numpy as np
import pytest

import qed
from qed.reduction import whitening_matrix


@pytest.mark.parametrize("seed", range(3))
def test_identities(seed):
    """Theory: X_w'X_w = I; W symmetric positive definite; W^2 X'X = I."""
    X = np.random.default_rng(seed).standard_normal((40, 4)) @ np.diag([5.0, 1.0, 0.3, 2.0])
    X = X - X.mean(axis=0)
    W = whitening_matrix(X.T @ X)
    np.testing.assert_allclose((X @ W).T @ (X @ W), np.eye(4), atol=1e-12)
    np.testing.assert_allclose(W, W.T, atol=1e-15)
    assert np.linalg.eigvalsh(W).min() > 0
    np.testing.assert_allclose(W @ W @ (X.T @ X), np.eye(4), atol=1e-11)


def test_dependent_columns_are_refused_or_regularised():
    """Pitfall: requires full column rank; with alpha there is a matrix for all."""
    X = np.random.default_rng(0).standard_normal((20, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    with pytest.raises(ValueError, match="dependent"):
        whitening_matrix(X.T @ X)
    W = whitening_matrix(X.T @ X, alpha=1e-3)
    assert np.linalg.eigvalsh(W @ X.T @ X @ W).max() < 1
    with pytest.warns(qed.base.errors.DegenerateWarning, match="2 of 3 columns of X"):
        qed.CCA().fit(X, np.random.default_rng(1).standard_normal((20, 2)))
