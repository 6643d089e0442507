"""Random forests: a hundred trees on bins against exact and binned ones."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.trees import classes


def workloads() -> list[Workload]:
    from sklearn.ensemble import RandomForestClassifier as Peer
    from sklearnex.ensemble import RandomForestClassifier as Intel

    X, y = classes(130_000, 20)
    (X, Q), (y, truth) = np.split(X, [100_000]), np.split(y, [100_000])

    def judge(model) -> float:
        return float((model.predict(Q) != truth).mean())

    return [
        Workload(
            "RandomForestClassifier, 100 000 x 20, 100 trees",
            "Four columns at each node, rows drawn with replacement. Objective: share of errors on 30 000 other rows.",
            [
                Contestant("qed", lambda: qed.RandomForestClassifier(random_state=0).fit(X, y), judge),
                Contestant("scikit-learn-intelex", lambda: Intel(random_state=0, n_jobs=2).fit(X, y), judge),
                Contestant("scikit-learn", lambda: Peer(random_state=0, n_jobs=2).fit(X, y), judge, rounds=1),
            ],
            rounds=3,
            tolerance=0.05,
        )
    ]
