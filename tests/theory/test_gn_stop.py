"""GN-STOP: the two stopping tests, |L' - L| / L and max_j |change_j| / |w_j|, guarded where L or w_j is zero.

The text divides by both without a guard; an exact fit (L = 0) or a parameter that is zero would divide by zero.
"""

import numpy as np
import pytest

from qed.optim import GaussNewton, Residuals, cost_change, largest_change, minimize

x = np.linspace(0, 2, 12)


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [(2.0, 1.0, 0.5), (1.0, 1.5, 0.5), (0.0, 0.0, 0.0), (0.0, 1e-9, 1.0), (1e-300, 0.0, 1.0)],
)
def test_change_of_the_cost(before, after, wanted):
    assert cost_change(before, after) == wanted


@pytest.mark.parametrize(
    ("before", "after", "wanted"),
    [([1.0, 4.0], [1.1, 4.0], 0.1), ([0.0, 1.0], [0.0, 1.0], 0.0), ([0.0, 1.0], [0.5, 1.0], 1.0), ([2.0], [0.0], 1.0)],
)
def test_change_of_the_parameters(before, after, wanted):
    assert largest_change(before, after) == pytest.approx(wanted)


def test_changes_below_rounding_do_not_count():
    assert largest_change([0.0, 1.0], [1e-18, 1.0], unseen=[1e-16, 0.0]) == 0


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("measure", ["angle", "cost", "parameters"])
@pytest.mark.parametrize("truth", [(3.0, 1.2), (3.0, 0.0)])
@pytest.mark.parametrize("noise", [0.0, 0.05])
def test_all_rules_stop_at_the_same_place(measure, truth, noise):
    y = truth[0] * np.exp(-truth[1] * x) + noise * np.sin(9 * x)
    objective = Residuals(lambda w: w[0] * np.exp(-w[1] * x) - y)
    with np.errstate(all="raise"):
        found = minimize(objective, [2.0, 0.5], method=GaussNewton(measure=measure), tol=1e-9, max_iter=60)
    assert found.ending.reason.name == "CERTIFIED"
    assert objective.tangent(found.point).gap(found.point) < 1e-3 or objective.tangent(found.point).length < 1e-12
    reference = minimize(objective, [2.0, 0.5], method="levenberg-marquardt", tol=1e-10).point
    np.testing.assert_allclose(found.point, reference, atol=1e-4 if measure == "cost" else 1e-8)


def test_a_looser_threshold_stops_earlier():
    objective = Residuals(lambda w: w[0] * np.exp(-w[1] * x) - np.exp(-x) - 0.1 * np.sin(9 * x))
    taken = [
        minimize(objective, [2.0, 0.5], method=GaussNewton(measure="parameters"), tol=tol).ending.n_iter
        for tol in (1e-1, 1e-4, 1e-10)
    ]
    assert taken == sorted(taken) and taken[0] < taken[-1]


def test_an_exact_start_is_over_at_once():
    objective = Residuals(lambda w: w[0] * np.exp(-w[1] * x) - np.exp(-x))
    for measure in ("angle", "cost", "parameters"):
        assert minimize(objective, [1.0, 1.0], method=GaussNewton(measure=measure)).ending.n_iter == 0
