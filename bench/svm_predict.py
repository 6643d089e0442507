"""Predictions of a support vector machine with some eight thousand support vectors."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import overlapping


def workload() -> Workload:
    from sklearnex.svm import SVC as IntelSVC

    X, y = overlapping(24_000, 20)
    ours, theirs = qed.SVC().fit(X[:20_000], y[:20_000]), IntelSVC(cache_size=1000).fit(X[:20_000], y[:20_000])
    Z, z = X[20_000:], y[20_000:]

    def judge(predicted):
        return float(np.mean(predicted != z))

    return Workload(
        "SVM, predict 4 000 rows",
        f"{len(ours.support_)} support vectors, 20 columns, float64. Objective: share of errors.",
        [
            Contestant("qed", lambda: ours.predict(Z), judge),
            Contestant("scikit-learn-intelex", lambda: theirs.predict(Z), judge),
        ],
        rounds=9,
    )
