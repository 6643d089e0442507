"""A path of 100 penalties of the lasso, on 500 x 10 000 correlated columns."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import correlated, lasso_objective


def workload() -> Workload:
    from celer import celer_path
    from sklearn.linear_model import lars_path

    X, y = correlated(500, 10_000)
    alphas = float(np.abs(X.T @ y).max()) / len(y) * np.logspace(0, -2, 100)
    notes: list[str] = []

    def judge(name, coefficients):
        def mean_objective(found):
            coef = coefficients(found)
            pairs = [lasso_objective(X, y, w, alpha) for w, alpha in zip(coef, alphas)]
            notes.append(f"{name}: largest relative duality gap of the path {max(gap for _, gap in pairs):.1e}.")
            return float(np.mean([value for value, _ in pairs]))

        return mean_objective

    def at_alphas(found):
        """Read the exact path, which has its own penalties, at those of the others: it is linear in between."""
        knots, _, coef = found
        return np.array([np.interp(alphas, knots[::-1], line[::-1]) for line in coef]).T

    return Workload(
        "Lasso path, 100 alphas, 500 x 10 000",
        "From the penalty that makes all coefficients zero down to a hundredth of it, no intercept; our gaps are certified from the data. "
        "Objective: mean of the lasso's objectives along the path.",
        [
            Contestant(
                "qed",
                lambda: qed.lasso_path(X, y, alphas, fit_intercept=False),
                judge("qed", lambda found: found.coef),
            ),
            Contestant(
                "celer",
                lambda: celer_path(X, y, "lasso", alphas=alphas, tol=1e-7),
                judge("celer", lambda found: found[1].T),
                rounds=3,
            ),
            Contestant(
                "scikit-learn lars_path",
                lambda: lars_path(X, y, method="lasso", alpha_min=alphas[-1], max_iter=5000),
                judge("scikit-learn lars_path", at_alphas),
                rounds=3,
            ),
        ],
        rounds=5,
        tolerance=1e-6,
        notes=notes,
    )
