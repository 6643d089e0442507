r"""
Vertical or perpendicular
=========================

Least squares believes the columns and blames the target: it measures the distance of a point from the line along :math:`y`. If
:math:`x` was measured with noise as well, that makes slopes too small, however many points there are. Total least squares measures
across,

.. math:: \sum_i \frac{(y_i - x_i w)^2}{1 + w^2}, \qquad (X^\top X - \sigma_{d+1}^2 I)\, w = X^\top y,

which is ridge regression with a negative penalty: it takes away what the noise has added to :math:`X^\top X`.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

random = np.random.default_rng(1)
truth = random.uniform(-2, 2, 16)
x, y = truth + 0.6 * random.standard_normal(16), truth + 0.6 * random.standard_normal(16)
X = x[:, None]
vertical = qed.LinearRegression(fit_intercept=False).fit(X, y)
total = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
print(
    f"slopes: true 1, least squares {vertical.coef_[0]:.3f}, total least squares "
    f"{total.coef_[0]:.3f}"
)
for name, model in {"least squares": vertical, "total": total}.items():
    off = y - model.predict(X)
    print(
        f"{name:<14} vertical {(off**2).sum():.3f}, across "
        f"{(off**2).sum() / (1 + model.coef_[0] ** 2):.3f}"
    )
print(total.certificate_)

# %%
# Each line is the best by its own measure. Where total least squares puts the points, `denoise` says: the feet of the
# perpendiculars.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 5.2), layout="constrained", sharey=True)
ends = np.array([[-2.9], [2.9]])
feet_x, feet_y = total.denoise(X, y)
for panel, model, color in [(left, vertical, "C1"), (right, total, "C0")]:
    panel.plot(
        ends[:, 0], model.predict(ends), color=color, label=f"slope {model.coef_[0]:.2f}"
    )
    panel.plot(ends[:, 0], ends[:, 0], "--", color="black", linewidth=1, label="the truth: 1")
    panel.plot(x, y, "o", color="black", markersize=4)
    panel.set(xlabel="x", xlim=(-3.2, 3.2), ylim=(-3.2, 3.2), aspect="equal")
    panel.legend(loc="upper left")
left.plot([x, x], [y, vertical.predict(X)], color="C1", linewidth=1)
right.plot([x, feet_x[:, 0]], [y, feet_y], color="C0", linewidth=1)
left.set(title="Least squares", ylabel="y")
right.set_title("Total least squares")
plt.show()

# %%
# More points do not help least squares: its slope goes to :math:`w\, s^2 / (s^2 + \sigma^2)`, with the variances of the true x and
# of the noise. Total least squares goes to the truth, and its error per point to the variance of the noise.
sizes = np.logspace(1, 5, 25).astype(int)
truth = random.uniform(-2, 2, sizes[-1])
X = (truth + 0.6 * random.standard_normal(sizes[-1]))[:, None]
y = truth + 0.6 * random.standard_normal(sizes[-1])
slopes = {
    "total least squares": [
        qed.TotalLeastSquares(fit_intercept=False).fit(X[:n], y[:n]).coef_[0] for n in sizes
    ],
    "least squares": [
        qed.LinearRegression(fit_intercept=False).fit(X[:n], y[:n]).coef_[0] for n in sizes
    ],
}
many = qed.TotalLeastSquares(fit_intercept=False).fit(X, y)
print(f"variance of the noise: true {0.6**2:.4f}, found {many.error_ / len(y):.4f}")
figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for name, found in slopes.items():
    ax.semilogx(sizes, found, ".-", label=name)
ax.axhline(1.0, color="black", linestyle="--", linewidth=1, label="the truth")
ax.axhline(
    (4 / 3) / (4 / 3 + 0.6**2),
    color="grey",
    linestyle=":",
    label="where theory sends least squares",
)
ax.set(xlabel="points", ylabel="slope")
ax.legend(fontsize=9)
plt.show()
