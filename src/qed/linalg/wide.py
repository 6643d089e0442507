r"""Least squares with more columns than rows, through as many equations as there are rows.

.. math:: \min_w \|b - Aw\|^2 + \alpha\|w\|^2, \qquad w = A^\top u, \quad (A A^\top + \alpha I)\, u = b.

Without a penalty this :math:`w` is the shortest of all that fit best. With centred rows :math:`A A^\top` has the null vector
:math:`\rho` of the roots of the weights; as :math:`b` is orthogonal to it, :math:`c\,\rho\rho^\top` may be added and changes nothing
but the rank. A Cholesky factor of the n x n matrix solves it, :math:`O(n^2 p)`, and corrections by the true residual give back the
digits that squaring took: the errors of :math:`w` then grow with the condition number of A, not with its square. Where rounding leaves
no factor to correct with, the singular values of A decide instead, which takes some twenty times as long.

Every :math:`u` proves how good any :math:`w` is, for the gap between the problem and its dual is a sum of squares,

.. math:: \|b - Aw\|^2 + \alpha\|w\|^2 - \min \;\le\; \|r - \alpha u\|^2 + \alpha\|w - A^\top u\|^2, \qquad r = b - Aw.

Björck (1996), Numerical Methods for Least Squares Problems; Saunders, Gammerman and Vovk (1998), Ridge regression in dual variables.
"""

from functools import cached_property

import numpy as np

from qed.base.numbers import EPS
from qed.linalg.cholesky import Cholesky
from qed.linalg.design import DenseDesign
from qed.linalg.normal import FEW, Solution, Standing, orthonormal
from qed.linalg.root import Root, factor_rounding, inverted
from qed.linalg.sharing import spans

# With so many digits, a correction would change nothing that matters.
DIGITS_ENOUGH = 12.0
# A correction leaves less than half of the error, mostly far less: so many are hardly ever needed.
MOST_CORRECTIONS = 12
STRIP = 64


