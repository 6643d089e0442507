"""SMOOTH: M-smoothness.

The text takes the largest eigenvalue of the Hessian for M. That is right for convex functions; in general it is the largest absolute value:
-5w^2 satisfies the four implied conditions with every M > 0, and is smooth with M = 10 only.
"""

import numpy as np
import pytest

from qed.optim import GradientDescent, Objective, check_smoothness, estimate_curvature, gradient, hessian
from tests.theory.functions import X, hyperbola, least_squares, logistic, quadratic

BOX = [-3.0] * 3, [3.0] * 3
H = np.diag([1.0, 10.0, 100.0])


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "differences"])
def test_quadratics_with_their_largest_eigenvalue(exact):
    f = quadratic(H)
    derivatives = f.derivatives if exact else {}
    found = check_smoothness(f.value, 100.0, *BOX, **derivatives, n_samples=200)
    assert found
    assert len(found.certificate) == 5
    assert estimate_curvature(f.value, *BOX, **derivatives, n_samples=20).smoothness == pytest.approx(100, rel=1e-6)
    assert len(check_smoothness(f.value, 60.0, *BOX, **derivatives, n_samples=200).witnesses) == 5


def test_least_squares_and_logistic_loss():
    largest = np.linalg.eigvalsh(X.T @ X)[-1]
    f = least_squares()
    assert check_smoothness(f.value, 2 * largest, *BOX, **f.derivatives)
    assert check_smoothness(logistic.value, largest / 4, *BOX, **logistic.derivatives)
    assert estimate_curvature(logistic.value, *BOX, **logistic.derivatives).smoothness <= largest / 4
    at_zero = np.linalg.eigvalsh(hessian(logistic.value, np.zeros(3)))[-1]
    assert at_zero == pytest.approx(largest / 4, rel=1e-4)


def test_a_concave_parabola_needs_the_absolute_eigenvalue():
    f = quadratic([[-10.0]])
    found = estimate_curvature(f.value, -1, 1, **f.derivatives)
    assert (found.smoothness, found.strong_convexity, found.highest) == (10.0, 0.0, -10.0)
    assert check_smoothness(f.value, 10.0, -1, 1, **f.derivatives)
    for M in (1e-3, 1.0, 9.9):
        assert list(check_smoothness(f.value, M, -1, 1, **f.derivatives).witnesses) == ["Lipschitz gradient"]


def test_the_hyperbola_is_1_smooth_and_1_lipschitz():
    """1-smooth because f'' <= 1; that |f'| < 1 says it is 1-Lipschitz."""
    assert check_smoothness(hyperbola.value, 1.0, -np.inf, np.inf, **hyperbola.derivatives)
    assert not check_smoothness(hyperbola.value, 0.9, -1, 1, **hyperbola.derivatives)
    slopes = [abs(gradient(hyperbola.value, np.array([w]))[0]) for w in np.linspace(-50, 50, 101)]
    assert 0.999 < max(slopes) < 1


def test_descent_lemma():
    """A step of 1/M of our gradient descent gains at least |gradient|^2 / (2M)."""
    largest = np.linalg.eigvalsh(X.T @ X)[-1] / 4
    f, g = logistic.value, logistic.derivatives["gradient"]
    for w in np.random.default_rng(1).uniform(-3, 3, (50, 3)):
        steps = GradientDescent(1 / largest).steps(Objective(f, g), w)
        first, second = next(steps), next(steps)
        assert second.objective <= first.objective - g(w) @ g(w) / (2 * largest) + 1e-12
