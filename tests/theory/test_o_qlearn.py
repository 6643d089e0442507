"""O-QLEARN: a value replaced by what followed it tends to the best one; where rewards are not negative from below, and it never falls."""

import numpy as np
import pytest

import qed

MAZES = [["S..G"], ["S..", ".#.", "..G"], ["S.#.", "..#.", ".#..", "...G"]]


def learner(gamma, **settings):
    return qed.QLearning(
        gamma, exploration=1.0, starts="anywhere", episodes=50, max_steps=50, random_state=0, **settings
    )


@pytest.mark.parametrize("maze", MAZES)
@pytest.mark.parametrize("gamma", [0.5, 0.9])
def test_it_tends_to_the_values_of_value_iteration_where_everything_is_tried(maze, gamma):
    world = qed.GridWorld(maze)
    best = qed.ValueIteration(gamma, tol=1e-14).fit(world)
    walk = qed.steps(learner(gamma), world)
    for _ in range(40):
        step = next(walk)
    tried = step.visits > 0
    assert tried[world.reached & (best.values_ > 0)].all()
    # Every value is a product of gamma's: what is learned is exact but for rounding.
    assert np.allclose(step.q[tried], best.q_values_[tried], rtol=1e-12, atol=0)


@pytest.mark.parametrize("maze", MAZES)
def test_values_never_fall_and_never_pass_the_best_where_rewards_are_not_negative(maze):
    world = qed.GridWorld(maze)
    best = qed.ValueIteration(0.9, tol=1e-14).fit(world).q_values_
    walk, before = qed.steps(learner(0.9), world), np.zeros_like(best)
    for _ in range(30):
        now = next(walk).q
        assert (now >= before).all() and (now <= best * (1 + 1e-12)).all()
        before = now
    assert before.max() > 0


@pytest.mark.parametrize("distance", [1, 2, 5, 9])
@pytest.mark.parametrize("gamma", [0.5, 0.9])
def test_one_reward_at_a_distance_is_worth_as_many_discounts_less_one(distance, gamma):
    world = qed.GridWorld(["S" + "." * (distance - 1) + "G"], goal=7.0)
    found = qed.QLearning(gamma, exploration=0.5, random_state=0, tol=1e-12).fit(world)
    assert found.q_values_[0, 2] == pytest.approx(gamma ** (distance - 1) * 7.0, rel=1e-12)
    assert found.return_ == pytest.approx(gamma ** (distance - 1) * 7.0, rel=1e-12)
