"""random-proj: directions that know nothing of the rows."""

import numpy as np
import pytest

import qed
from qed.reduction import johnson_lindenstrauss_min_dim, random_directions


def test_unit_length_and_no_preferred_direction():
    """Theory: unit norms; the mean of v v' is I / d, as rotational symmetry has it."""
    drawn = random_directions(20_000, 4, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1, rtol=1e-12)
    # Entries of v v' lie between -1 and 1: six standard deviations of a mean of 20 000.
    np.testing.assert_allclose(drawn.T @ drawn / 20_000, np.eye(4) / 4, atol=6 / 20_000**0.5)


def test_mean_square_of_a_shadow():
    """Numbers: E (x'v)^2 = ||x||^2 / d, which is 7.5 for (1, 2, 3, 4)."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    squares = (random_directions(40_000, 4, random_state=1) @ x) ** 2
    assert squares.mean() == pytest.approx(7.5, abs=6 * squares.std() / 200)


@pytest.mark.filterwarnings("ignore:.*more than the 4 columns")
def test_lengths_are_kept_on_average():
    """Theory: with entries of variance 1 / k the mean of ||Px||^2 is ||x||^2, normal or mostly zeros."""
    x = np.array([[1.0, 2.0, 3.0, 4.0]])
    for kind in (qed.GaussianRandomProjection, qed.SparseRandomProjection):
        # Each of many directions has its own square, k times that of the projection.
        found = kind(20_000, random_state=1).fit(x).transform(x)[0] ** 2 * 20_000
        assert np.mean(found) == pytest.approx(30, abs=6 * np.std(found) / 20_000**0.5)


@pytest.mark.parametrize("kind", [qed.GaussianRandomProjection, qed.SparseRandomProjection])
def test_johnson_lindenstrauss(kind):
    """Theory: with the dimension that n and eps ask for, all squared distances are kept up to eps."""
    X = np.random.default_rng(3).standard_normal((60, 3000))
    model = kind(eps=0.4, random_state=0).fit(X)
    assert model.n_components_ == johnson_lindenstrauss_min_dim(60, eps=0.4) == int(4 * np.log(60) / (0.08 - 0.064 / 3))
    Z = model.transform(X)
    before, after = (((T[:, None] - T[None]) ** 2).sum(axis=2) for T in (X, Z))
    apart = ~np.eye(60, dtype=bool)
    assert np.abs(after[apart] / before[apart] - 1).max() <= 0.4
    assert model.distortion_ <= 0.4 and model.certificate_


def test_the_rows_do_not_matter():
    """Pitfall: directions depend on the seed and the shape alone, so that none is more important."""
    X = np.random.default_rng(0).standard_normal((30, 10))
    one, other = (qed.GaussianRandomProjection(4, random_state=7).fit(T) for T in (X, X * 100 + 3))
    np.testing.assert_array_equal(one.components_, other.components_)


def test_too_small_a_space_is_said():
    with pytest.raises(ValueError, match="target dimension"):
        qed.GaussianRandomProjection(eps=0.1).fit(np.zeros((100, 5)))
    with pytest.raises(ValueError, match="between 0 and 1"):
        johnson_lindenstrauss_min_dim(10, eps=1.5)
