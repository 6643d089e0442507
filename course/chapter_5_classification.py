r"""
5. Classification: clouds, odds, margins, neighbours
====================================================

**The question.** Three kinds of penguins live on the islands of the Palmer archipelago. A scientist measures the length
and the depth of a bill. Which penguin is it? And how sure is the answer?

A classifier answers with one of a few labels. Four ideas lead to one: model the *clouds* that the classes form; model
the *odds* of the classes; put a *boundary* with a wide margin between them; or ask the *neighbours*.
"""

import textwrap
import warnings
from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.optim import ExponentialLoss, HingeLoss, LogisticLoss, SquaredLoss

table = qed.data.load("penguins").to_pandas().dropna(subset=["bill_length_mm"])
bills = table[["bill_length_mm", "bill_depth_mm"]].to_numpy(float)
species = table["species"].to_numpy(str)
kinds = ["Adelie", "Chinstrap", "Gentoo"]

x1, x2 = np.meshgrid(np.linspace(31, 61, 160), np.linspace(12.5, 22.5, 160))
plane = np.column_stack([x1.ravel(), x2.ravel()])


def draw(axes, model, title):
    """Draw the regions of a classifier, and the penguins."""
    said = np.searchsorted(kinds, model.predict(plane)).reshape(x1.shape)
    axes.contourf(
        x1, x2, said, levels=[-0.5, 0.5, 1.5, 2.5], colors=["C0", "C1", "C2"], alpha=0.15
    )
    for kind, color, marker in zip(kinds, ("C0", "C1", "C2"), "os^"):
        axes.plot(*bills[species == kind].T, marker, color=color, markersize=3, label=kind)
    axes.set(title=title, xlabel="bill length (mm)")


# %%
# The best there can be
# ---------------------
#
# Suppose that we knew the probabilities :math:`P(k \mid x)` of the classes. If a wrong answer costs 1 and a right one
# 0, the expected cost of answering :math:`k` is :math:`1 - P(k \mid x)`. So the best answer is the most probable class.
# This is *Bayes' rule*. Where errors differ in price, answer with the least expected cost,
#
# .. math:: \hat y(x) = \arg\min_a \sum_k C_{ak}\, P(k \mid x) .
#
# For two classes this puts the threshold at :math:`P(+ \mid x) = c_{FP}/(c_{FP} + c_{FN})`: if to miss an illness is ten
# times as bad as a false alarm, one in eleven is enough to call it. No classifier can do better on average. All that
# follows are ways to guess :math:`P(k \mid x)`, or only where it crosses one half. *Generative* models say how each class
# makes its rows, and get :math:`P(k \mid x)` from Bayes' theorem; they can also make new rows. *Discriminative* ones say
# :math:`P(k \mid x)`, or only a boundary, and nothing about how rows come about.
#
# The simplest class of hypotheses is a *box*: a car is a family car if its price and its power lie in two ranges. The
# tightest box around the rows of a class misses none of them (no *false negatives*); its errors are *false positives*, rows
# of others that lie inside.

box = qed.tightest_rectangle(bills, species == "Chinstrap")
inside = box.contains(bills)
print(
    f"the box of the Chinstraps: {int((inside & (species != 'Chinstrap')).sum())} false "
    "positives, ",
    end="",
)
print(f"{int((~inside & (species == 'Chinstrap')).sum())} false negatives")

