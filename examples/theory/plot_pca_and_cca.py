r"""
Noise on one axis: PCA and CCA
==============================

Two instruments look at the same three quantities. The first is clean; the second adds a disturbance, thirty times as strong as what is
measured, along one direction: :math:`Y = X + \epsilon`. *Principal components* of Y are the directions in which Y varies most, so the
first is the disturbance, and says nothing about X. *Canonical correlations* ask what both tables share, and a disturbance that only one
of them has is no part of it, however strong.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(0)
X = random.standard_normal((2000, 3))
axis = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
Y = X + np.outer(30 * random.standard_normal(2000), axis)

pca = qed.PCA(1).fit(Y)
cca = qed.CCA().fit(X, Y)
first = pca.transform(Y)[:, 0]
print("first component of Y     ", pca.components_[0].round(3))
print("its correlation with X   ", qed.CCA().fit(X, first).correlations_.round(3))
print("canonical correlations   ", cca.correlations_.round(3))

figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), layout="constrained")
axes[0].scatter(Y[:, 0], Y[:, 1], s=3, alpha=0.4)
axes[0].annotate(
    "",
    60 * pca.components_[0, :2],
    (0, 0),
    arrowprops={"arrowstyle": "->", "color": "C3", "linewidth": 2},
)
axes[0].set(title="Y, and its first component", xlabel="y₁", ylabel="y₂", aspect="equal")
x_scores, y_scores = cca.transform(X, Y)
axes[1].scatter(qed.CCA().fit(X, first).transform(X)[:, 0], first, s=3, alpha=0.4, color="C3")
axes[1].set(title="PCA: score of Y against its best match in X", xlabel="of X", ylabel="of Y")
axes[2].scatter(x_scores[:, 0], y_scores[:, 0], s=3, alpha=0.4, color="C2")
axes[2].set(
    title=f"CCA: the first pair, correlation {cca.correlations_[0]:.3f}",
    xlabel="of X",
    ylabel="of Y",
)
plt.show()

# %%
# The stronger the disturbance, the less the first component has to do with X. Two of the three canonical correlations do not notice;
# the third, along the disturbed axis, goes to zero, as it should.
levels = np.geomspace(0.1, 100, 25)
noise = random.standard_normal(2000)
found = []
for level in levels:
    table = X + np.outer(level * noise, axis)
    score = qed.PCA(1).fit(table).transform(table)[:, 0]
    found.append(
        [qed.CCA().fit(X, score).correlations_[0], *qed.CCA().fit(X, table).correlations_]
    )
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
for values, name, style in zip(
    np.transpose(found),
    ("first component", "pair 1", "pair 2", "pair 3"),
    ("C3-", "C2-", "C2--", "C2:"),
):
    ax.semilogx(levels, values, style, label=name)
ax.set(
    title="How well scores of Y tell X",
    xlabel="strength of the disturbance",
    ylabel="correlation with X",
)
ax.legend()
plt.show()

# %%
# What is behind it: hidden causes of X alone, of both, and of Y alone, with the covariances of the data. The shared ones reach X and Y by
# the matrices B and C.
story = cca.latent()
print(
    "largest difference of covariances",
    np.abs(story.covariance() - np.cov(np.hstack([X, Y]).T, bias=True)).max(),
)
print(cca.certificate_)
