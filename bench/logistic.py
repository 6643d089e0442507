"""Logistic regression, binary, 200 000 x 100."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.linear_model import LogisticRegression
    from sklearnex.linear_model import LogisticRegression as Intel

    generator = np.random.default_rng(1)
    X = generator.standard_normal((200_000, 100))
    truth = generator.standard_normal(100) / 5
    y = (generator.random(len(X)) < 1 / (1 + np.exp(-(X @ truth + 0.3)))).astype(int)

    def judge(model):
        score = X @ model.coef_[0] + model.intercept_[0]
        loss = np.logaddexp(0, np.where(y == 1, -score, score)).sum()
        return float((loss + 0.5 * np.sum(model.coef_**2)) / len(y))

    settings = {"C": 1.0, "tol": 1e-6, "max_iter": 1000}
    return Workload(
        "LogisticRegression, 200 000 x 100, two classes",
        "L2 penalty, C = 1; tolerance 1e-6 for all (each solver's own meaning of it). Objective: penalised loss over the number of rows.",
        [
            Contestant("qed", lambda: qed.LogisticRegression(C=1.0).fit(X, y), judge),
            Contestant("scikit-learn-intelex", lambda: Intel(**settings).fit(X, y), judge),
            Contestant("scikit-learn", lambda: LogisticRegression(**settings).fit(X, y), judge, rounds=2),
        ],
        rounds=5,
    )
