"""
Nearly parallel columns
=======================

As two columns turn parallel their smallest singular value vanishes and the least-squares coefficients explode, while ridge stays put.
The model reports the condition number and warns, and its certificate says when rounding may have eaten the coefficients.
"""

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np

import qed

generator = np.random.default_rng(0)
a, b = generator.standard_normal((2, 200))
y = a + generator.standard_normal(200)

angles = np.logspace(0, -5, 30)
least, ridge, condition = [], [], []
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for angle in angles:
        X = np.column_stack([a, np.cos(angle) * a + np.sin(angle) * b])
        model = qed.LinearRegression().fit(X, y)
        least.append(np.linalg.norm(model.coef_))
        condition.append(model.condition_)
        ridge.append(np.linalg.norm(qed.Ridge(alpha=1.0).fit(X, y).coef_))
print(f"{len(caught)} of {len(angles)} fits warned, the last of them:")
print(textwrap.fill(str(caught[-1].message), 88))

figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.loglog(condition, least, label="least squares")
ax.loglog(condition, ridge, label="ridge, alpha = 1")
ax.set(
    xlabel="condition number",
    ylabel="length of the coefficients",
    title="The truth has length 1",
)
ax.legend()
plt.show()
