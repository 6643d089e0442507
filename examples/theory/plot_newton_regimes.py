r"""
Newton's method, near and far
=============================

Newton's method goes to the minimum of the parabola that fits best where it stands. On the hyperbola

.. math:: f(w) = \sqrt{w^2 + 1}, \qquad w \mapsto w - \frac{f'(w)}{f''(w)} = -w^3,

everything depends on the start: below 1 in size the digits treble with every step, at 1 it jumps to and fro for ever, and above 1
it runs away. The function is convex, and that is not enough: far out it is almost a straight line, not strongly convex for any
constant, and the minimum of the parabola lies beyond the horizon.
"""

from itertools import islice, pairwise

import matplotlib.pyplot as plt
import numpy as np

from qed.optim import Newton, Objective, check_convexity, check_strong_convexity, minimize

hyperbola = Objective(
    lambda w: np.sqrt(w[0] ** 2 + 1),
    lambda w: w / np.sqrt(w**2 + 1),
    lambda w: (w[0] ** 2 + 1) ** -1.5 * np.eye(1),
)
pure = Newton(step=1.0, shift=0.0)
for start in (0.5, 1.0, 1.1, 2.0):
    points = [step.point[0] for step in islice(pure.steps(hyperbola, [start]), 5)]
    print("  ->  ".join(f"{point:.4g}" for point in points))
print(check_convexity(hyperbola.value, -np.inf, np.inf).verdict)
print(check_strong_convexity(hyperbola.value, 1e-3, -np.inf, np.inf).verdict)

# %%
# In each panel the parabolas at the first two points, and their minima (crosses), to which the method goes.
x = np.linspace(-3.2, 3.2, 400)


def value(w):
    """Give the function, for arrays."""
    return np.sqrt(w**2 + 1)


figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for panel, (start, verdict) in zip(
    panels, [(0.8, "converges"), (1.0, "goes to and fro"), (1.2, "runs away")]
):
    panel.plot(x, value(x), color="black", linewidth=1.2)
    points = np.array([step.point[0] for step in islice(pure.steps(hyperbola, [start]), 3)])
    for k, (w, after) in enumerate(pairwise(points)):
        parabola = value(w) + w / value(w) * (x - w) + (x - w) ** 2 / (2 * value(w) ** 3)
        panel.plot(x, parabola, color=f"C{k}", linewidth=1, linestyle="--")
        lowest = value(w) + w / value(w) * (after - w) / 2
        panel.plot(
            [after, after],
            [lowest, value(after)],
            "x:",
            color=f"C{k}",
            markevery=[0],
            linewidth=1,
        )
    for k, w in enumerate(points):
        panel.plot(w, value(w), "o", color=f"C{k}", label=f"w{'⁰¹²'[k]} = {w:.3g}", zorder=5)
    panel.set(title=f"from {start:g}: {verdict}", xlabel="w", xlim=(-3.2, 3.2), ylim=(0, 4))
    panel.legend(loc="upper center", ncols=3, fontsize=8, handletextpad=0.1, columnspacing=0.8)
panels[0].set_ylabel("f(w)")
plt.show()

# %%
# Left: the sizes of the iterates, :math:`|w^t| = |w^0|^{3^t}`. Right: a shorter step helps as far as it goes. Half of it still
# diverges from 2, a tenth gets there slowly. A search along the step, the default, takes the whole step where it can and a part
# where it must.
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.6), layout="constrained", sharey=True)
for start in (0.5, 0.9, 1.0, 1.1, 2.0):
    sizes = [abs(step.point[0]) for step in islice(pure.steps(hyperbola, [start]), 5)]
    left.semilogy(sizes, ".-", label=f"from {start:g}")
left.set(
    title="The whole step", xlabel="steps", ylabel="|w|", ylim=(1e-12, 1e9), xticks=range(5)
)
remedies = {
    "half of it": Newton(0.5, 0.0),
    "a tenth of it": Newton(0.1, 0.0),
    "searched (the default)": Newton(),
}
for name, method in remedies.items():
    sizes = [abs(step.point[0]) for step in islice(method.steps(hyperbola, [2.0]), 9)]
    right.semilogy(np.maximum(sizes, 1e-16), ".-", label=name)
right.set(title="Other steps, all from 2", xlabel="steps", xticks=range(9))
for panel in (left, right):
    panel.legend(loc="lower left", fontsize=9)
plt.show()
print(minimize(hyperbola, [2.0], method="newton"))
