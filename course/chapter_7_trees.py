r"""
7. Trees and ensembles: a few questions, and many answers
=========================================================

**The question.** A doctor looks at cells under a microscope. Thirty measurements of their nuclei are taken: sizes,
shapes, textures. Is the lump malignant? The answer should be one that a person can follow. And then: why is a vote of
many poor answers better than one careful answer?
"""

from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed

cells = qed.data.load("breast_cancer")
X, y = cells.Xy()
X_train, X_test, y_train, y_test = qed.train_test_split(X, y, test_size=0.3, random_state=0)
print(X.shape, dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)))))

# %%
# One question at a time
# ----------------------
#
# A *decision tree* asks about one column: is it above a threshold? The answer leads to the left or to the right, where
# the next question waits. A leaf answers with the majority of its training rows. So the leaves are boxes that fill the space.
# Only the order of values counts: to take the logarithm of a column changes nothing. (A column of words may have a branch for
# each of its values, or one for a set of them.)

small = qed.DecisionTreeClassifier(criterion="entropy", max_depth=2).fit(X_train, y_train)
qed.plot_tree(small, feature_names=cells.features, missing=False)
plt.show()
print(qed.export_rules(small, feature_names=cells.features, missing=False))
print(f"right on rows held out: {small.score(X_test, y_test):.1%}")

# %%
# Which question is the best? We want the sides to be *pure*. The *surprise* of an event of probability :math:`p` is
# :math:`-\log_2 p` bits. Its mean is the *entropy* of a node with the shares :math:`p_k`:
#
# .. math:: H = -\sum_k p_k \log_2 p_k .
#
# A question that sends :math:`n_L` and :math:`n_R` of :math:`n` rows to its sides is worth what the entropy falls by,
# the *information gain*
#
# .. math:: H - \left(\tfrac{n_L}{n} H_L + \tfrac{n_R}{n} H_R\right) .
#
# The *Gini impurity* :math:`\sum_k p_k (1 - p_k)` does the same without logarithms: it is the chance of a wrong label when
# labels are drawn by lot. The gain is never negative. It is zero if both sides have the shares of the node: from 20 mails
# and 10 spam to (12, 6) and (8, 4) nothing is learned.
#
# Why not simply count errors? Take a node with 40 rows of each class. One question leads to (30, 10) and (10, 30),
# another to (20, 40) and (20, 0). Both leave 20 errors. But the second has one side that is finished. Entropy and Gini
# see it:

for name in ("misclassification", "gini", "entropy"):
    first, second = (
        qed.information_gain(sides, name)
        for sides in ([[30, 10], [10, 30]], [[20, 40], [20, 0]])
    )
    print(f"{name:<18} {first:.4f} {second:.4f}")

# %%
# The reason is a picture. A node lies between its sides, on the *chord* from one to the other. The gain is the distance
# from the chord up to the curve. Entropy and Gini are *strictly concave*: the curve is above every chord, so every
# question that changes the shares is worth something. The count of errors is straight on either side of one half.

p = np.linspace(0, 1, 201)
figure, axes = plt.subplots(figsize=(6, 3.7), layout="constrained")
for name, style in (("entropy", "-"), ("gini", "--"), ("misclassification", ":")):
    axes.plot(p, qed.impurity(np.column_stack([p, 1 - p]), name), style, label=name)
ends = np.array([0.1, 0.4])
heights = qed.impurity(np.column_stack([ends, 1 - ends]), "entropy")
axes.plot(ends, heights, "o-", color="0.4", linewidth=1)
axes.plot(
    [0.25, 0.25],
    [heights.mean(), qed.impurity([0.25, 0.75], "entropy")],
    color="C3",
    linewidth=2,
    label="the gain",
)
axes.set(xlabel="share of one class", ylabel="impurity", title="From one node to two sides")
axes.legend()
plt.show()

# %%
# To find the best question, sort the rows by a column and sweep the threshold from one row to the next, keeping counts.
# That is :math:`O(n)` for a sorted column, and all thresholds are tried: between two equal values there is none, so a column
# with :math:`m` values has :math:`m - 1` questions. To find the best *tree* is NP-hard. So trees
# are grown greedily: the best question here, then the best on each side.
#
# When to stop
# ------------
#
# Grown to the end, a tree makes no error on its own rows (unless equal rows have different labels): it has learned them by
# heart. One can stop before: at a depth, at a node that is pure enough or small, or where no question gains enough. Or one
# grows it to the end and asks rows that were held out which branches to take away. *Pruning* cuts it back. With a price
# :math:`\alpha` for every leaf, minimise
#
# .. math:: R(T) + \alpha\, |T| .
#
# As :math:`\alpha` rises, branches fall in a fixed order, and each tree of the sequence contains the next. So one grown
# tree holds all prunings, and cross-validation chooses among them.

