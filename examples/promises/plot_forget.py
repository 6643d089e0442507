r"""
A model that forgets
====================

A model in closed form remembers its rows only as sums, and sums can be taken apart: ``partial_fit`` adds rows and ``forget`` takes them
away again. What is left is the model that never saw them, not an approximation of it.

First a customer who asks to be forgotten, then a model that follows a changing world by forgetting what is older than a month.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

X, y = qed.data.load("diabetes").Xy()
model = qed.Ridge(alpha=1.0).fit(X, y)
model.forget(X[7:8], y[7:8])

never = qed.Ridge(alpha=1.0).fit(np.delete(X, 7, axis=0), np.delete(y, 7))
print("largest relative difference:", f"{np.max(np.abs(model.coef_ / never.coef_ - 1)):.1e}")
print("rows it knows of:", model.statistic_.count)
print(model.certificate_)

# %%
# A day brings twenty sales. The price of a square metre drifts and one day falls; a model of all days blurs that, a model of
# thirty days follows. Each day costs the twenty rows that come and the twenty that go, however long the window is. Rounding does not
# forget: every subtraction leaves a little behind. The certificate keeps count of it, and vouches for the digits that are left: enough
# of them after a year of such days, and after years.
generator = np.random.default_rng(0)
days = np.arange(365)
price = 3.0 + 0.5 * np.sin(days / 45) - 0.8 * (days > 225)
size = generator.uniform(30, 150, (365, 20))
paid = price[:, None] * size + 20 * generator.standard_normal((365, 20))

window, everything = qed.LinearRegression(), qed.LinearRegression()
followed, blurred, proven = [], [], []
for day in days:
    window.partial_fit(size[day, :, None], paid[day])
    everything.partial_fit(size[day, :, None], paid[day])
    if day >= 30:
        window.forget(size[day - 30, :, None], paid[day - 30])
    followed.append(window.coef_[0])
    blurred.append(everything.coef_[0])
    proven.append(bool(window.certificate_))

fresh = qed.LinearRegression().fit(size[-30:].reshape(-1, 1), paid[-30:].ravel())
print(f"after a year:  {window.coef_[0]:.12f}")
print(f"fitted afresh: {fresh.coef_[0]:.12f}")
print(f"proven on {sum(proven)} of 365 days")

figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
ax.plot(days, price, color="black", linewidth=1, linestyle="--", label="true price")
ax.plot(days, blurred, label="all days")
ax.plot(days, followed, label="last 30 days, older ones forgotten")
ax.set(xlabel="day", ylabel="price of a square metre (thousands)", ylim=(1.4, 4.4))
ax.legend(loc="lower left")
plt.show()
