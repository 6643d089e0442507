"""GD-RATES: the four rows of the table, as inequalities that hold at every t.

The text gives rates without constants, and does not say that its first two rows are about averaged (or best)
iterates, the second on a bounded set, while the last two are about the last iterate; nor whether R / (L sqrt t) is a
falling step or one for a fixed horizon.
"""

from itertools import islice

import numpy as np
import pytest

from qed.optim import (
    GradientDescent,
    InverseDecay,
    InverseSmoothness,
    LipschitzRate,
    Objective,
    RootDecay,
    SmoothRate,
    StrongLipschitzRate,
    StrongSmoothRate,
    Subgradient,
    certify_rate,
)
from tests.theory.quadratics import quadratic

KINKS = Objective(lambda w: abs(w).sum(), np.sign)
BENT = Objective(lambda w: abs(w).sum() + w @ w / 2, lambda w: np.sign(w) + w)
START, L, R = np.array([3.0, -2.0]), np.sqrt(2), np.sqrt(13)


def clipped(w):
    return np.clip(w, -3, 3)


def test_row_one_the_averaged_iterate():
    times = [10, 100, 1000, 10_000]
    certificate = certify_rate(LipschitzRate(L, R), KINKS, START, 0.0, times)
    assert certificate
    claims = list(certificate)[:4]
    assert [claim.value for claim in claims] == pytest.approx([1.130, 0.421, 0.0848, 0.0287], rel=2e-3)
    assert [claim.bound for claim in claims] == pytest.approx([1.612, 0.510, 0.161, 0.0510], rel=2e-3)


def test_the_last_iterate_sits_at_the_bound():
    last = next(islice(Subgradient(RootDecay(R, L)).steps(KINKS, START), 1000, 1001)).objective
    assert last == pytest.approx(0.1612, abs=5e-5) and R * L / np.sqrt(1000) == pytest.approx(0.16125, abs=1e-5)


def test_row_two_the_weighted_average_on_a_bounded_set():
    times = [10, 100, 1000, 10_000]
    certificate = certify_rate(StrongLipschitzRate(4.0, 1.0, clipped), BENT, [3.0], 0.0, times)
    assert certificate
    claims = list(certificate)[:4]
    assert [claim.bound for claim in claims] == pytest.approx([2.91, 0.317, 0.0320, 0.0032], rel=5e-3)
    assert [claim.value for claim in claims] == pytest.approx([3.9e-3, 1.9e-4, 4.2e-6, 6.5e-8], rel=0.03)


@pytest.mark.parametrize("objective", [quadratic(), quadratic(smoothness=100.0)], ids=["given", "known"])
def test_rows_three_and_four_at_every_t(objective):
    times = [1, 2, 3, 10, 100, 1000, 3000]
    assert certify_rate(SmoothRate(100.0, np.sqrt(3)), objective, np.ones(3), 0.0, times)
    assert certify_rate(StrongSmoothRate(100.0, 1.0), objective, np.ones(3), 0.0, times)


def test_row_four_is_below_the_exponential():
    rate = StrongSmoothRate(100.0, 1.0)
    assert all(rate.bound(t, 1.0) <= np.exp(-t / 100) for t in range(1, 3000))


def test_a_convex_function_that_is_not_strongly_convex():
    flat = Objective(lambda w: (w[0] - w[1]) ** 4 / 12, lambda w: (w[0] - w[1]) ** 3 / 3 * np.array([1.0, -1.0]))
    # On |w0 - w1| <= 2 the curvature is at most 2 (w0 - w1)^2 <= 8, and gradient descent stays there.
    assert certify_rate(SmoothRate(8.0, np.sqrt(2)), flat, [1.0, -1.0], 0.0, [1, 10, 100, 1000])


def test_wrong_constants_are_found_out():
    assert not certify_rate(StrongSmoothRate(100.0, 50.0), quadratic(), np.ones(3), 0.0, [1, 10, 100])
    assert not certify_rate(SmoothRate(100.0, 0.1), quadratic(), np.ones(3), 0.0, [1, 10])
    assert not certify_rate(LipschitzRate(L, 0.5), KINKS, START, 0.0, [10, 100])


def test_the_steps_are_those_of_the_table():
    assert [RootDecay(2.0, 4.0).at(t) for t in (1, 4, 25)] == pytest.approx([0.5, 0.25, 0.1])
    assert [InverseDecay(0.5).at(t) for t in (1, 3, 7)] == [2.0, 1.0, 0.5]
    known = quadratic(smoothness=100.0)
    one = islice(GradientDescent(InverseSmoothness()).steps(known, np.ones(3)), 30)
    for step, other, third in zip(
        one, GradientDescent(0.01).steps(known, np.ones(3)), GradientDescent().steps(known, np.ones(3))
    ):
        np.testing.assert_array_equal(step.point, other.point)
        np.testing.assert_array_equal(step.point, third.point)


def test_the_constants_can_be_estimated_from_the_hessian():
    eigenvalues = np.linalg.eigvalsh(quadratic().hessian(np.ones(3)))
    assert certify_rate(StrongSmoothRate(eigenvalues[-1], eigenvalues[0]), quadratic(), np.ones(3), 0.0)
