"""Newton and L-BFGS against SciPy, at odd scales, and where functions are not finite."""

import warnings
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import expit

import qed
from qed.base.errors import ConvergenceWarning, ParameterError
from qed.base.running.steps import Reason, Rule, Step, run
from qed.optim import LBFGS, Newton, Objective, minimize, ridged
from qed.optim.solvers.lbfgs import two_loops

METHODS = {
    "lbfgs": LBFGS(),
    "lbfgs-3": LBFGS(memory=3),
    "newton": Newton(),
    "newton-cg": Newton(solver="cg"),
}


def rosenbrock(d):
    start = np.where(np.arange(d) % 2 == 0, -1.2, 1.0)
    return optimize.rosen, optimize.rosen_der, optimize.rosen_hess, start


def ill_conditioned(condition, d=8, seed=0):
    generator = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(generator.standard_normal((d, d)))
    H = Q * np.geomspace(1, condition, d) @ Q.T
    H = (H + H.T) / 2
    b = generator.standard_normal(d)
    return (lambda w: w @ H @ w / 2 - b @ w), (lambda w: H @ w - b), (lambda w: H), np.linalg.solve(H, b)


def logistic(penalty=0.1, n=200, d=5, seed=1):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d))
    y = np.where(X @ generator.standard_normal(d) + generator.logistic(size=n) > 0, 1.0, -1.0)

    def hessian(w):
        p = expit(X @ w)
        return (X * (p * (1 - p))[:, None]).T @ X + penalty * np.eye(d)

    return (
        lambda w: np.logaddexp(0, -y * (X @ w)).sum() + penalty / 2 * (w @ w),
        lambda w: -X.T @ (y * expit(-y * (X @ w))) + penalty * w,
        hessian,
        np.zeros(d),
    )


class Counted:
    def __init__(self, function):
        self.function, self.calls = function, 0

    def __call__(self, *args):
        self.calls += 1
        return self.function(*args)


@pytest.mark.parametrize("name", METHODS)
def test_rosenbrock_like_scipy(name):
    f, g, H, start = rosenbrock(2)
    peer = optimize.minimize(f, start, jac=g, hess=H, method="trust-exact", options={"gtol": 1e-10})
    found = minimize(f, start, gradient=g, hessian=H, method=METHODS[name], tol=1e-9)
    assert found.certificate
    np.testing.assert_allclose(found.point, peer.x, atol=1e-6)
    assert found.value <= max(peer.fun, 1e-14)


@pytest.mark.parametrize("d", [2, 10, 50])
def test_lbfgs_needs_no_more_evaluations_than_scipy(d):
    f, g, _, start = rosenbrock(d)
    value, slope = Counted(f), Counted(g)
    found = minimize(value, start, gradient=slope, method=LBFGS(), tol=1e-7, max_iter=5000)
    peer = optimize.minimize(f, start, jac=g, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-5, "maxiter": 5000})
    # The gradient fell to 1e-7 of the first, and the value lies |g|² / (2 mu) at most above the minimum, zero.
    least = np.linalg.eigvalsh(optimize.rosen_hess(np.ones(d)))[0]
    assert found.value <= (1e-7 * np.linalg.norm(g(start))) ** 2 / least
    assert value.calls <= 1.3 * peer.nfev + 10
    assert slope.calls <= 1.3 * peer.njev + 10


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("condition", [1e2, 1e5])
def test_ill_conditioned_quadratics(name, condition):
    f, g, H, exact = ill_conditioned(condition)
    start = np.full(8, 10.0)
    found = minimize(f, start, gradient=g, hessian=H, method=METHODS[name], tol=1e-9, max_iter=3000)
    peer = optimize.minimize(f, start, jac=g, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-9, "maxiter": 3000})
    assert found.certificate
    # The gradient fell to 1e-9 of the first and the least curvature is 1; values are sums of products as large as condition |w|².
    promised = (1e-9 * np.linalg.norm(g(start))) ** 2 / 2 + 8 * 2.0**-53 * condition * (exact @ exact)
    assert found.value <= peer.fun + promised
    assert f(found.point) - f(exact) <= promised


