r"""Pairs of points drawn from a box, with what a function and its derivatives say there.

A box may have infinite sides; they are explored at distances :math:`10^{-3}` to :math:`10^6`, each power of ten as
often as the next. Half of the pairs are drawn close together, because a function that bends wrongly in a small place
shows it only there. What is asked for is computed once, when it is asked for; derivatives found by differences come
with the rounding to allow for.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS
from qed.base.random import generator, seed_of
from qed.optim.functions.derivatives import Function
from qed.optim.functions.derivatives import gradient as gradient_of
from qed.optim.functions.derivatives import hessian as hessian_of

NEAREST, FARTHEST = -3.0, 6.0


def draw(low: Any, high: Any, n: int, random: np.random.Generator) -> np.ndarray:
    """Draw points from the box with the corners `low` and `high`, of which coordinates may be infinite.

    >>> points = draw([0, -np.inf], [1, 0], 100, np.random.default_rng(0))
    >>> points.shape, bool(points[:, 0].min() >= 0), bool(points[:, 1].min() < -1000)
    ((100, 2), True, True)
    """
    low, high = np.broadcast_arrays(np.atleast_1d(low).astype(float), np.atleast_1d(high).astype(float))
    if low.ndim != 1 or not (low < high).all():
        raise ParameterError(f"A box needs low < high in every coordinate; they are {low} and {high}.")
    share = random.random((n, len(low)))
    reach = 10.0 ** random.uniform(NEAREST, FARTHEST, share.shape)
    side = np.where(share < 0.5, -1.0, 1.0)
    inside = np.isfinite(low) & np.isfinite(high)
    with np.errstate(invalid="ignore"):
        spread = low + (high - low) * share
    beyond = np.where(np.isfinite(low), low + reach, np.where(np.isfinite(high), high - reach, side * reach))
    return np.where(inside, spread, beyond)


def draw_pairs(
    low: Any, high: Any, n: int, random_state: Any = 0, elementwise: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw pairs of points of a box and places between them; `elementwise` pairs differ in one coordinate.

    >>> u, v, t = draw_pairs([0, 0], [1, 1], 10, elementwise=True)
    >>> (u != v).sum(axis=1)
    array([1, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    """
    if n < 1:
        raise ParameterError(f"n_samples must be at least 1, not {n!r}.")
    random = generator(seed_of(random_state), "pairs")
    u, v = draw(low, high, n, random), draw(low, high, n, random)
    closer = np.where(np.arange(n) % 2 == 0, 1.0, 10.0 ** random.uniform(-3, 0, n))
    v = u + closer[:, None] * (v - u)
    if elementwise:
        v = np.where(np.arange(n)[:, None] // 2 % u.shape[1] == np.arange(u.shape[1]), v, u)
    return u, v, random.random(n)


class Sampled:
    """A function at pairs of points u, v and at places ``t u + (1 - t) v`` between them.

    >>> sampled = Sampled(*draw_pairs(-1, 1, 5), lambda w: w @ w)
    >>> sampled.f_u.shape, sampled.g_u.shape, sampled.bends.round(4).ravel()
    ((5,), (5, 1), array([2., 2., 2., 2., 2.]))
    """

    def __init__(
        self,
        u: np.ndarray,
        v: np.ndarray,
        t: np.ndarray,
        function: Function,
        gradient: Function | None = None,
        hessian: Function | None = None,
        elementwise: bool = False,
    ) -> None:
        self.u, self.v, self.t = u, v, t
        self._function, self._gradient, self._hessian, self._elementwise = function, gradient, hessian, elementwise
        self.between = t[:, None] * u + (1 - t[:, None]) * v
        self.distance = np.linalg.norm(v - u, axis=1)
        self.size = np.maximum(1.0, np.abs(u).max(axis=1))

    @cached_property
    def f_u(self) -> np.ndarray:
        return _at(self.u, self._function)[:, 0]

    @cached_property
    def f_v(self) -> np.ndarray:
        return _at(self.v, self._function)[:, 0]

    @cached_property
    def f_between(self) -> np.ndarray:
        return _at(self.between, self._function)[:, 0]

    @cached_property
    def g_u(self) -> np.ndarray:
        return self._slopes(self.u)

    @cached_property
    def g_v(self) -> np.ndarray:
        return self._slopes(self.v)

    @cached_property
    def hessians(self) -> np.ndarray:
        """The Hessians at u, of shape (n, d, d)."""
        if self._hessian is None:
            return np.array([hessian_of(self._function, point, self._gradient) for point in self.u])
        d = self.u.shape[1]
        found = _at(self.u, self._hessian).reshape(-1, d, d)
        return (found + found.transpose(0, 2, 1)) / 2

    @cached_property
    def bends(self) -> np.ndarray:
        """The eigenvalues of the Hessians at u, or their diagonals for a sample that is `elementwise`: shape (n, d)."""
        if self._elementwise:
            return np.diagonal(self.hessians, axis1=1, axis2=2)
        return np.linalg.eigvalsh(self.hessians)

    def bent(self, i: int) -> np.ndarray:
        """Give the direction of the lowest bend at the i-th u."""
        if self._elementwise:
            return np.eye(self.u.shape[1])[self.bends[i].argmin()]
        return np.linalg.eigh(self.hessians[i])[1][:, 0]

    @cached_property
    def gradient_noise(self) -> np.ndarray:
        """What rounding may do to a gradient at u."""
        if self._gradient is not None:
            return np.zeros(len(self.u))
        return 10 * EPS ** (2 / 3) * np.maximum(np.abs(self.f_u), np.abs(self.f_v)) / self.size

    @cached_property
    def hessian_noise(self) -> np.ndarray:
        """What rounding may do to an eigenvalue at u."""
        if self._hessian is not None:
            return np.zeros(len(self.u))
        if self._gradient is not None:
            return 10 * EPS ** (2 / 3) * np.linalg.norm(self.g_u, axis=1) / self.size
        return 10 * EPS ** (1 / 2) * np.abs(self.f_u) / self.size**2

    def _slopes(self, points: np.ndarray) -> np.ndarray:
        if self._gradient is not None:
            return _at(points, self._gradient)
        return np.array([gradient_of(self._function, point) for point in points])


def _at(points: np.ndarray, function: Function) -> np.ndarray:
    """Evaluate a function at every point, as rows of numbers; refuse points outside its domain."""
    found = np.array([np.ravel(function(point)) for point in points], dtype=np.float64)
    wrong = ~np.isfinite(found).all(axis=1)
    if wrong.any():
        raise InputError(
            f"The function is not finite at {points[wrong.argmax()]}. Give a box (low, high) inside its domain."
        )
    return found
