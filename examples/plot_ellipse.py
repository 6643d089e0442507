"""
An orbit from noisy points
==========================

An ellipse is linear in its five coefficients, so least squares finds it: regress the constant one on the squares, the product and the coordinates.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

generator = np.random.default_rng(3)
angle = np.radians(30)
turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
phase = np.linspace(0, 2 * np.pi, 40)
orbit = np.column_stack([3 * np.cos(phase), np.sin(phase)]) @ turn.T + [1.0, -0.5]

figure, axes = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
for ax, noise in zip(axes, (0.0, 0.05, 0.15)):
    seen = orbit + noise * generator.standard_normal(orbit.shape)
    conic = qed.fit_conic(seen)
    ax.plot(*seen.T, ".", color="grey")
    ax.plot(*conic.points(200).T, color="tab:blue")
    ax.set(title=f"noise {noise}: {conic.kind}", aspect="equal")
plt.show()
