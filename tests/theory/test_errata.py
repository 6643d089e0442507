"""errata: each slip of the source with a test that the corrected form holds and, where it says something else, the printed one does not.

Slips of wording that state nothing checkable (1, 5, 6, 11, 21) are tested for the formula that was meant.
"""

import numpy as np
import pytest
from scipy.stats import norm

import qed
from qed.base.sources.block import Block
from qed.data.synthetic import ar1_covariance, ma_covariance, ma_noise, noise, noise_model
from qed.kernels import Polynomial
from qed.optim import Objective, check_convexity, hessian, minimize, ridged
from qed.regression import errors_in_variables_likelihood
from qed.stats import Gaussian, Moments, fit_nested, gaussian_cost
from tests.theory.fixtures import T_X, T_Y, problem, slope


def ridge(X, y, alpha):
    return qed.Ridge(alpha, fit_intercept=False).fit(X, y).coef_


def standardised(Z):
    Z = Z - Z.mean(axis=0)
    return Z / np.linalg.norm(Z, axis=0)


def test_01_the_cost_is_a_function_not_its_minimum():
    """The cost line equates L(w) with a minimum: L(w) = ||Xw - y||² depends on w, its minimum does not."""
    best = qed.LinearRegression(fit_intercept=False).fit(T_X, T_Y).coef_
    np.testing.assert_allclose(best, [7 / 6, 1 / 2], rtol=1e-12)

    def cost(w):
        return np.sum((T_X @ w - T_Y) ** 2)

    assert cost(best) == pytest.approx(1 / 6, rel=1e-12)
    # Its value elsewhere is larger by ||X d||², which is 29 for d = (2, 1): the function is not its minimum.
    assert cost(best + [2.0, 1.0]) == pytest.approx(1 / 6 + np.sum((T_X @ [2.0, 1.0]) ** 2), rel=1e-12)


@pytest.mark.filterwarnings("ignore::qed.base.errors.DegenerateWarning")
def test_02_transpose_has_full_row_rank():
    """X of full column rank d has a transpose of full row rank d, which for n > d is not full column rank."""
    X, y, _ = problem(9, 4)
    assert qed.LinearRegression(fit_intercept=False).fit(X, y).rank_ == 4 == X.shape[1]
    turned = qed.LinearRegression(fit_intercept=False).fit(X.T, np.arange(4.0))
    assert turned.rank_ == 4 < X.T.shape[1]


def test_03_range_of_the_gram_matrix_is_that_of_the_transpose():
    """range(X'X) = range(X'), also where X is short of rank: so the normal equations always have a solution, ours among them."""
    random = np.random.default_rng(0)
    X, y = random.standard_normal((9, 2)) @ random.standard_normal((2, 4)), random.standard_normal(9)
    with pytest.warns(qed.base.errors.DegenerateWarning):
        model = qed.LinearRegression(fit_intercept=False).fit(X, y)
    assert model.rank_ == 2 and model.certificate_
    np.testing.assert_allclose(X.T @ X @ model.coef_, X.T @ y, atol=1e-10)
    # The shortest solution lies in range(X').
    np.testing.assert_allclose(X.T @ np.linalg.lstsq(X.T, model.coef_)[0], model.coef_, atol=1e-10)


def test_04_ridge_penalises_w_and_the_inverse_has_these_singular_values():
    """The penalty is on w; 1/(sigma² + lambda) and 1/lambda are singular values of the inverse of X'X + lambda I."""
    random = np.random.default_rng(0)
    X = random.standard_normal((9, 2)) @ random.standard_normal((2, 4))
    sigma = np.linalg.svd(X, compute_uv=False)[:2]
    # The covariance of our posterior under the prior N(0, I / 3) is that inverse.
    inverse = qed.linear_gaussian(X, np.zeros(9), prior=1 / 3).covariance
    found = np.linalg.svd(inverse, compute_uv=False)
    np.testing.assert_allclose(np.sort(found), np.sort([*(1 / (sigma**2 + 3)), 1 / 3, 1 / 3]), rtol=1e-9)
    assert found.max() <= 1 / 3 * (1 + 1e-12)
    # The penalty is on w: along the shortest way in w ridge is least, at the catalogue's numbers.
    w = ridge(T_X, T_Y, 1.0)
    np.testing.assert_allclose(w, [0.8, 0.6], rtol=1e-12)
    slopes = slope(lambda v: np.sum((T_X @ v - T_Y) ** 2) + v @ v, w)
    assert np.abs(slopes).max() < 1e-8


