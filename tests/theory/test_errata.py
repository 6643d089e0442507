"""errata: each slip of the source with a test that the corrected form holds and, where it says something else, the printed one does not.

Slips of wording that state nothing checkable (1, 5, 6, 11, 21) are tested for the formula that was meant.
"""

import numpy as np
import pytest
from scipy.stats import norm

import qed
from qed.data.synthetic import ar1_covariance
from tests.theory.fixtures import T_X, T_Y, problem, slope


def ridge(X, y, alpha):
    return qed.Ridge(alpha, fit_intercept=False).fit(X, y).coef_


def standardised(Z):
    Z = Z - Z.mean(axis=0)
    return Z / np.linalg.norm(Z, axis=0)


def test_01_the_cost_is_a_function_not_its_minimum():
    """The cost line equates L(w) with a minimum: L(w) = ||Xw - y||² depends on w, its minimum does not."""
    X, y, _ = problem()
    best = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
    assert np.sum((X @ (best + 1) - y) ** 2) > np.sum((X @ best - y) ** 2) > 0


def test_02_transpose_has_full_row_rank():
    """X of full column rank d has a transpose of full row rank d, which for n > d is not full column rank."""
    X, _, _ = problem(9, 4)
    assert np.linalg.matrix_rank(X) == np.linalg.matrix_rank(X.T) == 4
    assert X.T.shape[0] == 4 < X.T.shape[1]


def test_03_range_of_the_gram_matrix_is_that_of_the_transpose():
    """range(X'X) = range(X'), also where X is short of rank: so the normal equations always have a solution."""
    random = np.random.default_rng(0)
    X = random.standard_normal((9, 2)) @ random.standard_normal((2, 4))
    gram = X.T @ X
    np.testing.assert_allclose(gram @ np.linalg.pinv(gram), X.T @ np.linalg.pinv(X.T), atol=1e-10)


def test_04_ridge_penalises_w_and_the_inverse_has_these_singular_values():
    """The penalty is on w; 1/(sigma² + lambda) and 1/lambda are singular values of the inverse of X'X + lambda I."""
    random = np.random.default_rng(0)
    X = random.standard_normal((9, 2)) @ random.standard_normal((2, 4))
    sigma = np.linalg.svd(X, compute_uv=False)[:2]
    inverse = np.linalg.svd(np.linalg.inv(X.T @ X + 3 * np.eye(4)), compute_uv=False)
    np.testing.assert_allclose(np.sort(inverse), np.sort([*(1 / (sigma**2 + 3)), 1 / 3, 1 / 3]), rtol=1e-9)
    X, y, _ = problem()
    assert np.linalg.norm(ridge(X, y, 100.0)) < np.linalg.norm(ridge(X, y, 1.0))


def test_05_observations_are_independent_but_not_identically_distributed():
    """Y_i ~ N(f(x_i), sigma²): the means differ from row to row."""
    random = np.random.default_rng(0)
    draws = np.array([0.0, 5.0]) + random.standard_normal((4000, 2))
    assert abs(draws[:, 1].mean() - draws[:, 0].mean() - 5) < 0.1
    assert abs(np.corrcoef(draws.T)[0, 1]) < 4 / np.sqrt(4000)


def test_06_the_three_terms_of_the_expected_error():
    """Second derivation: squared bias + variance of the method + variance of the noise, whatever the labels say."""
    random = np.random.default_rng(0)
    h, noise = 2 + 0.5 * random.standard_normal(400_000), 0.3 * random.standard_normal(400_000)
    total = np.mean((h - (1.2 + noise)) ** 2)
    assert total == pytest.approx(0.8**2 + 0.5**2 + 0.3**2, rel=0.01)


def test_07_autoregression_blows_up_at_one():
    """|r| = 1 is a random walk: its variance grows without bound, while for |r| < 1 it stays below 1 / (1 - r²)."""
    walk = np.diagonal(ar1_covariance(200, 1.0))
    np.testing.assert_allclose(walk, np.arange(1, 201))
    assert np.diagonal(ar1_covariance(200, 0.9)).max() <= 1 / (1 - 0.81)


