"""
A ridge path for the price of one fit
=====================================

One eigendecomposition of the scatter matrix gives the coefficients for every penalty, and leave-one-out errors follow in closed form. Training
error can only rise with the penalty; the error on rows left out falls first.
"""

import matplotlib.pyplot as plt
import numpy as np

import qed

X, y = qed.data.load("diabetes").Xy()
X = qed.StandardScaler().fit_transform(X)
alphas = np.logspace(-2, 4, 60)

search = qed.Search(qed.Ridge(), {"alpha": alphas}, cv="loo", scoring="neg_mean_squared_error").fit(X, y)
print(search.how_)
print("best alpha:", round(search.best_params_["alpha"], 2))

models = [qed.Ridge(alpha=alpha).fit(X, y) for alpha in alphas]
training = [np.mean((model.predict(X) - y) ** 2) for model in models]

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
left.semilogx(alphas, [model.coef_ for model in models])
left.set(xlabel="penalty alpha", ylabel="coefficient", title="Coefficients shrink")
right.semilogx(alphas, training, label="training")
right.semilogx(alphas, -search.cv_results_["mean_test_score"], label="leave one out")
right.axvline(search.best_params_["alpha"], color="grey", linestyle=":")
right.set(xlabel="penalty alpha", ylabel="mean squared error", title="Errors along the path")
right.legend()
plt.show()