def test_05_observations_are_independent_but_not_identically_distributed():
    """Y_i ~ N(f(x_i), sigma²): the means differ from row to row."""
    draws = np.array([noise_model(lambda x: 5 * x, np.array([0.0, 1.0]), random_state=seed) for seed in range(4000)])
    assert abs(draws[:, 1].mean() - draws[:, 0].mean() - 5) < 4 * np.sqrt(2 / 4000)
    assert abs(np.corrcoef(draws.T)[0, 1]) < 4 / np.sqrt(4000)


def test_06_the_three_terms_of_the_expected_error():
    """Second derivation: squared bias + variance of the method + variance of the noise, whatever the labels say."""
    found = qed.polynomial_experiment([0], repetitions=400, noise=0.5)[0]
    assert found.certificate and found.noise_variance == 0.25
    # Against values drawn anew, of which the sum of the terms knows nothing.
    fresh = found.truth + noise((400, len(found.truth)), scale=0.5, random_state=1)
    squares = (found.predictions - fresh) ** 2
    error = squares.std(axis=0) / np.sqrt(400)
    assert (np.abs(squares.mean(axis=0) - found.error) < 4.5 * error).all()
    np.testing.assert_allclose(found.variance, found.predictions.var(axis=0), rtol=1e-10)


def test_07_autoregression_blows_up_at_one():
    """|r| = 1 is a random walk: its variance grows without bound, while for |r| < 1 it stays below 1 / (1 - r²)."""
    walk = np.diagonal(ar1_covariance(200, 1.0))
    np.testing.assert_allclose(walk, np.arange(1, 201))
    assert np.diagonal(ar1_covariance(200, 0.9)).max() <= 1 / (1 - 0.81)


def test_08_sliding_window_is_a_sum():
    """Z_i = sum_j r_j U_{i-j}: a sum over the window, so that Var Z_i = sum_j r_j² and neighbours share terms."""
    r = np.array([1.0, 0.5, -0.25])
    covariance = ma_covariance(6, r)
    for lag in range(4):
        shared = sum(r[j] * r[j + lag] for j in range(3 - lag)) if lag < 3 else 0.0
        np.testing.assert_allclose(np.diagonal(covariance, lag), shared, atol=1e-12)
    series = ma_noise(6, r, n_series=100_000, random_state=0)
    np.testing.assert_allclose(np.cov(series, rowvar=series.shape[0] == 6), covariance, atol=0.03)


def test_09_covariance_is_r_r_transposed():
    """Z = RU has covariance RR', not its inverse."""
    R = np.array([[2.0, 1.0], [0.0, 1.0]])
    image = Gaussian(np.zeros(2), np.eye(2)).map(R)
    np.testing.assert_allclose(image.covariance, R @ R.T, rtol=1e-12)
    found = np.cov(image.sample(200_000, random_state=0).T)
    np.testing.assert_allclose(found, R @ R.T, atol=0.08)
    assert np.abs(found - np.linalg.inv(R @ R.T)).max() > 1


def test_10_class_means_divide_by_the_count_of_the_class():
    """Sums over one class divided by all n would shrink the mean by the share of the class."""
    values, label = np.array([[1.0], [3.0], [10.0], [20.0]]), np.array([0, 0, 1, 1])
    means = qed.LinearDiscriminantAnalysis().fit(values, label).means_
    np.testing.assert_allclose(means[:, 0], [2.0, 15.0], rtol=1e-12)
    assert values[:2].sum() / 4 == 1.0 != means[0, 0]
    spread = qed.QuadraticDiscriminantAnalysis().fit(values, label).covariance_
    np.testing.assert_allclose(np.ravel(spread), [1.0, 25.0], rtol=1e-12)


def test_11_variance_has_no_logarithm_left_in_it():
    """The stationary sigma² of sum[(x - mu)² / (2 sigma²) + ln sigma] is the mean squared deviation, nothing added."""
    x = np.array([1.0, 2.0, 3.0, 4.0])
    found = fit_nested(x)
    assert float(np.ravel(found.covariance)[0]) == pytest.approx(1.25, rel=1e-9)
    assert abs(slope(lambda s: gaussian_cost(x, 2.5, s[0]), [np.sqrt(1.25)])[0]) < 1e-8
    assert abs(slope(lambda s: gaussian_cost(x, 2.5, s[0]), [np.sqrt(1.25 + np.log(np.sqrt(1.25)))])[0]) > 0.02


