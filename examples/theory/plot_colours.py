r"""
A picture in few colours
========================

A pixel is a row of three numbers: red, green and blue. k-means finds the colours that stand for all of them, the *palette*, and writes each
pixel as the number of its colour: 4 bits for 16 colours in the place of 24. What is lost is the inertia: the mean squared error of the
picture is the inertia over the number of values.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

# A landscape painted by formulas: sky, sun, and three rows of hills, with some noise as cameras have.
height, width = 120, 180
y, x = np.mgrid[0 : 1 : height * 1j, 0 : 1.5 : width * 1j]
sky = np.stack([0.95 - 0.5 * (1 - y), 0.55 + 0.1 * y, 0.35 + 0.55 * (1 - y)], axis=2)
glow = np.exp(-((x - 1.05) ** 2 + (y - 0.35) ** 2) / 0.03)[:, :, None]
image = sky + glow * np.array([0.5, 0.35, 0.1])
for level, colour, waves in (
    (0.55, (0.45, 0.35, 0.5), 7),
    (0.68, (0.25, 0.35, 0.3), 11),
    (0.82, (0.1, 0.2, 0.12), 5),
):
    hill = y > level + 0.05 * np.sin(waves * x) + 0.02 * np.sin(3 * waves * x + 1)
    image[hill] = np.array(colour) * (1.3 - 0.6 * y[hill])[:, None]
image = np.clip(image + 0.01 * np.random.default_rng(0).standard_normal(image.shape), 0, 1)

pixels = image.reshape(-1, 3)
print(f"{len(np.unique((255 * pixels).astype(np.uint8), axis=0)):,} different colours")

# %%
# All palettes come from one path: that of a few colours, and further ones where the picture is farthest from those.
path = qed.kmeans_path(pixels, [2, 4, 8, 16, 32], random_state=0)
figure, axes = plt.subplots(2, 3, figsize=(10, 5), layout="constrained")
axes[0, 0].imshow(image)
axes[0, 0].set_title("as it was")
for ax, model in zip(axes.flat[1:], path.models):
    few = model.cluster_centers_[model.predict(pixels)]
    assert len(np.unique(few, axis=0)) <= model.n_clusters
    error = ((few - pixels) ** 2).mean()
    ax.imshow(few.reshape(image.shape))
    ax.set_title(f"{model.n_clusters} colours, squared error {error:.5f}")
for ax in axes.flat:
    ax.set_axis_off()
plt.show()

# %%
# The error never rises along the path, as its certificate says, and that of each palette: no pixel is nearer to another of its colours.
for model in path.models:
    print(
        f"{model.n_clusters:>3} colours: squared error {model.inertia_ / pixels.size:.6f}, "
        f"proven {bool(model.certificate_)}"
    )
print(path.certificate)

# %%
# The palette of sixteen, the most frequent colour first.
model = path.models[3]
order = np.argsort(-np.bincount(model.labels_))
figure, ax = plt.subplots(figsize=(8, 0.9), layout="constrained")
ax.imshow(model.cluster_centers_[order][None])
ax.set_axis_off()
plt.show()
