"""
A certificate notices tampering
===============================

A certificate is recomputed from the model's public attributes and the data. So whoever changes a coefficient, by malice, a bad cast or a
cosmic ray, breaks it. Here every coefficient of a regression is moved by a growing relative amount, and the least satisfied claim is
compared with its bound: above one, the certificate objects.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np

import qed

diabetes = qed.data.load("diabetes")
X, y = diabetes.Xy()
model = qed.LinearRegression().fit(X, y)
print(qed.certify(model, X, y))

# %%
# The same with the first coefficient moved by a thousandth:
moved = copy.deepcopy(model)
moved.coef_[0] *= 1.001
print(qed.certify(moved, X, y))


# %%
def strain(column, amount):
    """Give the largest ratio of a claim's value to its bound after moving one coefficient."""
    moved = copy.deepcopy(model)
    moved.coef_[column] *= 1 + amount
    return max(
        claim.value / claim.bound for claim in qed.certify(moved, X, y) if claim.bound > 0
    )


amounts = np.logspace(-14, 0, 29)
figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for column, name in enumerate(diabetes.numeric_features):
    color = plt.get_cmap("viridis")(column / X.shape[1])
    ax.loglog(amounts, [strain(column, amount) for amount in amounts], color=color, label=name)
ax.axhline(1, color="black", linewidth=1)
ax.axvline(1e-3, color="grey", linestyle=":")
ax.annotate("it objects", (2e-14, 2), fontsize=11)
ax.annotate("it holds", (2e-14, 0.15), fontsize=11)
ax.annotate("a thousandth", (1e-3, 1e-3), (6, 0), textcoords="offset points", color="grey")
ax.set(xlabel="relative change of a coefficient", ylabel="worst claim: value / bound")
ax.legend(title="coefficient of", ncols=1, loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