def test_12_upper_right_block_is_the_cross_covariance():
    """The blocks of the covariance of (X, Y) are XX, XY, YX, YY: conditioning on Y uses the upper right one."""
    joint = Gaussian([0.0, 0.0], [[2.0, 0.6], [0.6, 1.0]])
    apart, x, y = Gaussian([1.0, -2.0], np.diag([2.0, 3.0])), Gaussian([1.0], [[2.0]]), Gaussian([-2.0], [[3.0]])
    point = np.array([0.3, -0.7])
    # The factors of the density keep their means.
    wanted = float(x.density(point[:1])) * float(y.density(point[1:]))
    assert float(apart.density(point)) == pytest.approx(wanted, rel=1e-12)
    given = joint.conditional({1: 3.0})
    assert float(given.mean[0]) == pytest.approx(0.6 / 1.0 * 3.0) and float(given.covariance[0, 0]) == pytest.approx(
        2 - 0.36
    )


def test_13_covariance_of_coefficients_and_observations():
    """Sigma_WY = Sigma_W X', of shape (d, n); the printed X Sigma_W X' is the signal's part of Sigma_Y, of shape (n, n)."""
    X, y, prior = T_X, T_Y, np.diag([4, 0.25])
    of_y = np.eye(3) + X @ prior @ X.T
    found = qed.linear_gaussian(X, y, prior=prior).mean
    np.testing.assert_allclose(prior @ X.T @ np.linalg.solve(of_y, y), found, rtol=1e-10)
    # [W; Y] as an image of independent numbers has that block, of two rows and three columns, in its upper right corner.
    half = np.sqrt(prior)
    joint = Gaussian(np.zeros(5), np.eye(5)).map(np.block([[half, np.zeros((2, 3))], [X @ half, np.eye(3)]]))
    np.testing.assert_allclose(joint.covariance[:2, 2:], prior @ X.T, rtol=1e-12)


def test_14_hessian_in_the_null_direction_carries_lambda():
    """For w = X'v + r with r in null(X) the Hessian in r is 2 lambda I: the cost of r is lambda ||r||²."""
    X = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    y, lam = np.array([1.0, 2.0]), 3.0
    cost = ridged(Objective(lambda w: float(((X @ w - y) ** 2).sum())), lam)
    found = hessian(cost.value, np.array([0.3, -0.2, 0.1]))
    assert found[2, 2] == pytest.approx(2 * lam, rel=1e-5) and found[0, 0] == pytest.approx(2 + 2 * lam, rel=1e-5)
    assert qed.Ridge(lam, fit_intercept=False).fit(X, y).coef_[2] == 0


def test_15_ridge_equation_has_a_plus():
    """X'Xw + lambda w = X'y is what ridge solves; with a minus it is not."""
    w = ridge(T_X, T_Y, 1.0)
    np.testing.assert_allclose(T_X.T @ T_X @ w + w, T_X.T @ T_Y, rtol=1e-10)
    assert np.abs(T_X.T @ T_X @ w - w - T_X.T @ T_Y).max() > 1


def test_16_the_kernel_trick_costs_raw_dimensions():
    """(x'z + 1)^p needs the raw dimension l only, and equals the inner product of the explicit features."""
    x, z = np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]])

    def features(u):
        a, b = u
        return np.array([a * a, b * b, np.sqrt(2) * a * b, np.sqrt(2) * a, np.sqrt(2) * b, 1.0])

    assert Polynomial(2)(x, z)[0, 0] == pytest.approx(features(x[0]) @ features(z[0])) == pytest.approx(144)


def test_17_six_features_need_six_variances():
    """Diag(1, 1, 2, 2, 2, 1) turns the plain monomials into the kernel (x'z + 1)²; a five-entry one does not even fit."""
    rows = np.random.default_rng(0).standard_normal((2, 2))
    plain = qed.PolynomialFeatures(2).fit(rows)
    assert plain.n_output_features_ == 6
    variances = [1 if name == "1" or "^2" in name else 2 for name in plain.get_feature_names_out()]
    assert sorted(variances) == [1, 1, 1, 2, 2, 2]
    first, second = plain.transform(rows)
    assert first @ np.diag(variances) @ second == pytest.approx(Polynomial(2)(rows[:1], rows[1:])[0, 0])


