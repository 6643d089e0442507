"""
EM step by step
===============

Three clusters, two of them long and crossing: nobody says which row belongs to which. EM guesses shares (E step), takes the weights, means
and covariances of the rows so shared out (M step), and begins again. The colours are the shares, the ellipses one and two standard
deviations. The likelihood rises with every step, and the certificate says where it came to rest: that another step would move nothing.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed
from qed import plots

generator = np.random.default_rng(3)
parts = [
    generator.standard_normal((200, 2)) * [3.0, 0.4],
    generator.standard_normal((200, 2)) * [0.4, 3.0] + [1.0, 1.0],
    generator.standard_normal((100, 2)) * 0.7 + [-4.0, 5.0],
]
X = np.vstack(parts)
model = qed.GaussianMixture(
    3, init_params="random_from_data", random_state=4, tol=1e-6, max_iter=300
)

walk = qed.steps(model, X)
figure, axes = plt.subplots(1, 4, figsize=(14, 3.8), layout="constrained")
shown = iter(axes[:3])
steps = list(walk)
for step in (steps[0], steps[5], steps[-1]):
    ax = plots.ellipses(walk.model_at(step), X, next(shown))
    ax.set(
        title=f"step {step.number}",
        xlabel="x₁",
        ylabel="x₂",
        xticks=[],
        yticks=[],
        aspect="equal",
    )

model.fit(X)
axes[3].plot(model.lower_bounds_, marker=".")
axes[3].set(xlabel="step", title="the likelihood never falls")
plt.show()

# %%
# What holds of the result, recomputed from it and the data:
print(qed.certify(model, X))

# %%
# How many components? The likelihood always asks for more, BIC does not. Each fit begins where the last one ended.
print(qed.mixture_path(X, range(1, 7), random_state=0))