def test_the_gradient_vanishes_where_values_can_not_tell_any_more():
    """SciPy's search gives up at half of the digits; ours goes on by slopes."""
    f, g, _, _ = ill_conditioned(1e6, seed=1)
    start = np.zeros(8)
    found = minimize(f, start, gradient=g, method=LBFGS(), tol=1e-9)
    peer = optimize.minimize(f, start, jac=g, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-12, "maxiter": 3000})
    assert found.certificate
    assert np.linalg.norm(found.gradient) < 1e-3 * np.linalg.norm(peer.jac)


@pytest.mark.parametrize("name", METHODS)
def test_logistic_loss_like_scipy(name):
    f, g, H, start = logistic()
    peer = optimize.minimize(f, start, jac=g, hess=H, method="trust-exact", options={"gtol": 1e-10})
    found = minimize(f, start, gradient=g, hessian=H, method=METHODS[name], tol=1e-9)
    np.testing.assert_allclose(found.point, peer.x, rtol=1e-6)
    assert found.value == pytest.approx(peer.fun, rel=1e-13)


def test_strong_convexity_turns_the_gap_into_a_bound():
    f, g, H, start = logistic(penalty=0.1)
    found = minimize(f, start, gradient=g, hessian=H, method="newton", tol=1e-10, strong_convexity=0.1)
    best = minimize(f, start, gradient=g, hessian=H, method="newton", tol=1e-12).value
    assert found.certificate
    assert found.value - best <= 1e-10 * best


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("height", [1e-100, 1.0, 1e100])
def test_odd_scales(name, size, height):
    f, g, H, start = logistic()
    exact = minimize(f, start, gradient=g, hessian=H, method="newton", tol=1e-12).point
    found = minimize(
        lambda w: height * f(w / size),
        start + size,
        gradient=lambda w: height / size * g(w / size),
        hessian=lambda w: height / size**2 * H(w / size),
        method=METHODS[name],
        tol=1e-8,
    )
    np.testing.assert_allclose(found.point / size, exact, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", METHODS)
def test_start_at_the_optimum(name):
    f, g, H, exact = ill_conditioned(10.0)
    found = minimize(f, exact, gradient=g, hessian=H, method=METHODS[name])
    assert found.ending.reason is Reason.CERTIFIED
    assert found.ending.n_iter <= 3
    zero = minimize(lambda w: w @ w, np.zeros(3), gradient=lambda w: 2 * w, method=METHODS[name])
    assert zero.ending.n_iter == 0
    assert zero.certificate


@pytest.mark.parametrize("name", METHODS)
def test_one_dimension_and_no_derivatives(name):
    found = minimize(lambda w: np.cosh(w[0] - 3), 0.5, method=METHODS[name], tol=1e-7)
    assert found.point[0] == pytest.approx(3, abs=1e-5)
    assert found.point.shape == (1,)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("outside", [np.nan, np.inf])
def test_searches_back_off_from_what_is_not_finite(name, outside):
    """A barrier: the function is not finite for w <= 0, and a first full step leads there."""

    def f(w):
        return float(w @ [100.0, 1.0] - np.log(w).sum()) if (w > 0).all() else outside

    with np.errstate(invalid="ignore", divide="ignore"):
        found = minimize(
            f,
            [5.0, 0.01],
            gradient=lambda w: np.array([100.0, 1.0]) - 1 / w,
            hessian=lambda w: np.diag(1 / w**2),
            method=METHODS[name],
            tol=1e-8,
        )
    assert found.certificate
    np.testing.assert_allclose(found.point, [0.01, 1.0], rtol=1e-5)


def test_a_function_without_a_minimum_is_told():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ConvergenceWarning)
        found = minimize(lambda w: -w @ w, [1.0, 2.0], gradient=lambda w: -2 * w, method="newton")
    assert not found.certificate
    assert any(issubclass(w.category, ConvergenceWarning) for w in seen)


@pytest.mark.parametrize("name", METHODS)
def test_going_on_is_bit_identical(name):
    f, g, H, start = rosenbrock(6)
    objective = Objective(f, g, H)
    whole = list(islice(METHODS[name].steps(objective, start), 16))
    again = list(islice(METHODS[name].steps(objective, start, Step.from_dict(whole[5].to_dict())), 10))
    for a, b in zip(whole[6:], again):
        assert a.objective == b.objective
        assert np.array_equal(a.point, b.point)
        assert a.number == b.number