def test_08_sliding_window_is_a_sum():
    """Z_i = sum_j r_j U_{i-j}: a sum over the window, not a covariance times something."""
    r, U = np.array([1.0, 0.5, -0.25]), np.random.default_rng(0).standard_normal(12)
    summed = [sum(r[j] * U[i - j] for j in range(3)) for i in range(2, 12)]
    np.testing.assert_allclose(np.convolve(U, r, mode="valid"), summed, rtol=1e-12)


def test_09_covariance_is_r_r_transposed():
    """Z = RU has covariance RR', not its inverse."""
    R = np.array([[2.0, 1.0], [0.0, 1.0]])
    found = np.cov(R @ np.random.default_rng(0).standard_normal((2, 200_000)))
    np.testing.assert_allclose(found, R @ R.T, atol=0.05)
    assert np.abs(found - np.linalg.inv(R @ R.T)).max() > 1


def test_10_class_means_divide_by_the_count_of_the_class():
    """Sums over one class divided by all n would shrink the mean by the share of the class."""
    values, label = np.array([1.0, 3.0, 10.0, 20.0]), np.array([0, 0, 1, 1])
    own = values[label == 0]
    grid = np.linspace(0, 4, 401)
    most_likely = grid[np.argmax([norm(mean, 1).logpdf(own).sum() for mean in grid])]
    assert most_likely == pytest.approx(own.sum() / 2) and own.sum() / len(values) == 1.0


def test_11_variance_has_no_logarithm_left_in_it():
    """The stationary sigma² of sum[(x - mu)² / (2 sigma²) + ln sigma] is the mean squared deviation, nothing added."""
    x = np.array([1.0, 2.0, 3.0, 4.0])

    def J(sigma):
        return np.sum((x - 2.5) ** 2) / (2 * sigma[0] ** 2) + 4 * np.log(sigma[0])

    assert abs(slope(J, [np.sqrt(1.25)])[0]) < 1e-8
    assert abs(slope(J, [np.sqrt(1.25 + np.log(np.sqrt(1.25)))])[0]) > 0.1


def test_12_upper_right_block_is_the_cross_covariance():
    """The blocks of the covariance of (X, Y) are XX, XY, YX, YY."""
    Z = np.random.default_rng(0).standard_normal((3, 500))
    joint = np.cov(Z[:1], np.vstack([Z[1:], Z[:1] + Z[1:2]]))
    assert joint.shape == (4, 4)
    np.testing.assert_allclose(joint[0, 3], np.cov(Z[0], Z[0] + Z[1])[0, 1], rtol=1e-10)


def test_13_covariance_of_coefficients_and_observations():
    """Sigma_WY = Sigma_W X', of shape (d, n); the printed X Sigma_W X' is the signal's part of Sigma_Y, of shape (n, n)."""
    X, y, prior = T_X, T_Y, np.diag([4, 0.25])
    of_y = np.eye(3) + X @ prior @ X.T
    found = qed.linear_gaussian(X, y, prior=prior).mean
    np.testing.assert_allclose(prior @ X.T @ np.linalg.solve(of_y, y), found, rtol=1e-10)
    assert (X @ prior @ X.T).shape == (3, 3) != (prior @ X.T).shape


def test_14_hessian_in_the_null_direction_carries_lambda():
    """For w = X'v + r with r in null(X) the Hessian in r is 2 lambda I: the cost of r is lambda ||r||²."""
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    y, lam, v = np.array([1.0, 2.0]), 3.0, np.array([0.3, -0.2])

    def cost(r):
        w = X.T @ v + np.array([0.0, 0.0, r])
        return np.sum((X @ w - y) ** 2) + lam * w @ w

    second = cost(1.0) - 2 * cost(0.0) + cost(-1.0)
    assert second == pytest.approx(2 * lam) and second != pytest.approx(2.0)


def test_15_ridge_equation_has_a_plus():
    """X'Xw + lambda w = X'y is what ridge solves; with a minus it is not."""
    w = ridge(T_X, T_Y, 1.0)
    np.testing.assert_allclose(T_X.T @ T_X @ w + w, T_X.T @ T_Y, rtol=1e-10)
    assert np.abs(T_X.T @ T_X @ w - w - T_X.T @ T_Y).max() > 1


