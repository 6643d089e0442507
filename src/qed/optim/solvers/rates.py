r"""Convergence rates as claims: what gradient descent promises for each kind of convex function, checked on a run.

With :math:`R = \|w^0 - w^*\|`, at every :math:`t`, or for a run planned to have :math:`T` iterations:

=========================== ===================== ========================== ===================================
the function is             step                  answer                     :math:`f - f^*` is at most
=========================== ===================== ========================== ===================================
convex, Lipschitz           :math:`R/(L\sqrt T)`  mean of the iterates       :math:`R L / \sqrt T`
strongly convex, Lipschitz  :math:`2/(m(t+1))`    mean, weights 1, 2, 3 ...  :math:`2 L^2 / (m (T + 1))`
convex, smooth              :math:`1/M`           last iterate               :math:`M R^2 / (2t)`
strongly convex, smooth     :math:`1/M`           last iterate               :math:`(1 - m/M)^t (f^0 - f^*)`
=========================== ===================== ========================== ===================================

A function can not be both Lipschitz and strongly convex on the whole space: the second row is for a bounded set, with
projection. The last bound is at most :math:`e^{-t m/M} (f^0 - f^*)`.

Bubeck (2015), Convex optimization: algorithms and complexity, theorems 3.2, 3.9, 3.3 and 3.10; Nesterov (2018),
Lectures on Convex Optimization.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.base.numbers import EPS
from qed.optim.functions.objective import Objective, as_vector
from qed.optim.searches.step_rules import InverseDecay, RootDecay
from qed.optim.solvers.gradient_descent import GradientDescent
from qed.optim.solvers.method import Method
from qed.optim.solvers.subgradient import Subgradient


class Rate(ABC):
    """A row of the table: the method that theory asks for, and the bound that it promises.

    Class attributes
    ----------------
    planned : bool
        Whether the number of iterations is part of the method, so that each has a run of its own.
    averaged : bool
        Whether the answer is a mean of the first t points, or the point after t steps.
    """

    planned: ClassVar[bool] = False
    averaged: ClassVar[bool] = False

    @abstractmethod
    def method(self, t: int) -> Method:
        """Give the method for a run of t iterations."""

    @abstractmethod
    def bound(self, t: int, excess: float) -> float:
        """Give the most that the value can be above its minimum after t iterations, having been `excess` above it."""


@dataclass(frozen=True)
class LipschitzRate(Rate):
    """Convex and L-Lipschitz: ``R L / sqrt(T)`` for the mean of the iterates.

    Parameters
    ----------
    lipschitz : float
        L, a bound of the length of the subgradients.
    radius : float
        R, a bound of the distance from the start to a minimum.

    Examples
    --------
    >>> LipschitzRate(lipschitz=2.0, radius=3.0).bound(100, excess=1.0)
    0.6
    """

    lipschitz: float
    radius: float

    planned: ClassVar[bool] = True
    averaged: ClassVar[bool] = True

    def method(self, t: int) -> Method:
        return Subgradient(RootDecay(self.radius, self.lipschitz, t), self.radius, average="uniform")

    def bound(self, t: int, excess: float) -> float:
        return float(self.radius * self.lipschitz / np.sqrt(t))


@dataclass(frozen=True)
class StrongLipschitzRate(Rate):
    """Strongly convex and, on a bounded set, L-Lipschitz: ``2 L^2 / (m (T + 1))`` for the weighted mean of the iterates.

    Parameters
    ----------
    lipschitz : float
        L, a bound of the length of the subgradients on the set.
    strong_convexity : float
        m.
    project : callable, optional
        Gives the point of the set that is nearest to a point.

    Examples
    --------
    >>> StrongLipschitzRate(lipschitz=2.0, strong_convexity=1.0).bound(99, excess=1.0)
    0.08
    """

    lipschitz: float
    strong_convexity: float
    project: Callable[[np.ndarray], Any] | None = None

    averaged: ClassVar[bool] = True

    def method(self, t: int) -> Method:
        return Subgradient(InverseDecay(self.strong_convexity), average="weighted", project=self.project)

    def bound(self, t: int, excess: float) -> float:
        return 2 * self.lipschitz**2 / (self.strong_convexity * (t + 1))


@dataclass(frozen=True)
class SmoothRate(Rate):
    """Convex and M-smooth: ``M R^2 / (2 t)`` for the last iterate.

    Parameters
    ----------
    smoothness : float
        M.
    radius : float
        R, a bound of the distance from the start to a minimum.

    Examples
    --------
    >>> SmoothRate(smoothness=4.0, radius=3.0).bound(9, excess=1.0)
    2.0
    """

    smoothness: float
    radius: float

    def method(self, t: int) -> Method:
        return GradientDescent(1 / self.smoothness)

    def bound(self, t: int, excess: float) -> float:
        return self.smoothness * self.radius**2 / (2 * t)


@dataclass(frozen=True)
class StrongSmoothRate(Rate):
    """Strongly convex and M-smooth: ``(1 - m / M)^t`` of what was missing at the start, for the last iterate.

    Parameters
    ----------
    smoothness : float
        M.
    strong_convexity : float
        m.

    Examples
    --------
    >>> StrongSmoothRate(smoothness=4.0, strong_convexity=2.0).bound(3, excess=8.0)
    1.0
    """

    smoothness: float
    strong_convexity: float

    def method(self, t: int) -> Method:
        return GradientDescent(1 / self.smoothness)

    def bound(self, t: int, excess: float) -> float:
        return excess * (1 - self.strong_convexity / self.smoothness) ** t


def certify_rate(
    rate: Rate, objective: Any, start: Any, lowest: float, times: Sequence[int] = (1, 10, 100, 1000)
) -> Certificate:
    """Run the method of a rate and compare what it reaches with what was promised.

    Parameters
    ----------
    rate : Rate
        The row of the table, with its constants.
    objective : Objective or callable
        The function.
    start : array_like of shape (d,)
        Where to begin.
    lowest : float
        The minimum of the function.
    times : sequence of int
        The iterations at which a claim is made; a row whose step does not depend on the length of the run is held to
        its bound at all the others up to the last of them, too.

    Returns
    -------
    Certificate
        A claim for each time: how far the value is above the minimum, and the bound. It fails when a constant was
        wrong.

    Examples
    --------
    >>> bowl = Objective(lambda w: w @ ([1, 10, 100] * w) / 2, lambda w: [1, 10, 100] * w)
    >>> certificate = certify_rate(
    ...     SmoothRate(smoothness=100.0, radius=3**0.5), bowl, np.ones(3), 0.0, times=[1, 10, 100]
    ... )
    >>> print(certificate)
    claim                                      value     bound  holds
    value above the minimum at t = 1         4.5e+00   1.5e+02    yes
    value above the minimum at t = 10        1.0e+00   1.5e+01    yes
    value above the minimum at t = 100       6.7e-02   1.5e+00    yes
    largest share of the bound, for all t    7.4e-02   1.0e+00    yes
    ∎
    """
    times = sorted({int(t) for t in times})
    if not times or times[0] < 1:
        raise InputError("The times of a rate are iterations, from 1 on.")
    objective, point = Objective.of(objective), as_vector(start)
    excess = objective.value(point) - lowest
    noise = 16 * EPS * max(abs(lowest), abs(excess + lowest))
    if rate.planned:
        found = {t: _values(rate, objective, point, t)[t] for t in times}
    else:
        found = _values(rate, objective, point, times[-1])
    above = {t: max(0.0, value - lowest) for t, value in found.items()}
    share = max(
        max(0.0, missing - noise) / rate.bound(t, excess) for t, missing in above.items() if rate.bound(t, excess) > 0
    )
    claims = [Claim(f"value above the minimum at t = {t}", above[t], rate.bound(t, excess) + noise) for t in times]
    return Certificate((*claims, Claim("largest share of the bound, for all t", share, 1 + 1e-9)))


def _values(rate: Rate, objective: Objective, point: np.ndarray, last: int) -> dict[int, float]:
    """Give the value of the answer after t = 1, ..., `last` iterations."""
    first = 1 if rate.averaged else 0
    steps = islice(rate.method(last).steps(objective, point), last + 1 - first)
    return {t: step.objective for t, step in enumerate(steps, first) if t > 0}
