r"""
Trees: one question at a time, and many trees together
======================================================

A tree asks about one column at a time, and so cuts the plane into boxes. Grown to the end it makes no error on its own rows, and follows
each of them; pruned, or as the mean of many, it does not. How much a question is worth is a matter of the curve that measures how mixed a
node is: where the curve bends everywhere, every question that tells something is worth something.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(0)
X = random.standard_normal((300, 2))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, 1, -1) * np.where(random.random(300) < 0.12, -1, 1)
new = random.standard_normal((5000, 2))
truth = np.where(new[:, 0] + new[:, 1] ** 2 > 0.6, 1, -1)
x1, x2 = np.meshgrid(np.linspace(-3, 3, 250), np.linspace(-3, 3, 250))
plane = np.column_stack([x1.ravel(), x2.ravel()])

# %%
# A full tree, the same tree pruned by five folds, a hundred trees from rows and columns drawn by lot, and a hundred small ones added up.
pruned = qed.Search(
    qed.DecisionTreeClassifier(), {"ccp_alpha": np.linspace(0, 0.03, 31).tolist()}, cv=5
)
models = {
    "a full tree": qed.DecisionTreeClassifier(),
    "pruned": pruned,
    "a random forest": qed.RandomForestClassifier(random_state=0),
    "small trees added up": qed.GradientBoostingClassifier(max_depth=2, min_samples_leaf=5),
}
figure, panels = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained", sharey=True)
for axes, (name, model) in zip(panels, models.items()):
    said = model.fit(X, y).predict(plane).reshape(x1.shape)
    axes.contourf(x1, x2, said, levels=[-2, 0, 2], colors=["C0", "C1"], alpha=0.15)
    for label, color in [(-1, "C0"), (1, "C1")]:
        axes.plot(*X[y == label].T, ".", color=color, markersize=4)
    wrong = 1 - model.score(new, truth)
    axes.set(title=f"{name}: {wrong:.1%} wrong", xlabel="x₁", xlim=(-3, 3), ylim=(-3, 3))
panels[0].set_ylabel("x₂")
plt.show()

# %%
# The pruned tree, drawn and in words.
qed.plot_tree(pruned.best_estimator_, feature_names=["x1", "x2"], missing=False, max_depth=3)
plt.show()
print(qed.export_text(pruned.best_estimator_, feature_names=["x1", "x2"]))

# %%
# How mixed a node with a share p of one class is. A question leads to two sides, between which the node lies on a chord; it is worth what
# lies between chord and curve. Errors are straight on either side of one half: what changes no majority is worth nothing by them.
p = np.linspace(0, 1, 201)
shares = np.column_stack([p, 1 - p])
figure, axes = plt.subplots(figsize=(6, 3.9), layout="constrained")
for criterion, style in [("entropy", "-"), ("gini", "--"), ("misclassification", ":")]:
    axes.plot(p, qed.impurity(shares, criterion), style, label=criterion)
ends = np.array([0.1, 0.4])
bits = qed.impurity(np.column_stack([ends, 1 - ends]), "entropy")
axes.plot(ends, bits, "o-", color="0.4", linewidth=1)
node = qed.impurity([0.25, 0.75], "entropy")
axes.plot(
    [0.25, 0.25], [bits.mean(), node], color="C3", linewidth=2, label="worth of the question"
)
axes.set(title="From one node to two", xlabel="share of one class", ylabel="impurity")
axes.legend()
plt.show()

# %%
# Small trees that are added up lower the loss of their own rows with every round; on other rows that ends.
model = qed.GradientBoostingClassifier(max_iter=300, min_samples_leaf=5).fit(X, y)
errors = [np.mean(said != truth) for said in model.staged_predict(new)]
figure, axes = plt.subplots(figsize=(6, 3.9), layout="constrained")
axes.plot(model.train_score_, label="loss of the rows")
axes.plot(range(1, len(errors) + 1), errors, "--", label="share of errors on others")
axes.set(
    title="Rounds of boosting", xlabel="rounds", ylabel="loss, share of errors", ylim=(0, None)
)
axes.legend()
plt.show()