# %%
# Clouds
# ------
#
# Say that class :math:`k` is a Gaussian cloud with mean :math:`\mu_k` and covariance :math:`\Sigma_k`, and has the share
# :math:`P(k)`. Bayes' theorem gives the logarithm of the probability, up to a constant:
#
# .. math:: Q_k(x) = \ln P(k) - \tfrac12 (x - \mu_k)^\top \Sigma_k^{-1} (x - \mu_k) - \tfrac12 \ln |\Sigma_k| .
#
# The boundary between two classes is where their :math:`Q` are equal: a quadric (*quadratic discriminant analysis*). If
# all classes share one covariance, the quadratic terms cancel and the boundary is a line (*linear discriminant
# analysis*). Means, covariances and shares are simply those of the rows of each class: that is their maximum
# likelihood. (The one covariance is the mean of those of the classes, weighted by their shares.) There are four cases:
#
# - one round covariance, equal shares: the boundary halves the way between the means at a right angle;
# - one tilted covariance, equal shares: a line again, halfway in the distance of *Mahalanobis*, which measures along the cloud;
# - one covariance, other shares: the line moves in parallel, away from the class that is frequent;
# - two covariances: a quadric. For :math:`N(0, 1)` against :math:`N(0, 4)` it is two points, at :math:`\pm 1.36`.
#
# With more classes the plane is cut into regions by such pieces, like the cells of the nearest mean. The price of freedom
# is the number of parameters: for 64 columns and ten classes 2 729 with one covariance, 21 449 with ten. Fewer vary less.

linear = qed.LinearDiscriminantAnalysis().fit(bills, species)
quadratic = qed.QuadraticDiscriminantAnalysis().fit(bills, species)
figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
draw(panels[0], linear, "one covariance: lines")
draw(panels[1], quadratic, "one for each class: quadrics")
panels[0].set_ylabel("bill depth (mm)")
panels[0].legend(loc="lower left", fontsize=8)
plt.show()

# %%
# Look at one column alone and these penguins overlap. Look at both and they come apart: within a species, longer bills
# are deeper; between species it is the other way round.
#
# Columns that say yes or no
# --------------------------
#
# A mail is a row of zeros and ones: which words does it hold? Clouds make no sense there. To know the probability of *every*
# row of :math:`d` words takes :math:`2^{d+1} - 1` numbers for two classes. *Naive Bayes* takes :math:`2d + 1`: it treats words
# as independent, once the class is known,
#
# .. math:: P(k \mid x) \propto P(k) \prod_j p_{kj}^{x_j} (1 - p_{kj})^{1 - x_j} .
#
# The :math:`p_{kj}` are shares of mails. A word that no mail of a class had would forbid that class for ever, so counts are
# *smoothed*: add :math:`m` to the mails with the word and to those without, as in chapter 2. Its logarithm is linear in
# :math:`x`, with the weights :math:`\ln \frac{p_{1j} (1 - p_{0j})}{p_{0j} (1 - p_{1j})}` and the constant
# :math:`\sum_j \ln \frac{1 - p_{1j}}{1 - p_{0j}} + \ln \frac{P(1)}{P(0)}`. So its boundary is a plane, too.

mails = np.array([[1, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 1], [0, 1, 1]])
spam = np.array([1, 1, 1, 0, 0])
naive = qed.BernoulliNB(alpha=1.0).fit(mails, spam)
p = np.exp(naive.feature_log_prob_)
weight = np.log(p[1] * (1 - p[0]) / (p[0] * (1 - p[1])))
constant = np.log((1 - p[1]) / (1 - p[0])).sum() + np.log(3 / 2)
print("chance of spam:", naive.predict_proba([[1, 0, 1]])[0, 1].round(4), end="; ")
print("by the line:", (1 / (1 + np.exp(-(np.array([1, 0, 1]) @ weight + constant)))).round(4))

