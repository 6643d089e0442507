r"""
Noise that remembers
====================

Fifty points on a line, with autoregressive noise :math:`z_{i+1} = 0.9\, z_i + u_{i+1}`: a high value is likely to be followed by another.
Ordinary least squares is still right on average, but generalised least squares, which knows the covariance :math:`\Sigma` of the noise,
is closer: of all unbiased linear estimators it has the least variance, :math:`(X^\top \Sigma^{-1} X)^{-1}`.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

import qed
from qed.data.synthetic import ar1_covariance, ar1_noise

x = np.linspace(0, 1, 50)
X, covariance = x[:, None], ar1_covariance(50, 0.9)
noise = ar1_noise(50, 0.9, n_series=100, random_state=0)

generalised = qed.GeneralizedLeastSquares(covariance, known_scale=True)
slopes = {
    "ordinary": qed.LinearRegression().fit(X, noise.T).coef_[:, 0],
    "generalised": np.array([generalised.fit(X, z).coef_[0] for z in noise]),
}

# %%
# Theory says how far the slopes spread about the true one, which is zero here: with :math:`A = (X^\top X)^{-1} X^\top` the
# covariance of the ordinary estimate is :math:`A \Sigma A^\top`.
design = np.column_stack([x, np.ones(50)])
A = np.linalg.pinv(design)
variance = {
    "ordinary": (A @ covariance @ A.T)[0, 0],
    "generalised": np.linalg.inv(design.T @ np.linalg.solve(covariance, design))[0, 0],
}
for name, found in slopes.items():
    print(
        f"{name:>12}: variance of the slope {found.var():5.2f}, in theory {variance[name]:.2f}"
    )
error = generalised.inference_.standard_errors[1]
print(
    f"standard error that the generalised model reports: {error:.2f}, the root of "
    f"{error**2:.2f}"
)

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(x, noise[4], ".-", color="grey", alpha=0.6, linewidth=0.8)
left.axhline(0, color="black", linewidth=1, linestyle="--", label="the true line")
left.plot(x, qed.LinearRegression().fit(X, noise[4]).predict(X), label="ordinary")
left.plot(x, generalised.fit(X, noise[4]).predict(X), label="generalised")
left.set(xlabel="x", ylabel="y", title="One series, and two lines through it")
left.legend()

grid = np.linspace(-10, 10, 200)
for name, found in slopes.items():
    _, _, bars = right.hist(
        found, bins=np.linspace(-10, 10, 21), density=True, alpha=0.4, label=name
    )
    right.plot(
        grid, norm(0, np.sqrt(variance[name])).pdf(grid), color=bars[0].get_facecolor(), alpha=1
    )
right.set(
    xlabel="slope (the true one is 0)",
    ylabel="density",
    title="100 slopes, and what theory says",
    xlim=(-10, 10),
)
right.legend()
plt.show()
