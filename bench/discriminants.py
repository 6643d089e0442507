"""Linear discriminant analysis with five classes: one fit, and a search of its shrinkage."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import gaussian_classes


def workloads() -> list[Workload]:
    return [fit(), search()]


def fit() -> Workload:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = gaussian_classes(200_000, 50, 5)

    def judge(model):
        return float(-np.mean(model.predict_log_proba(X)[np.arange(len(y)), y]))

    return Workload(
        "LinearDiscriminantAnalysis, 200 000 x 50, five classes",
        "No shrinkage, float64. Objective: log loss on the training rows.",
        [
            Contestant("qed", lambda: qed.LinearDiscriminantAnalysis().fit(X, y), judge),
            Contestant("scikit-learn lsqr", lambda: LinearDiscriminantAnalysis(solver="lsqr").fit(X, y), judge),
            Contestant("scikit-learn svd", lambda: LinearDiscriminantAnalysis().fit(X, y), judge, rounds=2),
        ],
        rounds=5,
        tolerance=1e-6,
    )


def search() -> Workload:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import GridSearchCV

    X, y = gaussian_classes(50_000, 50, 5)
    grid = {"shrinkage": list(np.linspace(0.01, 0.9, 20))}

    def judge(model):
        return float(-model.best_score_)

    peer = GridSearchCV(LinearDiscriminantAnalysis(solver="lsqr"), grid, cv=5, n_jobs=2)
    return Workload(
        "LinearDiscriminantAnalysis, 20 shrinkages, 5 folds, 50 000 x 50",
        "Five classes; the same folds; the peer on both cores. Objective: minus the best accuracy.",
        [
            Contestant("qed", lambda: qed.Search(qed.LinearDiscriminantAnalysis(), grid, cv=5).fit(X, y), judge),
            Contestant("scikit-learn GridSearchCV", lambda: peer.fit(X, y), judge, rounds=1),
        ],
        rounds=3,
        tolerance=1e-3,
    )
