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
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_dimensions_add_up_and_bases_are_orthogonal(X):
    n, p = X.shape
    rows, null, columns, left_null = spaces(X)
    rank = qed.LinearRegression(fit_intercept=False).fit(X, np.arange(n) + 1.0).rank_
    assert rows.shape[1] == columns.shape[1] == rank
    assert rank + null.shape[1] == p and rank + left_null.shape[1] == n
    # Least squares on all unit vectors at once casts the shadow on range(X); what it leaves is the shadow on null(X').
    shadow = qed.LinearRegression(fit_intercept=False).fit(X, np.eye(n))
    np.testing.assert_allclose(shadow.predict(X), projector(columns), atol=1e-8)
    np.testing.assert_allclose(np.eye(n) - shadow.predict(X), projector(left_null), atol=1e-8)
    # Its coefficients lie in range(X'), so that they see nothing of null(X).
    np.testing.assert_allclose(np.atleast_2d(shadow.coef_) @ null, 0.0, atol=1e-8)


@pytest.mark.parametrize("X", list(matrices()))
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_products_with_the_transpose_keep_the_spaces(X):
    """range(X'X) = range(X'): least squares on X and on X'X have solutions of the same rank, in the same space."""
    rows, null, columns, left_null = map(projector, spaces(X))
    y = np.random.default_rng(2).standard_normal(len(X))
    model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    normal = qed.LinearRegression(fit_intercept=False).fit(X.T @ X, X.T @ y)
    assert normal.rank_ == model.rank_
    np.testing.assert_allclose(rows @ model.coef_, model.coef_, atol=1e-8)
    np.testing.assert_allclose(normal.coef_, model.coef_, atol=1e-6)
    np.testing.assert_allclose(columns @ y, model.predict(X), atol=1e-8)
    np.testing.assert_allclose(left_null @ y, y - model.predict(X), atol=1e-8)
    shadow = qed.LinearRegression(fit_intercept=False).fit(X.T @ X, np.eye(X.shape[1])).predict(X.T @ X)
    np.testing.assert_allclose(np.eye(X.shape[1]) - shadow, null, atol=1e-6)
    # range(XX') = range(X), and null(XX') = null(X'): least squares on XX' fits the same, and leaves the same over.
    other = qed.LinearRegression(fit_intercept=False).fit(X @ X.T, y)
    assert other.rank_ == model.rank_
    np.testing.assert_allclose(other.predict(X @ X.T), model.predict(X), atol=1e-8)
    np.testing.assert_allclose(X.T @ other.coef_, model.coef_, atol=1e-6)
    shadow = qed.LinearRegression(fit_intercept=False).fit(X @ X.T, np.eye(len(X))).predict(X @ X.T)
    np.testing.assert_allclose(np.eye(len(X)) - shadow, left_null, atol=1e-6)


@pytest.mark.parametrize("X", list(matrices()))
@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_every_vector_splits_in_one_way(X):
    """What least squares finds again of Xu is the part of u in range(X'); the rest is in the null space."""
    rows, null, _, _ = spaces(X)
    u = np.random.default_rng(1).standard_normal(X.shape[1])
    along = qed.LinearRegression(fit_intercept=False).fit(X, X @ u).coef_
    np.testing.assert_allclose(along, projector(rows) @ u, atol=1e-8)
    np.testing.assert_allclose(u - along, projector(null) @ u, atol=1e-8)
    assert abs(along @ (u - along)) < 1e-8


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