# %%
# Odds
# ----
#
# For two Gaussian classes with one covariance, :math:`Q_1 - Q_0` is linear in :math:`x`. So the probability is a
# *logistic curve* of a linear function,
#
# .. math:: P(1 \mid x) = s(w^\top x + b), \qquad s(t) = \frac{1}{1 + e^{-t}} .
#
# *Logistic regression* keeps this formula and forgets the clouds. It takes :math:`w` and :math:`b` that make the labels
# most probable. With :math:`p_i = s(w^\top x_i + b)` and labels 0 and 1, minus the log-likelihood is the
# *cross-entropy*, here with a penalty:
#
# .. math:: \min_{w, b} \; \tfrac12 \|w\|^2 + C \sum_i \left[-y_i \ln p_i - (1 - y_i) \ln (1 - p_i)\right] .
#
# Since :math:`s' = s(1 - s)`, the gradient of the sum is wonderfully simple, and the Hessian is never negative:
#
# .. math:: \nabla = \sum_i (p_i - y_i)\, x_i , \qquad H = \sum_i p_i (1 - p_i)\, x_i x_i^\top \succeq 0 .
#
# So the problem is convex, and Newton's method solves it in a few steps. (Squared errors of :math:`s` would not be: for one row
# with :math:`x = y = 1` the second derivative at :math:`w = -3` is -0.074. And they have next to no slope where an answer is
# sure and wrong.) The cross-entropy has another name, *divergence*: with :math:`D(P \| Q) = \sum P \ln (P/Q)`, which is the
# cross-entropy of :math:`P` and :math:`Q` less the entropy of :math:`P`, the sum is :math:`\sum_i D(y_i \| p_i)`. It is never
# negative, zero for equal distributions only, and no distance: it is not symmetric.
#
# With more than two classes the logistic curve becomes the *softmax*, :math:`P(k \mid x) \propto e^{z_k}` with
# :math:`z_k = w_k^\top x + b_k`, and the gradient :math:`(P - Y)^\top X`. The same vector added to every :math:`w_k` changes
# nothing, so only differences count; for two classes :math:`w_1 - w_0` is the :math:`w` from above. The classes are written as
# *one-hot* rows, *banana* as :math:`(0, 1, 0)`. Numbers 1, 2, 3 for *peach*, *banana*, *apple* would say that half a peach and
# half an apple are a banana.

logistic = qed.LogisticRegression(C=1.0).fit(bills, species)
unsure = int(np.argmin(np.abs(logistic.predict_proba(bills).max(axis=1) - 0.5)))
print(
    "bill",
    bills[unsure],
    dict(zip(kinds, logistic.predict_proba(bills[[unsure]])[0].round(2).tolist())),
    "true:",
    species[unsure],
)

# %%
# A warning that a textbook can not give. The Adelie and Gentoo penguins can be separated by a line. Then larger
# coefficients are *always* better: the probabilities come ever closer to 0 and 1, and without a penalty there is no
# minimum. The fit says so. With a penalty, or a kernel (`qed.KernelLogisticRegression`), there is always one.

apart = species != "Chinstrap"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    qed.LogisticRegression(C=np.inf).fit(bills[apart], species[apart])
print(textwrap.fill(str(caught[0].message), 88))

# %%
# Margins
# -------
#
# If a line separates two classes, many do. Which one? The one that is farthest from both. Scale :math:`(w, b)` so that
# the nearest points have :math:`y_i(w^\top x_i + b) = 1` (with labels -1 and 1). The distance of a point from the line
# is :math:`|w^\top x + b| / \|w\|`, so the margin is :math:`1/\|w\|` on each side. The widest margin is the smallest
# :math:`\|w\|`. Where no line separates, points may break in, for a price:
#
# .. math:: \min_{w, b, \xi} \; \tfrac12 \|w\|^2 + C \sum_i \xi_i , \qquad y_i (w^\top x_i + b) \ge 1 - \xi_i , \quad \xi_i \ge 0 .
#
# A small :math:`C` wants a wide margin and lets some rows in; a large one follows every row, outliers too, and from some
# finite :math:`C` on it is the machine without :math:`\xi`. The best :math:`\xi_i` is :math:`\max(0, 1 - y_i f(x_i))`, so the
# same problem without constraints is the *hinge loss* with a penalty,
#
# .. math:: \min_{w, b} \; \frac1n \sum_i \max(0,\, 1 - y_i (w^\top x_i + b)) + \lambda \|w\|^2 ,
#    \qquad \lambda = \frac{1}{2Cn} .
#
# (With :math:`\xi_i^2` in the place of :math:`\xi_i` a small :math:`\xi_i` costs next to nothing, so that *every* support
# vector breaks in a little, by :math:`\alpha_i/(2C)`.) This is the *support vector machine*. Its dual problem has one
# multiplier :math:`\alpha_i` for each row, and rows occur only as inner products:
#
# .. math:: \max_\alpha \; \sum_i \alpha_i - \tfrac12 \sum_{ij} \alpha_i \alpha_j y_i y_j\, x_i^\top x_j ,
#    \qquad 0 \le \alpha_i \le C , \quad \sum_i \alpha_i y_i = 0 .
#
# So a kernel can stand in their place: the answer is the sign of :math:`f(x) = \sum_i \alpha_i y_i\, k(x_i, x) + b`, a sum
# over the few rows with :math:`\alpha_i > 0`. Any row with :math:`0 < \alpha_i < C` gives
# :math:`b = y_i - \sum_j \alpha_j y_j\, k(x_j, x_i)`. And the conditions of optimality say what each multiplier means:
# :math:`\alpha_i = 0` outside the margin, :math:`0 < \alpha_i < C` on it, :math:`\alpha_i = C` inside. Only rows with
# :math:`\alpha_i > 0`, the *support vectors*, hold the boundary. There is one on each side at least. Where a line separates
# the classes, three hold it typically: a line in the plane, with its margin, has three numbers. If nearly all rows are
# support vectors, the kernel is too narrow: leaving out a row that is none changes nothing, so the share of support vectors
# bounds the error of rows left out. For more than two classes there is one machine for each pair (or one for each class
# against the rest).

