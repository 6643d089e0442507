"""A support vector machine with the Gaussian kernel on the 8 x 8 digits: 45 pairs of classes."""

import qed
from bench.harness import Contestant, Workload
from bench.svm import dual_objective


def workload() -> Workload:
    from sklearn.datasets import load_digits
    from sklearn.svm import SVC

    X, y = load_digits(return_X_y=True)
    X, y = X[:1400], y[:1400]

    def judge(model):
        return dual_objective(model, X)

    return Workload(
        "SVM, digits, 1 400 x 64, 45 pairs",
        "SVC with C = 1, float64, each with its own rule of stopping. Objective: minus the dual objective, added up over all pairs.",
        [
            Contestant("qed", lambda: qed.SVC().fit(X, y), judge),
            Contestant("scikit-learn", lambda: SVC().fit(X, y), judge),
        ],
        rounds=15,
    )
