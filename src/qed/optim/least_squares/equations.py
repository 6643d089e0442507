r"""Three ways to the minimum of :math:`\|y - Xw\|^2 + \alpha\|w\|^2`.

- `GramEquations`: as many equations as columns, :math:`(X^\top X + \alpha I)\,w = X^\top y`, from one pass over the rows,
  :math:`O(np^2 + p^3)`; the way for tall tables, files and clusters.
- `RowEquations`: as many equations as rows, :math:`w = X^\top u,\ (X X^\top + \alpha I)\,u = y`, :math:`O(n^2 p + n^3)`; the way for
  tables that are wider than long.
- :class:`qed.optim.least_squares.iterative.IterativeEquations`: no matrix at all, but conjugate gradients on the sparse rows,
  :math:`O(\mathrm{nnz})` for each of some twenty products; the way for sparse tables of many columns.

Each of them solves, says what its solution is worth, and bounds how far any coefficients are from the minimum.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cache, cached_property, partial

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.linalg.design import DenseDesign, SparseDesign
from qed.linalg.normal import Normal, Solution, Spectrum, Standing
from qed.linalg.root import Root, factor_rounding
from qed.linalg.wide import WideSystem
from qed.optim.least_squares.evidence import Evidence, Metric, about_zero, mean_slip, means_of
from qed.optim.least_squares.precise import LazyFactor, solve_precisely
from qed.stats.factor import Factor
from qed.stats.kept import KeptRows
from qed.stats.moments import Moments

# A gradient is zero but for rounding when it is this small, relative to the lengths of the columns and the reach of residuals.
VANISHING = 1e-10


class Equations(ABC):
    """What is to be solved, in one of three forms."""

    statistic: KeptRows | Moments  # what is known of the rows
    centered: bool  # whether there is an intercept
    way: str  # how it was solved, in words
    factor: Factor | None = None  # the QR factor of the rows, where one was needed

    @abstractmethod
    def solve(self, alpha: float, digits_wanted: float) -> Solution:
        """Solve for a penalty, for all outputs; give the shortest solution where there are many."""

    @property
    @abstractmethod
    def by_columns(self) -> GramEquations:
        """The same with as many equations as columns, for what the other ways can not settle."""

    def left_out(self, rank: int) -> np.ndarray:
        """Give the combinations of columns that are left out with a rank, of shape (p, m), constant columns apart."""
        return self.by_columns.left_out(rank)

    @property
    @abstractmethod
    def metric(self) -> Metric:
        """What bounds how far coefficients are from the minimum."""

    @abstractmethod
    def evidence(self, coef: np.ndarray, intercept: np.ndarray) -> Evidence:
        """Give what proves coefficients of shape (p, q)."""


class GramEquations(Equations):
    """As many equations as columns.

    `lazy_factor` gives the R factor of the rows, where digits are missing.
    """

    statistic: Moments
    way = "as many equations as columns, from one pass over the rows"

    def __init__(self, moments: Moments, lazy_factor: LazyFactor | None, *, centered: bool) -> None:
        self.statistic, self.lazy_factor, self.centered = moments, lazy_factor, centered
        self.moments = moments if centered else about_zero(moments)
        self.normal = Normal(self.moments.xx, self.moments.noise[: moments.n_features])

    @property
    def by_columns(self) -> GramEquations:
        return self

    def solve(self, alpha: float, digits_wanted: float) -> Solution:
        found, factor = solve_precisely(
            self.moments,
            alpha,
            self.lazy_factor,
            centered=self.centered,
            digits_wanted=digits_wanted,
            normal=self.normal,
        )
        if factor is not None:
            self.factor = factor
            self.way = "QR factor of the rows, because equations for columns that are so alike lose digits"
        return found

    def left_out(self, rank: int) -> np.ndarray:
        found = self.normal.vanishing(rank)
        factor = None if found.any(axis=0).all() else self.looking_closer(0.0, np.inf).factor
        if factor is None:
            return found
        # Products can not tell which combination it is where others nearly vanish, too.
        R = (factor.R if self.centered else factor.uncentered())[:, : len(found)]
        varying = (length := np.linalg.norm(R, axis=0)) > 0
        R, length = R[:, varying], length[varying]
        _, value, vector = np.linalg.svd(R / length)
        return Spectrum(value[::-1], vector[::-1].T, length).vanishing(varying, rank)

    @property
    def metric(self) -> Metric:
        return self.normal if self.factor is None else self.reduced

    @cached_property
    def reduced(self) -> WideSystem:
        """The problem that the QR factor leaves: it has no more rows than columns, and the same excess and shortest solution."""
        assert self.factor is not None
        factor, p = self.factor, self.factor.n_features
        R = factor.R if self.centered else factor.uncentered()
        design = DenseDesign(R[:p, :p], None, np.zeros(p), np.zeros(p))
        offset = factor.x_mean * np.sqrt(factor.weight) if self.centered else None
        return WideSystem(design, np.ascontiguousarray(R[:p, p:]), centered=False, offset=offset, rounded=True)

    def evidence(self, coef: np.ndarray, intercept: np.ndarray) -> Evidence:
        if self.factor is None:
            return Evidence.from_moments(self.statistic, coef, intercept, centered=self.centered, normal=self.normal)
        system, p = self.reduced, len(coef)
        R = self.factor.R if self.centered else self.factor.uncentered()
        residual, rest = system.target - system.design.times(coef), (R[p:, p:] ** 2).sum(axis=0)
        squares = ((system.target**2).sum(axis=0) + rest, (residual**2).sum(axis=0) + rest)
        means = means_of(self.factor, coef, intercept, centered=self.centered)
        known = (self.factor.weight, *means, system, system.design.back(residual), *squares)
        reach = np.sqrt(squares[0]) + system.lengths @ np.abs(coef)
        noise = factor_rounding(p) * np.outer(system.lengths, reach)
        return Evidence(*known, noise, mean_slip(self.factor, coef, means, reach) * self.centered)

    def looking_closer(self, alpha: float, digits_wanted: float) -> GramEquations:
        """Turn to the QR factor of the rows where moments leave fewer digits than wanted, if it can be had."""
        factor = self.normal.factor(alpha)
        if self.lazy_factor is not None and (factor is None or factor.digits < digits_wanted):
            self.factor = self.lazy_factor()
        return self


class KeptEquations(Equations):
    """What the two ways have in common that go back to rows that were kept: the proof is made from the rows themselves."""

    statistic: KeptRows
    design: DenseDesign | SparseDesign
    target: np.ndarray

    @cached_property
    def right(self) -> np.ndarray:
        """The products of features and targets."""
        return self.design.back(self.target)

    @cached_property
    def by_columns(self) -> GramEquations:
        kept = self.statistic
        factor = cache(partial(Factor.of, Block(kept.X, kept.Y, kept.weights)))
        return GramEquations(kept.moments(), factor, centered=self.centered)

    def evidence(self, coef: np.ndarray, intercept: np.ndarray) -> Evidence:
        seen, residual = self.statistic, self.target - self.design.times(coef)
        means = means_of(seen, coef, intercept, centered=self.centered)
        if not self.centered:
            residual -= np.outer(self.design.root, intercept)
        squares = ((self.target**2).sum(axis=0), (residual**2).sum(axis=0))
        reach = np.sqrt(squares[0]) + self.design.lengths @ np.abs(coef)
        noise, slip = self._noise(residual, coef, reach), mean_slip(seen, coef, means, reach) * self.centered
        return Evidence(seen.weight, *means, self.metric, self.design.back(residual), *squares, noise, slip)

    def _noise(self, residual: np.ndarray, coef: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Bound the rounding of the products of features and residuals."""
        seen = self.statistic
        return np.asarray((seen.count + seen.n_features + 4) * EPS * np.outer(self.design.lengths, reach))


