r"""
Down a ravine
=============

A quadratic whose curvature is 25 times as large across as along is a ravine,

.. math:: f(w) = \tfrac12 (w_1^2 + 25\, w_2^2), \qquad m = 1, \quad M = 25.

Gradient descent sees the steep walls and hardly the gentle slope between them. A heavy ball averages the walls out, Nesterov's
method looks ahead before it steps, and Newton's method, which knows the curvature, is there at once.
"""

import textwrap
import warnings
from itertools import islice

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.optim import GradientDescent, HeavyBall, Nesterov, Newton, Objective

ravine = Objective(
    lambda w: (w[0] ** 2 + 25 * w[1] ** 2) / 2,
    lambda w: np.array([w[0], 25 * w[1]]),
    lambda w: np.diag([1.0, 25.0]),
    strong_convexity=1.0,
    smoothness=25.0,
)
start = [-10.0, 1.5]
methods = {
    "gradient descent": GradientDescent(step=2 / 26),
    "heavy ball": HeavyBall(step=1.4 / 25, momentum=0.6),
    "Nesterov": Nesterov(),
    "Newton": Newton(step=1.0),
}
runs = {
    name: list(islice(method.steps(ravine, start), 101)) for name, method in methods.items()
}
for name, steps in runs.items():
    there = next(step.number for step in steps if step.objective <= 1e-6 * steps[0].objective)
    print(
        f"{name:<17} {there:>3} {'step' if there == 1 else 'steps'} to a millionth of the "
        "first value"
    )

# %%
# The paths, and the values along them. Gradient descent has the best constant step there is, 2 / (M + m). Nesterov's method has the
# step 1 / M and the momentum that theory gives for these m and M, the heavy ball a longer step and a little less momentum. A method
# with momentum need not go down with every step.
figure, (left, right) = plt.subplots(
    1, 2, figsize=(11, 4.2), layout="constrained", width_ratios=[1.5, 1]
)
qed.plots.descent(ravine, {name: steps[:25] for name, steps in runs.items()}, left)
left.plot(0, 0, "+", color="black", markersize=10, markeredgewidth=1.5, zorder=5)
left.set_title("25 steps each", loc="left")
for (name, steps), style in zip(runs.items(), ("-", "--", "-.", ":")):
    right.semilogy([max(step.objective, 1e-12) for step in steps], style, label=name)
right.legend(fontsize=8)
right.set(xlabel="steps", ylabel="f(w)", xlim=(-2, 80), ylim=(1e-6, 300), title="Values")
plt.show()

# %%
# A constant step must be below 2 / M = 0.08. Shorter ones are safe and slow; a longer one climbs out of the ravine, and a run that
# does so says why.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.3), layout="constrained", sharey=True)
east, north = np.meshgrid(np.linspace(-11, 3, 100), np.linspace(-3.2, 3.2, 100))
for panel, (step, verdict) in zip(
    panels, [(0.01, "slow"), (0.06, "good"), (0.082, "too long")]
):
    path = np.array(
        [step.point for step in islice(GradientDescent(step).steps(ravine, [-10.0, 1.0]), 31)]
    )
    panel.contour(
        east,
        north,
        (east**2 + 25 * north**2) / 2,
        levels=12,
        colors="grey",
        linewidths=0.5,
        alpha=0.7,
    )
    panel.plot(*path.T, ".-", linewidth=1.2, markersize=5)
    panel.plot(0, 0, "+", color="black", markersize=10, markeredgewidth=1.5)
    panel.set(title=f"step {step:g}: {verdict}", xlabel="w₁", xlim=(-11, 3), ylim=(-3.2, 3.2))
panels[0].set_ylabel("w₂")
plt.show()

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    qed.optim.minimize(ravine, [-10.0, 1.0], method=GradientDescent(step=0.082))
print(textwrap.fill(str(caught[0].message), 88))