two = species != "Gentoo"
pair, side = bills[two], np.where(species[two] == "Chinstrap", 1, -1)
figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained", sharey=True)
machines = {
    "C = 0.01": qed.SVC(kernel="linear", C=0.01),
    "C = 10": qed.SVC(kernel="linear", C=10.0),
    "Gaussian kernel": qed.SVC(gamma=0.1, C=10.0),
}
for axes, (name, machine) in zip(panels, machines.items()):
    score = machine.fit(pair, side).decision_function(plane).reshape(x1.shape)
    axes.contour(
        x1,
        x2,
        score,
        levels=[-1, 0, 1],
        colors="black",
        linestyles=["--", "-", "--"],
        linewidths=1,
    )
    for label, color, marker, kind in ((-1, "C0", "o", "Adelie"), (1, "C1", "s", "Chinstrap")):
        axes.plot(*pair[side == label].T, marker, color=color, markersize=3, label=kind)
    axes.plot(
        *machine.support_vectors_.T,
        "o",
        markersize=8,
        markerfacecolor="none",
        markeredgecolor="black",
        markeredgewidth=0.6,
    )
    axes.set(
        title=f"{name}: {len(machine.support_)} support vectors",
        xlabel="bill length (mm)",
        ylim=(15, 22.5),
    )
panels[0].set_ylabel("bill depth (mm)")
panels[0].legend(loc="lower right", fontsize=8)
plt.show()

# %%
# Is there a line at all? `qed.separating_plane` answers with the line, or with a *proof that there is none*: weights of
# the rows for which a mixture of the one class equals a mixture of the other. Such a pair of mixtures can not be on two
# sides of a line (Farkas' lemma).

for first, second in (("Adelie", "Gentoo"), ("Adelie", "Chinstrap")):
    chosen = (species == first) | (species == second)
    answer = qed.separating_plane(bills[chosen], species[chosen])
    print(
        f"{first} and {second}: a line exists? {answer.is_separable}; proven? "
        f"{bool(answer.certificate)}"
    )

# %%
# Losses
# ------
#
# What one would like to minimise is the share of errors. That is NP-hard, even for planes. All the methods above minimise
# something else, a function of the *margin* :math:`m = y f(x)`, that is convex and lies above the error (the logistic loss does
# when it is divided by :math:`\ln 2`). Least squares on the labels is one more, :math:`(1 - m)^2`, because :math:`y^2 = 1` (half of
# it is drawn). It
# has a closed form, and a flaw that the picture shows: it rises again where answers are *right*, far on the right side.

figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
losses = {
    "hinge": HingeLoss(),
    "logistic": LogisticLoss(),
    "exponential": ExponentialLoss(),
    "half the square": SquaredLoss(),
}
qed.plots.losses(losses, axes, reach=2.5)
plt.show()
near = np.array([-1.5, -1.0, -0.5, 0.5, 1.0, 1.5])[:, None]
away, sides = np.vstack([near, [[10.0]]]), np.array([-1, -1, -1, 1, 1, 1, 1])
for name, kind, settings in (
    ("least squares", qed.RidgeClassifier, {"alpha": 0}),
    ("support vectors", qed.SVC, {"kernel": "linear", "C": 1e3}),
):
    found = [kind(**settings).fit(near, sides[:-1]), kind(**settings).fit(away, sides)]
    before, after = (abs(model.intercept_[0] / model.coef_[0, 0]) for model in found)
    print(
        f"{name:<16} threshold {before:.4f}, and {after:.4f} with one more row far on the "
        "right side"
    )

# %%
# Rows that lie around each other need no kernel if one knows the features: with squares and products a circle is a plane.
# And any score :math:`g_w(x)`, that of a network too, can stand in the place of the line.
#
# Neighbours
# ----------
#
# The last idea assumes nothing: penguins with like bills are of the same kind. Ask the :math:`k` nearest, and let them
# vote; their shares are probabilities, their mean predicts a number. Nothing is learned beforehand, all rows are kept, and all
# work is done when a question comes. Small :math:`k` follows every row: :math:`k = 1` makes no error on its own rows. Large
# :math:`k` blurs the boundary; :math:`k = n` is the majority. For means of numbers with noise of variance :math:`\sigma^2`
#
# .. math:: \text{bias}^2 = \left(\frac1k \sum_{j \le k} f(x_{(j)}) - f(z)\right)^2 , \qquad \text{variance} = \frac{\sigma^2}{k} .
#
# All :math:`k` are judged by one search. As rows become many, one neighbour errs at most twice as often as the best classifier
# there is (Cover and Hart), and :math:`k` neighbours reach it, if :math:`k` grows and :math:`k/n` goes to zero.

search = qed.Search(
    qed.KNeighborsClassifier(), {"n_neighbors": range(1, 60)}, cv=qed.LeaveOneOut()
).fit(bills, species)
figure, panels = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
draw(panels[0], qed.KNeighborsClassifier(1).fit(bills, species), "k = 1")
draw(panels[1], search.best_estimator_, f"k = {search.best_params_['n_neighbors']}")
panels[2].plot(range(1, 60), 1 - search.cv_results_["mean_test_score"], ".-")
panels[2].set(
    xlabel="number of neighbours",
    ylabel="share of errors, each row left out",
    title=f"{len(species)} rows, one search",
)
panels[0].set_ylabel("bill depth (mm)")
plt.show()

# %%
# A warning about many columns. In a ball of many dimensions nearly all of the volume lies in a thin rim: only the share
# :math:`0.99^d \approx e^{-0.01 d}` is farther from the surface than one percent of the radius. And the length of a standard
# normal vector hardly varies: its square has the mean :math:`d` and the variance :math:`2d`. So all rows are about equally far
# away, and "near" loses its meaning. This is the *curse of dimension*.

for dimension in (2, 30, 1000):
    share = qed.stats.inner_share(dimension, 0.01)
    print(f"{dimension} dimensions: {share:.2g} of a ball is not in its outermost hundredth")

# %%
# What helps: more rows, fewer or better columns (chapter 3), and another distance. Between (0, 0) and (3, 4) it is 7, 5, 4.498
# or 4 by the sum of sizes, of squares, of cubes, and by the largest; a kernel gives one, too,
# :math:`D^2 = k(x, x) - 2k(x, z) + k(z, z)`. Columns should be scaled, or the one with large numbers decides. (Approximate
# search, by *hashing* rows so that near ones fall together, makes it fast: ``algorithm="hashing"``.)
#
# Whom to trust? Measure, on rows that were held out.

