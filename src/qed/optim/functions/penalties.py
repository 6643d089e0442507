r"""Penalties: what coefficients cost, with all that solvers and proofs need of them.

.. math:: g(w) = \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2 \quad (+\ \infty \text{ where some } w_j < 0, \text{ if asked for}).

A penalty owns its value; its *proximal map*, the point that balances a small penalty against staying near,

.. math:: \operatorname{prox}_{tg}(w) = \arg\min_v\ g(v) + \tfrac1{2t}\|v - w\|^2 = \frac{S(w, t\lambda_1)}{1 + t\lambda_2},
          \qquad S(w, a) = \operatorname{sign}(w)\,(|w| - a)_+;

its *KKT distance*, how far minus the gradient of a loss is from the subdifferential of the penalty (zero at a minimum of both
together, coordinate by coordinate); its *conjugate* :math:`g^*(u) = \sum_j (|u_j| - \lambda_1)_+^2 / (2\lambda_2)`, infinite
where :math:`\lambda_2 = 0` and some :math:`|u_j| > \lambda_1`; and its *dual scaling*, by how much a vector must be shrunk for
its conjugate to be finite. Everything is separable and costs :math:`O(p)`.

Parikh and Boyd (2014), Proximal algorithms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.numbers import all_finite, all_of, largest
from qed.optim.functions.losses import ROUNDING


class Penalty(ABC):
    """A convex penalty of coefficients."""

    @abstractmethod
    def value(self, w: Any) -> float:
        """Give the penalty of `w`; infinite where `w` is not allowed."""

    @abstractmethod
    def prox(self, w: Any, step: Any) -> np.ndarray:
        """Give the minimiser of ``step * value(v) + |v - w|^2 / 2``; `step` may be one number for each coordinate."""

    @abstractmethod
    def subgradient(self, w: Any, gradient: Any) -> np.ndarray:
        """Give the shortest subgradient of loss and penalty together; `gradient` is that of the loss. NaN where `w` is not allowed."""

    def kkt_distance(self, w: Any, gradient: Any) -> np.ndarray:
        """Give the distance of ``-gradient`` from the subdifferential at `w`, for each coordinate."""
        found = np.abs(self.subgradient(w, gradient))
        return np.where(np.isnan(found), np.inf, found)

    @abstractmethod
    def dual_scale(self, correlation: Any) -> float:
        """Give the largest s in [0, 1] for which the conjugate of ``s * correlation`` is finite."""

    @abstractmethod
    def conjugate(self, u: Any) -> float:
        """Give the conjugate at `u`; infinite outside its domain."""

    def gap(self, w: Any, u: Any) -> float:
        """Give ``g(w) + g*(u) - u w``: never negative, and zero where u is a subgradient at w."""
        return self.value(w) + self.conjugate(u) - float(np.asarray(u) @ np.asarray(w))


class _Separable(Penalty):
    """All formulas of ``l1 |w|_1 + l2/2 |w|^2``, written once; subclasses say what `l1`, `l2` and `positive` are."""

    l1: float
    l2: float
    positive: bool

    def __post_init__(self) -> None:
        for strength in (self.l1, self.l2):
            if not 0 <= strength < np.inf:
                raise ParameterError(
                    f"{type(self).__name__}: the strength must be a finite number >= 0, not {strength!r}."
                )

    def value(self, w: Any) -> float:
        w = np.asarray(w)
        if self.positive and (w < 0).any():
            return np.inf
        sizes = float(self.l1 * np.abs(w).sum())
        return sizes + float(0.5 * self.l2 * (w * w).sum()) if self.l2 else sizes

    def prox(self, w: Any, step: Any) -> np.ndarray:
        w = np.asarray(w)
        threshold = step * self.l1
        shrunk = w - np.clip(w, -np.inf if self.positive else -threshold, threshold)
        return shrunk / (1.0 + step * self.l2)

    def subgradient(self, w: Any, gradient: Any) -> np.ndarray:
        w = np.asarray(w)
        slope = np.asarray(gradient) + self.l2 * w
        allowed = np.maximum(slope, -self.l1)
        at_zero = slope - (allowed if self.positive else np.minimum(allowed, self.l1))
        found = np.where(w == 0, at_zero, slope + self.l1 * np.sign(w))
        return np.where(w < 0, np.nan, found) if self.positive else found

    def dual_scale(self, correlation: Any) -> float:
        most = largest(self._reach(correlation), 0.0)
        return 1.0 if self.l2 > 0 or most <= self.l1 else self.l1 / most

    def conjugate(self, u: Any) -> float:
        reach = self._reach(u)
        if self.l2 > 0:
            return float((np.maximum(reach - self.l1, 0.0) ** 2).sum() / (2 * self.l2))
        return 0.0 if all_of(reach <= self.l1 * (1.0 + ROUNDING)) else np.inf

    def gap(self, w: Any, u: Any) -> float:
        # Coordinate by coordinate, where all that is large is small together: the whole sums would cancel.
        w = np.asarray(w)
        if not all_finite(w) or (self.positive and (w < 0).any()):
            return np.inf
        own = w * (self.l1 * np.sign(w) + 0.5 * self.l2 * w - np.asarray(u))
        return float(own.sum()) + self.conjugate(u)

    def slope(self, w: np.ndarray, way: np.ndarray) -> tuple[float, float]:
        """Give the slopes at `w` along `way`, from before and from behind: they differ where coefficients of zero move."""
        kink = self.l1 * float(np.abs(way[w == 0]).sum())
        smooth = float((self.l1 * np.sign(w) + self.l2 * w) @ way)
        return smooth - kink, smooth + kink

    def _reach(self, u: Any) -> np.ndarray:
        """Give the size of `u`; where coefficients can not be negative, only what is positive counts."""
        return np.maximum(u, 0.0) if self.positive else np.abs(u)


@dataclass(frozen=True)
class L1(_Separable):
    """The sum of sizes, times `alpha`: makes coefficients exactly zero.

    Parameters
    ----------
    alpha : float
        The strength.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Examples
    --------
    >>> penalty = L1(2.0)
    >>> penalty.value([3.0, -0.5]), penalty.prox([3.0, -0.5], 0.5)
    (7.0, array([2., 0.]))
    >>> penalty.kkt_distance([1.0, 0.0], [-2.0, 3.0])
    array([0., 1.])
    """

    alpha: float
    positive: bool = False
    l2 = 0.0

    @property
    def l1(self) -> float:  # type: ignore[override]
        return self.alpha


@dataclass(frozen=True)
class L2(_Separable):
    """Half the squared length, times `alpha`: shrinks coefficients, and leaves none at zero.

    Parameters
    ----------
    alpha : float
        The strength.

    Examples
    --------
    >>> penalty = L2(2.0)
    >>> penalty.value([3.0, 1.0]), penalty.prox([3.0, 1.0], 0.5)
    (10.0, array([1.5, 0.5]))
    """

    alpha: float
    l1 = 0.0
    positive = False

    @property
    def l2(self) -> float:  # type: ignore[override]
        return self.alpha


@dataclass(frozen=True)
class L1L2(_Separable):
    """Both together: the penalty of the elastic net.

    Parameters
    ----------
    l1, l2 : float
        The strengths.
    positive : bool, default=False
        Whether coefficients must not be negative.

    Examples
    --------
    >>> penalty = L1L2(1.0, 2.0)
    >>> penalty.value([3.0, -1.0]), penalty.conjugate([3.0, 0.5])
    (14.0, 1.0)
    """

    l1: float
    l2: float
    positive: bool = False
