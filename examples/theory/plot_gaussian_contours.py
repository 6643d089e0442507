r"""
Gaussian vectors: contours, marginals, conditionals
===================================================

The points of equal density of a Gaussian vector form ellipses along the eigenvectors :math:`v_i` of its covariance, with semi-axes
:math:`\sqrt{c \lambda_i}\, v_i`. Knowing one component moves the other to
:math:`\mu_X + \Sigma_{XY}\Sigma_{YY}^{-1}(y - \mu_Y)` and makes it more certain; how much more does not depend on the value.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

pair = qed.stats.Gaussian([0.0, 0.0], [[2.0, 1.0], [1.0, 2.0]])
given = pair.conditional({1: 2.0})
print("x alone      :", pair.marginal([0]))
print("x given y = 2:", given)

# %%
# Left: samples, the contours that hold 50, 90 and 99 percent, and the semi-axes. Right: the first component alone, and when the second
# is known to be 2.
figure, (plane, line) = plt.subplots(1, 2, figsize=(10.5, 4.4), layout="constrained")
plane.plot(*pair.sample(600, random_state=0).T, ".", color="grey", alpha=0.4, markersize=4)
for mass in (0.5, 0.9, 0.99):
    plane.plot(*pair.contour(mass=mass).points().T, color="C0", linewidth=1.5)
for axis in pair.contour(distance=1.0).axes:
    plane.annotate(
        "", axis, (0, 0), arrowprops={"arrowstyle": "->", "color": "C1", "linewidth": 2}
    )
plane.axhline(2.0, color="C2", linestyle="--", linewidth=1)
plane.set(xlabel="x", ylabel="y", aspect="equal")
x = np.linspace(-5, 5, 300)
line.plot(x, pair.marginal([0]).density(x), color="grey", label="x alone")
line.plot(x, given.density(x), color="C2", label="x when y = 2")
line.set(xlabel="x", ylabel="density")
line.legend()
plt.show()
