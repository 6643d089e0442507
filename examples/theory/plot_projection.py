r"""
Least squares is a projection
=============================

With three rows and two columns all of regression fits into one picture. The target :math:`y` is a point in space, the columns
of :math:`X` span a plane, and the predictions :math:`\hat y = Xw` are the foot of the perpendicular from :math:`y` on that plane. Any
other point :math:`s` of the plane makes a right triangle with :math:`y` and :math:`\hat y`, so it is farther from :math:`y`:

.. math:: \|y - s\|^2 = \|y - \hat y\|^2 + \|\hat y - s\|^2.

That is the whole proof that least squares is best, and a claim of its certificate: the residual is orthogonal to every column.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

X = np.array([[1.0, 0.1], [0.1, 1.0], [0.2, 0.1]])
y = np.array([0.65, 0.7, 0.9])

model = qed.LinearRegression(fit_intercept=False).fit(X, y)
foot = model.predict(X)
print("columns times residual:", (X.T @ (y - foot)).round(12) + 0)
print(model.certificate_)

# %%
# Left: the plane, the foot of the perpendicular, and one of all the other points. Right: the squared distance from :math:`y`
# as :math:`s` moves along the blue line. It is a parabola, and its lowest point is the foot.
other = X @ [1.1, 1.05]

figure = plt.figure(figsize=(11, 4.8), layout="constrained")
space = figure.add_subplot(1, 2, 1, projection="3d", computed_zorder=False)
corners = np.stack(np.meshgrid([-0.1, 1.25], [-0.1, 1.25]), axis=-1) @ X.T
space.plot_surface(*np.moveaxis(corners, -1, 0), color="C0", alpha=0.15, shade=False)
for end, color, name in (
    (X[:, 0], "grey", "$x_1$"),
    (X[:, 1], "grey", "$x_2$"),
    (y, "black", "$y$"),
):
    space.quiver(0, 0, 0, *end, color=color, arrow_length_ratio=0.07, linewidth=1.5)
    space.text(*(1.06 * end), name, color=color, fontsize=13)
for start, end, color in ((y, foot, "C2"), (foot, other, "C0"), (y, other, "C1")):
    space.plot(*np.transpose([start, end]), color=color, linewidth=2.5)
for end, name in ((foot, r"$\hat y$"), (other, "$s$")):
    space.scatter(*end, color="black", s=18)
    space.text(*(end - [0, 0, 0.11]), name, fontsize=13, ha="center")

up, along = (
    0.1 * (y - foot) / np.linalg.norm(y - foot),
    0.1 * (other - foot) / np.linalg.norm(other - foot),
)
space.plot(
    *np.transpose([foot + up, foot + up + along, foot + along]), color="black", linewidth=1
)
space.set(
    xlim=(0.1, 1.3),
    ylim=(0.1, 1.3),
    zlim=(-0.2, 1.0),
    title="The foot of the perpendicular is nearest",
)
space.set_box_aspect((1, 1, 1), zoom=1.02)
space.set_axis_off()
space.view_init(elev=16, azim=-66)

t = np.linspace(-0.5, 1.5, 101)
line = figure.add_subplot(1, 2, 2)
line.plot(t, [np.sum((y - foot - part * (other - foot)) ** 2) for part in t], color="C1")
line.axhline(np.sum((y - foot) ** 2), color="C2")
line.plot([0, 1], [np.sum((y - foot) ** 2), np.sum((y - other) ** 2)], "ko")
line.annotate(
    r"$\hat y$",
    (0, np.sum((y - foot) ** 2)),
    (0, -16),
    textcoords="offset points",
    ha="center",
    fontsize=13,
)
line.annotate(
    "$s$", (1, np.sum((y - other) ** 2)), (8, -8), textcoords="offset points", fontsize=13
)
line.annotate(
    r"$\|y - \hat y\|^2$",
    (1.5, np.sum((y - foot) ** 2)),
    (0, -16),
    textcoords="offset points",
    ha="right",
)
line.set(
    xlabel=r"from $\hat y$ (0) to $s$ (1) and beyond",
    ylabel="squared distance from $y$",
    ylim=(0, None),
)
line.set_title("Pythagoras: a parabola on top of the residual")
plt.show()
