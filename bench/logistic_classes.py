"""Logistic regression with ten classes, 60 000 x 100."""

import numpy as np
from scipy.special import logsumexp

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.linear_model import LogisticRegression
    from sklearnex.linear_model import LogisticRegression as Intel

    generator = np.random.default_rng(1)
    X = generator.standard_normal((60_000, 100))
    truth = generator.standard_normal((10, 100)) / 5
    y = (X @ truth.T + generator.gumbel(size=(len(X), 10))).argmax(axis=1)

    def judge(model):
        score = X @ model.coef_.T + model.intercept_
        loss = (logsumexp(score, axis=1) - score[np.arange(len(y)), y]).sum()
        return float((loss + 0.5 * np.sum(model.coef_**2)) / len(y))

    # At this tolerance the largest entry of the peers' gradient is about 3e-9.
    settings = {"C": 1.0, "tol": 3e-9, "max_iter": 1000}
    return Workload(
        "LogisticRegression, 60 000 x 100, ten classes",
        "L2 penalty, C = 1; gradients of at most 3e-9 (peers), a proven gap of 1e-14 (qed). Objective: penalised loss over rows.",
        [
            Contestant("qed", lambda: qed.LogisticRegression(C=1.0).fit(X, y), judge),
            Contestant("scikit-learn-intelex", lambda: Intel(**settings).fit(X, y), judge),
            Contestant("scikit-learn", lambda: LogisticRegression(**settings).fit(X, y), judge, rounds=2),
        ],
        rounds=4,
    )
