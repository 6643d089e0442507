"""DUALRIDGE: min |z|^2 + lambda |w|^2 where z = Xw - y, from both sides."""

import numpy as np
import pytest

import qed
from qed.optim import ConstrainedProblem, solve_qp

# Errors of the solves: the condition of XX' + lambda I, which is below 1e3 here, times the spacing of numbers, with room for n = 12 terms.
ERROR = 12 * 1e3 * 2.0**-52


def data(n, d, penalty=0.7):
    random = np.random.default_rng(n * 10 + d)
    X, y = random.standard_normal((n, d)), random.standard_normal(n)
    alpha = -2 * penalty * np.linalg.solve(X @ X.T + penalty * np.eye(n), y)
    return X, y, penalty, alpha


def as_program(X, y, penalty):
    """The problem in (w, z), with n equalities."""
    n, d = X.shape
    P = np.diag(np.r_[np.full(d, 2 * penalty), np.full(n, 2.0)])
    return solve_qp(P, np.zeros(n + d), A=np.hstack([X, -np.eye(n)]), b=y)


@pytest.mark.parametrize("n, d", [(5, 12), (12, 5), (6, 6)])
def test_primal_dual_and_kernel_agree(n, d):
    X, y, penalty, alpha = data(n, d)
    found = as_program(X, y, penalty)
    w, z = found.point[:d], found.point[d:]
    ridge = qed.Ridge(penalty, fit_intercept=False).fit(X, y)
    kernel = qed.KernelRidge(penalty).fit(X, y)
    for other in (ridge.coef_, -X.T @ alpha / (2 * penalty), X.T @ kernel.dual_coef_):
        np.testing.assert_allclose(w, other, atol=1e-10)
    np.testing.assert_allclose(alpha, -2 * penalty * kernel.dual_coef_, atol=1e-10)
    np.testing.assert_allclose(found.equality_multipliers, alpha, atol=1e-10)
    np.testing.assert_allclose(z, alpha / 2, atol=1e-10)
    np.testing.assert_allclose(z, X @ w - y, atol=ERROR)


@pytest.mark.parametrize("n, d", [(5, 12), (12, 5)])
def test_the_optimum_has_a_closed_form_and_no_gap(n, d):
    X, y, penalty, alpha = data(n, d)
    found = as_program(X, y, penalty)
    best = penalty * y @ np.linalg.solve(X @ X.T + penalty * np.eye(n), y)
    np.testing.assert_allclose([found.value, found.dual_value], best, rtol=ERROR)
    problem = ConstrainedProblem(
        lambda x: x[d:] @ x[d:] + penalty * x[:d] @ x[:d],
        equalities=lambda x: X @ x[:d] - y - x[d:],
        inner=lambda _, a: np.r_[-X.T @ a / (2 * penalty), a / 2],
    )

    def written(a):
        return -a @ a / 4 - a @ X @ X.T @ a / (4 * penalty) - a @ y

    for a in (alpha, np.zeros(n), y, -alpha):
        assert problem.dual((), a) == pytest.approx(written(a), rel=1e-12, abs=1e-12)
        assert problem.dual((), a) <= best * (1 + ERROR)
    assert problem.dual((), alpha) == pytest.approx(best, rel=ERROR)
    assert problem.kkt(found.point, (), found.equality_multipliers).certificate(1e-6)
    assert found.certificate
