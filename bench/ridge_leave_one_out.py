"""Leave-one-out choice among 50 penalties on 200 000 x 100."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import tall


def workload() -> Workload:
    from sklearn.linear_model import RidgeCV

    X, y = tall()
    alphas = np.logspace(-3, 4, 50)

    def ours():
        return qed.Search(qed.Ridge(), {"alpha": alphas}, cv="loo", scoring="neg_mean_squared_error").fit(X, y)

    return Workload(
        "Leave-one-out over 50 alphas, 200 000 x 100",
        "Objective: leave-one-out mean squared error of the chosen penalty.",
        [
            Contestant("qed", ours, lambda found: -float(found.best_score_)),
            Contestant(
                "scikit-learn", lambda: RidgeCV(alphas=alphas).fit(X, y), lambda m: -float(m.best_score_), rounds=1
            ),
        ],
        rounds=5,
    )