def test_16_the_kernel_trick_costs_raw_dimensions():
    """(x'z + 1)^p needs the raw dimension l only, and equals the inner product of the explicit features."""
    x, z = np.array([1.0, 2.0]), np.array([3.0, 4.0])

    def features(u):
        a, b = u
        return np.array([a * a, b * b, np.sqrt(2) * a * b, np.sqrt(2) * a, np.sqrt(2) * b, 1.0])

    assert (x @ z + 1) ** 2 == pytest.approx(features(x) @ features(z)) == pytest.approx(144)


def test_17_six_features_need_six_variances():
    """Diag(1, 1, 2, 2, 2, 1) turns the plain monomials into the kernel (x'z + 1)²; a five-entry one does not even fit."""
    x, z = np.random.default_rng(0).standard_normal((2, 2))

    def monomials(u):
        a, b = u
        return np.array([a * a, b * b, a * b, a, b, 1.0])

    assert monomials(x) @ np.diag([1, 1, 2, 2, 2, 1]) @ monomials(z) == pytest.approx((x @ z + 1) ** 2)
    assert len(monomials(x)) == 6


def test_18_coordinate_descent_can_stick_where_the_cost_is_not_smooth():
    """|x + y| + 3 |x - y| is convex, yet no single coordinate improves on (1, 1), of value 2, though the minimum is 0."""

    def f(x, y):
        return abs(x + y) + 3 * abs(x - y)

    grid = np.linspace(-3, 3, 1201)
    assert min(f(x, 1.0) for x in grid) == min(f(1.0, y) for y in grid) == f(1.0, 1.0) == 2
    assert f(0.0, 0.0) == 0


def test_19_matching_pursuit_compares_every_candidate():
    """The best step for candidate j is <r, x_j> / ||x_j||², with x_j and not the x_i found so far."""
    X, r, _ = problem(8, 4)
    for j in range(4):
        best = r @ X[:, j] / (X[:, j] @ X[:, j])
        grid = best + np.linspace(-1, 1, 201)
        assert np.argmin([np.sum((r - step * X[:, j]) ** 2) for step in grid]) == 100


def test_20_orthogonality_is_to_the_chosen_columns():
    """After a refit on columns I the residual is orthogonal to those columns, not to canonical basis vectors."""
    X, y, _ = problem(8, 4)
    chosen = X[:, [0, 2]]
    rest = y - chosen @ np.linalg.lstsq(chosen, y)[0]
    assert np.abs(chosen.T @ rest).max() < 1e-12
    assert np.abs(rest[[0, 2]]).max() > 1e-3


def test_21_the_likelihood_is_a_function_of_w():
    """log P(x, y; w), the variance of y - wx being w² + 1 when both have unit noise."""
    random = np.random.default_rng(0)
    x_true = 3 * random.standard_normal(200_000)
    x, y = x_true + random.standard_normal(200_000), 2 * x_true + random.standard_normal(200_000)
    assert np.var(y - 2 * x) == pytest.approx(2**2 + 1, rel=0.02)


def test_22_columns_of_the_noise_are_independent():
    """E[Z'Z] = n sigma² I: its off-diagonal entries are products of two columns (features), which are independent."""
    Z = 0.5 * np.random.default_rng(0).standard_normal((200_000, 3))
    np.testing.assert_allclose(Z.T @ Z / 200_000, 0.25 * np.eye(3), atol=0.005)


def test_23_the_denoised_matrix_adds_the_correction():
    """With (X + eps_X) w = y + eps_y, least squares on X + eps_X gives w back, and on X - eps_X it does not."""
    X, y, _ = problem(12, 3)
    U, s, V = np.linalg.svd(np.column_stack([X, y]), full_matrices=False)
    correction = -s[-1] * np.outer(U[:, -1], V[-1])
    w = -V[-1, :3] / V[-1, 3]
    np.testing.assert_allclose(np.linalg.lstsq(X + correction[:, :3], y)[0], w, rtol=1e-8)
    assert np.abs(np.linalg.lstsq(X - correction[:, :3], y)[0] - w).max() > 1e-3


