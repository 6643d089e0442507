"""The decomposition behind paths of penalties: exact for any size, rank and scale, and its compiled part against NumPy."""

import numpy as np
import pytest

from qed.kernels import RBF
from qed.linalg import band as kernel_band
from qed.linalg.band import Band
from qed.linalg.shifted import TOGETHER, Shifts, in_fours, lengths_of

SIZES = [1, 2, 3, 31, 32, 33, 34, 64, 65, 66, 97, 300, 600]


def matrix(n, kind="rbf"):
    X = np.random.default_rng(n).normal(size=(n, 3))
    if kind == "rank":
        return X @ X.T
    if kind == "zero":
        return np.zeros((n, n))
    return RBF(0.5)(X) * (1e-8 if kind == "small" else 1.0)


def dense(band):
    n = band.lower.shape[1]
    B = sum(np.diag(line[: n - d], -d) for d, line in enumerate(band.lower) if d < n)
    return B + np.tril(B, -1).T


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", ["rbf", "rank", "zero", "small"])
def test_the_decomposition_gives_the_matrix_back(n, kind):
    K = matrix(n, kind)
    band = Band.of(K.copy())
    Q = band.orthogonal()
    np.testing.assert_allclose(Q.T @ Q, np.eye(n), atol=1e-13)
    np.testing.assert_allclose(Q @ dense(band) @ Q.T, K, atol=1e-13 * max(np.abs(K).max(), 1e-300) * n)
    assert band.lower.shape[0] <= kernel_band.WIDTH + 1


@pytest.mark.parametrize("n", [5, 70, 130])
def test_turning_is_multiplying_by_the_orthogonal_matrix(n):
    band, Y = Band.of(matrix(n)), np.random.default_rng(0).normal(size=(n, 2))
    np.testing.assert_allclose(band.turned(Y), band.orthogonal().T @ Y, atol=1e-13)
    np.testing.assert_allclose(band.turned_back(Y), band.orthogonal() @ Y, atol=1e-13)


def test_panels_may_be_subtracted_in_any_groups(monkeypatch):
    K = matrix(400)
    expected = Band.of(K.copy()).lower
    monkeypatch.setattr(kernel_band, "GROUP", 1)
    monkeypatch.setattr(kernel_band, "STRIP", 48)
    np.testing.assert_allclose(np.abs(Band.of(K.copy()).lower), np.abs(expected), atol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5, 33, 100, 131])
def test_squared_lengths_against_numpy(n):
    band = Band.of(matrix(n))
    alphas = np.array([0.1, 2.0, 30.0])
    shifts, Q = Shifts.of(band, alphas), band.orthogonal()
    found = lengths_of(Q[:TOGETHER], *in_fours(shifts.factors))
    for k, alpha in enumerate(alphas):
        L = np.linalg.cholesky(dense(band) + alpha * np.eye(n))
        np.testing.assert_allclose(found[k], (np.linalg.solve(L, Q[:TOGETHER].T) ** 2).sum(axis=0), rtol=1e-11)


def test_a_band_that_is_not_positive_definite_is_unsafe():
    shifts = Shifts.of(Band.of(matrix(50, "rank")), np.array([0.0, 1e-18, 1.0]))
    assert shifts.unsafe.tolist() == [True, True, False] and len(shifts.factors) == 1
    assert shifts.solve(np.ones((50, 2))).shape == (1, 50, 2)
