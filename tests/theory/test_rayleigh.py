"""rayleigh: the sum of squares along a direction lies between the extreme eigenvalues."""

import numpy as np
import pytest

import qed
from qed.reduction import random_directions, rayleigh_quotient


@pytest.mark.parametrize("seed", range(3))
def test_bounds_hold_for_random_directions(seed):
    """Theory: smallest <= v'Av <= largest for unit vectors, strictly where they are no eigenvectors; equality at eigenvectors."""
    A = np.random.default_rng(seed).standard_normal((5, 5))
    A = A + A.T
    values, vectors = np.linalg.eigh(A)
    found = rayleigh_quotient(A, random_directions(5000, 5, random_state=seed))
    assert values[0] < found.min() and found.max() < values[-1]
    np.testing.assert_allclose(rayleigh_quotient(A, vectors.T), values, atol=1e-13)
    assert rayleigh_quotient(A, -3 * vectors[:, 0]) == pytest.approx(values[0], abs=1e-13)


def test_repeated_eigenvalues():
    """Theory: equality for any vector of a repeated eigenspace."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    A = Q @ np.diag([3.0, 3.0, 1.0, 0.5]) @ Q.T
    mixtures = random_directions(50, 2, random_state=0) @ Q[:, :2].T
    np.testing.assert_allclose(rayleigh_quotient((A + A.T) / 2, mixtures), 3, rtol=1e-13)


def test_principal_components_reach_the_bound():
    """Theory: the quotient of the scatter at the first component is the first eigenvalue."""
    X = np.random.default_rng(4).standard_normal((60, 4)) @ np.diag([4.0, 3.0, 2.0, 1.0])
    model, away = qed.PCA(None).fit(X), X - X.mean(axis=0)
    np.testing.assert_allclose(
        rayleigh_quotient(away.T @ away, model.components_), model.singular_values_**2, rtol=1e-12
    )


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="symmetric"):
        rayleigh_quotient([[1.0, 2.0], [0.0, 1.0]], [1.0, 0.0])
    with pytest.raises(ValueError, match="not zero"):
        rayleigh_quotient(np.eye(2), [0.0, 0.0])
