"""O-DEFLATE: one direction after the other, of what is left."""

import numpy as np
import pytest

import qed
from qed.reduction import deflation


@pytest.mark.parametrize("seed", range(3))
def test_the_same_as_all_at_once(seed):
    """Check: residuals orthogonal to all directions before; directions orthonormal and those of PCA; after d rounds nothing is left."""
    X = np.random.default_rng(seed).standard_normal((40, 4)) @ np.diag([4.0, 3.0, 2.0, 1.0]) + 7
    whole, found = qed.PCA(None).fit(X), []
    for direction, squares, left in deflation(X):
        found.append(direction)
        assert np.abs(left @ np.array(found).T).max() < 1e-11
        np.testing.assert_allclose(direction, whole.components_[len(found) - 1], atol=1e-9)
        assert squares == pytest.approx(whole.singular_values_[len(found) - 1] ** 2, rel=1e-11)
    assert len(found) == 4 and np.abs(left).max() < 1e-11
    np.testing.assert_allclose(np.array(found) @ np.array(found).T, np.eye(4), atol=1e-13)
    away = X - X.mean(axis=0)
    np.testing.assert_allclose(sum(np.outer(away @ w, w) for w in found), away, atol=1e-11)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_ends_with_the_rank(rank):
    """Check: on a subspace of k dimensions nothing is left after k rounds."""
    generator = np.random.default_rng(rank)
    X = generator.standard_normal((30, rank)) @ generator.standard_normal((rank, 5))
    assert len(list(deflation(X))) == rank


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="between 1 and the 2 columns"):
        list(deflation(np.eye(2), 3))
    with pytest.raises(ValueError, match="finite table"):
        list(deflation([[np.nan, 1.0]]))