alphas = (
    qed.DecisionTreeClassifier()
    .fit(X_train, y_train)
    .cost_complexity_pruning_path(X_train, y_train)
    .ccp_alphas
)
search = qed.Search(qed.DecisionTreeClassifier(), {"ccp_alpha": alphas.tolist()}, cv=10).fit(
    X_train, y_train
)
grown = qed.DecisionTreeClassifier().fit(X_train, y_train)
pruned = search.best_estimator_
print(search.how_)
for name, tree in (("grown", grown), ("pruned", pruned)):
    scores = tree.score(X_train, y_train), tree.score(X_test, y_test)
    print(
        f"{name}: {tree.get_n_leaves()} leaves, right on its rows {scores[0]:.1%}, on "
        f"others {scores[1]:.1%}"
    )
useful = np.argsort(grown.feature_importances_)[::-1][:3]
print("what took most of the impurity away:", [cells.features[i] for i in useful])

# %%
# A tree can predict numbers, too. Then a question is worth what the sum of squared errors falls by, and a leaf answers with the
# mean of its rows, or with a line of its own (``leaf="linear"``). With enough leaves it comes near every continuous function: a
# staircase of width :math:`h` is wrong by at most half of what the function can change over :math:`h`.

wave = np.linspace(0, 1, 200)[:, None]
heights = np.sin(2 * np.pi * wave[:, 0])
for leaves in (4, 16, 64):
    stairs = qed.DecisionTreeRegressor(max_leaf_nodes=leaves).fit(wave, heights)
    print(
        f"{leaves:>2} leaves miss a sine by at most "
        f"{np.abs(stairs.predict(wave) - heights).max():.3f}"
    )

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# A greedy tree is not the best tree, and nobody claims so. What can be proven is that every question was the best *of
# all questions* at its node, and that the tree stopped where its rules say.

print(qed.certify(small, X_train, y_train))

# %%
# - *a question is better than the one asked, by at most*: all columns and all thresholds of every node were tried
#   again, by a plain sweep.
# - *thresholds that are not midway between rows*: a threshold has to lie in the middle of a gap, as far as it can from
#   the rows on both sides.
# - *leaves that the rules would have split*: the tree did not stop too early.
#
# Many trees: averaging
# ---------------------
#
# A small change of the rows can change the first question, and with it the whole tree: trees have high variance. The
# mean of :math:`m` independent numbers with variance :math:`\sigma^2` has the variance :math:`\sigma^2/m`. With a
# correlation :math:`\rho` between them it is
#
# .. math:: \rho\, \sigma^2 + \frac{1 - \rho}{m}\, \sigma^2 .
#
# So average many trees, and make them *differ*. A *random forest* does two things for that. Each tree gets rows drawn
# with replacement (*bagging*); it misses about :math:`(1 - 1/n)^n \approx 1/e = 36.8\,\%` of them. And each question
# may choose among a few columns only, drawn anew.

forest = qed.RandomForestClassifier(60, oob_score=True, random_state=0).fit(X_train, y_train)
print(
    f"rows that a tree did not see say {forest.oob_score_:.1%}; rows held out say "
    f"{forest.score(X_test, y_test):.1%}"
)

# %%
# The rows that a tree missed judge it for free: that is the *out-of-bag* score. Watch what the number of columns does,
# in one picture. The fewer columns, the worse is a single tree. But the less do two trees agree, too, and so their vote
# stays as good as it was, or is a little better than with all thirty columns.

counts = (1, 2, 5, 10, 30)
agree, vote, single = [], [], []
for count in counts:
    one = qed.RandomForestClassifier(30, max_features=count, random_state=0).fit(
        X_train, y_train
    )
    right = np.array([tree.predict(X_test) for tree in one.estimators_]) == y_test
    single.append(1 - right.mean())
    agree.append(np.mean([np.mean(right[i] == right[j]) for i in range(10) for j in range(i)]))
    vote.append(1 - one.score(X_test, y_test))
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.5), layout="constrained")
left.semilogx(counts, agree, "o-")
left.set(
    xlabel="columns for each question",
    ylabel="share of rows",
    title="Two trees give the same answer",
)
right.semilogx(counts, single, "s--", label="a single tree")
right.semilogx(counts, vote, "o-", label="the vote of 30")
right.set(
    xlabel="columns for each question",
    ylabel="share of errors",
    title="Errors on rows held out",
    ylim=(0, None),
)
right.legend()
plt.show()