members = {
    "linear discriminant": qed.LinearDiscriminantAnalysis(),
    "quadratic discriminant": qed.QuadraticDiscriminantAnalysis(),
    "logistic regression": qed.LogisticRegression(),
    "support vectors": qed.SVC(kernel="linear"),
    "15 neighbours": qed.KNeighborsClassifier(15),
    "least squares": qed.RidgeClassifier(),
}
for name, model in members.items():
    score = qed.cross_val_score(
        model, bills, species, cv=qed.StratifiedKFold(10, shuffle=True, random_state=0)
    ).mean()
    print(f"{name:<24}{score:.1%} right")

# %%
# One number hides which errors are made. A classifier with a score has a threshold, and each threshold a share of true
# alarms and a share of false ones. Their curve, the *ROC*, goes from (0, 0), where nothing is called, to (1, 1), where
# everything is. The area below it is the chance that a row of the class scores above one that is not; ties count half. By
# chance it is one half.

train, test, side_train, side_test = qed.train_test_split(
    bills, species == "Chinstrap", test_size=0.5, random_state=0
)
curves = {}
for name, model in (("bill length alone", [0]), ("bill depth alone", [1]), ("both", [0, 1])):
    odds = qed.LogisticRegression().fit(train[:, model], side_train)
    curves[name] = qed.roc_curve(side_test, odds.predict_proba(test[:, model])[:, 1])[:2]
figure, axes = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
qed.plots.roc(curves, axes)
plt.show()

# %%
# The proof, and what its certificate checks
# ------------------------------------------
#
# *Weak duality* proves a margin. Take any :math:`\alpha` that is allowed in the dual problem. Its value is below the
# primal value of every :math:`(w, b)`. (Add the constraints, weighted with :math:`\alpha`, to the objective: for points
# that obey them this takes away, never adds. Then minimise over :math:`w, b, \xi`; what is left is the dual.) So a
# machine that hands over :math:`w, b` *and* :math:`\alpha` hands over the proof.
#
# It is the same for every problem "minimise :math:`f_0` where :math:`f_i \le 0` and :math:`h_j = 0`". With
# :math:`\mathcal L = f_0 + \sum_i \lambda_i f_i + \sum_j \nu_j h_j`, the number :math:`g(\lambda, \nu) = \min_x \mathcal L`
# is below the value of every :math:`x` that is allowed, if :math:`\lambda \ge 0`; and :math:`g` is concave, even where the
# problem is not convex. If it is convex and some :math:`x` meets the inequalities strictly (*Slater*), the best :math:`g`
# equals the least :math:`f_0`. Then :math:`x, \lambda, \nu` are optimal exactly if five things hold, the conditions of
# *Karush, Kuhn and Tucker*: :math:`f_i \le 0`, :math:`h_j = 0`, :math:`\lambda_i \ge 0`, :math:`\lambda_i f_i = 0`, and
# :math:`\nabla_x \mathcal L = 0`. To minimise :math:`x^2` where :math:`x \ge 1`, for example,
# :math:`g = \lambda - \lambda^2/4`, which is largest at :math:`\lambda = 2` with the value 1; and so is :math:`x^2` at
# :math:`x = 1`. (The dual of ridge regression is chapter 2's kernel formula.)

machine = machines["C = 10"]
print(qed.certify(machine, pair, side))

# %%
# - *multipliers inside [0, C]* and *sum of alpha_i y_i vanishes*: :math:`\alpha` is allowed, so its dual value counts.
# - *primal less dual objective, relative*: the gap. The minimum lies in between, so this bounds what is missing.
# - *points off the margin have alpha 0 or C*: the three cases above, weighed by what they contribute to the gap.
#
# For logistic regression the Hessian gives the bound: near the minimum the objective lies above it by about
# :math:`\tfrac12 \nabla^\top H^{-1} \nabla`, and the certificate says how much at most.

print(qed.certify(logistic, bills, species))

# %%
# *classes are predicted as often as they occur* is worth a thought. The constants :math:`b_k` are not penalised, so
# their gradient must vanish: :math:`\sum_i p_{ik} = n_k`. A logistic regression is right about the totals, whatever
# else it gets wrong.
#
# Stepping through it
# -------------------
#
# Newton's method on the cross-entropy. What to look for: far away each step divides the excess by a small factor, then
# suddenly the number of right digits doubles with every step. A loop over the steps ends where ``fit`` would have ended;
# ten are more than enough.

