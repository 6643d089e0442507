r"""
An orbit from noisy points
==========================

An ellipse is not linear in its coordinates, but it is linear in its coefficients. So least squares finds it: regress the constant one
on the squares, the product and the coordinates,

.. math:: w_1 x_1^2 + w_2 x_2^2 + w_3 x_1 x_2 + w_4 x_1 + w_5 x_2 = 1.

The same equation describes hyperbolas, and when a planet was seen for a short while only, noise decides between the two. The result says
which it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.data.synthetic import ellipse

orbit = ellipse(60, semi_axes=(3, 1.2), center=(1, -0.5), angle=np.radians(30))
noise = np.random.default_rng(6).standard_normal(orbit.shape)
seen = {
    "all of it, little noise": orbit + 0.05 * noise,
    "all of it, more noise": orbit + 0.2 * noise,
    "a short arc": (orbit + 0.05 * noise)[2:20],
}

x, y = np.meshgrid(np.linspace(-3, 5, 300), np.linspace(-3, 2.5, 300))
plane = np.column_stack([x.ravel(), y.ravel()])

figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained", sharey=True)
for ax, (name, points) in zip(axes, seen.items()):
    conic = qed.fit_conic(points)
    ax.plot(*orbit.T, color="grey", linewidth=1, linestyle="--")
    ax.plot(*points.T, ".", color="C1")
    ax.contour(x, y, conic.distance(plane).reshape(x.shape), levels=[0], colors="C0")
    ax.set(title=f"{name}: {conic.kind}", xlabel="x₁", ylabel="x₂", aspect="equal")
    print(f"{name}:\n{conic}\n")
plt.show()
