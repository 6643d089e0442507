"""Kernel PCA of 3 000 rows with a Gaussian kernel, ten components, at full accuracy."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workload() -> Workload:
    from sklearn.decomposition import KernelPCA

    generator = np.random.default_rng(0)
    X = 5 * generator.standard_normal((10, 20))[generator.integers(0, 10, 3000)] + generator.standard_normal((3000, 20))
    K = qed.kernels.centred(qed.kernels.RBF(0.01)(X))
    total = float(np.trace(K))

    def judge(model: Any) -> float:
        """Give the share of the variance of the features that the directions leave out."""
        V = np.linalg.qr(np.asarray(model.eigenvectors_, dtype=np.float64))[0]
        return 1 - float(np.einsum("ij,ij->", V, K @ V)) / total

    settings = {"kernel": "rbf", "gamma": 0.01}
    makers: dict[str, Callable[[], Any]] = {
        "qed": partial(qed.KernelPCA, 10, **settings),
        "scikit-learn, randomized": partial(KernelPCA, 10, eigen_solver="randomized", random_state=0, **settings),
        "scikit-learn, arpack": partial(KernelPCA, 10, eigen_solver="arpack", random_state=0, **settings),
    }
    return Workload(
        "KernelPCA, 3 000 x 20, rbf, 10 components",
        "Objective: the share of the variance of the features that is left out. Ours is certified: none was missed.",
        [Contestant(name, lambda make=make: make().fit(X), judge) for name, make in makers.items()],
        rounds=7,
        tolerance=1e-9,
    )
