r"""Losses: what a prediction costs, with all that solvers and proofs need of them.

A loss is a convex function :math:`f_i(z)` of the prediction :math:`z` of row :math:`i`. It owns its value, its derivative, its
curvature, and its *conjugate*

.. math:: f_i^*(u) = \sup_z\, u z - f_i(z), \qquad f_i(z) + f_i^*(u) \ge u z,

with equality exactly when :math:`u` is the derivative at :math:`z` (or a subgradient, at a kink). Outside its domain the
conjugate is infinite. From the conjugate follows a lower bound of any penalised sum of losses, and so the duality gap, which is
written once for all of them in :mod:`qed.optim.functions.gap`.

==============  ==================================================  =======================================
loss            :math:`f(z)`                                        :math:`f^*(u)`
==============  ==================================================  =======================================
SquaredLoss     :math:`\tfrac12 r^2`                                :math:`\tfrac12 u^2 + uy`
AbsoluteLoss    :math:`|r|`                                         :math:`uy,\ |u| \le 1`
QuantileLoss    :math:`\max((1-q) r, -q r)`                         :math:`uy,\ -q \le u \le 1 - q`
HuberLoss       :math:`\tfrac12 r^2` if :math:`|r| \le \delta`,     :math:`\tfrac12 u^2 + uy,\ |u| \le \delta`
                else :math:`\delta|r| - \tfrac12\delta^2`
LogisticLoss    :math:`\log(1 + e^{-yz})`                           :math:`t\log t + (1-t)\log(1-t),\ t = -uy`
PoissonLoss     :math:`e^z - yz`                                    :math:`m\log m - m,\ m = u + y \ge 0`
==============  ==================================================  =======================================

with :math:`r = z - y`. Each costs a few operations per row.

Boyd and Vandenberghe (2004), Convex Optimization, section 3.3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS

# A dual point that was scaled onto the border of the domain may lie outside it by a few roundings.
ROUNDING = 8 * EPS


class Loss(ABC):
    """A convex loss of predictions, row by row.

    Attributes
    ----------
    smoothness : float
        The largest curvature; infinite where there is none.
    has_kinks : bool
        Whether the derivative jumps somewhere.
    """

    smoothness: float
    has_kinks: bool = False

    def check(self, y: np.ndarray) -> None:
        """Refuse what can not be a target of this loss."""
        if not np.isfinite(y).all():
            raise InputError(
                f"{type(self).__name__}: the target holds NaN or infinity; fill it in or leave the rows out."
            )

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        """Give the slopes that each loss tends to as the prediction falls or rises without end: beyond, the conjugate is infinite."""
        return -np.inf, np.inf

    @abstractmethod
    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Give the loss of each row."""

    @abstractmethod
    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Give the derivative of each row's loss in its prediction; at a kink, the middle subgradient."""

    @abstractmethod
    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Give the second derivative of each row's loss; zero at a kink."""

    @abstractmethod
    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Give the conjugate of each row's loss; infinite outside its domain."""

    def each_gap(self, prediction: np.ndarray, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Give ``f(z) + f*(u) - u z`` of each row: never negative, and zero where u is the derivative at z."""
        return self.each(prediction, y) + self.each_conjugate(dual, y) - dual * prediction

    def gap(self, prediction: Any, dual: Any, y: Any, weight: Any = None) -> float:
        """Give the sum of `each_gap`; with a dual of zero, by how much the loss is above its least value for any predictions.

        Parameters
        ----------
        prediction, y : ndarray of shape (n,)
            What was predicted and what was seen.
        dual : ndarray of shape (n,) or float
            One dual number for each row, or the same for all.
        weight : ndarray of shape (n,), optional
            The weight of each row.
        """
        dual = np.broadcast_to(dual, np.shape(y))
        return _weighted(self.each_gap(np.asarray(prediction), dual, np.asarray(y)), weight)

    def value(self, prediction: Any, y: Any, weight: Any = None) -> float:
        """Give the sum of the losses.

        Parameters
        ----------
        prediction, y : ndarray of shape (n,)
            What was predicted and what was seen.
        weight : ndarray of shape (n,), optional
            The weight of each row.
        """
        return _weighted(self.each(np.asarray(prediction), np.asarray(y)), weight)

    def conjugate(self, dual: Any, y: Any, weight: Any = None) -> float:
        """Give the sum of the conjugates: a row of weight w counts w times.

        Parameters
        ----------
        dual, y : ndarray of shape (n,)
            One dual number for each row, and what was seen.
        weight : ndarray of shape (n,), optional
            The weight of each row.
        """
        return _weighted(self.each_conjugate(np.asarray(dual), np.asarray(y)), weight)


def _weighted(each: np.ndarray, weight: Any) -> float:
    """Sum up; a row of zero weight is not there, whatever its value."""
    if weight is None:
        return float(each.sum(dtype=np.float64))
    weight = np.asarray(weight)
    present = weight != 0
    return float((weight[present] * each[present]).sum(dtype=np.float64))


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """Half the squared residual.

    Examples
    --------
    >>> SquaredLoss().value([1.0, 2.0], [0.0, 0.0])
    2.5
    """

    smoothness = 1.0

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 0.5 * (prediction - y) ** 2

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return prediction - y

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.ones_like(prediction)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        return dual * (0.5 * dual + y)

    def each_gap(self, prediction: np.ndarray, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        return 0.5 * (prediction - y - dual) ** 2

    @staticmethod
    def conjugate_of_sums(theta_theta: float, theta_y: float) -> Callable[[float], float]:
        r"""Give the function :math:`s \mapsto \sum_i w_i f_i^*(-s\theta_i / w_i)` from two sums, without going back to the rows.

        Parameters
        ----------
        theta_theta : float
            The sum of ``theta_i**2 / w_i``; with the residual ``r_i`` and ``theta_i = w_i r_i``, that of ``w_i r_i**2``.
        theta_y : float
            The sum of ``theta_i * y_i``.

        Examples
        --------
        >>> SquaredLoss.conjugate_of_sums(theta_theta=4.0, theta_y=3.0)(0.5)
        -1.0
        """
        return lambda s: 0.5 * s * s * theta_theta - s * theta_y


@dataclass(frozen=True)
class AbsoluteLoss(Loss):
    """The size of the residual.

    Examples
    --------
    >>> AbsoluteLoss().value([1.0, 2.0], [0.0, 4.0])
    3.0
    >>> AbsoluteLoss().conjugate([2.0], [0.0])
    inf
    """

    smoothness = np.inf
    has_kinks = True

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return -1.0, 1.0

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.abs(prediction - y)

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.sign(prediction - y)

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(prediction)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.where(np.abs(dual) <= 1.0 + ROUNDING, dual * y, np.inf)


@dataclass(frozen=True)
class QuantileLoss(Loss):
    """The size of the residual, times `level` where the prediction is too low and times the rest where it is too high.

    Parameters
    ----------
    level : float
        The share of the rows that the best constant is not below: 0.5 for the median.

    Examples
    --------
    >>> QuantileLoss(0.9).each(np.array([1.0, -1.0]), np.zeros(2))
    array([0.1, 0.9])
    """

    level: float = 0.5
    smoothness = np.inf
    has_kinks = True

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 1:
            raise ParameterError(f"QuantileLoss: level must be a number >= 0 and <= 1, not {self.level!r}.")

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return -self.level, 1.0 - self.level

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        residual = np.asarray(prediction) - y
        return np.maximum((1.0 - self.level) * residual, -self.level * residual)

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        # At the kink the middle of both slopes.
        return 0.5 - self.level + 0.5 * np.sign(np.asarray(prediction) - y)

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.zeros_like(prediction)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        inside = (dual >= -self.level - ROUNDING) & (dual <= 1.0 - self.level + ROUNDING)
        return np.where(inside, dual * y, np.inf)


@dataclass(frozen=True)
class HuberLoss(Loss):
    """Squared near zero and linear further out, so that no row pulls harder than `delta`.

    Parameters
    ----------
    delta : float
        Where the linear part begins.

    Examples
    --------
    >>> HuberLoss(delta=1.0).each(np.array([0.5, 3.0]), np.zeros(2))
    array([0.125, 2.5  ])
    """

    delta: float = 1.0
    smoothness = 1.0

    def __post_init__(self) -> None:
        if not self.delta > 0:
            raise ParameterError(f"HuberLoss: delta must be a number > 0, not {self.delta!r}.")

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return -self.delta, self.delta

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        size = np.abs(prediction - y)
        inner = np.minimum(size, self.delta)
        return inner * (size - 0.5 * inner)

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.clip(prediction - y, -self.delta, self.delta)

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return (np.abs(prediction - y) <= self.delta).astype(np.float64)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        inside = np.abs(dual) <= self.delta * (1.0 + ROUNDING)
        return np.where(inside, dual * (0.5 * dual + y), np.inf)

    def each_gap(self, prediction: np.ndarray, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        # Without the target, which would cancel: only the residual matters.
        residual = prediction - y
        found = self.each(residual, np.zeros_like(y)) + self.each_conjugate(dual, np.zeros_like(y)) - dual * residual
        return np.maximum(found, 0.0)


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """Minus the logarithm of the probability of a label, which is -1 or 1.

    Examples
    --------
    >>> LogisticLoss().each(np.array([0.0, 800.0]), np.array([1.0, -1.0])).round(4)
    array([6.931e-01, 8.000e+02])
    """

    smoothness = 0.25

    def check(self, y: np.ndarray) -> None:
        super().check(y)
        if not (np.abs(y) == 1).all():
            raise InputError("LogisticLoss takes labels that are -1 or 1: of labels 0 and 1, write 2 * y - 1.")

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        margin = np.asarray(y * prediction)
        return np.maximum(-margin, 0.0) + np.log1p(np.exp(-np.abs(margin)))

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return -y / (1.0 + _exponential(y * prediction))

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        small = np.exp(-np.abs(prediction))
        return small / (1.0 + small) ** 2

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        share = -np.asarray(dual) * y
        inside = (share >= -ROUNDING) & (share <= 1.0 + ROUNDING)
        share = np.clip(share, 0.0, 1.0)
        return np.where(inside, _times_own_logarithm(share) + _times_own_logarithm(1.0 - share), np.inf)


@dataclass(frozen=True)
class PoissonLoss(Loss):
    """Minus the logarithm of the probability of a count whose mean is the exponential of the prediction, but for a constant.

    It has no largest curvature, so a step along it needs a search.

    Examples
    --------
    >>> PoissonLoss().each(np.zeros(2), np.array([0.0, 3.0]))
    array([1., 1.])
    >>> PoissonLoss().each_conjugate(np.array([0.0, -4.0]), np.array([1.0, 3.0]))
    array([-1., inf])
    """

    smoothness = np.inf

    def check(self, y: np.ndarray) -> None:
        super().check(y)
        if not (y >= 0).all():
            raise InputError("PoissonLoss takes counts, and other numbers that are not negative.")

    def slopes(self, y: np.ndarray) -> tuple[Any, Any]:
        return -y, np.inf

    def each(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _exponential(prediction) - y * prediction

    def gradient(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _exponential(prediction) - y

    def curvature(self, prediction: np.ndarray, y: np.ndarray) -> np.ndarray:
        return _exponential(prediction)

    def each_conjugate(self, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        mean = dual + y
        inside = mean >= -ROUNDING * y
        mean = np.maximum(mean, 0.0)
        return np.where(inside, _times_own_logarithm(mean) - mean, np.inf)

    def each_gap(self, prediction: np.ndarray, dual: np.ndarray, y: np.ndarray) -> np.ndarray:
        # The deviance between two means, in which the count itself, which may be large, does not appear.
        inside = dual + y >= -ROUNDING * y
        mean = np.maximum(dual + y, 0.0)
        apart = _times_own_logarithm(mean) - mean * prediction
        return np.where(inside, np.maximum(_exponential(prediction) - mean + apart, 0.0), np.inf)


def _times_own_logarithm(values: np.ndarray) -> np.ndarray:
    """Give x log x, which is 0 at 0."""
    return np.asarray(values * np.log(np.where(values > 0, values, 1.0)))


def _exponential(values: np.ndarray) -> np.ndarray:
    """Give the exponential; infinite where that overflows, which a search on a line takes as a reason to turn back."""
    with np.errstate(over="ignore"):
        return np.exp(values)
