"""Canonical correlations of two tables of 50 000 x 50, ten pairs."""

import warnings
from typing import Any

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.cross_decomposition import CCA
    from statsmodels.multivariate.cancorr import CanCorr

    generator = np.random.default_rng(0)
    shared = generator.standard_normal((50_000, 10))
    X, Y = (
        shared @ generator.standard_normal((10, 50)) + 3 * generator.standard_normal((50_000, 50)) for _ in range(2)
    )

    def theirs() -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it may not converge
            return CCA(10).fit(X, Y)

    def of_scores(model: Any) -> float:
        left, right = model.transform(X, Y)
        return -sum(float(np.corrcoef(left[:, j], right[:, j])[0, 1]) for j in range(10))

    return Workload(
        "CCA, 50 000 x (50, 50), 10 pairs",
        "Objective: minus the sum of the ten canonical correlations.",
        [
            Contestant("qed", lambda: qed.CCA(10).fit(X, Y), of_scores),
            Contestant("statsmodels", lambda: CanCorr(Y, X), lambda found: -float(np.sum(found.cancorr[:10]))),
            Contestant("scikit-learn", theirs, of_scores, rounds=1),
        ],
        rounds=7,
        tolerance=1e-6,
    )
