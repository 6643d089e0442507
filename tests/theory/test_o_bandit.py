"""O-BANDIT: what not knowing the best arm costs, by three ways of trying. This goes beyond the texts, which only name the question."""

import numpy as np
import pytest

import qed

BANDIT = qed.Bandit([0.3, 0.5, 0.7])


def test_trying_at_random_for_ever_costs_in_a_straight_line():
    player = qed.EpsilonGreedy(0.2, pulls=2000, runs=200, random_state=0).fit(BANDIT)
    # A fifth of the pulls goes to any arm, which costs the mean gap of 0.2.
    late = player.regret_[-1] - player.regret_[999]
    assert late >= 0.2 * 0.2 * 1000 * 0.9
    assert player.best_arm_ == 2


def test_upper_confidence_keeps_to_its_bound_and_grows_like_a_logarithm():
    player = qed.UpperConfidence(pulls=4000, runs=200, random_state=0).fit(BANDIT)
    assert player.regret_[-1] <= player.regret_bound(BANDIT)
    # Twice as many pulls add far less than twice the regret.
    assert player.regret_[3999] - player.regret_[1999] < 0.35 * player.regret_[1999]
    assert (player.counts_.argmax(axis=1) == 2).all()


def test_thompson_sampling_costs_less_than_both():
    settings = {"pulls": 2000, "runs": 200, "random_state": 0}
    thompson = qed.ThompsonSampling(**settings).fit(BANDIT).regret_[-1]
    assert thompson < qed.UpperConfidence(**settings).fit(BANDIT).regret_[-1]
    assert thompson < qed.EpsilonGreedy(0.2, **settings).fit(BANDIT).regret_[-1]


def test_never_trying_can_stay_with_the_wrong_arm():
    greedy = qed.EpsilonGreedy(0.0, pulls=500, runs=200, random_state=0).fit(BANDIT)
    wrong = (greedy.counts_.argmax(axis=1) != 2).mean()
    assert 0.05 < wrong < 0.95
    assert np.diff(greedy.regret_)[-100:].mean() == pytest.approx((greedy.counts_ @ BANDIT.gaps).mean() / 500, rel=0.5)


def test_thompson_draws_from_what_was_paid_and_what_was_not():
    """Of arms that always and never pay: the first pull is even, and after it the better arm is drawn highest two times of three."""
    runs = 20_000
    player = qed.ThompsonSampling(pulls=2, runs=runs, random_state=0).fit(qed.Bandit([1.0, 0.0]))
    # Beta(2, 1) against Beta(1, 1) after a reward, Beta(1, 1) against Beta(1, 2) after none: both give 2/3.
    noise = 5 * np.sqrt(0.25 / runs)
    assert abs(player.regret_[0] - 1 / 2) < noise
    assert abs(player.regret_[1] - player.regret_[0] - 1 / 3) < noise
