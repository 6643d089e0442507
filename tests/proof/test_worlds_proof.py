"""Worlds, judged in fractions: what certificates of planning and of learning claim is never less than what is true."""

from fractions import Fraction

import numpy as np
import pytest

import qed
from tests.reinforcement.test_planning import exact_values, random_world

# Claims are relative to the largest value, which rounding knows to far more digits than this.
SLACK = 1 + Fraction(1, 10**9)


def best_values(world, gamma):
    """Improve a policy in fractions until nothing can be improved: the best values, exactly."""
    policy = np.zeros(world.n_states, dtype=int)
    while True:
        values = exact_values(world, policy, gamma)
        worth = [[_worth(world, values, gamma, s, a) for a in range(world.n_actions)] for s in range(world.n_states)]
        better = np.array([max(range(world.n_actions), key=lambda a, row=row: row[a]) for row in worth])
        keep = np.array([worth[s][policy[s]] == max(worth[s]) for s in range(world.n_states)])
        if keep.all():
            return values
        policy = np.where(keep, policy, better)


def _worth(world, values, gamma, state, action):
    """What an action is worth, exactly."""
    pair, total = state * world.n_actions + action, Fraction(0)
    for at in range(world.begins[pair], world.begins[pair + 1]):
        onwards = Fraction(0) if world.ends[at] else Fraction(gamma) * values[int(world.to[at])]
        total += Fraction(float(world.chance[at])) * (Fraction(float(world.reward[at])) + onwards)
    return total


def claimed(model, words):
    return Fraction(float(next(claim.value for claim in model.certificate_ if words in claim.says)))


def shares(world):
    return [Fraction(float(chance)) for chance in world.start]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("gamma", [0.5, 0.99])
def test_planners_claim_no_less_than_their_error(seed, gamma):
    world = random_world(seed, states=5)
    best = best_values(world, gamma)
    scale = max(abs(value) for value, inside in zip(best, world.reached) if inside)
    # A tolerance as loose as a tenth leaves an error that is not rounding.
    for plan in (qed.ValueIteration(gamma, tol=0.1), qed.ValueIteration(gamma), qed.PolicyIteration(gamma)):
        found = plan.fit(world)
        away = max(
            abs(Fraction(float(said)) - true)
            for said, true, inside in zip(found.values_, best, world.reached)
            if inside
        )
        assert found.certificate_ and away <= claimed(found, "of the best, at most") * scale * SLACK
        lost = max(
            max(found.q_values_[s]) - found.q_values_[s, found.policy_[s]] for s in np.flatnonzero(world.reached)
        )
        assert Fraction(float(lost)) <= claimed(found, "worth less") * scale * SLACK


@pytest.mark.filterwarnings("ignore::qed.base.errors.ConvergenceWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rounds", [1, 20])
def test_learners_claim_no_less_than_what_they_fall_short(seed, rounds):
    """After one round much is missing, after twenty less: the claims say at least how much, whether they hold or not."""
    world, gamma = random_world(seed, states=5), 0.75
    learner = qed.QLearning(gamma, exploration=0.5, episodes=50, max_iter=rounds, tol=1e-9, random_state=seed)
    learner.fit(world)
    best, own = best_values(world, gamma), exact_values(world, learner.policy_, gamma)
    scale = max(abs(value) for value in best)
    short = sum((p * (b - w) for p, b, w in zip(shares(world), best, own)), Fraction(0))
    assert 0 <= short <= claimed(learner, "return is below the best") * scale * SLACK
    way = world.visited(learner.policy_)
    apart = max(abs(Fraction(float(row.max())) - true) for row, true, on in zip(learner.q_values_, best, way) if on)
    assert apart <= claimed(learner, "values on the policy's way") * scale * SLACK
    assert not learner.certificate_ or apart <= Fraction(1, 10**8) * scale