# %%
# One after another: boosting
# ---------------------------
#
# Averaging lowers variance. *Boosting* lowers bias: it adds weak members, each made for what those before it got wrong.
# Matching pursuit in chapter 2 did so with columns: it took the best one, and went on with what was left. *AdaBoost* gives
# every row a weight. With labels -1 and 1, in round :math:`m`:
#
# 1. fit a member :math:`G_m`, for example a tree of one question, to the weighted rows; let :math:`e_m` be the weight
#    of its errors;
# 2. its say is :math:`\alpha_m = \tfrac12 \ln \frac{1 - e_m}{e_m}`;
# 3. multiply the weights of rows that were wrong by :math:`e^{\alpha_m}`, of the others by :math:`e^{-\alpha_m}`.
#
# (Some write :math:`\alpha_m` twice as large and leave the rows that were right alone. Scaled to a sum of one, the weights
# are the same. A member that knows no weights can be given rows drawn with them.) With :math:`e_m = 0.25`, :math:`\alpha_m`
# is 0.549; with :math:`\frac12` it is 0, and with 0 it is infinite: then the member alone is the answer. The answer is the
# sign of :math:`F = \sum_m \alpha_m G_m`. Where does the formula come from? From the *exponential loss*
# :math:`\sum_i e^{-y_i F(x_i)}`. The weights are this loss, row by row. To add :math:`\alpha G` costs
# :math:`(1 - e) e^{-\alpha} + e\, e^{\alpha}` for each unit of weight. Set the derivative to zero, and out comes
# :math:`\alpha_m`. At this point the cost is :math:`Z_m = 2\sqrt{e_m (1 - e_m)}`, which is below 1 unless
# :math:`e_m = \tfrac12`.
#
# The exponential loss is above the count of errors. So the share of training errors is at most :math:`\prod_m Z_m`: *a
# theorem with a number in it*. If every :math:`e_m \le \frac12 - \gamma` the product is at most :math:`e^{-2\gamma^2 M}`,
# and so after :math:`M \ge \ln(2n)/(2\gamma^2)` rounds no training row is wrong.

stumps = qed.AdaBoostClassifier(
    qed.DecisionTreeClassifier(max_depth=1), n_estimators=80, random_state=0
).fit(X_train, y_train)
bound = np.cumprod(2 * np.sqrt(stumps.estimator_errors_ * (1 - stumps.estimator_errors_)))
on_train = 1 - np.array(list(stumps.staged_score(X_train, y_train)))
on_test = 1 - np.array(list(stumps.staged_score(X_test, y_test)))
figure, axes = plt.subplots(figsize=(7, 3.7), layout="constrained")
axes.plot(on_train, label="rows of the fit")
axes.plot(bound, "--", label="the bound: product of all Z")
axes.plot(on_test, ":", label="rows held out")
axes.set(
    xlabel="rounds",
    ylabel="share of errors",
    ylim=(-0.005, 0.3),
    title="80 trees of one question each",
)
axes.legend()
plt.show()
print(qed.certify(stumps, X_train, y_train))

# %%
# - *training error, against the product of all Z*: the theorem, on these rows.
# - *mistakes of a member weigh 1/2 of all afterwards*: with the new weights the last member is as good as a coin. That
#   is why the next one has to be different.
# - *members that are no better than chance*: the theorem needs members that are a little better.
# - *members whose own proof does not hold*: each stump has a certificate, too.
#
# The theorem says nothing about other rows. Here their error is least after about ten rounds and then stays near five
# percent. On other tables it goes on falling long after the last training row is right, because the *margins* still
# grow. Only rows held out can tell.
#
# *Gradient boosting* is the same idea for any loss. The slopes of the loss with respect to the predictions say where to go;
# a tree is fitted to them, and its leaves take a step, as long as a line search says. With squared errors the slopes are
# the residuals; with the exponential loss it is AdaBoost. And members of any kind can be joined by one more model, a
# logistic regression on their answers for rows held out: *stacking*.

boosted = qed.GradientBoostingClassifier(max_iter=60, max_depth=2, min_samples_leaf=5).fit(
    X_train, y_train
)
single = qed.DecisionTreeClassifier(max_depth=3)
stacked = qed.StackingClassifier(
    [("tree", single), ("clouds", qed.GaussianNB())], qed.LogisticRegression()
).fit(X_train, y_train)
models = {
    "pruned tree": pruned,
    "forest": forest,
    "AdaBoost": stumps,
    "gradient boosting": boosted,
    "a tree and clouds, stacked": stacked,
}
for name, model in models.items():
    print(f"{name:<27}{model.score(X_test, y_test):.1%}")

# %%
# Stepping through it
# -------------------
#
# A tree is grown at once, but boosting walks. What to look for: the objective is the product of all :math:`Z` so far,
# and falls in every round. And look at *which rows* gather the weight: after a few rounds a handful of cells carry most
# of it. Are they hard cases, or wrong labels? AdaBoost can not tell.

walk = qed.steps(
    qed.AdaBoostClassifier(qed.DecisionTreeClassifier(max_depth=1), random_state=0),
    X_train,
    y_train,
)
for step in islice(walk, 5):
    print(f"after {len(step.members)} members: the product of all Z is {step.objective:.4f}")


