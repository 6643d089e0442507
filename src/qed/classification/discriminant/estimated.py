"""Covariances of classes by an estimator of the user's own, such as scikit-learn's ``OAS`` or ``MinCovDet``.

It is shown the rows of one class after another, in memory, and has to leave ``covariance_``. What it finds is taken as it is; only that it
is a covariance matrix is looked at.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Protocol

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.labels import encode
from qed.base.sources.rows import Rows

# Entries of a symmetric matrix that an estimator has worked out twice differ by no more than this share.
SYMMETRIC = 1e-9


class Settings(Protocol):
    """What a model says of its covariances."""

    covariance_estimator: object
    shrinkage: object


def estimated(model: Settings, rows: Rows, classes: np.ndarray) -> list[np.ndarray]:
    """Give the covariance of each class, by a copy of the model's estimator."""
    name, block = type(model).__name__, rows.array()
    if model.shrinkage is not None:
        raise ParameterError(
            f"{name}: shrinkage and covariance_estimator are two ways to one covariance: give one of them."
        )
    weight = block.weights
    if (weight[weight > 0] != 1).any():
        raise InputError(
            f"{name}: covariance_estimator does not know of weights: repeat rows, or leave out the weights."
        )
    X, code = np.asarray(block.X, dtype=np.float64), encode(block.y, classes, block.weight)
    found = []
    for k, label in enumerate(classes.tolist()):
        estimator = deepcopy(model.covariance_estimator)
        estimator.fit(X[(code == k) & (weight > 0)])  # type: ignore[attr-defined]
        covariance = np.asarray(getattr(estimator, "covariance_", np.nan), dtype=np.float64)
        if not _is_covariance(covariance, X.shape[1]):
            raise ParameterError(
                f"{name}: covariance_estimator left no covariance_ for class {label!r}: a symmetric matrix of {X.shape[1]} finite rows, "
                "with no negative number on its diagonal."
            )
        found.append((covariance + covariance.T) / 2)
    return found


def _is_covariance(matrix: np.ndarray, p: int) -> bool:
    if matrix.shape != (p, p) or not np.isfinite(matrix).all() or (matrix.diagonal() < 0).any():
        return False
    return bool((np.abs(matrix - matrix.T) <= SYMMETRIC * np.abs(matrix).max(initial=0.0)).all())
