"""The lasso on 500 x 10 000 correlated columns."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import correlated, lasso_objective


def workload() -> Workload:
    from celer import Lasso as Celer
    from skglm import Lasso as Skglm
    from sklearn.linear_model import Lasso

    X, y = correlated(500, 10_000)
    alpha = float(np.abs(X.T @ y).max()) / len(y) / 20
    notes: list[str] = []

    def judge(name):
        def objective(model):
            value, gap = lasso_objective(X, y, model.coef_, alpha)
            notes.append(f"{name}: relative duality gap {gap:.1e}.")
            return value

        return objective

    settings = {"alpha": alpha, "fit_intercept": False}
    return Workload(
        "Lasso, 500 x 10 000",
        "Neighbouring columns correlate by 0.6; alpha is a twentieth of the one that makes all coefficients zero; no intercept. The "
        "tolerances of the peers are set for duality gaps of 1e-7 to 1e-5 of the objective (below). Objective: that of the lasso.",
        [
            Contestant("qed", lambda: qed.Lasso(**settings).fit(X, y), judge("qed")),
            Contestant("skglm", lambda: Skglm(tol=1e-6, **settings).fit(X, y), judge("skglm")),
            Contestant("celer", lambda: Celer(tol=1e-7, **settings).fit(X, y), judge("celer")),
            Contestant("scikit-learn", lambda: Lasso(tol=1e-7, **settings).fit(X, y), judge("scikit-learn"), rounds=3),
        ],
        rounds=9,
        tolerance=1e-6,
        notes=notes,
    )
