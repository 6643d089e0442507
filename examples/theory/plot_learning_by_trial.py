r"""
Learning by trial: a frozen lake, and machines with arms
========================================================

A world answers every action with a next state and a reward. What a state is worth is what the best policy collects from it,

.. math:: V^*(s) = \max_a \sum_{s'} p(s' \mid s, a)\,\bigl(r + \gamma V^*(s')\bigr).

Value iteration reads that equation as a recipe; its certificate bounds the error of every value by how far the equation is from holding.
"""

import matplotlib.pyplot as plt

import qed

lake = qed.GridWorld(["S...", ".H.H", "...H", "H..G"], slip=2 / 3)
plan = qed.ValueIteration(gamma=0.99).fit(lake)
print(round(plan.return_, 4))
print(plan.certificate_)

# %%
# On slippery ice the best policy walks against walls, so that it never slips into a hole where that can be helped.
qed.plots.policy(lake, plan.policy_, plan.values_)
plt.show()

# %%
# Q-learning knows nothing of the lake. It falls into holes until it knows better, and is judged by what its policy is worth in truth.
learner = qed.QLearning(
    gamma=0.99, exploration=0.3, episodes=2000, max_iter=100, random_state=0
).fit(lake)
print(learner.n_episodes_, "episodes:", round(learner.return_, 4))
print(learner.certificate_)

# %%
# A bandit is a world of one state. Trying an arm at random for ever costs in a straight line; trying only what could be the best costs like
# a logarithm.
bandit = qed.Bandit([0.3, 0.5, 0.7])
settings = {"pulls": 3000, "runs": 200, "random_state": 0}
players = {
    "at random, one in ten": qed.EpsilonGreedy(0.1, **settings),
    "ever more seldom": qed.EpsilonGreedy(qed.DecayingExploration(1.0, 0.01, 100), **settings),
    "upper confidence bounds": qed.UpperConfidence(**settings),
    "Thompson sampling": qed.ThompsonSampling(**settings),
}
qed.plots.regret({name: player.fit(bandit) for name, player in players.items()})
plt.show()
