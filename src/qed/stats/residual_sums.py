r"""What the residuals of a linear model say about it, to twice the digits.

.. math:: r_i = y_i - b - x_i^\top w, \qquad g = \sum_i s_i (x_i - c)\,r_i, \qquad t = \sum_i s_i r_i .

At a minimum of the squared error :math:`g` and :math:`t` are small differences of large numbers: in plain arithmetic they are little
more than rounding where columns are nearly dependent, far from zero, or the residuals small. Computed with :mod:`qed.linalg.twofold`
they are right in nearly all their digits, so a correction by :math:`A^{-1} g` gives the coefficients nearly all of theirs (iterative
refinement; Björck, 1967), and a bound that follows from :math:`g` says the truth. One pass of :math:`O(np)`, some twenty times what
products cost: taken where it is needed only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.lazy import later
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.linalg.twofold import Twofold, total, two_product, two_sum
from qed.stats.products import dense, present_rows

residual_kernel = later("qed.stats.residual_kernel")
# So many numbers are worked on at a time, which stay in the cache.
STRIP = 1 << 13
# From so many products on, they are worth a compiler; it works on so many numbers at a time.
COMPILED_FROM, CHUNK = 1 << 19, 1 << 18


@dataclass(frozen=True, eq=False)
class ResidualSums:
    """Sums over rows of residuals, and of their products with the features.

    Examples
    --------
    >>> block = Block(np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 2.0]))
    >>> seen = ResidualSums.of(block, np.array([1.0]), np.array([[0.5]]), np.array([1.0]))
    >>> seen.gradient.value, seen.total.value, seen.square
    (array([[0.]]), array([0.5]), array([0.25]))
    """

    gradient: Twofold  # (p, q): products of features, about the centre that was given, and residuals
    total: Twofold  # (q,): the residuals themselves
    square: np.ndarray  # (q,): their squares, rounded

    @classmethod
    def of(cls, block: Block, center: np.ndarray, coef: np.ndarray, intercept: np.ndarray) -> ResidualSums:
        """Take the sums over a block, for coefficients of shape (p, q)."""
        X, Y, weight = present_rows(block, target=True)
        p, q = coef.shape
        if len(Y) * p * q >= COMPILED_FROM:
            return cls._of_many(X, Y, np.ones(len(Y)) if weight is None else weight, center, coef, intercept)
        found = cls(Twofold(np.zeros((p, q)), np.zeros((p, q))), Twofold(np.zeros(q), np.zeros(q)), np.zeros(q))
        size = max(1, STRIP // p)
        with np.errstate(invalid="ignore", over="ignore", under="ignore"):
            for start in range(0, len(Y), size):
                part = slice(start, start + size)
                each = None if weight is None else weight[part]
                found = found + cls._of_strip(dense(X[part]), Y[part], each, center, coef, intercept)
        return found

    @classmethod
    def _of_many(
        cls,
        X: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray,
        center: np.ndarray,
        coef: np.ndarray,
        intercept: np.ndarray,
    ) -> ResidualSums:
        (p, q), size = coef.shape, max(64, CHUNK // coef.shape[0])
        gradient, totals = Twofold(np.zeros((p, q)), np.zeros((p, q))), Twofold(np.zeros(q), np.zeros(q))
        square, model = np.zeros(q), [np.ascontiguousarray(part) for part in (center, coef, intercept)]
        for start in range(0, len(Y), size):
            part = slice(start, start + size)
            chunk = (
                np.ascontiguousarray(dense(X[part])),
                np.ascontiguousarray(Y[part]),
                np.ascontiguousarray(weight[part]),
            )
            residual_kernel.add_residuals(*chunk, *model, *gradient, *totals, square)
        return cls(gradient, totals, square)

    @classmethod
    def _of_strip(
        cls,
        X: np.ndarray,
        Y: np.ndarray,
        weight: np.ndarray | None,
        center: np.ndarray,
        coef: np.ndarray,
        intercept: np.ndarray,
    ) -> ResidualSums:
        away, rest = two_sum(X, np.broadcast_to(-center, X.shape))
        parts = [_output(X, y, weight, away, rest, w, b) for y, w, b in zip(Y.T, coef.T, intercept.tolist())]
        gradient = Twofold(*(np.stack(values, axis=1) for values in zip(*(part[0] for part in parts))))
        sums = Twofold(*(np.array(values) for values in zip(*(part[1] for part in parts))))
        return cls(gradient, sums, np.array([part[2] for part in parts]))

    @staticmethod
    def rounding(count: int, p: int) -> float:
        """Bound what is lost, relative to the lengths of columns and of what residuals are differences of.

        Of p products (or of 64 rows) the sum of errors is rounded, and each further strip is one more rounding in the last of 106 bits.
        """
        return float((max(64, p) * EPS / 2) ** 2 + (1 + count / 8) * EPS**2)

    def __add__(self, other: ResidualSums) -> ResidualSums:
        return ResidualSums(self.gradient + other.gradient, self.total + other.total, self.square + other.square)


def _output(
    X: np.ndarray, y: np.ndarray, weight: np.ndarray | None, away: np.ndarray, rest: np.ndarray, w: np.ndarray, b: float
) -> tuple[Twofold, Twofold, float]:
    """Give the sums of one output: products with `away + rest`, the residuals, and their squares."""
    residual = residuals(X, y, w, b)
    if weight is not None:
        high, low = two_product(weight, residual.high)
        weighted = Twofold(*two_sum(high, low + weight * residual.low))
    else:
        weighted = residual
    high, low = two_product(away, weighted.high[:, None])
    low += away * weighted.low[:, None] + rest * weighted.high[:, None]
    return total(high, low), total(*weighted), float(weighted.high @ residual.high)


def residuals(X: np.ndarray, y: np.ndarray, w: np.ndarray, b: float) -> Twofold:
    """Give ``y - X w - b`` to twice the digits.

    Examples
    --------
    >>> residuals(np.array([[1.0]]), np.array([1.0]), np.array([1 + 2.0**-52]), -(2.0**-60)).value * 2**60
    array([-255.])
    """
    terms, slips = np.empty((X.shape[1] + 2, len(y))), np.zeros((X.shape[1] + 2, len(y)))
    terms[0], terms[1] = y, -b
    product, slip = two_product(X, -w)
    terms[2:], slips[2:] = product.T, slip.T
    return total(terms, slips)
