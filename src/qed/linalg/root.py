r"""A triangular root of the matrix of least squares, and how far it says that coefficients are from the exact ones, rounding included.

With :math:`A = X^\top X` (centred, weighted) and the gradient :math:`g = X^\top r` at :math:`w`, the distance from the minimum is known
exactly, :math:`w^* - w = A^{-1} g`. Neither is known exactly. A factor gives :math:`A = R^\top (I + M) R` with
:math:`\|M\| \le \mu` (what rounding did to the factor, times its condition), and :math:`g` is known up to :math:`\nu`, so

.. math:: |w^* - w|_j \;\le\; |\hat\delta_j| + \|e_j^\top R^{-1}\| \,\frac{\mu\,\|R^{-\top} \hat g\| + \|R^{-\top} \nu\|}{1 - \mu},
   \qquad \hat\delta = R^{-1} R^{-\top} \hat g.

Both terms of the theory are in it: a gradient blurred by columns times coefficients brings in the condition number, and one
blurred by columns times residuals its square. An intercept :math:`\bar y - \bar x^\top w` is bounded by the same formula with
:math:`\bar x` in the place of :math:`e_j`.

Björck (1996), Numerical Methods for Least Squares Problems; Higham (2002), Accuracy and Stability of Numerical Algorithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.linalg import lapack

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS, any_of, largest
from qed.linalg.cholesky import Cholesky, solve_factored
from qed.linalg.sharing import inverse_of_lower

# Rounding may move a factor so much, by a cheap bound of the norm of its inverse, before it is inverted to know better.
COARSE = 1e-6
# With so many rows, sums over all of them take a while.
MANY = 256


def factor_rounding(p: int) -> float:
    """Bound what rounding does to the p columns of a QR decomposition that is made block by block, relative to their lengths."""
    return (64 + 8 * p) * EPS


def inverted(lower: np.ndarray, enough: float) -> tuple[float, np.ndarray | None]:
    r"""Bound the norm of the inverse of a triangular factor, on nobody's word; give the inverse, too, where it was needed.

    With :math:`|l_{jj}|` on the diagonal and :math:`-|l_{jk}|` below it the inverse is larger in every entry (Higham, 2002, chapter 8), and
    two solutions tell the sums of its rows and columns, whose product is at least the square of the norm: :math:`O(p^2)`, and no
    difference is taken, so that rounding does next to nothing. Where that is more than `enough`, the factor :math:`L` is inverted, and
    the inverse :math:`X` that is found proves :math:`\|L^{-1}\| \le \|X\| / (1 - \|XL - I\|)`.

    >>> round(inverted(np.array([[1.0, 0.0], [0.5, 1.0]], order="F"), 2.0)[0], 9)
    1.5
    """
    p = len(lower)
    # A first part of the rows has no larger sums: of many, a quarter may tell that it is too much.
    for first in (p // 4, p) if p >= MANY else (p,):
        bound = _compared(lower[:first, :first], enough)
        if bound == np.inf:
            break
    else:
        return bound, None
    inverse = inverse_of_lower(lower)
    if inverse is None:
        return np.inf, None
    by_column, by_row, whole = (float(lapack.dlange(norm, inverse)) for norm in ("1", "I", "F"))  # type: ignore[call-arg]
    size, columns = min(whole, math.sqrt(by_column) * math.sqrt(by_row)), (lower[j:, j] for j in range(p))
    missed = p * EPS * whole * math.sqrt(math.fsum(float(column @ column) for column in columns))
    return (size / (1 - missed) if missed < 0.5 else np.inf), inverse


def _compared(lower: np.ndarray, enough: float) -> float:
    """Bound the norm by the matrix that is compared with; infinite where that is more than `enough`."""
    p = len(lower)
    with one_blas_thread, np.errstate(all="ignore"):
        compared = -np.abs(lower, order="F")
        compared.ravel("K")[:: p + 1] *= -1.0
        bound, ones = 1 + 2 * p * p * EPS, np.ones((p, 1))
        for way in (0, 1):
            # Neither sum is below one over the largest number on the diagonal, so that the first may tell that it is too much.
            bound *= math.sqrt(largest(lapack.dtrtrs(compared, ones, lower=1, trans=way)[0], 0.0))
            if bound > enough * math.sqrt(largest(compared.diagonal(), 0.0)):
                return np.inf
    return bound if bound <= enough else np.inf


@dataclass(eq=False)
class Root:
    """A triangular root of a matrix, ``A = D L (I + M) L' D``, with a bound on M.

    Attributes
    ----------
    lower : ndarray of shape (p, p)
        The factor L, in Fortran order; what stands above its diagonal means nothing.
    length : ndarray of shape (p,)
        The diagonal of D: the lengths of the columns.
    off : float
        At least the norm of M.
    least : float
        At most the smallest eigenvalue of L L'.
    found : ndarray of shape (p, p) or None
        The inverse of L, where somebody needed it already.

    Examples
    --------
    >>> root = Root.of_triangle(np.array([[2.0, 1.0], [0.0, 3.0]]))
    >>> gradient, nothing = np.array([[2.0], [1.0]]), np.zeros((2, 1))
    >>> root.step(gradient).ravel().round(12)
    array([0.5, 0. ])
    >>> root.bounds(gradient, nothing, sharp=True).ravel().round(9)
    array([0.5, 0. ])
    """

    lower: np.ndarray
    length: np.ndarray
    off: float
    least: float
    found: np.ndarray | None = None
    _last: tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]] | None = field(
        default=None, init=False, repr=False
    )

    @classmethod
    def of_cholesky(cls, factor: Cholesky, noise: np.ndarray) -> Root:
        """Take the factor of a matrix whose entries are off by no more than ``noise[j] * noise[k]``."""
        p = len(factor.length)
        moved = float(((noise / factor.length) ** 2).sum()) + p * (p + 2) * EPS
        far, inverse = inverted(factor.lower, math.sqrt(COARSE / moved))
        return cls(factor.lower, factor.length, moved * far**2, far**-2, inverse)

    @classmethod
    def of_triangle(cls, R: np.ndarray) -> Root | None:
        """Take the R of a QR decomposition, of shape (p, p); None where it is singular."""
        p, length = R.shape[1], np.linalg.norm(R, axis=0)
        if len(R) < p or not (length > 0).all():
            return None
        lower = np.asfortranarray((R / length).T)
        far, inverse = inverted(lower, 0.0)
        if not np.isfinite(far):
            return None
        moved = factor_rounding(p) * np.sqrt(p) * far
        return cls(lower, length, float(2 * moved + moved**2), far**-2, inverse)

    @cached_property
    def inverse(self) -> np.ndarray:
        """The inverse of L."""
        found = inverse_of_lower(self.lower) if self.found is None else self.found
        assert found is not None
        return found

    def half(self, right: np.ndarray) -> np.ndarray:
        """Give ``L^-1 D^-1 right``, for right-hand sides of shape (p, q)."""
        return np.asarray(lapack.dtrtrs(self.lower, right / self.length[:, None], lower=1)[0])

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """Give ``A^-1 gradient``: the way to the minimum."""
        return solve_factored(self.lower, gradient / self.length[:, None]) / self.length[:, None]

    def far(self, gradient: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Bound the error of every coefficient times the length of its column, for each output: coarse, and in a few operations."""
        if not self.off < 0.5:
            return np.full(gradient.shape[1], np.inf)
        missed, hidden = self._lost(gradient, noise)
        return np.asarray((missed + hidden) / ((1 - self.off) * math.sqrt(self.least)))

    def _lost(self, gradient: np.ndarray, noise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bound the lengths of ``L^-1 D^-1`` times a gradient, and times what is hidden of it; once, where both are asked for again."""
        if self._last is None or self._last[0] is not gradient or self._last[1] is not noise:
            missed, hidden = self.half(gradient), noise / self.length[:, None]
            lengths = np.sqrt((missed * missed).sum(axis=0)), np.sqrt((hidden * hidden).sum(axis=0) / self.least)
            self._last = gradient, noise, lengths
        return self._last[2]

    def excess(self, gradient: np.ndarray, noise: np.ndarray, enough: np.ndarray) -> np.ndarray:
        """Give ``g' A^-1 g`` with all that a gradient known up to `noise` may be; sharper where that is more than `enough`."""
        if not self.off < 0.5:
            return np.full(gradient.shape[1], np.inf)
        missed, hidden = self._lost(gradient, noise)
        found = (missed + hidden) ** 2 / (1 - self.off)
        if any_of(found > enough):
            sharper = np.linalg.norm(np.abs(self.inverse) @ (noise / self.length[:, None]), axis=0)
            found = (missed + sharper) ** 2 / (1 - self.off)
        return np.asarray(found)

    def bounds(
        self, gradient: np.ndarray, noise: np.ndarray, *, sharp: bool, toward: np.ndarray | None = None
    ) -> np.ndarray:
        """Bound how far every coefficient is from the minimum, of shape (p, q); or their combination `toward`, beyond ``toward @ step``.

        Parameters
        ----------
        gradient, noise : ndarray of shape (p, q)
            The gradient, and how far it may be off.
        sharp : bool
            Whether to invert the factor, which takes as long as making it did; the bounds are smaller then.
        toward : ndarray of shape (p,), optional
            A combination of the coefficients.
        """
        hidden = noise / self.length[:, None]
        if sharp:
            lost = np.linalg.norm(np.abs(self.inverse) @ hidden, axis=0)
        else:
            lost = np.linalg.norm(hidden, axis=0) / np.sqrt(self.least)
        more = np.full(lost.shape, np.inf)
        if self.off < 0.5:
            more = (self.off * np.linalg.norm(self.half(gradient), axis=0) + lost) / (1 - self.off)
        if toward is not None:
            return (
                np.asarray(np.linalg.norm(self.half(toward[:, None])) * more) if toward.any() else np.zeros(len(lost))
            )
        each = np.linalg.norm(self.inverse, axis=0) if sharp else np.full(len(hidden), self.least**-0.5)
        return np.abs(self.step(gradient)) + (each / self.length)[:, None] * more