def test_18_coordinate_descent_can_stick_where_the_cost_is_not_smooth():
    """|x + y| + 3 |x - y| is convex, yet no single coordinate improves on (1, 1), of value 2, though the minimum is 0."""

    def f(w):
        return float(abs(w[0] + w[1]) + 3 * abs(w[0] - w[1]))

    assert check_convexity(f, [-3.0, -3.0], [3.0, 3.0], tests=("chord",))
    with pytest.warns(qed.base.errors.ConvergenceWarning):
        stuck = minimize(f, [1.0, 1.0], method="coordinate", max_iter=50)
    assert stuck.value == pytest.approx(2.0, abs=1e-6) and f([0.0, 0.0]) == 0


def test_19_matching_pursuit_compares_every_candidate():
    """The best step for candidate j is <r, x_j> / ||x_j||², with x_j and not the x_i found so far."""
    X, y, _ = problem(8, 4)
    gains = (y @ X) ** 2 / (X**2).sum(axis=0)
    found = qed.MatchingPursuit(n_nonzero_coefs=1, fit_intercept=False).fit(X, y)
    (chosen,) = np.flatnonzero(found.coef_)
    assert chosen == gains.argmax()
    assert found.coef_[chosen] == pytest.approx(y @ X[:, chosen] / (X[:, chosen] @ X[:, chosen]))


def test_20_orthogonality_is_to_the_chosen_columns():
    """After a refit on columns I the residual is orthogonal to those columns, not to canonical basis vectors."""
    X, y, _ = problem(8, 4)
    found = qed.OrthogonalMatchingPursuit(n_nonzero_coefs=2, fit_intercept=False).fit(X, y)
    chosen, rest = np.flatnonzero(found.coef_), y - found.predict(X)
    assert len(chosen) == 2 and np.abs(X[:, chosen].T @ rest).max() < 1e-12
    assert np.abs(rest[chosen]).max() > 1e-3


def test_21_the_likelihood_is_a_function_of_w():
    """log P(x, y; w), the variance of y - wx being w² + 1 when both have unit noise."""
    random = np.random.default_rng(0)
    x_true = 3 * random.standard_normal(200_000)
    x, y = x_true + random.standard_normal(200_000), 2 * x_true + random.standard_normal(200_000)
    typical = errors_in_variables_likelihood(2.0, x, y) / len(x)
    assert typical == pytest.approx(-0.5 * np.log(2 * np.pi * np.e * 5), abs=4 * np.sqrt(0.5 / len(x)))
    wanted = norm(0, np.sqrt(5.0)).logpdf(y[:50] - 2 * x[:50]).sum()
    constant = errors_in_variables_likelihood(0.0, x[:50], y[:50]) - norm(0, 1).logpdf(y[:50]).sum()
    assert errors_in_variables_likelihood(2.0, x[:50], y[:50]) - wanted == pytest.approx(constant, abs=1e-8)


def test_22_columns_of_the_noise_are_independent():
    """E[Z'Z] = n sigma² I: its off-diagonal entries are products of two columns (features), which are independent."""
    Z = noise((200_000, 3), scale=0.5, random_state=0)
    np.testing.assert_allclose(Moments.of_features(Block(Z)).covariance(), 0.25 * np.eye(3), atol=0.005)


def test_23_the_denoised_matrix_adds_the_correction():
    """With (X + eps_X) w = y + eps_y, least squares on X + eps_X gives w back, and on X - eps_X it does not."""
    X, y, _ = problem(12, 3)
    model = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
    cleaner, answer = model.denoise(X, y)
    np.testing.assert_allclose(cleaner @ model.coef_, answer, atol=1e-10)
    np.testing.assert_allclose(np.linalg.lstsq(cleaner, y)[0], model.coef_, rtol=1e-8)
    assert np.abs(np.linalg.lstsq(2 * X - cleaner, y)[0] - model.coef_).max() > 1e-3


def test_24_noise_of_variance_lambda_over_n_is_ridge():
    """Replicas with noise of variance s² per entry tend to X'X + n s² I: ridge(lambda) needs s² = lambda / n."""
    X, y, _ = problem(20, 3)
    lam = 2.0

    def augmented(variance):
        return qed.noise_augmented_ridge(X, y, lam, 5_000, variance=variance, random_state=0)

    assert np.linalg.norm(augmented(lam / 20) - ridge(X, y, lam)) < 0.02
    np.testing.assert_array_equal(augmented(lam / 20), qed.noise_augmented_ridge(X, y, lam, 5_000, random_state=0))
    as_printed = augmented(lam)
    assert np.linalg.norm(as_printed - ridge(X, y, lam)) > 0.2
    assert np.linalg.norm(as_printed - ridge(X, y, 20 * lam)) < 0.02


