"""centering: the mean is taken off, kept, and used for new rows."""

import numpy as np

import qed
from qed.base.numbers import EPS


def test_scores_have_mean_zero_and_new_rows_use_the_old_mean():
    """Theory: column means 0; the training mean is stored and reused."""
    generator = np.random.default_rng(0)
    X, new = generator.standard_normal((50, 3)) + 10, generator.standard_normal((5, 3)) - 4
    model = qed.PCA(None).fit(X)
    np.testing.assert_allclose(model.mean_, X.mean(axis=0), rtol=8 * EPS)
    assert np.abs(model.transform(X).mean(axis=0)).max() < 1e-13
    np.testing.assert_allclose(model.transform(new), (new - X.mean(axis=0)) @ model.components_.T, atol=1e-12)


def test_components_of_shifted_rows_are_the_same():
    """Theory: PCA of data and a constant is PCA of the data; of kernels with centred matrices, too."""
    X = np.random.default_rng(1).standard_normal((40, 3)) * [3, 2, 1]
    moved = X + [100.0, -50.0, 7.0]
    # Shifting costs each entry half a unit in the last place of 100.
    np.testing.assert_allclose(qed.PCA(2).fit(moved).components_, qed.PCA(2).fit(X).components_, atol=1e-12)
    here, there = (qed.KernelPCA(2).fit(T) for T in (X, moved))
    np.testing.assert_allclose(here.eigenvalues_, there.eigenvalues_, rtol=1e-12)


def test_without_centring_the_first_direction_points_at_the_mean():
    """Theory: far from the origin, the best direction through zero is that of the mean; with centring it is that of the spread."""
    X = np.random.default_rng(2).standard_normal((200, 2)) * [5.0, 0.5] + [0.0, 300.0]
    through_zero = qed.stats.low_rank(X, 1)[0]
    assert abs(through_zero[1]) > 0.99 * np.linalg.norm(through_zero)
    assert abs(qed.PCA(1).fit(X).components_[0, 0]) > 0.99
