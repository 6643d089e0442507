r"""All penalties of a kernel ridge regression from one decomposition, and the error on every row left out.

With :math:`K = Q B Q^\top`, :math:`B` a narrow band (:mod:`qed.linalg.band`), and its Cholesky factors
:math:`B + \alpha I = L_\alpha L_\alpha^\top`, which cost next to nothing, the systems of all penalties are solved together:

.. math:: c_\alpha = (K + \alpha I)^{-1} y = Q\,(B + \alpha I)^{-1} Q^\top y, \qquad
   d_{\alpha i} = \big[(K + \alpha I)^{-1}\big]_{ii} = \big\| L_\alpha^{-1} Q^\top e_i \big\|^2,

and no row has to be left out in earnest: :math:`y_i - f_{-i}(x_i) = c_{\alpha i} / d_{\alpha i}`. Rows with weights are scaled
by their roots before, and the answers after. Cost: :math:`O(n^3)` once; for each penalty :math:`O(n^2)`, and
:math:`O(n^2 b)` where rows are left out.

Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, section 5.4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import lapack

from qed.base.compile import kernel
from qed.base.engine import one_blas_thread, work
from qed.base.numbers import EPS
from qed.linalg.band import Band
from qed.linalg.definite import solve_dual

# A factorisation for each of so few penalties is faster than a decomposition for all.
FEW = 5
# Rows that are left out together: their coordinates in a band's width of directions stay in the nearest cache.
TOGETHER = 96
# Penalties that are worked on at a time, so that their factors do not fill the memory.
BATCH = 64


@dataclass(frozen=True, eq=False)
class Path:
    """Dual coefficients for many penalties, and what they give."""

    dual: np.ndarray  # (m, n, q): dual coefficients
    # (m,): for which penalties the matrix is not positive definite but for rounding, so that there is no closed
    # form.
    unsafe: np.ndarray
    # (m, n, q): the error on each row when it is left out of the fit, where it was asked for.
    left_out: np.ndarray | None = None
    freedom: np.ndarray | None = None  # (m,): degrees of freedom, the trace of `K (K + alpha / weight)^-1`; the same


def solve_all(
    K: np.ndarray, Y: np.ndarray, weight: np.ndarray | None, alphas: np.ndarray, *, leave_out: bool = False
) -> Path:
    """Solve the kernel equations for many penalties.

    >>> found = solve_all(np.diag([1.0, 3.0]), np.array([[2.0], [4.0]]), None, np.array([1.0]), leave_out=True)
    >>> found.dual.ravel(), found.left_out.ravel()
    (array([1., 1.]), array([2., 4.]))
    """
    root = np.ones((len(K), 1)) if weight is None else np.sqrt(weight)[:, None]
    unsafe, dual = np.ones(len(alphas), dtype=bool), np.empty((len(alphas), *Y.shape))
    inverse = np.ones((len(alphas), len(K)))
    if leave_out or len(alphas) > FEW:
        with one_blas_thread:
            shifts = Shifts.of(Band.of(K.copy() if weight is None else K * root * root.T), alphas)
            unsafe = shifts.unsafe
            dual[~unsafe] = root * shifts.solve(root * Y)
        if leave_out:
            inverse[~unsafe] = root[:, 0] ** 2 * shifts.inverse_diagonal()
    plain = {k: solve_dual(K.copy(), Y, np.full(Y.shape[1], alphas[k]), weight) for k in np.flatnonzero(unsafe)}
    for k, found in plain.items():
        dual[k] = found.dual
    if not leave_out:
        return Path(dual, unsafe)
    left_out, freedom = dual / inverse[:, :, None], len(K) - alphas * (inverse / root[:, 0] ** 2).sum(axis=1)
    for k, found in plain.items():
        left_out[k], freedom[k] = _left_out_by_fitting(K, Y, float(alphas[k]), weight), found.rank
    return Path(dual, unsafe, left_out, freedom)


@dataclass(frozen=True, eq=False)
class Shifts:
    """The matrices ``K + alpha I`` of many penalties, factored."""

    band: Band  # the decomposition of K
    # (b + 1, n): Cholesky factors of `B + alpha I` for the penalties that are safe, as LAPACK has them.
    factors: list[np.ndarray]
    unsafe: np.ndarray  # the penalties that are too small for the matrix to be positive definite but for rounding

    @classmethod
    def of(cls, band: Band, alphas: np.ndarray) -> Shifts:
        """Factor the band of every penalty."""
        n, factors, unsafe = band.lower.shape[1], [], np.zeros(len(alphas), dtype=bool)
        for k, alpha in enumerate(alphas):
            shifted = band.lower.copy()
            shifted[0] += alpha
            least = 4 * n * EPS * np.abs(shifted[0]).max()
            factor, failed = lapack.dpbtrf(shifted, lower=1)
            unsafe[k] = bool(failed) or not (factor[0] ** 2 > least).all()
            if not unsafe[k]:
                factors.append(factor)
        return cls(band, factors, unsafe)

    def solve(self, Y: np.ndarray) -> np.ndarray:
        """Give ``(K + alpha I)^-1 Y`` for all safe penalties, of shape (m, n, q)."""
        n, q = Y.shape
        turned = self.band.turned(Y)
        parts = [lapack.dpbtrs(factor, turned, lower=1)[0] for factor in self.factors]
        found = self.band.turned_back(np.hstack([np.empty((n, 0)), *parts]))
        return np.asarray(found.reshape(n, len(parts), q).transpose(1, 0, 2))

    def inverse_diagonal(self) -> np.ndarray:
        """Give the diagonals of ``(K + alpha I)^-1``, of shape (m, n)."""
        n = self.band.lower.shape[1]
        with one_blas_thread:
            Q = self.band.orthogonal()
        found = np.empty((len(self.factors), n))
        for first in range(0, len(found), BATCH):
            parts = in_fours(self.factors[first : first + BATCH])
            tasks = (partial(lengths_of, Q[i : i + TOGETHER], *parts) for i in range(0, n, TOGETHER))
            found[first : first + BATCH] = np.hstack(list(work(tasks)))
        return found


def in_fours(factors: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Arrange band factors L by groups of four rows, divided by their diagonals.

    Gives, of shape (m, groups, b, 4), minus the entries left of a group: those of the b columns before it, for each of
    its rows; and, of shape (m, groups, 4, 4), one over the diagonal of a group, and minus the entries below it.
    """
    b, n = factors[0].shape[0] - 1, factors[0].shape[1]
    width, size = -(-b // 4) * 4, -(-n // 4) * 4
    outside, inside = np.zeros((len(factors), size // 4, width, 4)), np.zeros((len(factors), size // 4, 4, 4))
    for factor, before, within in zip(factors, outside, inside):
        scaled, inverse = np.zeros((b + 1, size)), np.zeros(size)
        inverse[:n] = 1 / factor[0]
        for d in range(1, b + 1):
            scaled[d, d:n] = -factor[d, : n - d] * inverse[d:n]
        for r in range(4):
            within[:, r, r] = inverse[r::4]
            for d in range(1, b + 1):
                place = within[:, r, r - d] if d <= r else before[:, width + r - d, r]
                place[:] = scaled[d, r::4]
    return outside, inside


def lengths_of(Q: np.ndarray, outside: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Give the squared lengths of ``L^-1 q`` for some rows q of Q and every factor L, of shape (m, rows)."""
    turned, found = np.zeros((4 * outside.shape[1], TOGETHER)), np.empty((len(outside), TOGETHER))
    turned[: Q.shape[1], : len(Q)] = Q.T
    _squared_lengths(turned, outside, inside, found)
    return found[:, : len(Q)]


@kernel(fastmath={"contract"})
def _squared_lengths(turned, outside, inside, found):  # type: ignore[no-untyped-def]
    """Solve ``L z = t`` for the columns t of `turned` and every band factor L, four rows at a time, and add up the squares of z.

    Four rows share what they read, which makes it twice as fast; the number of columns is a constant for the compiler's sake.
    """
    b = outside.shape[2]
    z = np.zeros((len(turned) + b, TOGETHER))
    for s in range(len(outside)):
        total = found[s]
        total[:] = 0.0
        for g in range(outside.shape[1]):
            L, j = inside[s, g], 4 * g
            y0, y1, y2, y3 = z[j + b], z[j + b + 1], z[j + b + 2], z[j + b + 3]
            t0, t1, t2, t3 = turned[j], turned[j + 1], turned[j + 2], turned[j + 3]
            _scale(L[0, 0], t0, y0)
            _scale(L[1, 1], t1, y1)
            _scale(L[2, 2], t2, y2)
            _scale(L[3, 3], t3, y3)
            for k in range(0, b, 4):
                z0, z1, z2, z3 = z[j + k], z[j + k + 1], z[j + k + 2], z[j + k + 3]
                A = outside[s, g, k : k + 4]
                a0, a1, a2, a3 = A[0, 0], A[0, 1], A[0, 2], A[0, 3]
                b0, b1, b2, b3 = A[1, 0], A[1, 1], A[1, 2], A[1, 3]
                c0, c1, c2, c3 = A[2, 0], A[2, 1], A[2, 2], A[2, 3]
                d0, d1, d2, d3 = A[3, 0], A[3, 1], A[3, 2], A[3, 3]
                for i in range(TOGETHER):
                    x0, x1, x2, x3 = z0[i], z1[i], z2[i], z3[i]
                    y0[i] = y0[i] + a0 * x0 + b0 * x1 + c0 * x2 + d0 * x3
                    y1[i] = y1[i] + a1 * x0 + b1 * x1 + c1 * x2 + d1 * x3
                    y2[i] = y2[i] + a2 * x0 + b2 * x1 + c2 * x2 + d2 * x3
                    y3[i] = y3[i] + a3 * x0 + b3 * x1 + c3 * x2 + d3 * x3
            a1, a2, b2, a3, b3, c3 = L[1, 0], L[2, 0], L[2, 1], L[3, 0], L[3, 1], L[3, 2]
            for i in range(TOGETHER):
                x0 = y0[i]
                x1 = y1[i] + a1 * x0
                x2 = y2[i] + a2 * x0 + b2 * x1
                x3 = y3[i] + a3 * x0 + b3 * x1 + c3 * x2
                y1[i], y2[i], y3[i] = x1, x2, x3
                total[i] += x0 * x0 + x1 * x1 + x2 * x2 + x3 * x3


@kernel(within=True)
def _scale(factor, values, out):  # type: ignore[no-untyped-def]
    for i in range(TOGETHER):
        out[i] = factor * values[i]


def _left_out_by_fitting(K: np.ndarray, Y: np.ndarray, alpha: float, weight: np.ndarray | None) -> np.ndarray:
    """Fit to all rows but one, for every row, and give the errors on it: where there is no closed form."""
    found, penalty = np.array(Y, dtype=np.float64), np.full(Y.shape[1], alpha)
    for i in range(len(Y)):
        others = np.delete(np.arange(len(Y)), i)
        if len(others):
            part = None if weight is None else weight[others]
            dual = solve_dual(np.ascontiguousarray(K[np.ix_(others, others)]), Y[others], penalty, part).dual
            found[i] -= K[i, others] @ dual
    return found
