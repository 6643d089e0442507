"""Ridge through the singular value decomposition: the spectrum of the inverse, and the whole path from one decomposition."""

import numpy as np
import pytest

import qed
from qed.optim.least_squares.ridge_basis import Diagonal


def design(seed=0, n=30, d=6, rank=None):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    if rank is not None:
        X = X[:, :rank] @ random.normal(size=(rank, d))
    return X, X @ random.normal(size=d) + random.normal(size=n)


@pytest.mark.parametrize("rank", [None, 4, 1])
@pytest.mark.parametrize("penalty", [1e-2, 1.0, 50.0])
def test_the_eigenvalues_of_the_inverse(rank, penalty):
    X, _ = design(rank=rank)
    singular = np.linalg.svd(X, compute_uv=False)
    r = 6 if rank is None else rank
    expected = np.r_[1 / (singular[:r] ** 2 + penalty), np.full(6 - r, 1 / penalty)]
    inverse = qed.linear_gaussian(X, np.zeros(len(X)), noise=1.0, prior=1 / penalty).covariance
    rounding = len(X) * 2.0**-53 * (1 + singular[0] ** 2 / penalty)  # times the condition of X'X + penalty
    found = np.sort(np.linalg.eigvalsh(inverse))
    np.testing.assert_allclose(found, np.sort(expected), rtol=0, atol=rounding * expected.max())
    ours = Diagonal.of_columns(X.T @ X).weights(np.array([penalty]))[:, 0]
    np.testing.assert_allclose(np.sort(ours), np.sort(expected), rtol=rounding)
    assert (ours <= (1 + rounding) / penalty).all()


@pytest.mark.parametrize("rank", [None, 3])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_path_is_that_of_individual_fits(rank, fit_intercept):
    X, y = design(rank=rank)
    penalties = np.geomspace(1e-3, 1e4, 15)
    path = qed.ridge_path(X, y, penalties, fit_intercept=fit_intercept)
    for k, penalty in enumerate(penalties):
        alone = qed.Ridge(penalty, fit_intercept=fit_intercept).fit(X, y)
        np.testing.assert_allclose(path.coef[k], alone.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(path.intercept[k], alone.intercept_, rtol=1e-9, atol=1e-12)
        error = np.mean((y - alone.predict(X)) ** 2)
        assert path.training_error[k] == pytest.approx(error, rel=1e-10)


def test_the_path_is_the_sum_over_singular_vectors():
    X, y = design()
    U, singular, V = np.linalg.svd(X, full_matrices=False)
    penalties = np.array([0.1, 3.0, 200.0])
    path = qed.ridge_path(X, y, penalties, fit_intercept=False)
    for k, penalty in enumerate(penalties):
        w = sum(s / (s**2 + penalty) * (u @ y) * v for u, s, v in zip(U.T, singular, V))
        np.testing.assert_allclose(path.coef[k], w, rtol=1e-10)
        assert path.degrees_of_freedom[k] == pytest.approx((singular**2 / (singular**2 + penalty)).sum(), rel=1e-10)


def test_several_outputs():
    X, _ = design()
    Y = np.random.default_rng(5).normal(size=(30, 3))
    path = qed.ridge_path(X, Y, [0.5, 5.0])
    assert path.coef.shape == (2, 3, 6) and path.intercept.shape == (2, 3)
    for k, penalty in enumerate((0.5, 5.0)):
        np.testing.assert_allclose(path.coef[k], qed.Ridge(penalty).fit(X, Y).coef_, rtol=1e-10)
    single = [qed.ridge_path(X, Y[:, j], [0.5, 5.0]).leave_one_out_error for j in range(3)]
    np.testing.assert_allclose(path.leave_one_out_error, np.mean(single, axis=0), rtol=1e-10)


def test_the_degrees_of_freedom_are_the_trace_of_the_hat_matrix():
    X, y = design()
    centred = X - X.mean(axis=0)
    for penalty, freedom in zip((0.5, 20.0), qed.ridge_path(X, y, [0.5, 20.0]).degrees_of_freedom):
        hat = centred @ np.linalg.solve(centred.T @ centred + penalty * np.eye(6), centred.T)
        assert freedom == pytest.approx(np.trace(hat), rel=1e-10)


def test_without_a_penalty_the_rank_is_counted():
    X, y = design(rank=4)
    with pytest.warns(UserWarning, match="no precise closed form"):
        path = qed.ridge_path(X, y, [0.0])
    assert path.degrees_of_freedom[0] == pytest.approx(4)
    np.testing.assert_allclose(path.coef[0], np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean()), rtol=1e-8)


def test_the_default_path_spans_the_spectrum():
    X, y = design()
    path = qed.ridge_path(X, y)
    assert len(path.alphas) == 50 and path.degrees_of_freedom[0] > 5.9 and path.degrees_of_freedom[-1] < 0.6
    assert path.alphas[0] <= path.best <= path.alphas[-1]
