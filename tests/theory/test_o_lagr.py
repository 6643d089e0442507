"""O-LAGR: what breaks a constraint is punished without end, so the largest Lagrangian is the objective or infinite."""

import numpy as np
import pytest

from qed.optim import ConstrainedProblem


@pytest.mark.parametrize(("multiplier", "value"), [(0.0, -100.0), (1.0, -95.0), (10.0, -50.0), (100.0, 400.0)])
def test_the_table(multiplier, value):
    """f = -100 and g = 5: -95, -50, 400 and so on, without end (S12 corrects the second)."""
    problem = ConstrainedProblem(lambda x: -100.0 + 0 * x[0], lambda x: 5.0 + 0 * x)
    assert problem.lagrangian([0.0], [multiplier]) == value and problem.worst([0.0]) == np.inf


def test_weak_duality_and_no_gap_at_the_optimum():
    """Least (x - 3)^2 + y^2 with x + y <= 1: (2, -1), multiplier 2, value 2."""
    problem = ConstrainedProblem(
        lambda x: (x[0] - 3) ** 2 + x[1] ** 2,
        lambda x: x[0] + x[1] - 1,
        inner=lambda a, _: np.array([3 - a[0] / 2, -a[0] / 2]),
    )
    random = np.random.default_rng(0)
    for _ in range(50):
        x, a = random.uniform(-3, 3, 2), random.uniform(0, 10)
        x[1] = min(x[1], 1 - x[0])
        assert problem.dual([a]) <= problem.value(x) + 1e-12
    assert problem.gap([2.0, -1.0], [2.0]) == pytest.approx(0, abs=1e-12)
    assert problem.value([2.0, -1.0]) == pytest.approx(2.0) and problem.kkt([2.0, -1.0], [2.0]).certificate()
