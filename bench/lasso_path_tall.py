"""A path of 100 penalties of the lasso, on 20 000 x 500."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import correlated, lasso_objective


def workload() -> Workload:
    from sklearn.linear_model import lasso_path

    X, y = correlated(20_000, 500)
    alphas = float(np.abs(X.T @ y).max()) / len(y) * np.logspace(0, -2, 100)
    notes: list[str] = []

    def judge(name, coefficients):
        def mean_objective(found):
            pairs = [lasso_objective(X, y, w, alpha) for w, alpha in zip(coefficients(found), alphas)]
            notes.append(f"{name}: largest relative duality gap of the path {max(gap for _, gap in pairs):.1e}.")
            return float(np.mean([value for value, _ in pairs]))

        return mean_objective

    return Workload(
        "Lasso path, 100 alphas, 20 000 x 500",
        "From the penalty that makes all coefficients zero down to a hundredth of it, no intercept; both on a Gram matrix. Objective: mean "
        "of the lasso's objectives along the path.",
        [
            Contestant(
                "qed",
                lambda: qed.lasso_path(X, y, alphas, fit_intercept=False),
                judge("qed", lambda found: found.coef),
            ),
            Contestant(
                "scikit-learn",
                lambda: lasso_path(X, y, alphas=alphas, tol=1e-7),
                judge("scikit-learn", lambda found: found[1].T),
            ),
        ],
        rounds=9,
        tolerance=1e-6,
        notes=notes,
    )
