r"""Losses of margins :math:`m = yz`, for labels :math:`y = \pm 1`: the cost of scores on the wrong side, or too near.

================  ===============================  =============================================
loss              :math:`f(z)`                     :math:`f^*(u)`, with :math:`t = -uy \ge 0`
================  ===============================  =============================================
HingeLoss         :math:`(1 - m)_+`                :math:`-t,\ t \le 1`
SquaredHingeLoss  :math:`(1 - m)_+^2`              :math:`t^2 / 4 - t`
ExponentialLoss   :math:`e^{-m}`                   :math:`t \log t - t`
================  ===============================  =============================================

All lie above the 0-1 loss, and are convex. Rosset, Zhu and Hastie (2003), Margin maximizing loss functions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from qed.base.errors import InputError
from qed.optim.functions.losses import ROUNDING, Loss


class MarginLoss(Loss):
    """A loss of labels -1 and 1."""

    def check(self, y: np.ndarray) -> None:
        super().check(y)
        if not (np.abs(y) == 1).all():
            name = type(self).__name__
            raise InputError(f"{name} takes labels that are -1 or 1: of labels 0 and 1, write 2 * y - 1.")


@dataclass(frozen=True)
class HingeLoss(MarginLoss):
    """By how much a score falls short of its margin, for labels -1 or 1: ``max(0, margin - y z)``.

    Parameters
    ----------
    margin : float, default=1.0
        What a score has to reach on its own side: 1 for support vector machines, 0 for the perceptron.

    Examples
    --------
    >>> HingeLoss().each(np.array([-1.0, 0.5, 2.0]), 1.0), HingeLoss(margin=0.0).each(np.array([-1.0, 0.5]), 1.0)
    (array([2. , 0.5, 0. ]), array([1., 0.]))
    """

    margin: float = 1.0
    smoothness = np.inf
    has_kinks = True

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(self.margin - y * prediction, 0.0)

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * (1.0 + np.sign(self.margin - y * prediction)) / 2

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(prediction)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        share = -np.asarray(dual) * y
        inside = (share >= -ROUNDING) & (share <= 1.0 + ROUNDING)
        return np.where(inside, -self.margin * share, np.inf)


@dataclass(frozen=True)
class SquaredHingeLoss(MarginLoss):
    """The square of what a score falls short of a margin of one: ``max(0, 1 - y z) ** 2``.

    Examples
    --------
    >>> SquaredHingeLoss().each(np.array([-1.0, 0.5, 2.0]), 1.0)
    array([4.  , 0.25, 0.  ])
    """

    smoothness = 2.0

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.maximum(1.0 - y * prediction, 0.0) ** 2

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -2.0 * y * np.maximum(1.0 - y * prediction, 0.0)

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(y * prediction < 1.0, 2.0, 0.0)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        share = -np.asarray(dual) * y
        return np.where(share >= -ROUNDING, share * (share / 4 - 1.0), np.inf)

    def each_gap(self, prediction: np.ndarray, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        # With s = (1 - m)_+ what is left is (s - t/2)^2, and t times what is beyond the margin: no difference of large numbers.
        share, short = -np.asarray(dual) * y, 1.0 - y * prediction
        found = (np.maximum(short, 0.0) - share / 2) ** 2 + share * np.maximum(-short, 0.0)
        return np.where(share >= -ROUNDING, np.maximum(found, 0.0), np.inf)


@dataclass(frozen=True)
class ExponentialLoss(MarginLoss):
    """The loss behind boosting: ``exp(-y z)``. It has no largest curvature, so a step along it needs a search.

    Examples
    --------
    >>> ExponentialLoss().each(np.array([-1.0, 0.0]), 1.0).round(4)
    array([2.7183, 1.    ])
    """

    smoothness = np.inf

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return np.where(y > 0, -np.inf, 0.0), np.where(y > 0, 0.0, np.inf)

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(np.exp(-y * np.asarray(prediction)))

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y * self.each(prediction, y)

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return self.each(prediction, y)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        share = -np.asarray(dual) * y
        inside, share = share >= -ROUNDING, np.maximum(share, 0.0)
        return np.where(inside, xlogy(share, share) - share, np.inf)
