"""
Watching k-means
================

Every iterative method is a generator of steps. Here are the first steps of Lloyd's algorithm, and its objective, which never rises.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

generator = np.random.default_rng(1)
centers = np.array([[0, 0], [4, 0], [2, 3.5]])
X = centers[generator.integers(0, 3, 300)] + generator.standard_normal((300, 2))
start = X[:3]

walk = qed.steps(qed.KMeans(3, init=start, n_init=1), X)
figure, axes = plt.subplots(1, 4, figsize=(13, 3.4), layout="constrained")
for ax in axes[:3]:
    step = next(walk)
    model = walk.model_at(step)
    ax.scatter(*X.T, c=model.predict(X), s=6, cmap="Set2")
    ax.plot(*model.cluster_centers_.T, "kX", markersize=9)
    ax.set(title=f"step {step.number}", xticks=[], yticks=[], aspect="equal")

with qed.watch() as seen:
    model = qed.KMeans(3, init=start, n_init=1, tol=0.0).fit(X)
axes[3].plot(seen.trace.objectives, marker=".")
axes[3].set(xlabel="iteration", ylabel="objective", title="never rises")
print(model.certificate_)
plt.show()
