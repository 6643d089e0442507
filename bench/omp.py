"""Orthogonal matching pursuit: 200 atoms out of 5 000, 2 000 rows."""

import numpy as np

import qed
from bench.harness import Contestant, Workload


def table(n=2000, p=5000, k=200, seed=0):
    """Give correlated columns, centred and of length one so that all contestants choose alike, and a noisy sparse target."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, p))
    for j in range(1, p):
        X[:, j] = 0.6 * X[:, j - 1] + 0.8 * X[:, j]
    w = np.zeros(p)
    w[generator.choice(p, k, replace=False)] = generator.standard_normal(k)
    signal = X @ w
    y = signal + generator.standard_normal(n) * signal.std() / 3
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    return np.asfortranarray(X), y


def workload() -> Workload:
    from sklearn.linear_model import OrthogonalMatchingPursuit

    X, y = table()

    def judge(model):
        return float(np.sum((y - model.predict(X)) ** 2))

    def peer(precompute):
        return lambda: OrthogonalMatchingPursuit(n_nonzero_coefs=200, precompute=precompute).fit(X, y)

    return Workload(
        "Orthogonal matching pursuit, 200 atoms of 2 000 x 5 000",
        "With intercept, float64, columns in Fortran order (the peer's faster way). Objective: squared error.",
        [
            Contestant("qed", lambda: qed.OrthogonalMatchingPursuit(n_nonzero_coefs=200).fit(X, y), judge),
            Contestant("scikit-learn", peer(False), judge),
            Contestant("scikit-learn, Gram matrix", peer(True), judge, rounds=3),
        ],
        rounds=9,
    )
