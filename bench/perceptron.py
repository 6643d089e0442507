"""The perceptron on few and on many rows that no plane separates: passes, and the proof that nothing does."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workloads() -> list[Workload]:
    return [fit(2_000, 20, 15), fit(100_000, 50, 5)]


def fit(n: int, p: int, rounds: int) -> Workload:
    from sklearn.linear_model import Perceptron

    generator = np.random.default_rng(0)
    X = generator.standard_normal((n, p))
    y = (X[:, 0] + X[:, 1] + generator.standard_normal(n) > 0).astype(int)

    def judge(model):
        return float(np.mean(model.predict(X) != y))

    return Workload(
        f"Perceptron, {n} x {p}",
        "Classes that overlap. qed ends where it is proven that no plane has a margin worth the name, scikit-learn where the loss stops "
        "falling. Objective: the share of rows that are wrong, which for a plane that goes round is chance.",
        [
            Contestant("qed", lambda: qed.Perceptron().fit(X, y), judge),
            Contestant("scikit-learn", lambda: Perceptron().fit(X, y), judge),
        ],
        rounds=rounds,
        tolerance=0.5,
    )
