r"""
9. Learning by trial, and what is found together
================================================

**The question.** Nobody shows a child how to walk on ice. It tries, falls, and is glad when it arrives. What can be
learned from rewards alone, when they come late and it is not said which step earned them? And a second question, quite
another kind: a shop has its receipts and no question at all. What is bought together?

These are the two kinds of learning that are left. So far there was a teacher (chapters 1, 2, 5, 7, 8) or there were rows
to be understood by themselves (3 and 6). This chapter is short, and goes a little further than the texts, which only
name bandits and association rules.
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import qed

# %%
# A world and what it is worth
# ----------------------------
#
# In a *state* :math:`s` one takes an *action* :math:`a`, gets a *reward* :math:`r` and finds oneself in a state
# :math:`s'`. A *policy* says which action to take where. A reward that comes :math:`t` steps later counts
# :math:`\gamma^t` of itself. What a state is worth at best satisfies Bellman's equation,
#
# .. math:: V^*(s) = \max_a \sum_{s'} p(s' \mid s, a)\,\bigl(r + \gamma V^*(s')\bigr) ,
#
# because the best way from here begins with one action and goes on in the best way from there. Call the right side
# :math:`(TV^*)(s)`. Read as a recipe, :math:`V \leftarrow TV`, the equation is *value iteration*. Here is a lake of ice. One
# slips to either side two times of three, ``H`` is a hole, and the goal pays 1.

lake = qed.GridWorld(["S...", ".H.H", "...H", "H..G"], slip=2 / 3)
plan = qed.ValueIteration(gamma=0.99).fit(lake)
print("worth of the start:", round(plan.return_, 4))
qed.plots.policy(lake, plan.policy_, plan.values_)
plt.show()

# %%
# Look at the arrows beside the holes: the best policy walks *against the wall*. Then it slips along it, and never into
# the hole.
#
# The proof, and what its certificate checks
# ------------------------------------------
#
# For :math:`\gamma < 1` the map :math:`T` is a *contraction*: a maximum of means moves no more than the largest of what
# it is made of, so
#
# .. math:: \max_s |TV - TV'| \le \gamma \max_s |V - V'| .
#
# Hence there is one :math:`V^*`, every start leads there, and the error shrinks by :math:`\gamma` in each round. Better
# still, anybody can check the answer without knowing how it was found. From :math:`|V - V^*| \le |V - TV| + |TV - TV^*|`
# follows
#
# .. math:: \max_s |V - V^*| \le \frac{\max_s |V - TV|}{1 - \gamma} .

print(qed.certify(plan, lake))

# %%
# The first claim is that bound: how far from the best any value can be, from how far Bellman's equation is from holding.
#
# Without knowing the world
# -------------------------
#
# Nobody told the child the chances of slipping. *Q-learning* keeps a number :math:`Q(s, a)` for each action, and moves it
# towards what followed:
#
# .. math:: Q(s, a) \leftarrow Q(s, a) + \alpha\,\bigl(r + \gamma \max_{a'} Q(s', a') - Q(s, a)\bigr) .
#
# Where every action has one outcome, :math:`\alpha = 1` will do, and the value is replaced. Where there is chance,
# :math:`\alpha` has to shrink, so that :math:`Q` becomes a mean. Both need every action tried again and again, so now
# and then (with the chance :math:`\varepsilon`) one acts at random: *exploration* costs, but who never explores never
# knows.

learner = qed.QLearning(gamma=0.99, exploration=0.3, episodes=2000, max_iter=20, random_state=0)
walk = list(islice(qed.steps(learner, lake), 20))
worth = [lake.start @ step.q.max(axis=1) for step in walk]
figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.plot(
    2000 * np.arange(1, len(worth) + 1),
    worth,
    ".-",
    label="what it believes the start is worth",
)
axes.axhline(plan.return_, color="grey", linestyle="--", label="what it is worth")
axes.set(
    xlabel="episodes",
    ylabel="value of the start",
    ylim=(0, 0.8),
    title="Learning to walk on ice",
)
axes.legend()
plt.show()

# %%
# One state: the bandit
# ---------------------
#
# The price of exploring is seen best where there is nothing else: machines with arms that pay at random. *Regret* is what
# not knowing the best arm has cost. Trying an arm at random for ever costs in a straight line. *Upper confidence bounds*
# pull the arm that could be the best, :math:`\bar r_a + \sqrt{2 \log t / n_a}`, so that arms that are known to be bad are
# left alone, and the regret grows only as :math:`\log t`. That is a promise about the long run: at first caution costs, and
# here its curve is above the straight one still, though it bends. *Thompson sampling* draws from what it believes of each
# arm and pulls the best draw.

bandit = qed.Bandit([0.3, 0.5, 0.7])
settings = {"pulls": 2000, "runs": 100, "random_state": 0}
players = {
    "at random, one in ten": qed.EpsilonGreedy(0.1, **settings).fit(bandit),
    "upper confidence bounds": qed.UpperConfidence(**settings).fit(bandit),
    "Thompson sampling": qed.ThompsonSampling(**settings).fit(bandit),
}
qed.plots.regret(players)
plt.show()

# %%
# What is found together
# ----------------------
#
# Now the receipts. The *support* of a set of items is the share of baskets that hold all of them. A rule
# :math:`A \Rightarrow B` has
#
# .. math:: \text{confidence} = \frac{s(A \cup B)}{s(A)} \approx P(B \mid A), \qquad
#           \text{lift} = \frac{s(A \cup B)}{s(A)\,s(B)} ,
#
# and a lift of 1 is what independence gives. There are :math:`2^p` sets. But *no set is more frequent than its parts*, so
# only sets all of whose parts are frequent need be counted: *Apriori* goes from size to size. A set that is not frequent
# though all its parts are lies on the *negative border*. If the border has been counted, no frequent set can be missing,
# for it would have to contain a set of the border. That is what the certificate checks.

names = ["bread", "milk", "nappies", "beer"]
receipts = [[1, 1, 0, 0], [1, 0, 1, 1], [0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 0]]
baskets = pd.DataFrame(receipts, columns=names)
frequent = qed.Apriori(min_support=0.4).fit(baskets)
for items, support in frequent.sets()[-3:]:
    print(support, items)
for rule in qed.association_rules(frequent, min_confidence=0.8)[:3]:
    print(rule)
print(qed.certify(frequent, baskets))

# %%
# A rule says what is found together, not what causes what. And whoever looks at a thousand rules finds some by luck.
#
# Stepping through it
# -------------------
#
# In this row of fields only the last step pays, and each step is worth 0.9 of the one before. Watch the reward walk back
# from the goal, one field an episode: at first nothing but the last step is known to be worth anything. What to look for:
# values never fall, and never pass the best ones. That is always so where rewards are not negative and every action has
# one outcome.

row = qed.GridWorld(["S....G"])
one_by_one = qed.QLearning(gamma=0.9, exploration=0.2, episodes=1, random_state=0)
seen = np.array([step.q.max(axis=1)[:5] for step in islice(qed.steps(one_by_one, row), 8)])
print(seen.round(3))
figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
picture = axes.imshow(seen.T, cmap="cividis", vmin=0, vmax=1, aspect="auto")
axes.set(xlabel="episode", ylabel="field", title="The reward walks back", yticks=range(5))
axes.grid(visible=False)
figure.colorbar(picture, label="largest Q")
plt.show()
assert (np.diff(seen, axis=0) >= 0).all()

# %%
# Where the texts slip
# --------------------
#
# They hardly slip here, but they stop early.
#
# - Q-learning is given for worlds without chance, where a value can be replaced by what followed. With chance and
#   :math:`\alpha = 1` the values jump for ever; the second exercise shows it.
# - Its values tend to the best ones only if every action is tried in every state, again and again. An action that was
#   never tried may be the best.
# - Association rules and bandits are named as kinds of learning, and no more. What is said about them here goes beyond the
#   texts.
#
# Exercises
# ---------
#
# **Exercise 1.** A goal pays 7 and is three steps away; :math:`\gamma = 0.9`. What is the first step worth?
#
# .. solution::
#
#    The reward comes two steps after the first one, so :math:`0.9^2 \cdot 7 = 5.67`.

found = qed.ValueIteration(gamma=0.9).fit(qed.GridWorld(["S..G"], goal=7.0))
assert np.isclose(found.return_, 0.9**2 * 7)
print(round(found.return_, 4))

# %%
# .. end-solution::
#
# **Exercise 2.** Let the learner on the lake replace its values, ``learning_rate=1``. Compare how much its idea of the
# start jumps in the last ten steps with the learner above.
#
# .. solution::
#
#    It believes the last thing that happened. Its idea never settles; that of the learner above does.

rash = qed.QLearning(0.99, learning_rate=1.0, exploration=0.3, episodes=2000, random_state=0)
jumps = [lake.start @ step.q.max(axis=1) for step in islice(qed.steps(rash, lake), 20)]
assert np.std(jumps[10:]) > 5 * np.std(worth[10:])
print(
    f"standard deviation of the last ten: {np.std(jumps[10:]):.3f}, and "
    f"{np.std(worth[10:]):.3f} above"
)

# %%
# .. end-solution::
#
# **Exercise 3.** By hand: support, confidence and lift of *beer* :math:`\Rightarrow` *nappies* on the five receipts.
#
# .. solution::
#
#    Three baskets hold both, 3/5. All three baskets with beer hold nappies: confidence 1. Nappies are in 4/5 of all, so
#    the lift is 1.25.

rules = {(rule.given, rule.then): rule for rule in qed.association_rules(frequent)}
rule = rules[("beer",), ("nappies",)]
assert np.allclose([rule.support, rule.confidence, rule.lift], [0.6, 1.0, 1.25])
print(rule)

# %%
# .. end-solution::
#
# This was the last chapter. What you have seen is one idea in many clothes: say what a good answer is, find it, and
# check that you have.