def row_weights(model, labels):
    """Give the exponential loss of every row, which is its weight in the next round."""
    sign = np.where(labels == model.classes_[1], 1, -1)
    share = (
        sign * model.decision_function(X_train) / 2
    )  # of all says, those for the true class less those against it
    return np.exp(-share * model.estimator_weights_.sum() / 2)


weight = row_weights(stumps, y_train)
print(f"mean exponential loss {weight.mean():.6f}, product of all Z {bound[-1]:.6f}")
print(
    f"the ten heaviest of {len(y_train)} rows carry "
    f"{np.sort(weight)[-10:].sum() / weight.sum():.0%} of the weight"
)

# %%
# Where the texts slip
# --------------------
#
# - "Strictly *convex* functions give a positive gain", says the guide. *Concave* is meant, as in the picture above.
# - The lecture notes say that a bootstrap sample holds about 67 % of the rows. It is :math:`1 - 1/e \approx 63.2\,\%`;
#   the course book's "about two thirds" is kinder.
# - The stopping rule "no question has a positive gain" ends at the root for the *exclusive or*, where no single
#   question helps but two do. So a tree grown to the end has to ask although the gain is zero. Exercise 2 looks at it.
# - For gradient boosting the guide takes the member with the largest inner product with the slopes. If members can be
#   scaled freely that has no maximum; they must be normalised, or fitted to the slopes by least squares.
#
# Exercises
# ---------
#
# **Exercise 1.** A node has 20 rows of one class and 10 of the other. Compute its entropy by hand, then with
# `qed.impurity`. Which split of it has the largest possible gain, and how large is that?
#
# .. solution::
#
#    :math:`H = -\frac23 \log_2 \frac23 - \frac13 \log_2 \frac13 = 0.9183` bits. A question that separates the classes
#    has pure sides, with entropy zero: it gains all of it.

by_hand = -(2 / 3) * np.log2(2 / 3) - (1 / 3) * np.log2(1 / 3)
assert np.isclose(qed.impurity([20, 10], "entropy"), by_hand)
assert np.isclose(qed.information_gain([[20, 0], [0, 10]]), by_hand)
print(f"{by_hand:.4f} bits")

# %%
# .. end-solution::
#
# **Exercise 2.** Draw `qed.data.synthetic.xor` with four points. What is the gain of every single question? How deep
# must a tree be? Does ``min_impurity_decrease`` stop it?
#
# .. solution::
#
#    Both sides of any question hold one point of each class, so the gain is zero. Two levels solve it, but only if the
#    first may be asked for nothing.

corners, kind = qed.data.synthetic.xor()
assert qed.information_gain([[1, 1], [1, 1]]) == 0
deep = qed.DecisionTreeClassifier().fit(corners, kind)
strict = qed.DecisionTreeClassifier(min_impurity_decrease=1e-9).fit(corners, kind)
assert deep.score(corners, kind) == 1.0 and deep.get_depth() == 2 and strict.get_n_leaves() == 1
print("depth", deep.get_depth(), "and with a demand for gain:", strict.get_n_leaves(), "leaf")

# %%
# .. end-solution::
#
# **Exercise 3.** Flip the labels of one training row in ten. Which share of the weight of AdaBoost gathers on them?
# What happens to its answers, and to those of the forest? Guess first.
#
# .. solution::
#
#    AdaBoost moves weight to the rows that it gets wrong, and a flipped row is mostly wrong. So a tenth of the rows
#    gathers four times its share of the weight, and later members are fitted to mistakes of the labels. The forest has
#    no weights to move; it outvotes what is rare.

random = np.random.default_rng(0)
noisy = y_train.copy()
flipped = random.permutation(len(noisy))[: len(noisy) // 10]
noisy[flipped] = np.where(noisy[flipped] == "benign", "malignant", "benign")
misled = qed.AdaBoostClassifier(
    qed.DecisionTreeClassifier(max_depth=1), n_estimators=80, random_state=0
).fit(X_train, noisy)
weight = row_weights(misled, noisy)
gathered = weight[flipped].sum() / weight.sum()
trees = qed.RandomForestClassifier(60, random_state=0).fit(X_train, noisy)
print(
    f"flipped rows: {len(flipped) / len(noisy):.0%} of all, with {gathered:.0%} of the weight"
)
for name, before, after in (("AdaBoost", stumps, misled), ("forest", forest, trees)):
    print(
        f"{name:<10}{before.score(X_test, y_test):.1%} with true labels, "
        f"{after.score(X_test, y_test):.1%} with a tenth flipped"
    )
assert gathered > 0.3

# %%
# .. end-solution::
#
# Trees need no formulas for derivatives, only counts. The next chapter, on networks, needs many.
