r"""
Where is the robot?
===================

A robot at an unknown place :math:`w` measures its distances :math:`y_i` to sensors at known places :math:`x_i`. Each distance puts it
on a circle; with noise the circles do not meet in one point, and least squares looks for the best one:

.. math:: L(w) = \tfrac12 \sum_i \bigl(y_i - \|x_i - w\|\bigr)^2.

No closed form is known. Gauss-Newton linearises the distances, Newton fits a parabola to :math:`L`, gradient descent follows the slope. All
of them stop where the slope vanishes: which valley that is depends on where they begin, and the certificate claims a local minimum
only.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed


def distance(X, w):
    """Give the distances of the sensors, rows of X, from the place w."""
    return np.sqrt((X[:, 0] - w[0]) ** 2 + (X[:, 1] - w[1]) ** 2)


robot = np.array([1.0, 1.0])
noise = np.array([0.08, -0.1, 0.06])
corner = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]])
ranges = distance(corner, robot) + noise

model = qed.NonlinearLeastSquares(distance, {"east": 2.0, "north": 2.0}).fit(corner, ranges)
print(model.inference_)
print(model.certificate_)

# %%
# Left: three starts, three methods. Right: with the sensors on one line the picture is its own mirror image, and so are the
# answers: the start decides. Between two valleys there is a ridge, and a start on the line itself loses a coordinate.
METHODS = {"gauss-newton": "C0", "newton": "C1", "gradient": "C2"}
DAMPED = {"levenberg-marquardt": "C4"}
line = np.array([[0.0, 0.0], [4.0, 0.0], [2.0, 0.0]])


def path(sensors, ranges, start, method):
    """Give the places that a method visits."""
    walk = qed.steps(qed.NonlinearLeastSquares(distance, start, method=method), sensors, ranges)
    return np.array([step.point for step, _ in zip(walk, range(40))])


def draw(ax, sensors, ranges, starts, methods):
    """Draw sensors, circles, the loss and the paths."""
    east, north = np.meshgrid(np.linspace(-3, 6, 160), np.linspace(-3.5, 5.5, 160))
    places = np.stack([east, north], axis=-1)
    loss = 0.5 * ((np.linalg.norm(places[:, :, None] - sensors, axis=-1) - ranges) ** 2).sum(
        axis=-1
    )
    ax.contour(east, north, np.sqrt(loss), levels=18, colors="grey", linewidths=0.5, alpha=0.7)
    for sensor, radius in zip(sensors, ranges):
        ax.add_patch(
            plt.Circle(sensor, radius, fill=False, linestyle=":", color="black", linewidth=1)
        )
    ax.plot(*sensors.T, "s", color="black", label="sensors")
    for start in starts:
        for name, color in methods.items():
            ax.plot(
                *path(sensors, ranges, start, name).T,
                ".-",
                color=color,
                linewidth=1.2,
                markersize=4,
            )
        ax.plot(*start, "o", color="white", markeredgecolor="black")
    ax.plot(*robot, "*", color="C3", markersize=14, label="robot")
    for name, color in methods.items():
        ax.plot([], [], ".-", color=color, label=name)
    ax.legend(loc="lower left", fontsize=8)
    ax.set(xlim=(-3, 6), ylim=(-3.5, 5.5), xlabel="east", ylabel="north", aspect="equal")


figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5.2), layout="constrained")
draw(left, corner, ranges, [(2.0, 4.5), (5.0, 4.0), (4.5, -2.5)], METHODS)
left.set_title("Three ways to one place")
draw(
    right,
    line,
    distance(line, robot) + noise / 4,
    [(3.0, 4.0), (5.0, 1.0), (5.0, -1.0), (-2.0, -2.0)],
    DAMPED,
)
right.set_title("Sensors on a line: two places")
plt.show()

# %%
# Several starts are tried in one fit, and the best is kept: of a good fit and a wrong valley the good fit.
wide = np.array([[0.0, 0.0], [4.0, 0.2], [2.0, 0.0]])
both = qed.NonlinearLeastSquares(distance, [(3.0, -2.0), (3.0, 2.0)]).fit(
    wide, distance(wide, robot)
)
wrong = qed.NonlinearLeastSquares(distance, (3.0, -2.0)).fit(wide, distance(wide, robot))
print(
    "from the south alone:",
    wrong.coef_.round(4),
    "cost",
    f"{wrong.cost_:.1e},",
    "a local minimum:",
    bool(wrong.certificate_),
)
print(
    "from both:           ",
    both.coef_.round(4),
    "cost",
    f"{both.cost_:.1e},",
    "found from",
    both.start_,
)
