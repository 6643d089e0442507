r"""
Bias, variance, and why the right model is not the largest
==========================================================

Ten points are drawn about a line, again and again, and polynomials of degree 0, 1 and 2 are fitted to each set. At a point
:math:`x` the expected squared error has three parts,

.. math:: \mathbb E\bigl[(h(x) - Y)^2\bigr] = \text{bias}^2 + \text{variance} + \text{noise}.

The constant is wrong at the edges whatever the sample. The parabola is right on average, but follows the noise of every sample. The line is
right on average and steadier.
"""

import matplotlib.pyplot as plt

import qed

found = qed.polynomial_experiment(degrees=(0, 1, 2), repetitions=400)
for degree, one in found.items():
    print(f"degree {degree}: {one}")

# %%
# All hypotheses (grey), their average (blue) and the truth (dashed).
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained", sharey=True)
for panel, (degree, one) in zip(panels, found.items()):
    one.plot(panel)
    panel.set_title(f"degree {degree}", loc="left")
    panel.set_ylim(-2, 4)

# %%
# Bias and variance against x, and their averages. The identity behind the picture is exact for any sample, and certified.
qed.plots.bias_variance(found)
print(found[1].certificate)
