"""NEWTON: the minimum of the parabola that fits best."""

from itertools import islice

import numpy as np
import pytest

from qed.base.running.steps import Reason, Rule, run
from qed.optim import GradientDescent, Newton, Objective, minimize
from tests.theory.functions import function, logistic, quadratic

PURE = Newton(step=1.0, shift=0.0)


def objective(f):
    return Objective(f.value, **f.derivatives)


def path(method, f, start, n):
    return [step.point for step in islice(method.steps(objective(f), start), n + 1)]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", [PURE, Newton()], ids=["pure", "safe"])
def test_one_step_on_a_quadratic_from_anywhere(seed, method):
    generator = np.random.default_rng(seed)
    A, b = generator.standard_normal((6, 6)), generator.standard_normal(6)
    H = A @ A.T + np.eye(6)
    found = path(method, quadratic(H, b), 100 * generator.standard_normal(6), 1)[-1]
    np.testing.assert_allclose(found, np.linalg.solve(H, b), atol=1e-10)


def test_equals_gradient_descent_where_the_hessian_is_a_multiple_of_the_identity():
    f = quadratic(4.0 * np.eye(3), [1.0, 2.0, 3.0])
    np.testing.assert_allclose(
        path(PURE, f, [5.0, -5.0, 1.0], 1)[-1], path(GradientDescent(0.25), f, [5.0, -5.0, 1.0], 1)[-1], rtol=1e-15
    )


def test_the_step_makes_the_gradient_of_the_parabola_vanish():
    g, H = logistic.derivatives["gradient"], logistic.derivatives["hessian"]
    points = path(PURE, logistic, [0.1, -0.2, 0.3], 3)
    for before, after in zip(points, points[1:]):
        residual = H(before) @ (after - before) + g(before)
        assert np.linalg.norm(residual) <= 1e-12 * np.linalg.norm(g(points[0]))


def test_affine_invariance():
    """With w = Az, the iterates are w = Az for ever (a standard fact that the text does not mention)."""
    A = np.array([[2.0, 1.0, 0.0], [0.0, 50.0, -1.0], [0.3, 0.0, 0.01]])
    g, H = logistic.derivatives["gradient"], logistic.derivatives["hessian"]
    changed = function(lambda z: logistic.value(A @ z), lambda z: A.T @ g(A @ z), lambda z: A.T @ H(A @ z) @ A)
    start = np.array([0.1, -0.2, 0.3])
    here, there = path(PURE, logistic, start, 5), path(PURE, changed, np.linalg.solve(A, start), 5)
    for w, z in zip(here, there):
        np.testing.assert_allclose(A @ z, w, atol=1e-9)


def test_a_singular_hessian_ends_in_words_and_the_shift_helps():
    H = np.diag([1.0, 0.0])
    f = quadratic(H, [1.0, 0.0])
    ending = run(PURE.steps(objective(f), [3.0, 4.0]), Rule())
    assert ending.reason is Reason.DEGENERATE
    assert "singular" in str(ending) and 'shift="auto"' in str(ending)
    found = minimize(f.value, [3.0, 4.0], **f.derivatives, method="newton")
    np.testing.assert_allclose(found.point, [1.0, 4.0], atol=1e-6)
    assert found.certificate


def test_pure_newton_goes_to_a_maximum_as_gladly_and_the_certificate_says_so():
    cosine = function(lambda w: np.cos(w[0]), lambda w: -np.sin(w), lambda w: -np.cos(w))
    ending = run(PURE.steps(objective(cosine), [0.3]), Rule(tol=1e-8))
    assert ending.last.point[0] == pytest.approx(0.0, abs=1e-8)
    safe = minimize(cosine.value, [0.3], **cosine.derivatives, method="newton", tol=1e-8)
    assert safe.value == pytest.approx(-1)
    assert safe.certificate
    with pytest.warns(match="value above that at the start"):
        assert not minimize(cosine.value, [0.3], **cosine.derivatives, method=PURE, tol=1e-8).certificate
