"""O-GRIDWORLD: states, actions, a policy and the best one, drawn as arrows."""

import numpy as np
import pytest

import qed

PLAN = ["S..#", ".#..", "...G"]


def test_the_arrows_of_the_best_policy_lead_from_everywhere_to_the_goal():
    world = qed.GridWorld(PLAN)
    plan = qed.ValueIteration(0.9).fit(world)
    drawn = [line.split() for line in world.arrows(plan.policy_).split("\n")]
    moves = {"←": (0, -1), "↓": (1, 0), "→": (0, 1), "↑": (-1, 0)}
    for row in range(3):
        for column in range(4):
            at, steps = (row, column), 0
            while PLAN[at[0]][at[1]] in "S.":
                move = moves[drawn[at[0]][at[1]]]
                at, steps = (at[0] + move[0], at[1] + move[1]), steps + 1
                assert steps <= 12
            if steps:
                assert PLAN[at[0]][at[1]] == "G"
                # The shortest way: one discount for every step but the last.
                assert plan.values_[row * 4 + column] == pytest.approx(0.9 ** (steps - 1), rel=1e-7)


def test_no_other_policy_is_worth_more():
    world = qed.GridWorld(PLAN, slip=0.3, step=-0.04)
    best = qed.PolicyIteration(0.95).fit(world)
    from qed.reinforcement.bounds import evaluate

    lots = np.random.default_rng(0)
    for _ in range(50):
        other = np.where(lots.random(12) < 0.3, lots.integers(4, size=12), best.policy_)
        values, _ = evaluate(world, other, 0.95)
        assert world.start @ values <= best.return_ + 1e-12


def test_value_and_policy_iteration_agree():
    for slip in (0.0, 0.5):
        world = qed.GridWorld(PLAN, slip=slip, step=-0.01)
        first, second = qed.ValueIteration(0.9, tol=1e-12).fit(world), qed.PolicyIteration(0.9).fit(world)
        assert np.allclose(first.values_, second.values_, rtol=0, atol=1e-11)
