"""Kernel ridge regression with the Gaussian kernel on 4 000 x 20."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.tables import tall

GAMMA, ALPHA = 0.05, 0.1


def workload() -> Workload:
    from sklearn.kernel_ridge import KernelRidge

    X, y = tall(4000, 20)
    K = qed.kernels.RBF(GAMMA)(X)

    def judge(model):
        c = model.dual_coef_
        fitted = K @ c
        return float((np.sum((y - fitted) ** 2) + ALPHA * c @ fitted) / len(y))

    settings = {"alpha": ALPHA, "kernel": "rbf", "gamma": GAMMA}
    return Workload(
        "Kernel ridge, Gaussian kernel, 4 000 x 20",
        "KernelRidge with gamma = 0.05 and alpha = 0.1, float64. Objective: penalised squared error over the number of rows.",
        [
            Contestant("qed", lambda: qed.KernelRidge(**settings).fit(X, y), judge),
            Contestant("scikit-learn", lambda: KernelRidge(**settings).fit(X, y), judge),
        ],
        rounds=7,
        notes=["scikit-learn-intelex has no kernel ridge regression of its own."],
    )