class WideSystem:
    """The equations of a design with no more rows than columns.

    The `offset` is the length that the means of the columns would have as columns: of a column of mean 1e8 and spread 1
    only eight digits are known. Where equations would lose too many digits, singular values are taken: it is
    `decomposed` then. Rows that are `rounded` stand for others that a factorisation turned into them, and lost something.

    >>> design = DenseDesign(np.array([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]), None, np.zeros(3), np.zeros(3))
    >>> system = WideSystem(design, np.array([[2.0], [4.0]]), centered=False)
    >>> system.solve(0.0, 10.0).coef.ravel().round(12)
    array([1., 2., 1.])
    >>> system.solve(2.0, 10.0).coef.ravel().round(12)
    array([0.5       , 1.33333333, 0.5       ])
    """

    def __init__(
        self,
        design: DenseDesign,
        target: np.ndarray,
        *,
        centered: bool,
        offset: np.ndarray | None = None,
        rounded: bool = False,
    ) -> None:
        self.design, self.target, self.centered, self.rounded = design, target, centered, rounded
        self.offset = np.zeros(design.rows.shape[1]) if offset is None else offset
        self._factors: dict[float, Cholesky | None] = {}
        self._duals: dict[float, np.ndarray] = {}
        self.decomposed = False

    @property
    def most(self) -> int:
        """The largest rank there can be."""
        return len(self.target) - self.centered

    @cached_property
    def scale(self) -> np.ndarray:
        """The lengths of the columns, one where they are zero."""
        return np.where(self.design.lengths > 0, self.design.lengths, 1.0)

    @cached_property
    def outer(self) -> np.ndarray:
        """The products of the rows, made definite."""
        return self._completed(self.design.outer())

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns."""
        return self.design.lengths

    def condition(self, rank: int) -> float:
        """Give the condition number of the columns scaled to equal length, over so many directions."""
        factor = self.equilibrated if rank == self.most else None
        if factor is not None and factor.digits > 4:
            return factor.condition
        values = np.linalg.svd(self.design.rows / self.scale, compute_uv=False)[:rank]
        return float(values[0] / values[-1]) if rank and values[-1] > 0 else 1.0

    def factor(self, alpha: float) -> Cholesky | None:
        """Give the factor of the n x n matrix; None where rounding leaves none."""
        if alpha not in self._factors:
            self._factors[alpha] = Cholesky.of(self.outer, alpha)
        return self._factors[alpha]

    def _completed(self, outer: np.ndarray) -> np.ndarray:
        """Add to products of centred rows what makes them definite."""
        if not self.centered:
            return outer
        away = self.design.root * (np.sqrt(outer.trace() / len(outer)) / np.linalg.norm(self.design.root))
        for part in spans(len(outer), STRIP):
            outer[part] += away[part, None] * away
        return outer

    @cached_property
    def equilibrated(self) -> Cholesky | None:
        """The factor for columns of length one, which tells the condition number."""
        return Cholesky.of(self._completed(self.design.outer(self.scale)))

    def solve(self, alpha: float, digits_wanted: float) -> Solution:
        """Solve for a penalty; give the shortest solution where there are many.

        Singular values are taken where the equations give fewer digits than wanted.
        """
        found = self._by_equations(alpha, digits_wanted)
        if found is not None:
            return found
        self.decomposed = True
        return self._by_singular_values(alpha) if alpha > 0 else self._shortest()

    def _by_equations(self, alpha: float, digits_wanted: float) -> Solution | None:
        factor = self._telling(alpha)
        if factor is None:
            return None
        if alpha > 0:
            # Corrections see the rows, not single columns: where units differ a lot, too few digits are left of small ones.
            enough = factor.digits >= digits_wanted
            return Solution(self.design.back(self.dual(alpha)), len(self.scale), 1.0, factor.digits) if enough else None
        scaled, digits = self.equilibrated, float(-np.log10(EPS * factor.condition))
        if digits < digits_wanted or scaled is None or not self._off(scaled) < 0.25 or not self._is_full(scaled):
            return None
        return Solution(self.design.back(self.dual(alpha)), self.most, scaled.condition, digits)

    def _is_full(self, scaled: Cholesky) -> bool:
        """Say whether all rows are independent for sure: more than rounding of columns so far from zero can hide."""
        size = float(np.hypot(1.0, self.offset / self.scale).max(initial=1.0))
        return bool(_least(scaled) > 16 * len(self.scale) * EPS * size)

    def dual(self, alpha: float) -> np.ndarray:
        """Give u with ``(A A' + alpha I) u = b``, as precisely as the rows allow."""
        if alpha not in self._duals:
            factor = self._telling(alpha)
            if factor is None:
                U, values, _ = self.singular
                self._duals[alpha] = U @ (U.T @ self.target / (values**2 + alpha)[:, None])
            else:
                self._duals[alpha] = self._corrected(factor, self.target, alpha)
        return self._duals[alpha]

    def _corrected(self, factor: Cholesky, target: np.ndarray, alpha: float) -> np.ndarray:
        """Solve with a factor, and correct that until what it means for ``A' u`` changes no more."""
        u, best = factor.solve(target), np.inf
        for _ in range(MOST_CORRECTIONS if factor.digits < DIGITS_ENOUGH else 0):
            w = self.design.back(u)
            change = factor.solve(target - alpha * u - self.design.times(w))
            size = float(np.linalg.norm(self.design.back(change)))
            if not size < 0.5 * best:
                break
            u, best = u + change, size
            if size <= EPS * factor.condition * float(np.linalg.norm(w)):
                break
        return u

    def _off(self, factor: Cholesky) -> float:
        """Say what share of its smallest eigenvalue rounding may have taken from a factor: of products of rows, and of Cholesky."""
        n, p = self.design.rows.shape
        return 2 * n * (8 + np.sqrt(max(n, p))) * EPS / (factor.least / 3)

    def _telling(self, alpha: float) -> Cholesky | None:
        """Give the factor where rounding leaves enough of it to prove something with it."""
        factor = self.factor(alpha)
        return None if factor is None or not self._off(factor) < 0.25 else factor

    @cached_property
    def singular(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Singular vectors and values of the rows, as many as there can be."""
        U, values, V = np.linalg.svd(self.design.rows, full_matrices=False)
        return U[:, : self.most], values[: self.most], V[: self.most]

    def _by_singular_values(self, alpha: float) -> Solution:
        U, values, V = self.singular
        damped = values**2 + alpha
        coef = V.T @ ((values / damped)[:, None] * (U.T @ self.target))
        condition = float(np.sqrt(damped[0] / damped[-1])) if len(damped) else 1.0
        return Solution(coef, V.shape[1], condition, float(-np.log10(EPS * condition)))

    @cached_property
    def _decomposed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Singular vectors and values for columns of length one, and which of them rounding can tell from zero."""
        U, values, V = np.linalg.svd(self.design.rows / self.scale, full_matrices=False)
        size = np.hypot(1.0, self.offset / self.scale)
        known = values > 16 * V.shape[1] * EPS * np.linalg.norm(V * size, axis=1)
        return U, values, V, known & (np.arange(len(values)) < self.most)

    @cached_property
    def directions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Those of them that rounding can tell from zero."""
        U, values, V, known = self._decomposed
        return U[:, known], values[known], V[known]

    @cached_property
    def row_space(self) -> np.ndarray:
        """An orthonormal basis of the span of the rows, of shape (p, rank)."""
        return np.asarray(np.linalg.qr((self.directions[2] * self.scale).T)[0])

    @cached_property
    def null_space(self) -> np.ndarray:
        """An orthonormal basis of the coefficients of which the rows say nothing, of shape (p, p - rank), constant columns apart."""
        varying = self.lengths > 0
        found = np.zeros((len(varying), len(self._null)))
        found[varying] = orthonormal((self._null / self.scale[varying]).T)
        return found

    @cached_property
    def _null(self) -> np.ndarray:
        """What is left out of columns of length one, those that vary: an orthonormal basis, in rows."""
        varying = self.lengths > 0
        if varying.all() and len(self.design.rows) == len(varying):
            return self._decomposed[2][~self._decomposed[3]]
        V = self.directions[2][:, varying]
        return np.asarray(np.linalg.svd(V, full_matrices=True)[2][len(V) :])

    def _in_row_space(self, coef: np.ndarray) -> np.ndarray:
        """Project coefficients on the span of the rows: by what is left out, which units of columns spoil less, unless that is most."""
        rank = len(self.directions[1])
        if len(coef) - rank > max(rank, FEW):
            return np.asarray(self.row_space @ (self.row_space.T @ coef))
        kept = coef - self.null_space @ (self.null_space.T @ coef)
        return np.asarray(np.where(self.lengths[:, None] > 0, kept, 0.0))

    def _shortest(self) -> Solution:
        U, values, V = self.directions
        coef = np.zeros((len(self.scale), self.target.shape[1]))
        for _ in range(2):  # the second time for what rounding left of the target
            residual = self.target - self.design.times(coef)
            coef = coef + V.T @ ((U.T @ residual) / values[:, None]) / self.scale[:, None]
            coef = self._in_row_space(coef)
        condition = float(values[0] / values[-1]) if len(values) else 1.0
        return Solution(coef, len(values), condition, float(-np.log10(EPS * condition)))

    def excess(self, at: Standing) -> np.ndarray:
        """Bound by how much coefficients are above the minimum, rounding included; with the largest rank there can be, that is zero."""
        result = np.empty(len(at.alphas))
        for alpha in np.unique(at.alphas).tolist():
            chosen = at.alphas == alpha
            if alpha > 0:
                # With u = r / alpha the gap is ||g||^2 / alpha.
                found = np.linalg.norm(np.abs(at.gradient[:, chosen]) + at.noise[:, chosen], axis=0) ** 2 / alpha
            if alpha == 0 or (found > at.enough[chosen]).any():
                varying, root = self.root() if self.rounded else (None, None)
                if root is not None and (alpha > 0 or at.rank in (None, len(root.length))):
                    # A penalty only adds to the curvature.
                    found = root.excess(
                        at.gradient[varying][:, chosen], at.noise[varying][:, chosen], at.enough[chosen]
                    )
                elif alpha == 0 or not self.rounded:
                    found = self._sharper(at.coef[:, chosen], chosen, alpha, at.rank, at.reach[chosen])
            result[chosen] = found
        return result

    def _sharper(
        self, coef: np.ndarray, chosen: np.ndarray, alpha: float, rank: int | None, reach: np.ndarray
    ) -> np.ndarray:
        """Bound the excess by the residual, which is a sum of p + 1 products for each row, and by the best dual vectors."""
        residual, noise = self.target[:, chosen] - self.design.times(coef), (len(coef) + 2) * EPS * reach
        if alpha == 0:
            within = residual if rank == self.most else self.directions[0].T @ residual
            return np.asarray((np.linalg.norm(within, axis=0) + noise) ** 2)
        return self._gap(coef, residual, self.dual(alpha)[:, chosen], alpha, noise)

    def _gap(
        self, coef: np.ndarray, residual: np.ndarray, u: np.ndarray, alpha: float, noise: np.ndarray
    ) -> np.ndarray:
        """Give the gap between `coef` and the dual vectors `u`, with what rounding may have hidden of it."""
        size = len(u) * EPS * np.linalg.norm(self.design.lengths) * np.linalg.norm(u, axis=0)
        first = np.linalg.norm(residual - alpha * u, axis=0) + noise
        second = np.linalg.norm(coef - self.design.back(u), axis=0) + size
        return np.asarray(first**2 + alpha * second**2)

    def outside(self, coef: np.ndarray, rank: int) -> float:
        """Bound the share of the coefficients that lies outside the span of the rows."""
        size = float(np.linalg.norm(coef))
        factor = self._telling(0.0) if rank == self.most else None
        if size == 0:
            return 0.0
        if factor is None:
            return float(np.linalg.norm(coef - self._in_row_space(coef))) / size
        u = self._corrected(factor, self.design.times(coef), 0.0)
        noise = len(u) * EPS * np.linalg.norm(self.design.lengths) * np.linalg.norm(u)
        return float((np.linalg.norm(coef - self.design.back(u)) + noise) / size)

    def root(self) -> tuple[np.ndarray, Root | None]:
        """Say which columns are more than a constant, and give a root of their products where the rows are a triangle."""
        varying, rows = self.lengths > 0, self.design.rows
        triangular = len(rows) == len(varying) and not self.centered and not np.tril(rows, -1).any()
        if not triangular or not varying.any():
            return varying, None
        return varying, Root.of_triangle(
            rows if varying.all() else np.asarray(np.linalg.qr(rows[:, varying], mode="r"))
        )

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray, rank: int) -> float:
        """Bound the relative error of the shortest of many solutions, where residuals have such lengths.

        Where all rows are independent it fits all of them, so what is left of the residual, and of the way to the span of the rows, tells.
        Where not, rounding may have moved columns of length one by `moved`, directions beyond the rank by ``moved`` over the least singular
        value (Wedin, 1972), and the solution by ``condition x (2 + condition x residual / fit)`` (Wedin, 1973); lengths of columns and the
        angle to what is left out say what that means for the shortest.
        """
        size, p = np.linalg.norm(coef, axis=0), len(coef)
        if rank == 0 or not size.any():
            return 0.0
        factor = self._telling(0.0) if rank == self.most else None
        if factor is not None:
            reach = np.linalg.norm(self.target, axis=0) + np.hypot(self.lengths, self.offset) @ np.abs(coef)
            missed = (residual + (p + len(self.target) + 2) * EPS * reach) / _least(factor)
            return float(np.divide(missed, size, out=np.zeros_like(size), where=size > 0).max()) + self.outside(
                coef, rank
            )
        if len(self.directions[1]) != rank:
            return np.inf
        return float(np.divide(self._moved(coef, residual), size, out=np.zeros_like(size), where=size > 0).max())

    def _moved(self, coef: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Bound how far the shortest coefficients may have moved, for each output, where some directions are left out."""
        U, values, V = self.directions
        p, varying = len(coef), self.lengths > 0
        moved = float(np.linalg.norm(factor_rounding(p) + 2 * EPS * self.offset[varying] / self.scale[varying]))
        tilt = 2 * moved / values[-1]
        if not tilt < 0.5:
            return np.full(coef.shape[1], np.inf)
        inner = coef * self.scale[:, None]
        within = np.linalg.norm(V @ inner, axis=0)
        beyond = np.linalg.norm(inner - V.T @ (V @ inner), axis=0)
        missed = np.linalg.norm(U.T @ (self.target - self.design.times(coef)), axis=0) / values[-1]
        off = missed + 2 * tilt * (2 * within + residual / values[-1])
        size, outside = (np.linalg.norm(one, axis=0) for one in (coef, coef - self._in_row_space(coef)))
        gain, turn = levers(self._null, self.scale[varying], tilt, V[:, varying])
        return np.asarray(2 * gain * (off + tilt * (within + beyond)) + turn * size + outside)


def levers(null: np.ndarray, scale: np.ndarray, tilt: float, known: np.ndarray | None = None) -> tuple[float, float]:
    r"""Bound what errors of columns of length one, in directions known up to `tilt`, mean in the units of the coefficients.

    With the lengths :math:`D`, the shortest coefficients of what is `known`, :math:`V z`, are those of the pseudoinverse of :math:`V^\top
    D`: an error of :math:`z` grows by no more than one over its least singular value, the gain, nor by more than one over the shortest
    length. What is left out, :math:`D^{-1} Q` with the rows of `null` as Q, turns by the angle whose sine is ``tilt * gain`` over the
    least singular value of that.
    """
    nearest = 1 / float(scale.min())
    if len(null) == 0:
        return nearest, 0.0
    gain = nearest
    if known is not None:
        values = np.linalg.svd(known * scale, compute_uv=False)
        least = float(values[-1] - 4 * len(scale) * EPS * values[0])
        gain = min(nearest, 1 / least) if least > 0 else nearest
    values = np.linalg.svd(null / scale, compute_uv=False)
    slope = float(values[-1] - 4 * len(scale) * EPS * values[0])
    if not slope > 0:
        return nearest, np.inf
    straight = float(np.sqrt(1 - tilt**2)) - tilt * gain * float(scale.max())
    turn = tilt / slope * (min(nearest, gain / straight) if straight > 0 else nearest)
    return min(nearest, gain + turn * nearest * (1 + tilt)), turn


def _least(factor: Cholesky) -> float:
    """Bound the smallest singular value of the rows from below, by a factor of their products."""
    return float(factor.length.min() / inverted(factor.lower, 1e3)[0])
