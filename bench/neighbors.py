"""Nearest neighbours: in twenty dimensions, in three, and the choice of how many by leaving out each row."""

import time

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workloads() -> list[Workload]:
    return [twenty(), three(), left_out()]


def classes(n: int, p: int):
    """Two classes that overlap, on both sides of a bent surface."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, p))
    score = X[:, 0] + 0.5 * X[:, 1] * X[:, 2] + 0.3 * generator.standard_normal(n)
    return X, (score > 0).astype(int)


def _fit_and_predict(model, X, y, Q):
    return model.fit(X, y).predict(Q)


def _against(n: int, p: int, name: str, algorithm: str) -> Workload:
    from sklearn.neighbors import KNeighborsClassifier as Peer
    from sklearnex.neighbors import KNeighborsClassifier as Intel

    X, y = classes(n + 10_000, p)
    (X, Q), (y, truth) = np.split(X, [n]), np.split(y, [n])

    def judge(said) -> float:
        return float((said != truth).mean())

    return Workload(
        name,
        "Five neighbours, float64, fit and prediction of 10 000 rows together. Objective: share of errors.",
        [
            Contestant("qed", lambda: _fit_and_predict(qed.KNeighborsClassifier(), X, y, Q), judge),
            Contestant("scikit-learn-intelex", lambda: _fit_and_predict(Intel(algorithm=algorithm), X, y, Q), judge),
            Contestant("scikit-learn", lambda: _fit_and_predict(Peer(n_jobs=2), X, y, Q), judge, rounds=1),
        ],
        rounds=5,
    )


def twenty() -> Workload:
    return _against(100_000, 20, "KNeighborsClassifier, 100 000 x 20, 10 000 queries", "brute")


def three() -> Workload:
    return _against(100_000, 3, "KNeighborsClassifier, 100 000 x 3, 10 000 queries", "kd_tree")


def left_out() -> Workload:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier

    X, y = classes(20_000, 20)
    grid = {"n_neighbors": list(range(1, 51))}

    def some_rows_left_out() -> float:
        """Let the peer leave out ten rows, one by one, with one number of neighbours in the place of fifty; give the time of one row."""
        folds = [(np.delete(np.arange(len(X)), i), np.array([i])) for i in range(0, len(X), len(X) // 10)]
        began = time.perf_counter()
        GridSearchCV(KNeighborsClassifier(n_jobs=2), {"n_neighbors": [25]}, cv=folds, refit=False).fit(X, y)
        return (time.perf_counter() - began) / len(folds)

    whole = some_rows_left_out() * len(X) * len(grid["n_neighbors"])
    return Workload(
        "KNeighborsClassifier, 1 to 50 neighbours by leaving out each row, 20 000 x 20",
        "The peer has five folds in the place of 20 000, so it does a small part of the work. Objective: error of the best number.",
        [
            Contestant(
                "qed",
                lambda: qed.Search(qed.KNeighborsClassifier(), grid, cv="loo").fit(X, y),
                lambda search: 1 - search.best_score_,
            ),
            Contestant(
                "scikit-learn, five folds",
                lambda: GridSearchCV(KNeighborsClassifier(n_jobs=2), grid, cv=5).fit(X, y),
                lambda search: 1 - search.best_score_,
                rounds=1,
            ),
        ],
        rounds=3,
        tolerance=0.1,
        notes=[
            "What GridSearchCV itself would take to leave out every row, as ours does, was not waited for: ten rows left out with one "
            f"number of neighbours, times {len(X) // 10:,} and 50, make {whole:,.0f} s."
        ],
    )