walk = qed.steps(qed.LogisticRegression(C=10.0), pair, side)
values = [step.objective for step in islice(walk, 10)]
for number, value in enumerate(values[:-1]):
    print(f"step {number}: {value:.6f}, {value - values[-1]:.1e} above the last")

# %%
# And the oldest of all: the *perceptron* looks at one row after the other, and adds those that are wrong to its plane. If a
# plane with margin :math:`\gamma` separates the rows, and no row is longer than :math:`R`, it makes at most
# :math:`(R/\gamma)^2` corrections, in whatever order: each adds at least :math:`\gamma` to the part of :math:`w` along the
# best plane, and at most :math:`R^2` to the square of its length. The certificate holds it to that. (Where no plane
# separates the rows it goes round in circles.)

perceptron = qed.Perceptron(shuffle=False).fit(bills[apart], species[apart])
print(perceptron.certificate_)

# %%
# *Adaline* walks like the perceptron, but learns from *every* row, by how far the sum is from the label:
# :math:`w \leftarrow w + \alpha\,(y - w^\top x)\, x`. That is stochastic gradient descent for the squared error, so it tends to
# least squares on the labels, `qed.RidgeClassifier` without a penalty, and inherits its dislike of rows that are far on the
# right side. The perceptron itself is one, too: for :math:`\max(0, -y\, w^\top x)`, with steps of length 1.
#
# Where the texts slip
# --------------------
#
# - In Bayes' risk the guide writes the loss of :math:`r(x)` for that of :math:`h(x)`, and in several places a *max* for an
#   *arg max*; for several classes the penalty is that of a matrix, :math:`\lambda\|W\|_F^2`.
# - The guide writes :math:`P(A \mid x) = 1/(1 + e^{Q_A - Q_B})`. The sign is the other way round: a class with the
#   larger :math:`Q` is the more probable one.
# - The boundary of two *tilted* clouds with one covariance is said to be equally far from both means. It is, but in the
#   distance of Mahalanobis, not of the ruler.
# - A loss that is "convex and has no local minima": it has no local minimum that is not global. And on separable rows
#   it has none at all, as we saw.
# - The divergence of Kullback and Leibler is called "always positive". It is never negative, and zero for equal
#   distributions; with labels of 0 and 1 it needs :math:`0 \ln 0 = 0`.
# - The update of softmax regression has :math:`w^{t+1}` on both sides, and a :math:`\delta_{\ell, y}` in its derivation that
#   should be :math:`\delta_{\ell, j}`.
# - The logistic loss is drawn beside the others, which take labels of -1 and 1, with a formula for labels of 0 and 1. For -1
#   and 1 it is :math:`\ln(1 + e^{-yf})`.
# - The lecture notes' likelihood of logistic regression has a plus before :math:`(1 - y)\, w^\top x` where a minus belongs, and
#   the boundary of naive Bayes has :math:`\log \frac{p}{1 - p}` inside the sum over features, where it is counted many times.
# - The hinge is printed as zero from :math:`yf \ge 0` on. It is zero from :math:`yf \ge 1` on; what the perceptron
#   minimises is :math:`\max(-yf, 0)`.
# - The perceptron's conditions are printed as :math:`yf \ge 0`, which :math:`w = 0` meets. Strict ones are meant. In the proof
#   of its bound the *best* plane :math:`w^*` has the margin :math:`\gamma`, not the plane of the moment.
# - In the section on duality the numbers of multipliers have changed places: there is one for each inequality and one for each
#   equality. Conditions of optimality are enough where the problem is convex *and* its equalities are affine. In the table of
#   the lecture notes :math:`-100 + 10 \cdot 5` is :math:`-50`. And in the dual of ridge :math:`z^* = +\frac12 \alpha`.
# - Rows are said to lie on the *boundary*, or to violate it, where the margin is meant.
# - The prediction of the machine is printed as :math:`w^\top x + b` after a section that used :math:`w^\top x - b`.
# - The geometric distance of a point inside the margin is :math:`(1 - \xi_i)/\|w\|`, not :math:`1 - \xi_i`. The lecture
#   notes give the width of the margin as :math:`2/\|w\|^2`; it is :math:`2/\|w\|`.
# - Neighbours: what is called the bias for :math:`k = 1` is its square; :math:`k` can not grow beyond the number of rows, where
#   the answer is the mean of all; and a rim is the set where the *length* of :math:`x` is nearly :math:`r`.
# - The area under the ROC curve "corresponds to the accuracy", says the course book. It is the chance that a positive row
#   scores above a negative one; its diagonal is a random order.
# - Least squares with an unpenalised constant is said to be the same after *any* affine change of the columns. Shifts
#   and rotations, yes; other units, no.
# - The lecture notes' boundary of two Gaussians lacks the factors ½, and their third perceptron point is (-1, ½), not
#   (-1, -1): only with it the printed steps come out.
#
# Exercises
# ---------
#
# **Exercise 1.** Calling a *Chinstrap* an *Adelie* is ten times as bad as all other errors. How many Chinstraps does
# the best decision miss, and what does it pay in false alarms? Use ``decide``.
#
# .. solution::
#
#    Rows of the matrix are answers, columns are truths. The expensive entry is the answer *Adelie* (0) for the truth
#    *Chinstrap* (1).

