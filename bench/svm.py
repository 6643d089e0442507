"""A support vector machine with the Gaussian kernel on 20 000 x 20."""

from itertools import combinations

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import overlapping


def dual_objective(model, X):
    """Minus the dual objective, added up over all pairs of classes, from the public multipliers, in double precision."""
    gamma = 1 / (X.shape[1] * X.var())
    multipliers, vectors = np.asarray(model.dual_coef_), np.asarray(model.support_vectors_)
    number, total = np.repeat(np.arange(len(model.n_support_)), model.n_support_), 0.0
    for a, b in combinations(range(len(model.n_support_)), 2):
        beta = np.where(number == a, multipliers[b - 1], 0.0) + np.where(number == b, multipliers[a], 0.0)
        used = np.flatnonzero(beta)
        fitted = qed.kernels.Similarity.of("rbf", gamma).combined(vectors[used], vectors[used], beta[used, None])[:, 0]
        total += np.abs(beta).sum() - beta[used] @ fitted / 2
    return float(-total)


def workload() -> Workload:
    from sklearn.svm import SVC
    from sklearnex.svm import SVC as IntelSVC

    X, y = overlapping(20_000, 20)

    def judge(model):
        return dual_objective(model, X)

    return Workload(
        "SVM, Gaussian kernel, 20 000 x 20",
        "SVC with C = 1, float64, each with its own rule of stopping. Objective: minus the dual objective.",
        [
            Contestant("qed", lambda: qed.SVC().fit(X, y), judge),
            Contestant("scikit-learn-intelex", lambda: IntelSVC(cache_size=1000).fit(X, y), judge),
            Contestant("scikit-learn", lambda: SVC(cache_size=1000).fit(X, y), judge),
        ],
        rounds=3,
    )
