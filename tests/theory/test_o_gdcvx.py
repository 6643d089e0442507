"""O-GDCVX: gradient descent with steps too short, right and too long; a tester of convexity with witnesses."""

import numpy as np

from qed.base.running.steps import Rule, run
from qed.optim import GradientDescent, Objective, check_convexity

BOWL = Objective(lambda w: 2.5 * w @ w, lambda w: 5 * w)


def values(step, n=30):
    ending = run(GradientDescent(step).steps(BOWL, [1.0]), Rule(tol=0.0, max_iter=n, patience=n))
    return np.array([row["objective"] for row in ending.trace])


def test_a_short_step_is_slow_a_right_one_fast_a_long_one_runs_away():
    slow, right, fast, away = (values(share / 5) for share in (0.02, 0.5, 1.0, 2.1))
    assert (np.diff(slow) < 0).all() and slow[-1] > 0.2 * slow[0]
    assert right[-1] < 1e-15
    assert fast[1] == 0
    assert (np.diff(away) > 0).all()


def test_the_update_is_a_step_against_the_gradient():
    steps = GradientDescent(0.1).steps(BOWL, [1.0])
    first, second = next(steps), next(steps)
    assert second.point == first.point - 0.1 * 5 * first.point


def test_the_tester_says_no_with_a_witness_and_never_says_yes_for_sure():
    yes = check_convexity(lambda w: w @ w, [-1, -1], [1, 1])
    assert yes and "not proven" in yes.verdict and "not proven" in str(yes)
    no = check_convexity(np.sin, -4.0, 4.0)
    witness = no.witnesses["chord"]
    middle = witness.t * witness.first + (1 - witness.t) * witness.second
    assert np.sin(middle) > witness.t * np.sin(witness.first) + (1 - witness.t) * np.sin(witness.second)
    assert "Refuted" in str(no)