@pytest.mark.parametrize("name", METHODS)
def test_the_objective_never_rises(name):
    f, g, H, start = rosenbrock(10)
    ending = run(METHODS[name].steps(Objective(f, g, H), start), Rule(tol=1e-8, max_iter=500))
    values = [row["objective"] for row in ending.trace]
    assert all(a >= b - 1e-15 * abs(a) for a, b in zip(values, values[1:]))


def test_products_alone_are_enough_for_newton():
    f, g, H, start = logistic()
    product = Counted(lambda w, v: H(w) @ v)
    found = minimize(f, start, gradient=g, product=product, method="newton", tol=1e-9)
    exact = minimize(f, start, gradient=g, hessian=H, method="newton", tol=1e-12)
    assert product.calls > 0
    np.testing.assert_allclose(found.point, exact.point, rtol=1e-6)


def test_newton_cg_escapes_negative_curvature():
    found = minimize(
        lambda w: np.cos(w[0]) + w[1] ** 2,
        [0.1, 1.0],
        gradient=lambda w: np.array([-np.sin(w[0]), 2 * w[1]]),
        product=lambda w, v: np.array([-np.cos(w[0]) * v[0], 2 * v[1]]),
        method="newton",
        tol=1e-8,
    )
    assert found.value == pytest.approx(-1)


def test_two_loops_are_the_inverse_of_bfgs():
    """Against the matrix of the textbook, built pair by pair."""
    generator = np.random.default_rng(3)
    d = 5
    A = generator.standard_normal((d, d))
    hessian = A @ A.T + np.eye(d)
    moves = generator.standard_normal((4, d))
    changes = moves @ hessian
    H = np.eye(d) * (moves[-1] @ changes[-1]) / (changes[-1] @ changes[-1])
    for s, y in zip(moves, changes):
        V = np.eye(d) - np.outer(y, s) / (s @ y)
        H = V.T @ H @ V + np.outer(s, s) / (s @ y)
    gradient = generator.standard_normal(d)
    np.testing.assert_allclose(two_loops(gradient, moves, changes), -H @ gradient, rtol=1e-10)
    np.testing.assert_allclose(H @ changes[-1], moves[-1], rtol=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.floats(0, 6), st.integers(0, 10**6))
def test_any_quadratic_is_solved(d, exponent, seed):
    f, g, H, exact = ill_conditioned(10.0**exponent, d, seed)
    for method in (Newton(), LBFGS()):
        found = minimize(f, np.zeros(d), gradient=g, hessian=H, method=method, stop=Rule(tol=1e-10, max_iter=2000))
        assert f(found.point) - f(exact) <= 1e-9 * abs(f(exact))


def test_watching_and_wrong_parameters():
    f, g, _, start = rosenbrock(2)
    with qed.watch() as seen:
        minimize(f, start, gradient=g, method=LBFGS())
    assert "LBFGS" in str(seen) or len(seen.traces) == 1
    with pytest.raises(ParameterError, match="memory must be a whole number >= 1, not 0"):
        minimize(f, start, method=LBFGS(memory=0))
    with pytest.raises(ParameterError, match="shift must be"):
        minimize(f, start, method=Newton(shift=-1.0))
    with pytest.raises(ParameterError, match="solver must be"):
        minimize(f, start, method=Newton(solver="lu"))
    with pytest.raises(ParameterError, match="weight must be"):
        ridged(f, -1.0)


def test_ridged_keeps_what_is_known():
    inner = Objective(
        lambda w: w @ w, lambda w: 2 * w, product=lambda w, v: 2 * v, strong_convexity=2.0, smoothness=2.0
    )
    outer = ridged(inner, 0.5)
    assert (outer.strong_convexity, outer.smoothness) == (3.0, 3.0)
    assert outer.knows("product") and not outer.knows("hessian")
    np.testing.assert_allclose(outer.hessian([1.0, 2.0]), 3 * np.eye(2))
