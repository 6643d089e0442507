r"""
What is round becomes straight
==============================

No line separates a disc from the ring around it. But a circle :math:`(x_1 - a)^2 + (x_2 - b)^2 = r^2` is a linear equation in the
squares, the product and the coordinates themselves, and these are the features of the polynomial kernel of degree 2,

.. math:: (1 + x^\top z)^2 = \phi(x)^\top \phi(z), \qquad
          \phi(x) = (1,\ \sqrt2 x_1,\ \sqrt2 x_2,\ x_1^2,\ \sqrt2 x_1 x_2,\ x_2^2).

There a plane does it. The kernel gives the inner products of these features without making them.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.data.synthetic import rings
from qed.kernels import Linear, Polynomial, centred

X, label = rings(200, radii=(0.5, 1.5), noise=0.15, random_state=0)
y = np.where(label == 1, 1.0, -1.0)

kernel = Polynomial(2)
print(
    "kernel and features agree to",
    f"{np.abs(kernel(X) - kernel.features(X) @ kernel.features(X).T).max():.0e}",
)
for one in (Linear(), kernel):
    model = qed.KernelRidge(alpha=1e-3, kernel=one).fit(X, y)
    print(
        f"{one!r:<22} {np.mean(np.sign(model.predict(X)) == y):.0%} of the points on the "
        f"right side; {model.reason_}"
    )

# %%
# Left: the points, and where the fit with the kernel is zero. Right: the squares of the coordinates. The circle has become a line,
# or nearly one, for its centre is not quite at 0.
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
x1, x2 = np.meshgrid(np.linspace(-2.1, 2.1, 100), np.linspace(-2.1, 2.1, 100))
height = model.predict(np.column_stack([x1.ravel(), x2.ravel()])).reshape(x1.shape)
boundary = left.contour(x1, x2, height, levels=[0], colors="black", linewidths=1.2).allsegs[0][
    0
]
for group, color, name in [(0, "C0", "disc"), (1, "C1", "ring")]:
    left.plot(*X[label == group].T, ".", color=color)
    right.plot(*X[label == group].T ** 2, ".", color=color, label=name)
right.plot(*boundary.T**2, color="black", linewidth=1.2, label="where the fit is zero")
left.set(xlabel="x₁", ylabel="x₂", aspect="equal", title="The points")
right.set(
    xlabel="x₁²",
    ylabel="x₂²",
    aspect="equal",
    xlim=(-0.1, 3.6),
    ylim=(-0.1, 3.6),
    title="Their squares",
)
right.legend()
plt.show()

# %%
# The Gram matrix knows that something is linear: six features have rank five when centred, and on a circle, wherever it is, one
# direction less.
angle = np.linspace(0, 2 * np.pi, 40, endpoint=False)
circle = np.column_stack([0.5 + 2 * np.cos(angle), -0.7 + 2 * np.sin(angle)])
for name, points in {"some points": X, "points on a circle": circle}.items():
    print(f"{name:<19} rank {np.linalg.matrix_rank(centred(kernel(points)))}")
