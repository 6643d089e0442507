"""
Training error always falls, true error does not
================================================

Polynomials of growing degree on 25 noisy points of a sine. The training error of nested models can only fall; the error on fresh points
falls and then rises.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

generator = np.random.default_rng(4)


def draw(n):
    x = generator.uniform(-1, 1, n)
    return x[:, None], np.sin(3 * x) + 0.3 * generator.standard_normal(n)


X, y = draw(25)
fresh_X, fresh_y = draw(2000)
degrees = range(1, 13)
training, fresh = [], []
for degree in degrees:
    features = qed.PolynomialFeatures(degree, include_bias=False)
    model = qed.LinearRegression().fit(features.fit_transform(X), y)
    training.append(qed.mean_squared_error(y, model.predict(features.transform(X))))
    fresh.append(qed.mean_squared_error(fresh_y, model.predict(features.transform(fresh_X))))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.semilogy(degrees, training, marker="o", label="training")
ax.semilogy(degrees, fresh, marker="o", label="fresh points")
ax.axhline(0.09, color="grey", linestyle=":", label="noise")
ax.set(xlabel="degree", ylabel="mean squared error")
ax.legend()
plt.show()
