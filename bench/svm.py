"""A support vector machine with the Gaussian kernel on 20 000 x 20."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import overlapping


def dual_objective(model, X):
    """The dual objective, from the public multipliers, in double precision."""
    gamma = 1 / (X.shape[1] * X.var())
    beta, vectors = np.asarray(model.dual_coef_)[0], np.asarray(model.support_vectors_)
    fitted = qed.kernels.Similarity.of("rbf", gamma).combined(vectors, vectors, beta[:, None])[:, 0]
    return float(-(np.abs(beta).sum() - beta @ fitted / 2))


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
