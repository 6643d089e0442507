"""Logistic regression with a penalty on sizes, 5 000 x 2 000."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from skglm import SparseLogisticRegression

    generator = np.random.default_rng(0)
    X = generator.standard_normal((5000, 2000))
    truth = np.zeros(2000)
    truth[:50] = generator.standard_normal(50)
    y = (generator.random(len(X)) < 1 / (1 + np.exp(-X @ truth))).astype(int)
    strength = float(np.abs(X.T @ (y - y.mean())).max()) / 10

    def judge(model):
        score = X @ np.ravel(model.coef_) + float(np.ravel(model.intercept_)[0])
        loss = np.logaddexp(0, np.where(y == 1, -score, score)).sum()
        return float((loss + strength * np.abs(model.coef_).sum()) / len(y))

    return Workload(
        "LogisticRegression, 5 000 x 2 000, a penalty on sizes",
        "A tenth of the penalty at which all coefficients are zero; tolerance 1e-7 (skglm), a proven gap of 1e-10 (qed). Objective: loss "
        "and penalty over the number of rows.",
        [
            Contestant("qed", lambda: qed.LogisticRegression(C=1 / strength, l1_ratio=1.0).fit(X, y), judge),
            Contestant("skglm", lambda: SparseLogisticRegression(strength / len(y), tol=1e-7).fit(X, y), judge),
        ],
        rounds=4,
    )
