"""cca-regression: predictions through canonical pairs."""

import numpy as np
import pytest

import qed


def tables(p, q, n=120, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p)) + 3
    return X, X @ generator.standard_normal((p, q)) + generator.standard_normal((n, q)) - 1


def test_between_scores_it_is_diagonal():
    """Theory: scores have mean zero, and A = (Xc'Xc)^-1 Xc'Yc = diag(S)."""
    X, Y = tables(4, 3)
    model = qed.CCA().fit(X, Y)
    x, y = model.transform(X, Y)
    assert max(np.abs(x.mean(axis=0)).max(), np.abs(y.mean(axis=0)).max()) < 1e-12
    np.testing.assert_allclose(np.linalg.solve(x.T @ x, x.T @ y), np.diag(model.correlations_), atol=1e-11)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_single_matrix(k):
    """Theory: A_eq = U (U'X'XU)^-1 (U'X'YV) (V'V)^-1 V', of rank k at most; new rows are centred with the old mean."""
    X, Y = tables(4, 3)
    model = qed.CCA(k, scale=False).fit(X, Y)
    U, V = model.x_rotations_, model.y_rotations_
    x, y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    A = U @ np.linalg.solve(U.T @ x.T @ x @ U, U.T @ x.T @ y @ V) @ np.linalg.solve(V.T @ V, V.T)
    np.testing.assert_allclose(model.coef_.T, A, atol=1e-11)
    assert np.linalg.matrix_rank(model.coef_, tol=1e-8) == k
    new = np.random.default_rng(7).standard_normal((5, 4))
    np.testing.assert_allclose(model.predict(new), (new - X.mean(axis=0)) @ A + Y.mean(axis=0), atol=1e-11)


def test_least_squares_with_all_pairs():
    """Theory: k = q <= p is multi-output least squares; for q > p with k = p it is not."""
    X, Y = tables(4, 3)
    np.testing.assert_allclose(qed.CCA().fit(X, Y).predict(X), qed.LinearRegression().fit(X, Y).predict(X), atol=1e-10)
    X, Y = tables(2, 4)
    here, there = qed.CCA(scale=False).fit(X, Y).coef_, qed.LinearRegression().fit(X, Y).coef_
    assert np.linalg.norm(here - there) > 0.01 * np.linalg.norm(there)


def test_reverse_direction():
    """Theory: X from Y by swapping; the correlations are the same."""
    X, Y = tables(3, 3)
    here, there = qed.CCA().fit(X, Y), qed.CCA().fit(Y, X)
    np.testing.assert_allclose(here.correlations_, there.correlations_, rtol=1e-11)
    np.testing.assert_allclose(there.predict(Y), qed.LinearRegression().fit(Y, X).predict(Y), atol=1e-10)
