"""Cross-validated ridge path: 50 penalties, 5 folds, on 200 000 x 100, against a single plain fit."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import tall


def workload() -> Workload:
    X, y = tall()
    alphas = np.logspace(-3, 4, 50)

    def search():
        return qed.Search(qed.Ridge(), {"alpha": alphas}, cv=5).fit(X, y)

    return Workload(
        "Search over 50 alphas, 5 folds, 200 000 x 100",
        "The whole search (250 fits' worth of answers) against one plain fit of the same model. Objective: the chosen penalty.",
        [
            Contestant("qed search", search, lambda found: float(found.best_params_["alpha"])),
            Contestant("one fit of Ridge", lambda: qed.Ridge(alpha=1.0).fit(X, y), lambda model: model.alpha),
        ],
        rounds=15,
        at_most=1.5,
    )