class RowEquations(KeptEquations):
    """As many equations as rows."""

    way = "as many equations as rows, which are fewer than the columns"

    def __init__(self, kept: KeptRows, *, centered: bool) -> None:
        self.statistic, self.centered = kept, centered
        self.design, self.target = kept.design(centered=centered), kept.target(centered=centered)
        rows = self.design if isinstance(self.design, DenseDesign) else self.design.dense()
        offset = kept.x_mean * np.sqrt(kept.weight) if centered else None
        self.system = WideSystem(rows, self.target, centered=centered, offset=offset)

    def solve(self, alpha: float, digits_wanted: float) -> Solution:
        found = self.system.solve(alpha, digits_wanted)
        if self.system.decomposed:
            self.way = "singular values of the rows, because equations for rows that are so alike lose digits"
            if alpha > 0 and not self._vanishes(found.coef, alpha):
                found, self.way = self.by_columns.solve(alpha, digits_wanted), self.by_columns.way
        return found

    def _vanishes(self, coef: np.ndarray, alpha: float) -> bool:
        """Say whether the gradient is zero but for rounding; where units of columns differ too much, rows can not bring that about."""
        gradient = self.design.back(self.target - self.design.times(coef)) - alpha * coef
        reach = np.linalg.norm(self.target, axis=0) + self.lengths @ np.abs(coef)
        return bool((np.abs(gradient) <= VANISHING * self.system.scale[:, None] * reach).all())

    @property
    def metric(self) -> Metric:
        return self

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns."""
        return self.system.lengths

    def excess(self, at: Standing) -> np.ndarray:
        """Bound it by the gap to the dual problem; where units of columns differ so much that this says too little, by columns."""
        found = self.system.excess(at)
        if (at.alphas > 0).all() and (found > at.enough).any():
            return np.minimum(found, self.by_columns.normal.excess(at))
        return found

    def outside(self, coef: np.ndarray, rank: int) -> float:
        return self.system.outside(coef, rank)

    def condition(self, rank: int) -> float | None:
        return self.system.condition(rank)

    def root(self) -> tuple[np.ndarray, Root | None]:
        return self.lengths > 0, None

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray, rank: int) -> float:
        return self.system.shortest_error(coef, residual, rank)
