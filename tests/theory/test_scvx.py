"""SCVX: m-strong convexity, five conditions.

The text calls sqrt(w^2 + 1) strongly convex because its second derivative is positive; the infimum of that is 0, so it is not. Eigenvalues
that are positive at every point are not enough, their infimum has to be.
"""

import numpy as np
import pytest

from qed.optim import check_convexity, check_strong_convexity, estimate_curvature, minimize
from tests.theory.functions import X, Y, hyperbola, least_squares, quadratic

BOX = [-3.0] * 3, [3.0] * 3
RIDGE = least_squares(penalty=0.5)
LOWEST = np.linalg.eigvalsh(2 * X.T @ X + np.eye(3))[0]
DEFICIENT = least_squares(np.column_stack([X[:, :2], X[:, 0]]))


def test_ridge_satisfies_all_five_conditions_with_its_lowest_eigenvalue():
    found = check_strong_convexity(RIDGE.value, LOWEST, *BOX, **RIDGE.derivatives)
    assert found
    assert len(found.certificate) == 5


def test_and_none_with_a_little_more():
    found = check_strong_convexity(RIDGE.value, 1.5 * LOWEST, *BOX, **RIDGE.derivatives, n_samples=2000)
    assert len(found.witnesses) == 5


@pytest.mark.parametrize("exact", [True, False], ids=["exact", "differences"])
def test_the_constant_is_the_lowest_eigenvalue(exact):
    derivatives = RIDGE.derivatives if exact else {}
    found = estimate_curvature(RIDGE.value, *BOX, **derivatives, n_samples=20)
    assert found.strong_convexity == pytest.approx(LOWEST, rel=1e-12 if exact else 1e-5)


def test_rank_deficient_least_squares_is_convex_and_no_more():
    assert check_convexity(DEFICIENT.value, *BOX, **DEFICIENT.derivatives)
    assert estimate_curvature(DEFICIENT.value, *BOX, **DEFICIENT.derivatives, n_samples=20).strong_convexity == 0
    assert not check_strong_convexity(DEFICIENT.value, 1e-3, *BOX, **DEFICIENT.derivatives, n_samples=2000)


def test_rank_deficient_least_squares_has_many_minima_of_one_value():
    ends = [
        minimize(DEFICIENT.value, start, **DEFICIENT.derivatives, method="newton", tol=1e-10).point
        for start in ([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    ]
    assert np.abs(ends[0] - ends[1]).max() > 0.1
    assert DEFICIENT.value(ends[0]) == pytest.approx(DEFICIENT.value(ends[1]), rel=1e-10)


def test_ridge_has_one_minimum():
    exact = np.linalg.solve(X.T @ X + 0.5 * np.eye(3), X.T @ Y)
    for start in ([0.0, 0.0, 0.0], [10.0, -20.0, 30.0]):
        found = minimize(RIDGE.value, start, **RIDGE.derivatives, method="newton")
        np.testing.assert_allclose(found.point, exact, rtol=1e-9)


def test_the_hyperbola_is_strictly_but_not_strongly_convex():
    assert check_convexity(hyperbola.value, -np.inf, np.inf, **hyperbola.derivatives)
    assert estimate_curvature(hyperbola.value, -np.inf, np.inf, **hyperbola.derivatives).strong_convexity == 0
    for m in (0.5, 1e-2, 1e-5):
        found = check_strong_convexity(hyperbola.value, m, -np.inf, np.inf, **hyperbola.derivatives)
        assert not found
        assert len(found.witnesses) == 5


def test_on_a_bounded_interval_it_is_strongly_convex():
    """On [-1, 1] the infimum is 2^(-3/2), taken at the ends."""
    found = estimate_curvature(hyperbola.value, -1, 1, **hyperbola.derivatives, n_samples=3000)
    assert found.strong_convexity == pytest.approx(2**-1.5, rel=1e-2)
    assert found.strong_convexity >= 2**-1.5
    assert check_strong_convexity(hyperbola.value, 2**-1.5, -1, 1, **hyperbola.derivatives)


def test_equality_along_the_lowest_eigenvector():
    """The bound with the least eigenvalue is met there: with any more than it, a witness is found along that direction."""
    H = np.array([[3.0, 1.0], [1.0, 2.0]])
    f = quadratic(H)
    value, gradient = f.value, f.derivatives["gradient"]
    m = np.linalg.eigvalsh(H)[0]
    box = [-2.0, -2.0], [2.0, 2.0]
    assert check_strong_convexity(value, m * (1 - 1e-6), *box, gradient=gradient)
    assert not check_strong_convexity(value, m * 1.05, *box, gradient=gradient)


def test_quadratic_lower_bound_at_the_minimum():
    found = minimize(RIDGE.value, [0.0, 0.0, 0.0], gradient=RIDGE.derivatives["gradient"], tol=1e-12)
    np.testing.assert_allclose(found.point, np.linalg.solve(X.T @ X + 0.5 * np.eye(3), X.T @ Y), atol=1e-8)
    for w in np.random.default_rng(0).uniform(-3, 3, (50, 3)):
        assert RIDGE.value(w) >= found.value + LOWEST / 2 * ((w - found.point) ** 2).sum() * (1 - 1e-7)
