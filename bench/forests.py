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

    def over_seeds(kind, **settings):
        """Judge by the mean of five forests, so that no lucky seed decides."""
        return lambda model: float(np.mean([judge(kind(random_state=seed, **settings).fit(X, y)) for seed in range(5)]))

    return [
        Workload(
            "RandomForestClassifier, 100 000 x 20, 100 trees",
            "Four columns at each node, rows drawn with replacement. Objective: share of errors on 30 000 other rows, over five seeds "
            "(scikit-learn: one); of about a tenth, the tolerance of it is an accuracy of 0.002.",
            [
                Contestant(
                    "qed",
                    lambda: qed.RandomForestClassifier(random_state=0).fit(X, y),
                    over_seeds(qed.RandomForestClassifier),
                ),
                Contestant(
                    "scikit-learn-intelex",
                    lambda: Intel(random_state=0, n_jobs=2).fit(X, y),
                    over_seeds(Intel, n_jobs=2),
                ),
                Contestant("scikit-learn", lambda: Peer(random_state=0, n_jobs=2).fit(X, y), judge, rounds=1),
            ],
            rounds=3,
            tolerance=0.02,
        )
    ]
