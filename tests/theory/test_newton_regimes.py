"""NEWTON-REGIMES: the pure method on sqrt(w^2 + 1) maps w to -w^3.

The text gives it as an example of a strongly convex function on which Newton's method diverges; it is strictly convex, 1-smooth
and not strongly convex, so it does not show that.
"""

from itertools import islice

import numpy as np
import pytest

from qed.base.running.steps import Reason, Rule, run
from qed.optim import Newton, Objective
from tests.theory.functions import hyperbola

PURE = Newton(step=1.0, shift=0.0)
OBJECTIVE = Objective(hyperbola.value, **hyperbola.derivatives)


def path(start, n):
    return np.array([step.point[0] for step in islice(PURE.steps(OBJECTIVE, [start]), n + 1)])


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (0.5, [0.5, -0.125, 0.001953125, -7.450580596923828e-09, 4.1359e-25]),
        (1.0, [1, -1, 1, -1, 1]),
        (2.0, [2, -8, 512, -134217728]),
        (1.1, [1.1, -1.331, 2.3579, -13.11, 2253.2]),
    ],
)
def test_worked_paths(start, expected):
    """1 + w^2 rounds to 1 below 1e-8, so the last iterates of the first path are right in what they can be: their size."""
    found = path(start, len(expected) - 1)
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=1e-16)


@pytest.mark.parametrize("start", [0.9, -0.7, 0.3, 1.05, -1.2])
def test_the_size_is_cubed_and_the_sign_alternates(start):
    found = path(start, 3)
    expected = np.sign(start) * np.array([1, -1, 1, -1]) * np.abs(start) ** 3.0 ** np.arange(4)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_three_regimes_end_in_three_ways():
    assert run(PURE.steps(OBJECTIVE, [0.99]), Rule(tol=1e-8)).reason is Reason.CERTIFIED
    assert run(PURE.steps(OBJECTIVE, [1.0]), Rule(tol=1e-8)).reason is Reason.STALLED
    ending = run(PURE.steps(OBJECTIVE, [1.01]), Rule(tol=1e-8))
    assert ending.reason in (Reason.DIVERGED, Reason.DEGENERATE)
    assert ending.step.number == 0