def test_25_rayleigh_quotient_in_eigencoordinates():
    """v'Av = z' Lambda z = sum over all d eigenvalues of lambda_i z_i², z = Q'v: the variance along any direction by all components."""
    X = np.random.default_rng(0).standard_normal((40, 5)) @ np.diag([3.0, 2.0, 1.0, 0.5, 0.2])
    model = qed.PCA(n_components=None).fit(X)
    v = np.random.default_rng(1).standard_normal(5)
    z = model.components_ @ v
    along = float(v @ np.cov(X.T) @ v)
    assert np.sum(model.explained_variance_ * z**2) == pytest.approx(along, rel=1e-10)
    assert np.sum(model.explained_variance_[1:] * z[1:] ** 2) != pytest.approx(along, rel=1e-3)


def test_26_correlation_is_invariant_up_to_a_sign():
    """rho(aX + b, cY + d) = sign(ac) rho(X, Y), for ac not zero."""
    x, y = np.random.default_rng(0).standard_normal((2, 50))

    def correlation(first, second):
        covariance = Moments.of_features(Block(np.column_stack([first, second]))).covariance()
        return covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])

    rho = correlation(x, y)
    assert rho == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-10)
    for a, c in ((2.0, 3.0), (-2.0, 3.0), (-1.0, -4.0)):
        assert correlation(a * x + 1, c * y - 5) == pytest.approx(np.sign(a * c) * rho, rel=1e-10)


def test_27_there_are_as_many_scales_as_columns():
    """S_x is diagonal with p entries, one for each column of X: W_x = U S_x^(-1/2) U' whitens X by all of them."""
    X = np.random.default_rng(0).standard_normal((30, 4)) @ np.diag([1.0, 2.0, 3.0, 4.0])
    W = qed.reduction.whitening_matrix(X.T @ X)
    assert W.shape == (4, 4)
    np.testing.assert_allclose((X @ W).T @ (X @ W), np.eye(4), atol=1e-12)
    # Its eigenvalues are the roots of p reciprocals.
    found = np.linalg.eigvalsh(W)
    np.testing.assert_allclose(found, np.sort(1 / np.linalg.svd(X, compute_uv=False)), rtol=1e-10)


def test_28_canonical_correlation_is_of_two_variables():
    """The objective is u'X'Yv / sqrt(u'X'Xu v'Y'Yv): a correlation, so at most one; regressing each on the other in turn climbs to it."""
    random = np.random.default_rng(0)
    X, Y = standardised(random.standard_normal((40, 3))), standardised(random.standard_normal((40, 2)))
    v = np.array([1.0, 0.0])
    for _ in range(200):
        u = qed.LinearRegression(fit_intercept=False).fit(X, Y @ v).coef_
        v = qed.LinearRegression(fit_intercept=False).fit(Y, X @ u).coef_
        v /= np.linalg.norm(v)
    found = u @ X.T @ Y @ v / np.sqrt((u @ X.T @ X @ u) * (v @ Y.T @ Y @ v))
    best = np.linalg.svd(np.linalg.qr(X)[0].T @ np.linalg.qr(Y)[0], compute_uv=False)[0]
    assert found == pytest.approx(best, rel=1e-8) and 0 <= found <= 1
    assert found == pytest.approx(np.corrcoef(X @ u, Y @ v)[0, 1], rel=1e-9)
    pairs = qed.CCA(1).fit(X, Y)
    assert pairs.correlations_[0] == pytest.approx(best, rel=1e-8)
    first, second = pairs.transform(X, Y)
    assert abs(np.corrcoef(first[:, 0], second[:, 0])[0, 1]) == pytest.approx(best, rel=1e-8)


def test_29_the_errors_in_variables_likelihood_is_biased():
    """It ignores that the observed x contains its own noise: its maximiser falls short of the slope, total least squares does not."""
    random = np.random.default_rng(0)
    x_true = 3 * random.standard_normal(20_000)
    x, y = x_true + random.standard_normal(20_000), 2 * x_true + random.standard_normal(20_000)
    assert qed.errors_in_variables_maximum(x, y) < 1.9
    total = qed.TotalLeastSquares(fit_intercept=False).fit(x[:, None], y)
    assert total.coef_[0] == pytest.approx(2.0, abs=0.02)
