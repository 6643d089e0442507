r"""
Rings: clusters that are no balls
=================================

k-means gives each row to the nearest mean, so its clusters are cells of Voronoi: convex, bounded by straight lines. Two rings about one
centre have the same mean, and no line parts them. Two ways out keep k-means and change what it sees. *Kernel k-means* has its means in the
features of a kernel, where a plane may be a circle in the table. *Spectral clustering* joins rows that are near each other, and looks for
the thinnest cut of that graph in the eigenvectors of its Laplacian.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.data.synthetic import rings

X, ring = rings(600, radii=(1.0, 3.0), noise=0.15, random_state=0)
models = {
    "k-means": qed.KMeans(2, random_state=0),
    "kernel k-means, rbf": qed.KernelKMeans(2, gamma=0.5, random_state=0),
    "spectral clustering, rbf": qed.SpectralClustering(2, gamma=5.0, random_state=0),
}
figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained")
x1, x2 = np.meshgrid(np.linspace(-4, 4, 160), np.linspace(-4, 4, 160))
plane = np.column_stack([x1.ravel(), x2.ravel()])
for ax, (name, model) in zip(axes, models.items()):
    labels = model.fit(X).labels_
    right = max(np.mean(labels == ring), np.mean(labels != ring))
    ax.contourf(
        x1,
        x2,
        model.predict(plane).reshape(x1.shape),
        levels=[-0.5, 0.5, 1.5],
        colors=["C0", "C1"],
        alpha=0.15,
    )
    ax.scatter(*X.T, c=[f"C{label}" for label in labels], s=6)
    ax.set(title=f"{name}: {right:.0%} right", aspect="equal", xlabel="x₁", ylabel="x₂")
    print(f"{name:<26} certificate {'holds' if model.certificate_ else 'fails'}")
plt.show()

# %%
# Why it works. Entries of the second eigenvector, divided by the roots of the degrees, are nearly the same on each ring: there k-means
# has an easy task. The certificate shows that these are eigenvectors, that no smaller eigenvalue was missed, and that no two clusters
# whatever cut less than a share of what these cut.
spectral = models["spectral clustering, rbf"]
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
order = np.argsort(ring, kind="stable")
ax.plot(spectral.embedding_[order, 1], ".", markersize=3)
ax.axvline(np.sum(ring == 0), color="gray", linewidth=0.8)
ax.set(title="The second eigenvector", xlabel="rows, the inner ring first", ylabel="value")
plt.show()
print(spectral.certificate_)

# %%
# How many clusters? A graph of k that hardly touch has k eigenvalues near zero, and a gap before the next. One decomposition serves all k.
# (Long clusters, such as rings, are cheap to cut, and leave no such gap.)
random = np.random.default_rng(0)
blobs = 8.0 * (np.arange(200) % 4)[:, None] + random.standard_normal((200, 2))
path = qed.spectral_path(blobs, range(2, 8), gamma=0.1, random_state=0)
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
ax.plot(1 + np.arange(len(path.eigenvalues)), path.eigenvalues, "o-")
ax.set(
    title=f"Four blobs: the largest gap comes after {path.best.n_clusters}",
    xlabel="number",
    ylabel="eigenvalue",
)
plt.show()
