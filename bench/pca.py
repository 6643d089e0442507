"""Principal components of 100 000 x 200, twenty of them, in double and in single precision."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import qed
from bench.harness import Contestant, Workload


def workloads() -> list[Workload]:
    generator = np.random.default_rng(0)
    strength = 0.97 ** np.arange(200)
    X = (generator.standard_normal((100_000, 200)) * strength) @ generator.standard_normal((200, 200)) + 3.0
    return [_fit(X, "float64"), _fit(X.astype(np.float32), "float32")]


def _fit(X: np.ndarray, precision: str) -> Workload:
    from sklearn.decomposition import PCA
    from sklearnex.decomposition import PCA as Intel

    some = X[::100].astype(np.float64)

    def judge(model: Any) -> float:
        """Give the mean squared distance of some rows from the plane."""
        away = some - model.mean_
        V = np.linalg.qr(model.components_.astype(np.float64).T)[0]
        return float(((away - away @ V @ V.T) ** 2).sum(axis=1).mean())

    makers: dict[str, Callable[[], Any]] = {
        "qed": partial(qed.PCA, 20),
        "scikit-learn": partial(PCA, 20),
        "scikit-learn-intelex": partial(Intel, 20),
    }
    return Workload(
        f"PCA, 100 000 x 200, 20 components, {precision}",
        "Objective: mean squared distance of every hundredth row from the plane.",
        [Contestant(name, lambda make=make: make().fit(X), judge) for name, make in makers.items()],
        rounds=9,
        tolerance=1e-4 if precision == "float32" else 1e-6,
    )
