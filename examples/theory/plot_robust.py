r"""
What an outlier can do
======================

The square of a residual grows without bound, so one point far away can turn a line. With the absolute value every point pulls with
the same force, however far it is; Huber's loss is the square near by and the absolute value beyond. So these two follow the many.
All three trust :math:`x`: on points far out sideways a bounded force has a long lever, and then it is not enough.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.optim import AbsoluteLoss, HuberLoss, SquaredLoss

random = np.random.default_rng(0)
x = np.linspace(0, 10, 40)
y = 1 + 0.5 * x + 0.4 * random.standard_normal(40)
models = {
    "least squares": qed.LinearRegression(),
    "Huber": qed.HuberRegressor(alpha=0.0),
    "absolute deviations": qed.LeastAbsoluteDeviations(),
}

# %%
# The losses, and their slopes: the force with which a residual pulls.
r = np.linspace(-4, 4, 401)
losses = {
    "squared": SquaredLoss(),
    "Huber, delta = 1": HuberLoss(1.0),
    "absolute": AbsoluteLoss(),
}
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.2), layout="constrained")
for (name, loss), line in zip(losses.items(), ("-", "-", "--")):
    left.plot(r, [loss.value(np.array([value]), np.zeros(1)) for value in r], line, label=name)
    right.plot(r, loss.gradient(r, np.zeros(401)), line)
left.set(title="Loss", xlabel="residual", ylim=(0, 5))
right.set(title="Force", xlabel="residual", ylim=(-3, 3))
left.legend(loc="upper center")
plt.show()

# %%
# Left: five targets went wrong, at one end. Circles mark the points that Huber's fit counts linearly: these five, and some at the
# edges of the crowd. Right: five points whose x went wrong. None of the three is a remedy for that.
wrong, far = y.copy(), np.append(x, [38, 39, 40, 41, 42])
wrong[-5:] += [7, 8, 9, 8, 7]
tables = {
    "Wrong targets": (x, wrong),
    "Wrong x": (far, np.append(y, [1.2, 0.8, 1.1, 0.9, 1.0])),
}
figure, panels = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
for panel, (title, (across, target)) in zip(panels, tables.items()):
    ends = np.array([[across.min()], [across.max()]])
    panel.plot(across, target, "o", color="grey", markersize=4)
    panel.plot(
        ends[:, 0], 1 + 0.5 * ends[:, 0], "--", color="black", linewidth=1, label="the truth"
    )
    for name, model in models.items():
        model.fit(across[:, None], target)
        print(
            f"{title:<14} {name:<20} slope {model.coef_[0]:6.3f}, proven: "
            f"{bool(model.certificate_)}"
        )
        panel.plot(ends[:, 0], model.predict(ends), label=name)
    panel.set(title=title, xlabel="x", ylabel="y")
    panel.legend(loc="upper left", fontsize=9)
flagged = models["Huber"].fit(x[:, None], wrong).outliers_
panels[0].plot(x[flagged], wrong[flagged], "o", color="C1", markersize=10, fillstyle="none")
plt.show()

# %%
# One target is moved away, further and further. The line of least squares follows it for ever, the others stop.
moves = np.linspace(0, 60, 16)
slopes = {name: [] for name in models}
for move in moves:
    target = y + np.where(np.arange(40) == 39, move, 0)
    for name, model in models.items():
        slopes[name].append(model.fit(x[:, None], target).coef_[0])
figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name, found in slopes.items():
    ax.plot(moves, found, label=name)
ax.axhline(0.5, color="black", linestyle="--", linewidth=1, label="the truth")
ax.set(xlabel="by how much the last target is wrong", ylabel="slope")
ax.legend()
plt.show()
