"""A support vector machine with the Gaussian kernel on the 8 x 8 digits: 45 pairs of classes."""

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.datasets import load_digits
    from sklearn.svm import SVC

    X, y = load_digits(return_X_y=True)
    X, y, Z, z = X[:1400], y[:1400], X[1400:], y[1400:]

    def judge(model):
        return 1.0 - float((model.predict(Z) == z).mean())

    return Workload(
        "SVM, digits, 1 400 x 64, 45 pairs",
        "SVC with C = 1, float64. Objective: errors on the 397 digits left out.",
        [
            Contestant("qed", lambda: qed.SVC().fit(X, y), judge),
            Contestant("scikit-learn", lambda: SVC().fit(X, y), judge),
        ],
        rounds=15,
    )
