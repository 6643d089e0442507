r"""
The diamond and the circle
==========================

Both keep coefficients small, ridge regression their squares, the lasso their sizes,

.. math:: \min_w \|y - Xw\|^2 + \lambda \|w\|_2^2 \qquad\text{and}\qquad \min_w \|y - Xw\|^2 + \lambda \|w\|_1.

A penalty is a constraint in disguise: the solution is where the contours of the error first touch a ball. That of the lasso has
corners, which lie on the axes, and there a coefficient is exactly zero. Seen otherwise: to make a coefficient smaller always pays
the same with the lasso, and less and less with the square.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(0)
X = random.standard_normal((50, 2)) @ [[1.0, 0.5], [0.0, 0.8]]
y = X @ [0.4, 1.6] + 0.3 * random.standard_normal(50)
best = qed.LinearRegression(fit_intercept=False).fit(X, y).coef_
lasso = qed.constrained_lasso(X, y, radius=1.0, fit_intercept=False)
ridges = (qed.Ridge(alpha, fit_intercept=False).fit(X, y) for alpha in np.logspace(0, 3, 300))
ridge = next(model for model in ridges if np.linalg.norm(model.coef_) <= 1)
print("least squares:", best.round(3))
print("lasso        :", lasso.coef.round(3), "proven:", bool(lasso.certificate))
print("ridge        :", ridge.coef_.round(3), "proven:", bool(ridge.certificate_))

# %%
# Ellipses of equal error, the ball, and the point where they touch: on a corner of the diamond, anywhere on the circle.
figure, panels = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
for panel, norm in zip(panels, (1, 2)):
    qed.plots.tangency(X, y, 1.0, panel, norm=norm)
plt.show()

# %%
# On data. From the right: with the lasso the coefficients leave zero one after the other, on straight lines in alpha (bent here by
# the logarithm); with ridge regression all leave it at once, and may cross it but do not stay. Dotted: the best penalty, by
# cross-validation.
data = qed.data.load("diabetes")
X, y = data.Xy()
X = qed.StandardScaler().fit_transform(X)
paths = {
    "Lasso": qed.lasso_path(X, y, eps=1e-3),
    "Ridge": qed.ridge_path(X, y, np.logspace(0, 5, 100)),
}
models = {"Lasso": qed.Lasso(), "Ridge": qed.Ridge()}
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained", sharey=True)
for panel, (name, path) in zip(panels, paths.items()):
    search = qed.Search(models[name], {"alpha": path.alphas}, cv=10).fit(X, y)
    print(
        f"{name}: {search.how_}; R² {search.best_score_:.3f} at alpha = "
        f"{search.best_params_['alpha']:.3g}"
    )
    lines = panel.semilogx(path.alphas, path.coef, linewidth=1.4)
    for line, style in zip(lines, 8 * ["-"] + 2 * ["--"]):
        line.set_linestyle(style)
    panel.axvline(search.best_params_["alpha"], color="grey", linestyle=":")
    panel.set(title=name, xlabel="penalty alpha")
panels[0].set_ylabel("coefficient")
figure.legend(lines, data.features, loc="outside right center", fontsize=9)
plt.show()
print(paths["Lasso"].certificate)
