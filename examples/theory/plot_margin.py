r"""
Margins, and the few rows that hold them
========================================

Of all lines between two classes the support vector machine takes the one that is farthest from both. Where no line is between them it
pays for what is on the wrong side of its margin:

.. math:: \min_{w, b} \tfrac12 \|w\|^2 + C \sum_i \xi_i, \qquad y_i (w^\top x_i + b) \ge 1 - \xi_i, \quad \xi_i \ge 0 .

Each row has a multiplier. It is zero for rows outside the margin, which could be moved or left out without any change; between zero and C
on the margin; and C inside of it. The certificate says how far the objective is from its minimum, by a bound from below that
the multipliers give.
"""

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(3)
y = np.repeat([-1, 1], 30)
X = random.standard_normal((60, 2)) + 1.4 * y[:, None]
x1, x2 = np.meshgrid(np.linspace(-4.5, 4.5, 200), np.linspace(-4.5, 4.5, 200))
plane = np.column_stack([x1.ravel(), x2.ravel()])


def draw(axes, model, title):
    """Draw classes, the boundary with its margin, and rings around the rows that hold it."""
    score = model.decision_function(plane).reshape(x1.shape)
    axes.contourf(x1, x2, score > 0, levels=[-0.5, 0.5, 1.5], colors=["C0", "C1"], alpha=0.12)
    axes.contour(
        x1,
        x2,
        score,
        levels=[-1, 0, 1],
        colors="black",
        linestyles=["--", "-", "--"],
        linewidths=1,
    )
    for label, color in [(-1, "C0"), (1, "C1")]:
        axes.plot(*X[y == label].T, ".", color=color)
    axes.plot(
        *model.support_vectors_.T,
        "o",
        markersize=9,
        markerfacecolor="none",
        markeredgecolor="black",
        markeredgewidth=0.7,
    )
    axes.set(title=title, xlabel="x₁", xlim=(-4.5, 4.5), ylim=(-4.5, 4.5))


# %%
# A small C buys a wide margin with more rows inside it, a large one the opposite.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
for axes, C in zip(panels, [0.01, 1.0, 100.0]):
    model = qed.SVC(kernel="linear", C=C).fit(X, y)
    draw(axes, model, f"C = {C:g}: {len(model.support_)} rows hold the margin")
panels[0].set_ylabel("x₂")
plt.show()

# %%
# The proof of the last one. The dual objective is a bound from below that needs no trust in the solver.
print(model.certificate_)

# %%
# Rows without a multiplier do not matter: without them the boundary is the same.
few = qed.SVC(kernel="linear", C=100.0).fit(X[model.support_], y[model.support_])
print(
    f"{len(model.support_)} of {len(y)} rows; coefficients differ by "
    f"{np.abs(few.coef_ - model.coef_).max():.1e}"
)

# %%
# A kernel bends the line. The narrower the Gaussian, the closer the boundary follows single rows, until every row holds an island of its
# own; the last fit warns of that.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.9), layout="constrained", sharey=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for axes, gamma in zip(panels, [0.05, 0.5, 10.0]):
        model = qed.SVC(gamma=gamma, C=10.0).fit(X, y)
        draw(axes, model, f"gamma = {gamma:g}: {len(model.support_)} rows")
print(*(textwrap.fill(str(one.message), 88) for one in caught), sep="\n")
panels[0].set_ylabel("x₂")
plt.show()
