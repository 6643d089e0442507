r"""
Kernel ridge regression: how wide, and how stiff
================================================

Kernel ridge regression is a sum of bumps, one at each point, and two numbers shape it: the width of the bumps (:math:`\gamma`) and
the penalty :math:`\alpha`,

.. math:: f(x) = \sum_i c_i\, e^{-\gamma (x_i - x)^2}, \qquad (K + \alpha I)\, c = y.

Neither can be read off the fit to the points themselves, which is the better the narrower the bumps. The error on points left out
can say, and costs little: one eigendecomposition of :math:`K` gives it for every penalty,

.. math:: y_i - f_{-i}(x_i) = \frac{c_i}{[(K + \alpha I)^{-1}]_{ii}}.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.data.synthetic import sinusoid

X, y = sinusoid(60, frequency=0.2, high=10.0, noise=0.3, random_state=2)
kernels = {"wide (gamma 0.01)": 0.01, "good (gamma 0.5)": 0.5, "narrow (gamma 50)": 50.0}
alphas = np.logspace(-8, 2, 61)
paths = {
    name: qed.kernel_ridge_path(X, y, alphas, kernel="rbf", gamma=gamma)
    for name, gamma in kernels.items()
}
for name, path in paths.items():
    print(
        f"{name:<18} leave-one-out error {path.leave_one_out_error.min():.3f} at alpha = "
        f"{path.best:.2g}"
    )

# %%
# The same penalty for three widths.
x = np.linspace(0, 10, 500)[:, None]
figure, panels = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
for number, (panel, (name, gamma)) in enumerate(zip(panels, kernels.items())):
    model = qed.KernelRidge(0.1, kernel="rbf", gamma=gamma).fit(X, y)
    panel.plot(
        x[:, 0],
        np.sin(0.4 * np.pi * x[:, 0]),
        "--",
        color="black",
        linewidth=1,
        label="the truth",
    )
    panel.plot(X[:, 0], y, ".", color="grey", alpha=0.7)
    panel.plot(x[:, 0], model.predict(x), color=f"C{number}", label="alpha = 0.1")
    panel.set(title=name, xlabel="x", ylim=(-2, 2.6))
    panel.legend(loc="upper right", ncols=2, fontsize=9)
panels[0].set_ylabel("y")
plt.show()

# %%
# Dotted: the error on the points fitted, which falls with the penalty whatever the width. Solid: the error on points left out,
# which has a minimum. The dashed line is the variance of the noise, the least that any prediction can reach on average.
figure, panels = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained", sharey=True)
for number, (panel, (name, path)) in enumerate(zip(panels, paths.items())):
    panel.plot(alphas, path.training_error, ":", color=f"C{number}", label="points fitted")
    panel.plot(alphas, path.leave_one_out_error, color=f"C{number}", label="points left out")
    panel.axhline(0.09, color="grey", linestyle="--", linewidth=1)
    panel.set(title=name, xlabel="penalty alpha", xscale="log", yscale="log", ylim=(3e-3, 3))
    panel.legend(loc="upper left", fontsize=9)
panels[0].set_ylabel("mean squared error")
plt.show()

# %%
# A search over both numbers takes one eigendecomposition for each width, and none for the penalties.
grid = {"gamma": np.logspace(-2, 2, 21), "alpha": alphas}
search = qed.Search(
    qed.KernelRidge(kernel="rbf"), grid, cv="loo", scoring="neg_mean_squared_error"
).fit(X, y)
print(search.how_)
print(
    {name: float(f"{value:.2g}") for name, value in search.best_params_.items()},
    f"error {-search.best_score_:.3f}",
)
print(search.best_estimator_.certificate_)
