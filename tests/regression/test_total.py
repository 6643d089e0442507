"""Total least squares: several targets, weights, digits, and degenerate data."""

import numpy as np
import pytest
from scipy import sparse

import qed
from qed.base.errors import DegenerateError, DegenerateWarning


def noisy(n=50, d=3, q=1, seed=0, noise=0.1):
    random = np.random.default_rng(seed)
    truth, W = random.standard_normal((n, d)), random.standard_normal((d, q))
    X = truth + noise * random.standard_normal((n, d))
    return X, truth @ W + 2 + noise * random.standard_normal((n, q)), W


def test_several_targets_leave_out_several_directions():
    X, Y, W = noisy(n=400, q=2)
    model = qed.TotalLeastSquares().fit(X, Y)
    np.testing.assert_allclose(model.coef_, W.T, atol=0.1)
    Z = np.column_stack([X, Y])
    value = np.linalg.svd(Z - Z.mean(axis=0), compute_uv=False)
    np.testing.assert_allclose(model.singular_values_, value, rtol=1e-10)
    assert model.error_ == pytest.approx(np.sum(value[3:] ** 2), rel=1e-9)
    assert np.sum(model.perpendicular_distances(X, Y) ** 2) == pytest.approx(model.error_, rel=1e-9)
    assert model.certificate_ and qed.certify(model, X, Y)
    moved = np.array(model.coef_)
    moved[1, 0] *= 1.001
    model.coef_ = moved
    assert not qed.certify(model, X, Y)


def test_sparse_and_dense_agree():
    X, y, _ = noisy()
    X[np.abs(X) < 0.5] = 0
    dense = qed.TotalLeastSquares().fit(X, y[:, 0])
    found = qed.TotalLeastSquares().fit(sparse.csr_array(X), y[:, 0])
    np.testing.assert_allclose(found.coef_, dense.coef_, rtol=1e-10)
    np.testing.assert_allclose(
        found.denoise(sparse.csr_array(X), y[:, 0])[0], dense.denoise(X, y[:, 0])[0], rtol=1e-9, atol=1e-12
    )


def test_parts_and_forgetting():
    X, y, _ = noisy()
    y = y[:, 0]
    parts = qed.TotalLeastSquares().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    np.testing.assert_allclose(parts.coef_, qed.TotalLeastSquares().fit(X, y).coef_, rtol=1e-10)
    parts.forget(X[:10], y[:10])
    np.testing.assert_allclose(parts.coef_, qed.TotalLeastSquares().fit(X[10:], y[10:]).coef_, rtol=1e-9)


def test_tiny_noise_is_found_by_the_factor():
    """Squared, noise of 1e-9 would drown in rounding."""
    X, y, W = noisy(noise=1e-9)
    model = qed.TotalLeastSquares().fit(X, y[:, 0])
    np.testing.assert_allclose(model.coef_, W[:, 0], atol=1e-7)
    X2 = np.column_stack([X, X[:, 0] + 1e-7 * np.random.default_rng(1).standard_normal(len(X))])
    close = qed.TotalLeastSquares().fit(X2, y[:, 0])
    value = np.linalg.svd(np.column_stack([X2 - X2.mean(axis=0), y - y.mean()]), compute_uv=False)
    assert np.sqrt(close.error_) == pytest.approx(value[-1], rel=1e-4)


def test_exact_data_give_least_squares():
    X, _, W = noisy()
    model = qed.TotalLeastSquares().fit(X, X @ W[:, 0] - 1)
    np.testing.assert_allclose(model.coef_, W[:, 0], rtol=1e-9)
    assert model.intercept_ == pytest.approx(-1, abs=1e-9)
    assert model.certificate_


def test_dependent_columns_have_the_shortest_solution():
    X, y, _ = noisy()
    twice = np.column_stack([X, X[:, 0]])
    with pytest.warns(DegenerateWarning, match="only 3 of 4 columns are independent"):
        model = qed.TotalLeastSquares().fit(twice, y[:, 0])
    assert model.rank_ == 3
    assert model.coef_[0] == pytest.approx(model.coef_[3], rel=1e-8)
    assert model.certificate_, f"{model.certificate_}"
    assert qed.certify(model, twice, y[:, 0])
    reduced = qed.TotalLeastSquares().fit(np.column_stack([np.sqrt(2) * X[:, 0], X[:, 1:]]), y[:, 0])
    np.testing.assert_allclose(model.predict(twice), reduced.predict(np.column_stack([np.sqrt(2) * X[:, 0], X[:, 1:]])))


def test_fewer_rows_than_columns_fit_exactly():
    X, y, _ = noisy(n=4, d=6)
    model = qed.TotalLeastSquares().fit(X, y[:, 0])
    np.testing.assert_allclose(model.predict(X), y[:, 0], rtol=1e-9)
    expected = np.linalg.pinv(X - X.mean(axis=0)) @ (y[:, 0] - y.mean())
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-8)


def test_constant_columns_and_targets():
    X, y, _ = noisy()
    flat = qed.TotalLeastSquares().fit(X, np.full(len(X), 3.0))
    np.testing.assert_allclose(flat.coef_, 0, atol=1e-12)
    assert flat.intercept_ == pytest.approx(3.0)
    with pytest.warns(DegenerateWarning):
        nothing = qed.TotalLeastSquares().fit(np.ones((5, 2)), np.arange(5.0))
    np.testing.assert_array_equal(nothing.coef_, 0)
    assert nothing.predict([[1.0, 1.0]])[0] == pytest.approx(2.0)


def test_no_solution_is_an_error_that_says_why():
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.1], [0.0, -0.1]])
    with pytest.raises(DegenerateError, match="do not involve the target"):
        qed.TotalLeastSquares().fit(X, [1.0, 1.0, -1.0, -1.0])
