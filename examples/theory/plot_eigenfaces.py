r"""
Eigenfaces
==========

An image of 40 by 40 pixels is a row of 1 600 numbers; faces fill only a small part of that space, since all have eyes, a mouth, and a light
that falls on them. Principal components of many faces find that part: the *eigenfaces*. There are far more columns than rows here, so
components come from the products of rows, an :math:`n \times n` matrix, and no :math:`p \times p` matrix is ever made.

The faces are drawn by a formula with seven random numbers, so that it is known how many ways of varying there are.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

SIDE = 40
height, width = np.mgrid[1 : -1 : SIDE * 1j, -1 : 1 : SIDE * 1j]


def face(numbers):
    """Draw a face from seven numbers: width, eyes (two), smile, mouth, light, and brows."""
    wide, apart, high, smile, mouth, light, brow = numbers
    head = 1 / (
        1 + np.exp(12 * ((width / (0.7 + 0.06 * wide)) ** 2 + (height / 0.95) ** 2 - 1))
    )
    image = head * (0.8 + 0.12 * light * width)
    for side in (-1, 1):
        x, y = side * (0.28 + 0.03 * apart), 0.25 + 0.04 * high
        image -= 0.6 * np.exp(-((width - x) ** 2 / 0.006 + (height - y) ** 2 / 0.003))
        lift = 0.17 + 0.03 * brow
        image -= 0.35 * np.exp(-((width - x) ** 2 / 0.02 + (height - y - lift) ** 2 / 0.001))
    curve = -0.45 + (0.25 + 0.25 * smile) * (width**2 - 0.04)
    image -= 0.5 * np.exp(
        -((height - curve) ** 2) / 0.0015 - (width / (0.28 + 0.03 * mouth)) ** 8
    )
    image -= 0.15 * np.exp(-(width**2) / 0.002 - (height + 0.05) ** 2 / 0.03)
    return image.ravel()


random = np.random.default_rng(0)
faces = np.array(
    [face(random.standard_normal(7)) for _ in range(300)]
) + 0.02 * random.standard_normal((300, SIDE**2))
new = np.array(
    [face(random.standard_normal(7)) for _ in range(4)]
) + 0.02 * random.standard_normal((4, SIDE**2))

model = qed.PCA(12).fit(faces)
print(model.certificate_)
print(
    "twelve components have", f"{model.explained_variance_ratio_.sum():.1%}", "of the variance"
)

figure, axes = plt.subplots(2, 5, figsize=(10, 4.4), layout="constrained")
for ax, image in zip(axes[0], faces):
    ax.imshow(image.reshape(SIDE, SIDE), cmap="gray")
axes[0, 2].set_title("Faces")
for ax, image in zip(axes[1], (model.mean_, *model.components_)):
    ax.imshow(image.reshape(SIDE, SIDE), cmap="gray")
axes[1, 2].set_title("The mean face, and the first eigenfaces")
for ax in axes.flat:
    ax.axis("off")
plt.show()

# %%
# New faces from a few numbers each. The components were learned from other faces; with more of them the picture becomes sharper, until
# what is left is noise.
counts = (1, 3, 6, 12)
figure, axes = plt.subplots(len(new), len(counts) + 1, figsize=(7.5, 6.2), layout="constrained")
for row, image in zip(axes, new):
    row[0].imshow(image.reshape(SIDE, SIDE), cmap="gray")
    for ax, k in zip(row[1:], counts):
        few = qed.PCA(k).fit(faces)
        ax.imshow(
            few.inverse_transform(few.transform(image[None])).reshape(SIDE, SIDE), cmap="gray"
        )
for ax, title in zip(axes[0], ("a new face", *(f"{k} components" for k in counts))):
    ax.set_title(title)
for ax in axes.flat:
    ax.axis("off")
plt.show()
before, after = model.storage()
print(f"{before} numbers become {after}")

# %%
# How many are worth keeping? Variances fall until only noise is left, and then hardly change. With fewer faces than pixels, components
# of pure noise look larger than its variance in a pixel, 0.0004, the line.
whole = qed.PCA(40).fit(faces)
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
ax.semilogy(1 + np.arange(40), whole.explained_variance_, "o-", markersize=3)
ax.axhline(0.02**2, color="gray", linewidth=0.8)
ax.set(
    title="Variances of the components; the line is the noise",
    xlabel="component",
    ylabel="variance",
)
plt.show()
