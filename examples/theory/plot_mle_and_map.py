"""
Maximum likelihood and maximum a posteriori
===========================================

Ten points on the line with slope 0.5 and intercept 1. A prior pulls the estimate towards its centre: a good one sharpens it, a bad one
spoils it, and the zero-centred one is ridge regression. Ellipses are level sets of likelihood (grey) and posterior (blue).
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

spread = np.sqrt(0.15)
x = np.r_[np.full(5, 3 + spread), np.full(5, 3 - spread)]
X, y = np.column_stack([x, np.ones(10)]), 0.5 * x + 1.0
ratio = 6.0  # noise variance over prior variance

truth = np.array([0.5, 1.0])
priors = {"zero": (0.0, 0.0), "good": (0.75, 0.75), "bad": (-0.75, -0.75)}
slope, intercept = np.meshgrid(np.linspace(-0.6, 1.4, 200), np.linspace(-1.5, 2.0, 200))
points = np.stack([slope.ravel(), intercept.ravel()], axis=1)
misfit = np.sum((points @ X.T - y) ** 2, axis=1).reshape(slope.shape)

figure, axes = plt.subplots(
    1, 3, figsize=(12, 4.4), layout="constrained", sharex=True, sharey=True
)
for ax, (name, center) in zip(axes, priors.items()):
    model = qed.GaussianMAP(
        prior_mean=center, prior_covariance=1 / ratio, noise_variance=1.0
    ).fit(X, y)
    penalty = ratio * np.sum((points - center) ** 2, axis=1).reshape(slope.shape)
    ax.contour(slope, intercept, misfit, levels=[0.5, 2, 8, 20], colors="lightgrey")
    ax.contour(
        slope,
        intercept,
        misfit + penalty,
        levels=(misfit + penalty).min() + np.array([0.5, 2, 8]),
        colors="C0",
    )
    ax.plot(*truth, "o", color="grey", label="truth = maximum likelihood")
    ax.plot(*center, "x", color="C1", label="centre of the prior")
    ax.plot(*model.coef_, "o", color="C0", label="maximum a posteriori")
    ax.set(title=f"{name} prior: ({model.coef_[0]:.2f}, {model.coef_[1]:.2f})", xlabel="slope")
axes[0].set_ylabel("intercept")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()
