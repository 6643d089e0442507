"""
Inside a small convolutional network
====================================

A network of two stages learns the 8 x 8 digits. Its first filters are images themselves. Of a unit deeper inside one can ask three things:
which pixels move it (saliency), what its activation stands for (deconvolution), and which image of length one excites it most.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.neural import Activation, Conv2d, Dense, Flatten, MaxPool2d, Network, seeing, zoo

X, y = qed.data.load("digits").Xy()
images, y = np.asarray(X).reshape(-1, 1, 8, 8) / 16, np.asarray(y, dtype=int)
layers = [
    Conv2d(8, 3),
    Activation("relu"),
    MaxPool2d(2),
    Conv2d(12, 2),
    Activation("relu"),
    Flatten(),
    Dense(10),
]
network = Network(layers, (1, 8, 8), random_state=0)
for _ in range(150):  # plain descent on all rows, to have something to look at
    network.vector -= 0.5 * network.gradient(images[:1000], y[:1000])[1]
right = (network.forward(images[1000:]).argmax(axis=1) == y[1000:]).mean()
print(f"right on {right:.0%} of the digits that it has not seen")

figure, axes = plt.subplots(2, 8, figsize=(14, 3.8), layout="constrained")
for number, (ax, pattern) in enumerate(zip(axes[0], seeing.first_filters(network)[:, 0])):
    ax.imshow(pattern, cmap="RdBu_r", vmin=-0.8, vmax=0.8)
    ax.set_title(f"filter {number}", fontsize=9)
unit, row = seeing.Unit("4", (3, 1, 1)), images[:1]
excited = seeing.maximise_activation(
    network, unit, length=1.0, start=row[0] / np.linalg.norm(row)
)
answers = [
    ("a digit", row[0, 0]),
    ("saliency", seeing.saliency(network, row, unit)[0, 0]),
    ("deconvolution", seeing.deconvolve(network, row, unit)[0, 0]),
    ("excites most", excited.image[0]),
]
code = network.activations(row)["2"][0]
answers.append(("from its code", seeing.invert_code(network, code, "2").image[0]))
for ax, (title, picture) in zip(axes[1], answers):
    most = np.abs(picture).max() or 1.0
    ax.imshow(picture, cmap="RdBu_r", vmin=-most, vmax=most)
    ax.set_title(title, fontsize=9)
for ax in axes.ravel():
    ax.set_axis_off()
plt.show()

# %%
# All filters of the first layer on one scale, in one call:
qed.plots.filters(seeing.first_filters(network)[:, 0])
plt.show()

# %%
# How many units are silent behind each layer:
for name, share in seeing.sparsity(network, images[:200]).items():
    print(f"layer {name} {type(network.layers[int(name)]).__name__:10s} {share:.2f}")

# %%
# The winners of the picture contests, counted without making a weight:
for plan in (zoo.lenet(), zoo.alexnet(), zoo.vgg(16), zoo.googlenet(), zoo.resnet(152)):
    sees = min(max(field.size[0] for field in plan.receptive_fields), plan.input_shape[1])
    print(
        f"{plan.name:10s} {plan.year}  {plan.n_parameters:11,d} weights, "
        f"{plan.n_products:14,d} products, sees {sees} pixels"
    )
