r"""
A path for the price of one fit
===============================

One eigendecomposition of the scatter matrix gives the coefficients of ridge regression for every penalty, and the error on a row that was
left out follows from the fit with it:

.. math:: y_i - \hat y_{(-i)} = \frac{y_i - \hat y_i}{1 - h_i}.

So sixty penalties with all 442 rows left out in turn, 26 520 fits for a plain search, cost little more than one. Training error can only
rise with the penalty; the error on rows left out falls first.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

import qed

X, y = qed.data.load("diabetes").Xy()
X = qed.PolynomialFeatures(2, include_bias=False).fit_transform(
    qed.StandardScaler().fit_transform(X)
)
alphas = np.logspace(-1, 5, 60)

search = qed.Search(qed.Ridge(), {"alpha": alphas}, cv="loo", scoring="neg_mean_squared_error")
began = time.perf_counter()
search.fit(X, y)
print(f"{time.perf_counter() - began:.2f} seconds: {search.how_}")
print(f"best alpha: {search.best_params_['alpha']:.3g}")
print(search.certificate_)

# %%
models = [qed.Ridge(alpha).fit(X, y) for alpha in alphas]
training = [qed.mean_squared_error(y, model.predict(X)) for model in models]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.semilogx(alphas, [model.coef_ for model in models], linewidth=0.8)
left.set(xlabel="penalty alpha", ylabel="coefficient", title="65 coefficients shrink")
right.semilogx(alphas, training, label="training")
right.semilogx(alphas, -search.cv_results_["mean_test_score"], label="leave one out")
right.set(xlabel="penalty alpha", ylabel="mean squared error", title="Errors along the path")
for ax in (left, right):
    ax.axvline(search.best_params_["alpha"], color="grey", linestyle=":", label="best")
right.legend()
plt.show()
