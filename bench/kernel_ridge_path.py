"""Kernel ridge regression: 50 penalties and their leave-one-out errors on 4 000 x 20, against a single fit."""

import numpy as np

import qed
from bench.harness import Contestant, Workload
from bench.kernel_ridge import ALPHA, GAMMA
from bench.tables import tall


def workload() -> Workload:
    X, y = tall(4000, 20)
    alphas = np.logspace(-3, 3, 50)

    def path():
        return qed.kernel_ridge_path(X, y, alphas, kernel="rbf", gamma=GAMMA)

    def one():
        return qed.KernelRidge(ALPHA, kernel="rbf", gamma=GAMMA).fit(X, y)

    return Workload(
        "Kernel ridge, 50 alphas with leave-one-out, 4 000 x 20",
        "The whole path, with the error of every row left out for every penalty (200 000 fits' worth of answers), against one plain "
        "fit of the same model. Objective: the chosen penalty.",
        [
            Contestant("qed path", path, lambda found: found.best),
            Contestant("one fit of KernelRidge", one, lambda model: model.alpha),
        ],
        rounds=5,
        at_most=5,
    )