def test_24_noise_of_variance_lambda_over_n_is_ridge():
    """Replicas with noise of variance s² per entry tend to X'X + n s² I: ridge(lambda) needs s² = lambda / n."""
    X, y, _ = problem(20, 3)
    random = np.random.default_rng(0)
    lam, r = 2.0, 20_000

    def augmented(variance):
        gram, right = np.zeros((3, 3)), np.zeros(3)
        for _ in range(20):
            noise = np.sqrt(variance) * random.standard_normal((r // 20, 20, 3))
            copies = (X + noise).reshape(-1, 3)
            gram += copies.T @ copies
            right += copies.T @ np.tile(y, r // 20)
        return np.linalg.solve(gram, right)

    assert np.linalg.norm(augmented(lam / 20) - ridge(X, y, lam)) < 0.02
    as_printed = augmented(lam)
    assert np.linalg.norm(as_printed - ridge(X, y, lam)) > 0.2
    assert np.linalg.norm(as_printed - ridge(X, y, 20 * lam)) < 0.02


def test_25_rayleigh_quotient_in_eigencoordinates():
    """v'Av = z' Lambda z = sum over all d eigenvalues of lambda_i z_i², z = Q'v."""
    A = np.random.default_rng(0).standard_normal((5, 5))
    A = A + A.T
    value, vector = np.linalg.eigh(A)
    v = np.random.default_rng(1).standard_normal(5)
    z = vector.T @ v
    assert v @ A @ v == pytest.approx(np.sum(value * z**2), rel=1e-10)
    assert np.sum(value[:-1] * z[:-1] ** 2) != pytest.approx(v @ A @ v, rel=1e-3)


def test_26_correlation_is_invariant_up_to_a_sign():
    """rho(aX + b, cY + d) = sign(ac) rho(X, Y), for ac not zero."""
    x, y = np.random.default_rng(0).standard_normal((2, 50))
    rho = np.corrcoef(x, y)[0, 1]
    for a, c in ((2.0, 3.0), (-2.0, 3.0), (-1.0, -4.0)):
        assert np.corrcoef(a * x + 1, c * y - 5)[0, 1] == pytest.approx(np.sign(a * c) * rho, rel=1e-10)


def test_27_there_are_as_many_scales_as_columns():
    """S_x is diagonal with p entries, one for each column of X; whitening by p numbers makes p unit columns."""
    X = np.random.default_rng(0).standard_normal((30, 4)) * [1, 2, 3, 4]
    scales = np.linalg.norm(X, axis=0)
    assert scales.shape == (4,)
    np.testing.assert_allclose(np.linalg.norm(X @ np.diag(1 / scales), axis=0), 1, rtol=1e-12)


def test_28_canonical_correlation_is_of_two_variables():
    """The objective is u'X'Yv / sqrt(u'X'Xu v'Y'Yv): a correlation, so at most one; with u twice and X'X on top it is not."""
    random = np.random.default_rng(0)
    X, Y = standardised(random.standard_normal((40, 3))), standardised(random.standard_normal((40, 2)))
    Qx, Qy = np.linalg.qr(X)[0], np.linalg.qr(Y)[0]
    U, s, V = np.linalg.svd(Qx.T @ Qy)
    u = np.linalg.lstsq(X, Qx @ U[:, 0])[0]
    v = np.linalg.lstsq(Y, Qy @ V[0])[0]
    found = u @ X.T @ Y @ v / np.sqrt((u @ X.T @ X @ u) * (v @ Y.T @ Y @ v))
    assert found == pytest.approx(s[0], rel=1e-9) and 0 <= found <= 1
    assert found == pytest.approx(np.corrcoef(X @ u, Y @ v)[0, 1], rel=1e-9)


def test_29_the_errors_in_variables_likelihood_is_biased():
    """It ignores that the observed x contains its own noise: its maximiser falls short of the slope, total least squares does not."""
    random = np.random.default_rng(0)
    x_true = 3 * random.standard_normal(20_000)
    x, y = x_true + random.standard_normal(20_000), 2 * x_true + random.standard_normal(20_000)
    grid = np.linspace(1.5, 2.3, 801)
    printed = [norm(0, np.sqrt(w**2 + 1)).logpdf(y - w * x).sum() for w in grid]
    right = np.linalg.svd(np.column_stack([x, y]), full_matrices=False)[2][-1]
    assert grid[np.argmax(printed)] < 1.9
    assert -right[0] / right[1] == pytest.approx(2.0, abs=0.02)
