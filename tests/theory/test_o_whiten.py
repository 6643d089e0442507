"""O-WHITEN: components divided by their deviations."""

import numpy as np
import pytest

import qed


@pytest.mark.parametrize("shape", [(200, 5), (20, 60)])
def test_covariance_is_the_identity(shape):
    """Check: cov = I to 1e-10."""
    X = np.random.default_rng(0).standard_normal(shape) * np.geomspace(0.01, 100, shape[1]) + 4
    Z = qed.PCA(4, whiten=True).fit(X).transform(X)
    np.testing.assert_allclose(np.cov(Z.T), np.eye(4), atol=1e-10)


def test_directions_without_variance_are_refused():
    """Check: near-zero eigenvalues are handled explicitly; here they are refused, with the number that there are."""
    X = np.random.default_rng(1).standard_normal((50, 2))
    X = np.column_stack([X, X.sum(axis=1)])
    model = qed.PCA(3, whiten=True).fit(X)
    with pytest.raises(ValueError, match="along 2 of them only"):
        model.transform(X)
    back = qed.PCA(2, whiten=True).fit(X)
    np.testing.assert_allclose(back.inverse_transform(back.transform(X)), X, atol=1e-12)
    with pytest.raises(ValueError, match="along 0 of them only. Give whiten=False"):
        qed.PCA(1, whiten=True).fit(np.ones((5, 2))).transform(np.ones((5, 2)))
