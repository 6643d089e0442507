"""
Watching k-means
================

Every iterative method is a generator of steps, which can be driven by hand and looked at on the way. Here are the first steps of Lloyd's
algorithm: every row goes to its nearest centre, then every centre to the mean of its rows. Neither can raise the objective, and the
certificate says that both have come to rest. That is all it says: a better clustering may exist.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

generator = np.random.default_rng(1)
centers = np.array([[0, 0], [4, 0], [2, 3.5]])
X = centers[generator.integers(0, 3, 300)] + generator.standard_normal((300, 2))
start = X[:3]

walk = qed.steps(qed.KMeans(3, init=start), X)
figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
for ax in axes[:3]:
    step = next(walk)
    model = walk.model_at(step)
    for cluster in range(3):
        ax.plot(*X[model.labels_ == cluster].T, ".", color=f"C{cluster}", alpha=0.7)
    ax.plot(*model.cluster_centers_.T, "kX", markersize=10, markeredgecolor="white")
    ax.set(title=f"step {step.number}", xticks=[], yticks=[], aspect="equal")

with qed.watch() as seen:
    model = qed.KMeans(3, init=start, tol=0.0).fit(X)
axes[3].plot(seen.trace.objectives, marker=".")
axes[3].set(
    xlabel="iteration",
    title="the objective never rises",
    xticks=range(len(seen.trace.objectives)),
)
plt.show()

# %%
print(model.ending_)
print(model.certificate_)
