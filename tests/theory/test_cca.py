"""cca: the pairs of directions, one in each table, whose scores are correlated most."""

import numpy as np
import pytest

import qed
from qed.reduction import pearson, random_directions


def tables(seed=0, n=150, p=4, q=3):
    generator = np.random.default_rng(seed)
    Z = generator.standard_normal((n, 2))
    X = Z @ generator.standard_normal((2, p)) + generator.standard_normal((n, p)) * np.geomspace(0.3, 3, p)
    Y = Z @ generator.standard_normal((2, q)) + generator.standard_normal((n, q))
    return X + 5, Y - 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [True, False])
def test_identities(seed, scale):
    """(a) U'X'XU = I, V'Y'YV = I, U'X'YV = diag(S), with centred tables and the divisor n - 1; (b) 0 <= S <= 1; (c) correlations are S."""
    X, Y = tables(seed)
    model = qed.CCA(scale=scale).fit(X, Y)
    S = model.correlations_
    assert (np.diff(S) <= 0).all() and S.min() >= 0 and S.max() <= 1
    x, y = model.transform(X, Y)
    n = len(X) - 1
    np.testing.assert_allclose(x.T @ x / n, np.eye(3), atol=1e-11)
    np.testing.assert_allclose(y.T @ y / n, np.eye(3), atol=1e-11)
    np.testing.assert_allclose(x.T @ y / n, np.diag(S), atol=1e-11)
    for j in range(3):
        assert pearson(x[:, j], y[:, j]) == pytest.approx(S[j], rel=1e-10)
    assert model.certificate_ and qed.certify(model, X, Y)


def test_nothing_is_correlated_more():
    """(d) No (u, v) exceeds the first; positive multiples change nothing."""
    X, Y = tables()
    first = qed.CCA(1).fit(X, Y).correlations_[0]
    U, V = random_directions(2000, 4, random_state=0), random_directions(2000, 3, random_state=1)
    found = [abs(pearson(X @ u, Y @ v)) for u, v in zip(U, V)]
    assert max(found) < first
    assert pearson(X @ (7 * U[0]), Y @ (0.1 * V[0])) == pytest.approx(pearson(X @ U[0], Y @ V[0]), rel=1e-12)


def test_affine_maps_change_nothing():
    """(e) X M + b and Y N + c with invertible M and N have the same correlations; (f) directions are independent, not orthogonal."""
    X, Y = tables()
    generator, model = np.random.default_rng(9), qed.CCA().fit(X, Y)
    M, N = generator.standard_normal((4, 4)), generator.standard_normal((3, 3))
    moved = qed.CCA().fit(X @ M + generator.standard_normal(4), Y @ N + generator.standard_normal(3))
    # Rounding is enlarged by the squared condition numbers of M and N.
    slack = 1e-14 * np.linalg.cond(M) ** 2 * np.linalg.cond(N) ** 2 + 1e-12
    np.testing.assert_allclose(moved.correlations_, model.correlations_, atol=slack)
    U = model.x_rotations_ / np.linalg.norm(model.x_rotations_, axis=0)
    assert np.linalg.matrix_rank(U) == 3 and np.abs(U.T @ U - np.eye(3)).max() > 0.01


def test_one_column_each_and_one_target():
    """(g) p = q = 1: |rho|; (h) Y = X M gives ones; for q = 1, S^2 is the R^2 of least squares."""
    X, Y = tables()
    assert qed.CCA().fit(X[:, :1], Y[:, 0]).correlations_[0] == pytest.approx(abs(pearson(X[:, 0], Y[:, 0])), rel=1e-11)
    np.testing.assert_allclose(
        qed.CCA().fit(X, X @ np.random.default_rng(0).standard_normal((4, 2))).correlations_, 1, rtol=1e-11
    )
    one = qed.CCA().fit(X, Y[:, 0])
    assert one.correlations_[0] ** 2 == pytest.approx(
        qed.LinearRegression().fit(X, Y[:, 0]).score(X, Y[:, 0]), rel=1e-11
    )


def test_overfits_where_rows_are_few():
    """Pitfall: with p + q near n, noise is correlated perfectly; alpha keeps that down."""
    generator = np.random.default_rng(2)
    X, Y = generator.standard_normal((12, 6)), generator.standard_normal((12, 6))
    assert qed.CCA().fit(X, Y).correlations_[0] > 0.999
    shrunk = qed.CCA(alpha=1.0).fit(X, Y)
    assert shrunk.correlations_[0] < 0.9 and shrunk.certificate_


def test_blocks_and_weights():
    """One pass: rows added part by part, or weighted, give the same pairs as all of them."""
    X, Y = tables(4)
    whole, parts = qed.CCA().fit(X, Y), qed.CCA()
    for start in range(0, len(X), 40):
        parts.partial_fit(X[start : start + 40], Y[start : start + 40])
    np.testing.assert_allclose(parts.correlations_, whole.correlations_, rtol=1e-11)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    twice = qed.CCA().fit(np.repeat(X, weight, axis=0), np.repeat(Y, weight, axis=0))
    np.testing.assert_allclose(qed.CCA().fit(X, Y, weight).correlations_, twice.correlations_, rtol=1e-11)
    parts.forget(X[40:80], Y[40:80])
    rest = np.r_[0:40, 80 : len(X)]
    np.testing.assert_allclose(parts.correlations_, qed.CCA().fit(X[rest], Y[rest]).correlations_, rtol=1e-10)
