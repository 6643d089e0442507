"""CRIT: classification of critical points.

The text defines a saddle by f(u) <= f(w) <= f(v), which every point satisfies with u = v = w; the inequalities must be strict. And the
uniqueness of a minimum of a strongly convex function is one thing, its existence another: that needs a closed domain.
"""

import numpy as np
import pytest

from qed.optim import check_convexity, classify, gradient, minimize

ZERO = [0.0, 0.0]


def quadratic(*eigenvalues):
    H = np.diag(eigenvalues)
    return lambda w: H @ w, lambda w: H


@pytest.mark.parametrize(
    ("eigenvalues", "kind"),
    [((2, -2), "saddle"), ((2, 2), "local minimum"), ((-2, -2), "local maximum"), ((2, 0, -3), "saddle")],
)
def test_worked_surfaces(eigenvalues, kind):
    found = classify(np.zeros(len(eigenvalues)), *quadratic(*eigenvalues))
    assert found.kind == kind
    np.testing.assert_allclose(found.eigenvalues, sorted(eigenvalues), atol=1e-14)


@pytest.mark.parametrize("power", [3, 4])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_cube_and_fourth_power_are_undetermined_never_a_minimum(power, sign):
    """f' = f'' = 0 at 0 for w^3, w^4 and -w^4: necessary for a minimum, not sufficient."""
    found = classify(
        0.0,
        lambda w: sign * power * w ** (power - 1),
        lambda w: sign * power * (power - 1) * w ** (power - 2),
    )
    assert found.kind == "undetermined"
    assert found.suggests == {3: "", 4: "local minimum" if sign > 0 else "local maximum"}[power]


def test_undetermined_also_without_a_hessian():
    assert classify(0.0, lambda w: 3 * w**2).kind == "undetermined"
    assert classify(0.0, lambda w: -4 * w**3).kind == "undetermined"


def test_semidefinite_in_a_neighbourhood_suggests_a_minimum():
    """Least squares with two equal columns: a valley of minima."""
    found = classify([1.0, -1.0], *quadratic(2.0, 0.0)[::1])
    assert found.kind == "not critical"
    found = classify([0.0, 5.0], *quadratic(2.0, 0.0))
    assert (found.kind, found.suggests) == ("undetermined", "local minimum")


def test_one_flat_direction_that_goes_down_suggests_nothing():
    found = classify(
        ZERO,
        lambda w: np.array([2 * w[0], 3 * w[1] ** 2]),
        lambda w: np.diag([2.0, 6 * w[1]]),
    )
    assert (found.kind, found.suggests) == ("undetermined", "")


def test_a_local_minimum_has_a_vanishing_gradient_and_a_semidefinite_hessian():
    def double_well(w):
        return (w[0] ** 2 - 1) ** 2 + w[1] ** 2

    found = minimize(double_well, [0.4, 0.3], method="newton", tol=1e-9).point
    slopes = lambda w: gradient(double_well, w)  # noqa: E731
    assert np.abs(slopes(found)).max() < 1e-6
    assert classify(found, slopes).kind == "local minimum"
    assert classify(ZERO, slopes).kind == "saddle"
    assert classify([0.5, 0.0], slopes).kind == "not critical"


def test_a_saddle_has_strictly_lower_and_strictly_higher_neighbours():
    f = lambda w: w[0] ** 2 - w[1] ** 2  # noqa: E731
    found = classify(ZERO, lambda w: np.array([2 * w[0], -2 * w[1]]))
    for radius in (1e-1, 1e-3, 1e-5):
        down, up = radius * found.directions[:, 0], radius * found.directions[:, -1]
        assert f(down) < f(np.zeros(2)) < f(up)


def test_local_minima_of_a_convex_function_are_global_but_not_unique():
    flat = lambda w: np.maximum(np.abs(w[0]) - 1, 0.0) ** 2  # noqa: E731
    assert check_convexity(flat, -5, 5, tests=("chord",))
    left, right = minimize(flat, [-3.0]), minimize(flat, [3.0])
    assert left.value == pytest.approx(0, abs=1e-9) and right.value == pytest.approx(0, abs=1e-9)
    assert left.point[0] < 0 < right.point[0]


def test_a_strongly_convex_function_has_one_minimum():
    H = np.array([[3.0, 1.0], [1.0, 2.0]])
    b = np.array([1.0, -1.0])
    starts = np.random.default_rng(0).uniform(-100, 100, (5, 2))
    ends = [minimize(lambda w: w @ H @ w / 2 - b @ w, start, method="newton").point for start in starts]
    # Gradients fall to tol = 1e-6 of the first, and points are no farther than |g| over the least curvature.
    steepest = np.linalg.norm(starts @ H - b, axis=1).max()
    near = 1e-6 * steepest / np.linalg.eigvalsh(H)[0]
    np.testing.assert_allclose(ends, np.tile(np.linalg.solve(H, b), (5, 1)), atol=near)


def test_words():
    assert "saddle" in str(classify(ZERO, *quadratic(1.0, -1.0)))
    assert "suggest a local minimum" in str(classify(0.0, lambda w: 4 * w**3, lambda w: 12 * w**2))
