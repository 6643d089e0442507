"""Decision trees: a full one of exact questions, and all sizes of it from five folds."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workloads() -> list[Workload]:
    return [full(), sizes()]


def classes(n: int, p: int):
    """Two classes that overlap, told apart by several columns together."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, p))
    score = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) - 1 + 0.5 * generator.standard_normal(n)
    return X, (score > 0).astype(int)


def full() -> Workload:
    from sklearn.tree import DecisionTreeClassifier as Peer

    X, y = classes(130_000, 20)
    (X, Q), (y, truth) = np.split(X, [100_000]), np.split(y, [100_000])

    def judge(model) -> float:
        return float((model.predict(Q) != truth).mean())

    return Workload(
        "DecisionTreeClassifier, 100 000 x 20, full depth",
        "Exact questions, float64, the certificate included. Objective: share of errors on 30 000 other rows.",
        [
            Contestant("qed", lambda: qed.DecisionTreeClassifier().fit(X, y), judge),
            Contestant("scikit-learn", lambda: Peer(random_state=0).fit(X, y), judge, rounds=1),
        ],
        rounds=5,
        tolerance=0.05,
    )


def sizes() -> Workload:
    from sklearn.model_selection import GridSearchCV
    from sklearn.tree import DecisionTreeClassifier as Peer

    X, y = classes(20_000, 20)
    grid = {"ccp_alpha": [0.0, *(10.0 ** (j / 4) for j in range(-20, -7))]}
    return Workload(
        "DecisionTreeClassifier, 14 prices of a leaf by five folds, 20 000 x 20",
        "Objective: error of the best price.",
        [
            Contestant(
                "qed",
                lambda: qed.Search(qed.DecisionTreeClassifier(), grid, cv=5).fit(X, y),
                lambda search: 1 - search.best_score_,
            ),
            Contestant(
                "scikit-learn",
                lambda: GridSearchCV(Peer(random_state=0), grid, cv=5, n_jobs=2).fit(X, y),
                lambda search: 1 - search.best_score_,
                rounds=1,
            ),
        ],
        rounds=3,
        tolerance=0.05,
    )
