"""ftla: the four subspaces of a matrix, and that X'X and XX' keep them."""

import numpy as np
import pytest

import qed


def spaces(A):
    """Orthonormal bases of range(A'), null(A), range(A) and null(A')."""
    U, s, V = np.linalg.svd(A)
    rank = int((s > 1e-10 * s[0]).sum()) if s.size and s[0] > 0 else 0
    return V[:rank].T, V[rank:].T, U[:, :rank], U[:, rank:]


def projector(basis):
    return basis @ basis.T


def matrices():
    random = np.random.default_rng(0)
    for n, p, rank in [(6, 4, 4), (4, 6, 4), (5, 5, 5), (6, 4, 2), (4, 7, 3), (5, 5, 1), (3, 3, 0)]:
        yield pytest.param(random.standard_normal((n, rank)) @ random.standard_normal((rank, p)), id=f"{n}x{p}-{rank}")


@pytest.mark.parametrize("X", list(matrices()))
def test_dimensions_add_up_and_bases_are_orthogonal(X):
    n, p = X.shape
    rows, null, columns, left_null = spaces(X)
    assert rows.shape[1] + null.shape[1] == p and columns.shape[1] + left_null.shape[1] == n
    assert rows.shape[1] == columns.shape[1] == np.linalg.matrix_rank(X)
    np.testing.assert_allclose(rows.T @ null, 0.0, atol=1e-12)
    np.testing.assert_allclose(columns.T @ left_null, 0.0, atol=1e-12)
    np.testing.assert_allclose(X @ null, 0.0, atol=1e-12)
    np.testing.assert_allclose(X.T @ left_null, 0.0, atol=1e-12)
    np.testing.assert_allclose(projector(rows) + projector(null), np.eye(p), atol=1e-12)
    np.testing.assert_allclose(projector(columns) + projector(left_null), np.eye(n), atol=1e-12)


@pytest.mark.parametrize("X", list(matrices()))
def test_products_with_the_transpose_keep_the_spaces(X):
    """null(X'X) = null(X), range(X'X) = range(X'), null(XX') = null(X'), range(XX') = range(X)."""
    rows, null, columns, left_null = map(projector, spaces(X))
    inner, outer = [projector(s) for s in spaces(X.T @ X)], [projector(s) for s in spaces(X @ X.T)]
    np.testing.assert_allclose(inner[1], null, atol=1e-8)
    np.testing.assert_allclose(inner[2], rows, atol=1e-8)
    np.testing.assert_allclose(outer[1], left_null, atol=1e-8)
    np.testing.assert_allclose(outer[2], columns, atol=1e-8)


@pytest.mark.parametrize("X", list(matrices()))
def test_every_vector_splits_in_one_way(X):
    rows, null, _, _ = spaces(X)
    u = np.random.default_rng(1).standard_normal(X.shape[1])
    along, across = projector(rows) @ u, projector(null) @ u
    np.testing.assert_allclose(along + across, u, atol=1e-12)
    assert abs(along @ across) < 1e-12
    basis = np.hstack([rows, null])
    np.testing.assert_allclose(basis @ np.linalg.solve(basis, u), u, atol=1e-12)


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
@pytest.mark.parametrize("X", [one for one in matrices() if one.values[0].any()])
def test_least_squares_splits_a_target_into_the_range_and_the_left_null_space(X):
    """The fit lies in range(X), the residual in null(X'), and the shortest coefficients in range(X'); the rank says how much that is."""
    y = np.random.default_rng(1).standard_normal(len(X))
    model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    rows, _, columns, left_null = spaces(X)
    np.testing.assert_allclose(X @ model.coef_, projector(columns) @ y, atol=1e-10)
    np.testing.assert_allclose(y - model.predict(X), projector(left_null) @ y, atol=1e-10)
    np.testing.assert_allclose(projector(rows) @ model.coef_, model.coef_, atol=1e-10)
    assert model.rank_ == rows.shape[1]
