r"""
Neighbours: how many, and in how many dimensions
================================================

The k nearest rows vote, or their mean is taken. One neighbour follows every single row; many smooth all of it away. For targets
:math:`f(x) + \epsilon` the prediction at :math:`z` is off by the mean of :math:`f` over the neighbours less :math:`f(z)`, which grows
with k, and varies by :math:`\sigma^2 / k`, which falls.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(0)
X = random.standard_normal((150, 2))
y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.6, 1, -1) * np.where(random.random(150) < 0.12, -1, 1)
x1, x2 = np.meshgrid(np.linspace(-3, 3, 250), np.linspace(-3, 3, 250))
plane = np.column_stack([x1.ravel(), x2.ravel()])

# %%
# One neighbour gives each row the cell of places that are nearest to it, islands and all; fifteen are not led astray by single rows.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for axes, k in zip(panels, [1, 15, 99]):
    model = qed.KNeighborsClassifier(k).fit(X, y)
    axes.contourf(
        x1,
        x2,
        model.predict(plane).reshape(x1.shape),
        levels=[-2, 0, 2],
        colors=["C0", "C1"],
        alpha=0.15,
    )
    for label, color in [(-1, "C0"), (1, "C1")]:
        axes.plot(*X[y == label].T, ".", color=color)
    wrong = 1 - model.score(X, y)
    axes.set(
        title=f"k = {k}: {wrong:.0%} of the rows wrong", xlabel="x₁", xlim=(-3, 3), ylim=(-3, 3)
    )
panels[0].set_ylabel("x₂")
plt.show()

# %%
# All numbers of neighbours are judged from one search: each row by its neighbours among the others.
ks = np.arange(1, 100)
search = qed.Search(qed.KNeighborsClassifier(), {"n_neighbors": ks}, cv="loo").fit(X, y)
training = [1 - qed.KNeighborsClassifier(int(k)).fit(X, y).score(X, y) for k in ks]
figure, panels = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
panels[0].plot(ks, 1 - search.cv_results_["mean_test_score"], label="each row left out")
panels[0].plot(ks, training, "--", label="on the rows themselves")
panels[0].axvline(search.best_params_["n_neighbors"], color="0.6", linewidth=1)
panels[0].set(title="How many neighbours", xlabel="k", ylabel="share of errors")
panels[0].legend()

# Bias and variance at zero, for squares with noise of variance one.
x = np.arange(-20, 21)[:, None] / 10
terms = [
    qed.neighbor_bias_variance(
        qed.KNeighborsRegressor(k).fit(x, x[:, 0]), [[0.0]], lambda x: x[:, 0] ** 2, 1.0
    )
    for k in range(1, 42)
]
bias, variance = np.array(terms)[:, :, 0].T
panels[1].plot(range(1, 42), bias, label="squared bias")
panels[1].plot(range(1, 42), variance, "--", label="variance")
panels[1].plot(range(1, 42), bias + variance, color="black", label="both")
panels[1].set(
    title="x² at zero, from 41 rows", xlabel="k", ylabel="expected squared error", ylim=(0, 2)
)
panels[1].legend()
plt.show()

# %%
# As there are ever more rows, one neighbour errs at most twice as often as the best rule there is. Here 1 is said with a probability of 0.1
# everywhere: the best rule errs in 10 % of the cases, one neighbour in 18 %.
n = 20_000
X, y = random.random((n, 2)), random.random(n) < 0.1
new, truth = random.random((n, 2)), random.random(n) < 0.1
for k in (1, 21, 201):
    print(f"k = {k:>3}: {1 - qed.KNeighborsClassifier(k).fit(X, y).score(new, truth):.3f}")

# %%
# In many dimensions there is no near and far: the nearest of 500 rows is hardly nearer than the farthest, because nearly all of a ball
# is in its rim.
dimensions = np.array([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000])
shares = []
for d in dimensions:
    distance, _ = (
        qed.NearestNeighbors(n_neighbors=500)
        .fit(random.random((500, d)))
        .kneighbors(random.random((20, d)))
    )
    shares.append((distance[:, 0] / distance[:, -1]).mean())
figure, axes = plt.subplots(figsize=(6, 3.9), layout="constrained")
axes.semilogx(dimensions, shares, "o-", label="nearest over farthest distance")
axes.semilogx(
    dimensions,
    [1 - qed.stats.inner_share(int(d), 0.05) for d in dimensions],
    "s--",
    label="share of a ball in its rim of 5 %",
)
axes.set(title="Many dimensions", xlabel="dimensions", ylim=(0, 1.02))
axes.legend()
plt.show()
