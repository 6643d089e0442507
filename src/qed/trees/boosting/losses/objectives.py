r"""What boosting lowers: a loss of scores, with what the rounds need of it.

A round needs the loss, slope and curvature of each row at its scores, the constant to begin with, and how far a leaf goes:

- by the slopes and curvatures of its rows, :math:`-G / (H + \lambda)`; where a loss has a largest curvature that is not its own (Huber),
  by that one, which can not go too far; of numbers :math:`r` times their mean, whose curvature is :math:`r` (gamma), by
  :math:`\max(r, 1)`: with it :math:`|G / H|` is no more than :math:`|\log \bar r|`, the way to where the leaf is best;
- or to the quantile of their residuals, which is the best constant (absolute errors and quantiles).

Regression but that of counts and gamma is worked out in units of the largest target, a power of two, so that squares neither overflow nor
vanish.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from qed.optim.functions.losses import (
    AbsoluteLoss,
    HuberLoss,
    LogisticLoss,
    Loss,
    PoissonLoss,
    QuantileLoss,
    SquaredLoss,
)
from qed.optim.svm.losses import ExponentialLoss
from qed.trees.boosting.losses.gamma import GammaLoss

# Losses whose scores are logarithms of what is predicted.
OF_LOGARITHMS = ("poisson", "gamma")


class Pieces(NamedTuple):
    """Loss, slope and curvature of rows; the latter two of shape (outputs, n)."""

    loss: np.ndarray
    slope: np.ndarray
    curvature: np.ndarray


class Objective(ABC):
    """A loss of scores of shape (outputs, n)."""

    outputs: int = 1
    level: float | None = (
        None  # the quantile of residuals that leaves go to; None where they go by slopes and curvatures
    )
    power: int = 0  # how the loss grows with the unit of the target
    is_logistic: bool = False  # whether it is that of two classes, for which there is a compiled pass

    @abstractmethod
    def pieces(self, scores: np.ndarray, y: np.ndarray) -> Pieces:
        """Give loss, slope and curvature."""

    @abstractmethod
    def baseline(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Give the best constant score of each output."""


class OfNumbers(Objective):
    """A loss of one score and a number, or a label that is -1 or 1."""

    def __init__(self, loss: Loss) -> None:
        self.loss = loss
        self.level = 0.5 if isinstance(loss, AbsoluteLoss) else getattr(loss, "level", None)
        self.power = 2 if isinstance(loss, SquaredLoss | HuberLoss) else int(self.level is not None)
        self.is_logistic = isinstance(loss, LogisticLoss)
        # The curvature of these is that of a parabola above the loss.
        self._is_flat = loss.has_kinks or isinstance(loss, HuberLoss)

    def pieces(self, scores: np.ndarray, y: np.ndarray) -> Pieces:
        z = scores[0]
        curvature = np.ones_like(z) if self._is_flat else self.loss.curvature(z, y)
        if isinstance(self.loss, GammaLoss):
            curvature = np.maximum(curvature, 1.0)
        above_least = isinstance(self.loss, PoissonLoss | GammaLoss)
        each = self.loss.each_gap(z, np.zeros_like(z), y) if above_least else self.loss.each(z, y)
        return Pieces(each, self.loss.gradient(z, y)[None], curvature[None])

    def baseline(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        if self.level is not None or isinstance(self.loss, HuberLoss):
            return quantiles(y, weight, np.zeros(len(y), dtype=np.intp), 1, self.level or 0.5)
        # Shares of numbers near the largest there are add up, where their sum does not.
        mean = (weight / weight.sum()) @ y if isinstance(self.loss, GammaLoss) else (weight @ y) / weight.sum()
        if isinstance(self.loss, SquaredLoss):
            return np.array([mean])
        if isinstance(self.loss, PoissonLoss | GammaLoss):
            return np.array([np.log(mean) if mean > 0 else -40.0])
        share = (mean + 1.0) / 2.0
        odds = np.log(share / (1.0 - share))
        return np.array([odds / 2.0 if isinstance(self.loss, ExponentialLoss) else odds])


class OfClasses(Objective):
    """Minus the logarithm of the probability of a class, which is the number of one of several: one score for each."""

    def __init__(self, classes: int) -> None:
        self.outputs = classes

    def pieces(self, scores: np.ndarray, y: np.ndarray) -> Pieces:
        shares = scores - scores.max(axis=0)
        own = shares[y, np.arange(len(y))]
        np.exp(shares, out=shares)
        total = shares.sum(axis=0)
        shares /= total
        loss = np.log(total) - own
        curvature = shares * (1.0 - shares)
        shares[y, np.arange(len(y))] -= 1.0
        return Pieces(loss, shares, curvature)

    def baseline(self, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
        # A class whose rows weigh nothing has no logarithm.
        logarithms = np.log(np.maximum(np.bincount(y, weight, self.outputs) / weight.sum(), 2.0**-40))
        return np.asarray(logarithms - logarithms.mean())


def quantiles(values: np.ndarray, weight: np.ndarray, group: np.ndarray, groups: int, level: float) -> np.ndarray:
    """Give the value in each group up to which its weight first comes to the share `level`; zero for an empty group.

    >>> quantiles(np.array([3.0, 1.0, 2.0, 9.0]), np.ones(4), np.array([0, 0, 0, 1]), 2, 0.5)
    array([2., 9.])
    """
    order = np.lexsort((values, group))
    group, running = group[order], np.cumsum(weight[order])
    total = np.bincount(group, weight[order], groups)
    before = np.concatenate([[0.0], np.cumsum(total)[:-1]])
    # The first row of a group that reaches its share, for which those that do not are counted; rounding may leave out the last.
    short = np.bincount(group, running - before[group] < level * total[group] * (1 - 1e-12), groups).astype(np.intp)
    size = np.bincount(group, minlength=groups)
    place = np.cumsum(size) - size + np.minimum(short, np.maximum(size - 1, 0))
    return np.where(size > 0, values[order][np.minimum(place, len(order) - 1)], 0.0)


def objective_of_numbers(loss: str, level: float, y: np.ndarray, weight: np.ndarray) -> Objective:
    """Give the objective of a regression by its name; Huber's is squared for the share `level` of rows that lie nearest to the median."""
    if loss == "huber":
        one = np.zeros(len(y), dtype=np.intp)
        away = np.abs(y - quantiles(y, weight, one, 1, 0.5))
        return OfNumbers(HuberLoss(max(float(quantiles(away, weight, one, 1, level)[0]), 2.0**-40)))
    if loss == "quantile":
        return OfNumbers(QuantileLoss(level))
    others = [SquaredLoss(), AbsoluteLoss(), PoissonLoss(), GammaLoss()]
    return OfNumbers(others[("squared_error", "absolute_error", "poisson", "gamma").index(loss)])


def objective_of_classes(loss: str, classes: int) -> Objective:
    """Give the objective of a classification by its name and the number of classes; two of them are -1 and 1."""
    if classes > 2:
        return OfClasses(classes)
    return OfNumbers(ExponentialLoss() if loss == "exponential" else LogisticLoss())