costs = np.ones((3, 3)) - np.eye(3)
costs[0, 1] = 10.0
careful = linear.decide(bills, costs)
for name, said in (("plain", linear.predict(bills)), ("careful", careful)):
    missed = np.sum((species == "Chinstrap") & (said == "Adelie"))
    alarms = np.sum((species == "Adelie") & (said == "Chinstrap"))
    print(f"{name}: {missed} Chinstraps called Adelie, {alarms} Adelies called Chinstrap")
assert np.sum((species == "Chinstrap") & (careful == "Adelie")) <= 4

# %%
# .. end-solution::
#
# **Exercise 2.** Show with the penguins that rows which are no support vectors do not matter: fit a linear machine
# again without them. Then show that the same is *not* true of logistic regression.
#
# .. solution::
#
#    The multipliers of the other rows are zero, so the same :math:`\alpha` proves the same plane for the smaller table.
#    Logistic regression feels every row a little.

held = machine.support_
fewer = qed.SVC(kernel="linear", C=10.0).fit(pair[held], side[held])
difference = np.abs(fewer.coef_ - machine.coef_).max()
everyone = qed.LogisticRegression(C=10.0).fit(pair, side).coef_
some = qed.LogisticRegression(C=10.0).fit(pair[held], side[held]).coef_
assert difference < 1e-3 < np.abs(everyone - some).max()
print(
    f"{len(held)} of {len(side)} rows; the machine moves by {difference:.1e}, logistic "
    f"regression by {np.abs(everyone - some).max():.2f}"
)

# %%
# .. end-solution::
#
# **Exercise 3.** Measure bills in other units: length in metres, depth in millimetres. Whose predictions change: linear
# discriminant, logistic regression with and without penalty, neighbours? Guess first.
#
# .. solution::
#
#    The discriminant uses Mahalanobis distances, which do not know units. The penalty and the Euclidean distance do
#    know them. (Without penalty logistic regression does not change either; here the classes overlap, so that it
#    exists.)

metres = pair * [0.001, 1.0]
again = {
    "linear discriminant": qed.LinearDiscriminantAnalysis(),
    "logistic, penalty": qed.LogisticRegression(C=1.0),
    "logistic, no penalty": qed.LogisticRegression(C=np.inf),
    "neighbours": qed.KNeighborsClassifier(15),
}
changed = {}
for name, model in again.items():
    before = model.fit(pair, side).predict(pair)
    changed[name] = int(np.sum(before != model.fit(metres, side).predict(metres)))
print(changed)
assert (
    changed["linear discriminant"]
    == changed["logistic, no penalty"]
    == 0
    < changed["neighbours"]
)

# %%
# .. end-solution::
#
# Here the labels were given. The next chapter takes them away.
