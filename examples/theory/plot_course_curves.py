r"""
Curves that the course is told with
===================================

Losses that stand for the 0-1 loss, impurities that stand for the error of a leaf, alarms at every threshold, coefficients
under a penalty, and descent.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed.optim import ExponentialLoss, HingeLoss, LogisticLoss, SquaredHingeLoss, minimize

# %%
# Every surrogate lies above the 0-1 loss, or can be scaled to, and falls as the margin grows.
figure, panels = plt.subplots(1, 2, figsize=(11, 3.9), layout="constrained")
qed.plots.losses(
    {
        "hinge": HingeLoss(),
        "squared hinge": SquaredHingeLoss(),
        "logistic": LogisticLoss(),
        "exponential": ExponentialLoss(),
    },
    panels[0],
)
qed.plots.impurities(panels[1])
plt.show()

# %%
# Boundaries, and the case of each row of a support vector machine: not needed, on the margin, or inside.
X, y = qed.data.synthetic.moons(150, noise=0.25, random_state=0)
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
qed.plots.decision_boundary(qed.KNeighborsClassifier(7).fit(X, y), X, y, panels[0])
qed.plots.margins(qed.SVC(C=1.0, gamma=0.7).fit(X, y), X, y, panels[1])
plt.show()

# %%
# The area below the curve of alarms is the chance that a row of the class has the higher score.
curves = {}
for model in (qed.LogisticRegression(), qed.GaussianNB(), qed.KNeighborsClassifier(15)):
    score = model.fit(X, y).predict_proba(X)[:, 1]
    curves[type(model).__name__] = qed.roc_curve(y, score)[:2]
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
qed.plots.roc(curves, panels[0])
table, target = qed.data.load("diabetes").Xy()
alphas = np.logspace(-2, 4, 40)
path = [
    qed.Ridge(alpha=alpha).fit(qed.StandardScaler().fit_transform(table), target).coef_
    for alpha in alphas
]
qed.plots.coefficient_path(alphas, path, None, panels[1])
plt.show()

# %%
# Methods of descent on a narrow valley, and the cells of the centres of k-means.
figure, panels = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
valley = np.diag([1.0, 30.0])
found = {
    name: minimize(
        lambda w: w @ valley @ w / 2,
        [1.0, 1.0],
        gradient=lambda w: valley @ w,
        method=name,
        tol=1e-9,
    ).ending
    for name in ("gradient", "heavy ball", "nesterov", "newton")
}
qed.plots.convergence(found, 0.0, panels[0])
rows, _ = qed.data.synthetic.blobs(300, random_state=0)
qed.plots.voronoi(qed.KMeans(5, random_state=0).fit(rows).cluster_centers_, rows, panels[1])
plt.show()
