"""AdaBoost: two hundred stumps, whose columns are sorted once."""

import qed
from bench.harness import Contestant, Workload
from bench.trees import classes


def workload() -> Workload:
    from sklearn.ensemble import AdaBoostClassifier as Peer

    X, y = classes(20_000, 20)

    def judge(model) -> float:
        return float((model.predict(X) != y).mean())

    return Workload(
        "AdaBoostClassifier, 20 000 x 20, 200 stumps",
        "The same stumps, float64, the certificate included. Objective: share of errors on the training rows.",
        [
            Contestant("qed", lambda: qed.AdaBoostClassifier(n_estimators=200).fit(X, y), judge),
            Contestant("scikit-learn", lambda: Peer(n_estimators=200).fit(X, y), judge, rounds=1),
        ],
        rounds=5,
        tolerance=0.002,
    )
