r"""
Where two Gaussians are equally probable
========================================

If each class is a Gaussian, Bayes' rule decides by

.. math:: Q_k(x) = \ln P(k) - \tfrac12 (x - \mu_k)^\top \Sigma_k^{-1} (x - \mu_k) - \tfrac12 \ln |\Sigma_k| ,

and the boundary between two classes is a quadric. There are four cases: equal covariances that are a multiple of the identity (a line
perpendicular to the line between the means), equal covariances (a line), covariances that differ (an ellipse, a parabola or a hyperbola).
Priors move the boundary away from the class that is more probable.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(0)
means = np.array([[-1.5, 0.0], [1.5, 0.5]])
round_one, tilted = np.eye(2), np.array([[1.0, 0.8], [0.8, 1.2]])
cases = {
    "both round: a line, perpendicular": (round_one, round_one, (0.5, 0.5)),
    "both tilted: a line": (tilted, tilted, (0.5, 0.5)),
    "a small one in a large one: an ellipse": (0.2 * round_one, 3.0 * round_one, (0.5, 0.5)),
    "crossed: a hyperbola": (tilted, tilted * [[1, -1], [-1, 1]], (0.5, 0.5)),
    "the first is rare": (tilted, tilted, (0.05, 0.95)),
    "the first is common": (tilted, tilted, (0.95, 0.05)),
}
x1, x2 = np.meshgrid(np.linspace(-6, 6, 200), np.linspace(-5, 5, 200))
plane = np.column_stack([x1.ravel(), x2.ravel()])

figure, panels = plt.subplots(
    2, 3, figsize=(11, 6.8), layout="constrained", sharex=True, sharey=True
)
for axes, (name, (first, second, priors)) in zip(panels.ravel(), cases.items()):
    X = np.vstack(
        [
            random.multivariate_normal(mean, spread, 150)
            for mean, spread in zip(means, (first, second))
        ]
    )
    y = np.repeat(["first", "second"], 150)
    kind = (
        qed.LinearDiscriminantAnalysis if first is second else qed.QuadraticDiscriminantAnalysis
    )
    model = kind(priors=priors).fit(X, y)
    chance = model.predict_proba(plane)[:, 0].reshape(x1.shape)
    axes.contourf(x1, x2, chance, levels=np.linspace(0, 1, 11), cmap="RdBu", alpha=0.3)
    axes.contour(x1, x2, chance, levels=[0.5], colors="black")
    for label, color in [("first", "navy"), ("second", "darkred")]:
        axes.plot(*X[y == label].T, ".", color=color, markersize=3)
    axes.set(title=name, xlabel="x₁", ylabel="x₂", xlim=(-6, 6), ylim=(-5, 5))
plt.show()

# %%
# The boundary is a form that can be asked for. Between classes of one covariance its matrix is zero.
form = model.boundary("first", "second")
print(
    "matrix",
    form.matrix.tolist(),
    "vector",
    form.vector.round(2),
    "constant",
    round(form.constant, 2),
)

# %%
# The posterior of two such classes is the logistic function of a line. Logistic regression finds nearly the same line without believing
# in Gaussians; if they are true, the discriminant needs fewer rows for it.
many = 20_000
X = np.vstack([random.multivariate_normal(mean, tilted, many) for mean in means])
y = np.repeat([0, 1], many)
truth = np.linalg.solve(tilted, means[1] - means[0])
print("truth   ", truth.round(3))
for rows in (200, 2000, 2 * many):
    some = random.permutation(len(y))[:rows]
    gaussian, logistic = qed.LinearDiscriminantAnalysis(), qed.LogisticRegression(C=np.inf)
    found = [model.fit(X[some], y[some]).coef_[0].round(3) for model in (gaussian, logistic)]
    print(f"{rows:>6} rows: discriminant {found[0]}, logistic {found[1]}")
