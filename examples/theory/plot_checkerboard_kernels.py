r"""
A checkerboard, and which kernel can play on it
===============================================

Kernel ridge regression fits the colours of a checkerboard, +1 and -1, of which one in ten is misprinted; its sign is the guess. A
polynomial of low degree can not bend so often. The Gaussian kernel :math:`e^{-\gamma \|x - z\|^2}` sees what is near, and
:math:`\gamma` says how near: with too wide a kernel squares run into each other, and too narrow a one knows each point, misprints
and all, and hardly anything between them.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.data.synthetic import checkerboard
from qed.kernels import RBF, Polynomial

X, color = checkerboard(400, flip=0.1, random_state=0)
X_new, color_new = checkerboard(4000, random_state=1)
X, X_new = X / 2 - 1, X_new / 2 - 1
y, y_new = 2.0 * color - 1, 2.0 * color_new - 1

# %%
# For each kernel one eigendecomposition gives all penalties and their leave-one-out errors; the best penalty is taken, and the fit
# judged by 4000 other points and their true colours.
kernels = {"polynomial, degree 3": Polynomial(3), "polynomial, degree 8": Polynomial(8)}
kernels |= {f"Gaussian, gamma {gamma:g}": RBF(gamma) for gamma in (1, 10, 1000)}
side = np.linspace(-1, 1, 120)
grid = np.array([(a, b) for b in side for a in side])
figure, panels = plt.subplots(1, 5, figsize=(13, 3.5), layout="constrained", sharey=True)
for panel, (name, kernel) in zip(panels, kernels.items()):
    path = qed.kernel_ridge_path(X, y, np.logspace(-8, 2, 41), kernel=kernel)
    model = qed.KernelRidge(path.best, kernel=kernel).fit(X, y)
    right = np.mean(np.sign(model.predict(X_new)) == y_new)
    print(
        f"{name:<21} alpha {path.best:<8.2g} {right:.0%} right; proven: "
        f"{bool(model.certificate_)}"
    )
    height = model.predict(grid).reshape(120, 120)
    panel.imshow(
        np.clip(height, -1, 1),
        extent=(-1, 1, -1, 1),
        origin="lower",
        cmap="coolwarm",
        vmin=-1.4,
        vmax=1.4,
    )
    panel.plot(*X[color == 0].T, ".", color="C0", markersize=3)
    panel.plot(*X[color == 1].T, ".", color="C5", markersize=3)
    panel.set(
        title=f"{name}\n{right:.0%} right", xticks=[-1, 0, 1], yticks=[-1, 0, 1], xlabel="x₁"
    )
    panel.grid(visible=False)
panels[0].set_ylabel("x₂")
plt.show()
