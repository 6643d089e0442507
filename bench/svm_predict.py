"""Predictions of a support vector machine with some eight thousand support vectors.

Both machines are solved so closely that they are the same one: what a row close to zero is called is then no matter of chance.
"""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import overlapping


def workload() -> Workload:
    from sklearnex.svm import SVC as IntelSVC

    X, y = overlapping(24_000, 20)
    ours = qed.SVC(tol=1e-8).fit(X[:20_000], y[:20_000])
    theirs = IntelSVC(tol=1e-5, cache_size=1000).fit(X[:20_000], y[:20_000])
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
