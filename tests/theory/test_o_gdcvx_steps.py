"""O-GDCVX, the demonstration of step sizes: too small is slow, a good one is stable, too large runs away, and each ending says so."""

import numpy as np
import pytest

from qed.base.errors import ConvergenceWarning
from qed.base.running.steps import Reason
from qed.optim import GradientDescent, minimize
from tests.theory.quadratics import quadratic


def run(step, **options):
    return minimize(quadratic([1.0, 101.0]), [1.0, 1.0], method=GradientDescent(step), tol=1e-6, **options)


def test_slow():
    with pytest.warns(ConvergenceWarning, match=r"iterations was used up.*Try max_iter=5000"):
        found = run(1e-4, max_iter=500)
    assert found.ending.reason is Reason.MAX_ITER and found.value < 0.5, "it is on its way down"
    objectives = [record["objective"] for record in found.ending.trace]
    assert objectives == sorted(objectives, reverse=True)


@pytest.mark.parametrize("step", [0.005, 0.0099, 0.019])
def test_stable(step):
    found = run(step, max_iter=5000)
    assert found.ending.reason is Reason.CERTIFIED and found.certificate


def test_diverging():
    with pytest.warns(ConvergenceWarning, match=r"step 0\.02 is not below 2 / M = 0\.0198.*try 0\.0099"):
        found = run(0.02, max_iter=5000)
    assert found.ending.reason is Reason.DIVERGED
    assert np.isfinite(found.point).all() and found.value <= 51.0, "the best point is kept"


def test_on_the_edge():
    with pytest.warns(ConvergenceWarning, match="not below 2 / M"):
        found = run(2 / 101, max_iter=5000)
    assert found.ending.reason is Reason.STALLED
