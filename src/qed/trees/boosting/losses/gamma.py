r"""The loss of positive numbers whose scatter grows with their mean, as of durations and costs.

.. math:: \ell(z, y) = y e^{-z} + z ,

minus the logarithm of the density of a gamma distribution with the mean :math:`e^z`, but for a constant and its shape. It only depends on
:math:`y e^{-z}`, so a change of units moves the scores and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.optim.functions.losses import Loss


@dataclass(frozen=True)
class GammaLoss(Loss):
    """Minus the logarithm of the density of a positive number whose mean is the exponential of the prediction.

    Examples
    --------
    >>> GammaLoss().each(np.zeros(2), np.array([1.0, 3.0])), GammaLoss().gradient(np.zeros(2), np.array([1.0, 3.0]))
    (array([1., 3.]), array([ 0., -2.]))
    """

    smoothness = np.inf

    def check(self, y: np.ndarray) -> None:
        super().check(y)
        if not (y > 0).all():
            raise InputError("GammaLoss takes numbers above zero.")

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return -np.inf, 1.0

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _times(prediction, y) + prediction

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 1.0 - _times(prediction, y)

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _times(prediction, y)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        rest = np.maximum(1.0 - dual, 0.0)
        logarithm = np.log(np.where(rest > 0, rest, 1.0)) - np.log(y)
        return np.where(np.asarray(dual) <= 1.0, rest * (logarithm - 1.0), np.inf)

    def each_gap(self, prediction: np.ndarray, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        # Half the deviance, which knows the number and its mean by their ratio alone.
        rest = np.maximum(1.0 - dual, 0.0)
        apart = np.log(np.where(rest > 0, rest, 1.0)) - (np.log(y) - prediction)
        gap = np.maximum(_times(prediction, y) - rest + rest * apart, 0.0)
        return np.where(np.asarray(dual) <= 1.0, gap, np.inf)


def _times(prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Give how many times its mean each number is; infinite where that overflows."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(np.log(y) - prediction))
