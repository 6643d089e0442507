"""
One hidden layer comes as near as one likes
===========================================

Three networks whose weights are written down and not trained. Steps hold the middle of the function on each piece, sigmoids round them off,
and hinges are straight lines between its values. Twice as many units halve the error of steps, and quarter that of hinges.
"""

import matplotlib.pyplot as plt
import numpy as np

from qed.neural import Dense, Network, constructions


def wave(x):
    return np.sin(2 * np.pi * x)


makers = {
    "steps": constructions.step_network,
    "sigmoids": constructions.sigmoid_network,
    "hinges": constructions.relu_network,
}
x = np.linspace(0, 1, 1001)
figure, axes = plt.subplots(1, 4, figsize=(14, 3.4), layout="constrained")
for ax, (name, make) in zip(axes, makers.items()):
    ax.plot(x, wave(x), color="0.7", linewidth=4, label="the function")
    ax.plot(x, make(wave, 8).forward(x[:, None]).ravel(), label="8 pieces")
    ax.set(title=name, xlabel="x")
    ax.legend(loc="lower left")

pieces = np.array([4, 8, 16, 32, 64, 128])
for name, make in makers.items():
    errors = [constructions.largest_error(make(wave, k), wave) for k in pieces]
    axes[3].loglog(pieces, errors, marker=".", label=name)
axes[3].set(title="largest error", xlabel="pieces")
axes[3].legend()
plt.show()

# %%
# A network without activations is one matrix, whatever its depth, and no wider than its narrowest layer:
linear = Network([Dense(3), Dense(8), Dense(10)], 10, loss="squared_error")
print("rank", constructions.collapse(linear).rank, "of a 10 x 10 matrix")
