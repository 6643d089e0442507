"""Logistic regression with a penalty on sizes, 5 000 x 2 000: one fit, and a path of fifty penalties."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workloads() -> list[Workload]:
    return [fit(), path()]


def table():
    """Two hundredths of the columns matter."""
    generator = np.random.default_rng(0)
    X = generator.standard_normal((5000, 2000))
    score = X[:, :40] @ generator.standard_normal(40)
    y = (generator.random(len(X)) < 1 / (1 + np.exp(-score))).astype(int)
    return np.asfortranarray(X), y


def objective(X, y, coef, intercept, alpha):
    """The mean loss plus the penalty."""
    score = X @ np.ravel(coef) + float(np.ravel(intercept)[0])
    return float(np.mean(np.logaddexp(0, np.where(y == 1, -score, score))) + alpha * np.abs(coef).sum())


def fit() -> Workload:
    from skglm import SparseLogisticRegression

    X, y = table()
    n, alpha = len(y), 0.05 * strongest(X, y)
    ours = {"C": 1 / (n * alpha), "l1_ratio": 1.0}

    def judge(model):
        return objective(X, y, model.coef_, model.intercept_, alpha)

    return Workload(
        "LogisticRegression, L1, 5 000 x 2 000",
        "A twentieth of the penalty that makes all coefficients zero. Objective: mean loss plus penalty.",
        [
            Contestant("qed", lambda: qed.LogisticRegression(**ours).fit(X, y), judge),
            Contestant("skglm", lambda: SparseLogisticRegression(alpha, tol=1e-8).fit(X, y), judge),
        ],
        rounds=5,
        tolerance=1e-7,
    )


def path() -> Workload:
    from skglm import SparseLogisticRegression

    X, y = table()
    n, alphas = len(y), strongest(X, y) * np.geomspace(1, 0.02, 51)[1:]
    everything = [(np.arange(n), np.arange(n))]

    def search():
        grid = {"C": list(1 / (n * alphas))}
        return qed.Search(qed.LogisticRegression(l1_ratio=1.0), grid, cv=everything, scoring="neg_log_loss").fit(X, y)

    def one_by_one():
        model = SparseLogisticRegression(alphas[0], tol=1e-6, warm_start=True)
        losses = []
        for alpha in alphas:
            model.alpha = alpha
            model.fit(X, y)
            score = X @ model.coef_[0] + model.intercept_
            losses.append(np.mean(np.logaddexp(0, np.where(y == 1, -score, score))))
        return np.array(losses)

    return Workload(
        "LogisticRegression, L1, a path of 50 penalties, 5 000 x 2 000",
        "From the penalty that makes all coefficients zero to a fiftieth of it, each warm-started, and the last one fitted and proven "
        "by qed. Objective: mean loss at the end of the path.",
        [
            Contestant("qed", search, lambda found: float(-found.cv_results_["mean_test_score"][-1])),
            Contestant("skglm", one_by_one, lambda losses: float(losses[-1]), rounds=1),
        ],
        rounds=3,
        tolerance=1e-4,
    )


def strongest(X, y) -> float:
    """The penalty that makes all coefficients zero."""
    return float(np.abs(X.T @ (y - y.mean())).max() / len(y))
