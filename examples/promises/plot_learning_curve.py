"""
Would more rows help?
=====================

A learning curve compares the score on the rows a model was fitted to with that on rows held out, for more and more rows. Where the two
have met, more rows will not help and the model needs other columns; where they are far apart, it has too much freedom for so few
rows. Both curves come from one pass: the moments of all rows that a fit needs are sums of the moments of parts.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import qed

diabetes = qed.data.load("diabetes")
X, y = diabetes.Xy()
X = np.delete(X, diabetes.numeric_features.index("sex"), axis=1)
products = qed.PolynomialFeatures(2, include_bias=False).fit_transform(X)

tables = {"9 columns": X, f"{products.shape[1]} columns: with all products": products}
sizes = np.linspace(80, 353, 12).astype(int)

figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout="constrained", sharey=True)
# Of 54 products some nearly follow from others, which is said of each fit; it is shown once, in the gallery of collinear columns.
warnings.simplefilter("ignore", qed.base.errors.DegenerateWarning)
for ax, (name, table) in zip(axes, tables.items()):
    curve = qed.learning_curve(
        qed.LinearRegression(),
        table,
        y,
        train_sizes=sizes,
        cv=qed.KFold(5, random_state=0),
        shuffle=True,
    )
    curve.plot(ax)
    ax.set(title=name, ylim=(0, 1), ylabel="R²" if ax is axes[0] else "")
    print(
        f"{name}: {curve.how}; {curve.test_mean[-1]:.2f} held out, "
        f"{curve.train_mean[-1]:.2f} training"
    )
plt.show()
