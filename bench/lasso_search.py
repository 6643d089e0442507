"""Cross-validated lasso: 100 penalties, 5 folds, on 20 000 x 500."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import correlated


def workload() -> Workload:
    from sklearn.linear_model import LassoCV

    X, y = correlated(20_000, 500)
    alphas = float(np.abs(X.T @ y).max()) / len(y) * np.logspace(0, -2, 100)

    def search():
        return qed.Search(qed.Lasso(), {"alpha": alphas}, cv=5, scoring="neg_mean_squared_error").fit(X, y)

    return Workload(
        "Lasso, 100 alphas, 5 folds, 20 000 x 500",
        "The whole search with intercepts, and the fit of the best model with its certificate. Objective: the best mean squared error over "
        "the folds.",
        [
            Contestant("qed", search, lambda found: -found.best_score_),
            Contestant(
                "scikit-learn LassoCV",
                lambda: LassoCV(alphas=alphas, cv=5, tol=1e-6).fit(X, y),
                lambda model: float(model.mse_path_.mean(axis=1).min()),
                rounds=3,
            ),
        ],
        rounds=7,
        tolerance=1e-5,
    )
