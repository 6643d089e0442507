"""A linear support vector machine with the hinge on 100 000 x 50."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import overlapping


def workload() -> Workload:
    from sklearn.svm import LinearSVC

    X, y = overlapping(100_000, 50)
    sign = np.where(y == 1, 1.0, -1.0)

    def judge(model):
        slack = np.maximum(1 - sign * model.decision_function(X), 0).sum()
        return float((slack + (model.coef_**2).sum() / 2) / len(y))

    settings = {"loss": "hinge", "C": 1.0}
    return Workload(
        "Linear SVM, hinge, 100 000 x 50",
        "LinearSVC with C = 1, float64. Objective: that of the hinge with a free constant, over the number of rows.",
        [
            Contestant("qed", lambda: qed.LinearSVC(**settings).fit(X, y), judge),
            Contestant("scikit-learn", lambda: LinearSVC(**settings, random_state=0).fit(X, y), judge),
        ],
        rounds=2,
    )
