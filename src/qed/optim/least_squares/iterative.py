r"""Least squares without any matrix: conjugate gradients on the sparse rows.

.. math:: (D^{-1} A^\top A D^{-1} + \alpha D^{-2})\,v = D^{-1} A^\top b, \qquad w = D^{-1} v,

in coordinates in which all columns have length one: :math:`O(\mathrm{nnz})` for each of some twenty products. With a penalty, strong
convexity proves how near the end is, :math:`\|g\|^2 / \alpha`. Without one the least eigenvalue of the scaled products does, which
a few random vectors bound from below (:mod:`qed.linalg.iterative.least_eigenvalue`); for that some of the rows are enough, as all
together can only have larger ones. Columns that follow from others are found and left out of that
(:mod:`qed.linalg.iterative.dependent`). Where columns are so alike that this would take longer than to form the equations, another
way takes over.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.linalg.design import SparseDesign
from qed.linalg.iterative.conjugate import conjugate_gradients
from qed.linalg.iterative.dependent import DependentColumns, least_of_columns
from qed.linalg.iterative.least_eigenvalue import Distance, LeastEigenvalue
from qed.linalg.iterative.rows import IterativeRows
from qed.linalg.normal import Solution, Standing
from qed.linalg.root import Root
from qed.optim.least_squares.equations import GramEquations, KeptEquations, RowEquations
from qed.optim.least_squares.evidence import ENOUGH, NO_SHARE, TOLERANCE, Evidence, Metric, means_of
from qed.optim.least_squares.precise import DIGITS_WANTED
from qed.stats.kept import KeptRows

# Conjugate gradients end when their residual is this small, relative to the right-hand side: two digits below what is claimed; or nearly
# so, where the sizes of rows and coefficients say that a claim has ten times as much room.
NEAR, NEARLY = 1e-11, 1e-9
# So many products are tried in columns of the lengths they have.
FIRST_TRIED = 64
# A number that is looked up somewhere in memory takes as long as so many operations on dense matrices.
LOOKED_UP = 16.0


class IterativeEquations(KeptEquations):
    """No matrix at all: conjugate gradients on sparse rows, in coordinates in which all columns have length one."""

    design: SparseDesign

    def __init__(self, kept: KeptRows, *, centered: bool, penalised: bool = False) -> None:
        self.statistic, self.centered, self.penalised = kept, centered, penalised
        design = kept.design(centered=centered)
        assert isinstance(design, SparseDesign)
        self.design, self.target = design, kept.target(centered=centered)
        self.way = "conjugate gradients on the sparse rows"
        self._known: tuple[bytes, Any] = (b"", None)

    @cached_property
    def exact(self) -> GramEquations | RowEquations:
        """The way that takes over where iterations do not get there."""
        kept = self.statistic
        return RowEquations(kept, centered=self.centered) if kept.count <= kept.n_features else self.by_columns

    @property
    def _exact_metric(self) -> Metric:
        """What that knows: of columns that are too much alike for their products, by the QR factor of the rows."""
        found = self.exact
        if isinstance(found, GramEquations) and not self.penalised and found.factor is None:
            found = found.looking_closer(0.0, DIGITS_WANTED)
        return found.metric

    @cached_property
    def by_rows(self) -> IterativeRows | None:
        """The equations for the rows, which find the shortest solution where there are fewer of them than columns."""
        if self.statistic.count > self.statistic.n_features or not self._is_near:
            return None
        return IterativeRows(self.design, self.target, self._most(), centered=self.centered)

    @cached_property
    def dependent(self) -> DependentColumns | None:
        """The same where columns follow from others, though there are rows enough."""
        if self.statistic.count <= self.statistic.n_features or not self._is_near or self.least.bound > 0:
            return None
        return DependentColumns.of(self.design, self.target, self._most(), self.by_columns.normal.gram)

    def _many_tell(self, rank: int | None) -> IterativeRows | DependentColumns | None:
        """Give what tells that a rank is right with which there are many solutions."""
        found = self.by_rows or self.dependent
        return found if found is not None and rank == found.rank and found.least.bound > 0 else None

    def left_out(self, rank: int) -> np.ndarray:
        found = self.dependent
        if found is None or rank != found.rank:
            return super().left_out(rank)
        return found.combinations / found.scale[:, None]

    def solve(self, alpha: float, digits_wanted: float) -> Solution:
        found = None
        if alpha == 0 and (many := self.by_rows or self.dependent) is not None:
            found = many.solve()
            found = found if found is None or many is self.by_rows or self._is_shortest(found) else None
            self.way = f"conjugate gradients on the sparse rows for the shortest solution, {many.products} products"
        elif self._is_near and (alpha > 0 or self.least.bound > 0):
            found = self._by_iterations(alpha)
            found = found if found is None or alpha > 0 or self._is_proven(found) else None
        if found is None:
            found = self.exact.solve(alpha, digits_wanted)
            self.way, self.factor = self.exact.way, self.exact.factor
        return found

    def _is_proven(self, found: Solution) -> bool:
        """Say whether a solution without a penalty can be shown to be good enough."""
        intercept = np.zeros(found.coef.shape[1])
        varying, seen = self.design.varying, self.evidence(found.coef, intercept)
        far = Distance(self.lengths[varying], self.least.bound).far(seen.xr[varying], seen.noise[varying])
        return bool((far <= 0.5 * ENOUGH * NO_SHARE * (np.sqrt(seen.yy) + self.lengths @ np.abs(found.coef))).all())

    def _is_shortest(self, found: Solution) -> bool:
        """Say the same of the shortest of many."""
        seen = self.evidence(found.coef, np.zeros(found.coef.shape[1]))
        return self.shortest_error(found.coef, np.sqrt(seen.rr), found.rank) <= 0.5 * ENOUGH

    @property
    def _is_near(self) -> bool:
        """Whether no column is so far from zero that taking away its mean in every product would cost digits."""
        far = np.abs(self.design.center) * np.sqrt(self.statistic.weight)
        return bool((far <= 1e3 * self.lengths)[self.design.varying].all())

    @cached_property
    def least(self) -> LeastEigenvalue:
        """What is known of the eigenvalues of the products of columns of length one."""
        n, p = self.design.X.shape
        if n <= p or not self._is_near:
            return LeastEigenvalue(0.0, np.inf, 0)
        return least_of_columns(self.design, self._most() // 2)

    def _by_iterations(self, alpha: float) -> Solution | None:
        """Solve by conjugate gradients; columns of a wide table keep their lengths first.

        There the solution is a sum of rows, and so is every step while the penalty is the same for all columns: the many directions
        of which the rows say nothing are never entered. In columns of length one the penalties differ, and they are.
        """
        design, most = self.design, self._most()
        scale = np.sqrt(np.where(design.varying, self.lengths**2, 1.0) + alpha)
        found = None
        if alpha > 0 and design.X.shape[0] <= design.X.shape[1]:
            found = self._in_scale(np.ones_like(scale), alpha, min(most, FIRST_TRIED))
        return self._in_scale(scale, alpha, most) if found is None else found

    def _in_scale(self, scale: np.ndarray, alpha: float, most: int) -> Solution | None:
        design, right = self.design, self.right
        coef, products = np.zeros_like(right), 0

        def product(vector: np.ndarray) -> np.ndarray:
            inner = vector / scale
            return np.asarray((design.gram_times(inner) + alpha * inner) / scale)

        for output, column in enumerate(right.T / scale):
            near = self._near_enough(output, scale, alpha, float(np.linalg.norm(column)))
            with one_blas_thread:
                found = conjugate_gradients(product, column, near, most)
            if not found.residual <= near(found.solution):
                return None
            coef[:, output] = found.solution / scale
            products += found.iterations
        self.way = f"conjugate gradients on the sparse rows, {products} products"
        if alpha > 0:
            return Solution(coef, len(coef), 1.0, -np.log10(NEARLY))
        return Solution(coef, int(design.varying.sum()), float(np.sqrt(self.least.condition)), -np.log10(NEARLY))

    def _near_enough(self, output: int, scale: np.ndarray, alpha: float, size: float) -> Callable[[np.ndarray], float]:
        """Say how small the residual has to be, relative to a right-hand side of some `size`: a tenth of what any claim leaves it.

        That is the slope along a column, and the excess over the least error where there is a penalty; without one, the error of any
        coefficient. All of them count in what residuals are differences of, the more of it the larger the coefficients.
        """
        varying, square = self.design.varying, float((self.target[:, output] ** 2).sum())
        short = float((self.lengths[varying] / scale[varying]).min(initial=1.0))
        share = TOLERANCE * short if alpha > 0 else min(TOLERANCE, 0.5 * ENOUGH * NO_SHARE * self.least.bound)

        def near(solution: np.ndarray) -> float:
            coef = np.abs(solution / scale)
            enough = 0.1 * share * (np.sqrt(square) + float(self.lengths @ coef))
            if alpha > 0:
                excess = 0.1 * TOLERANCE * (1e-8 * square + alpha * float(coef @ coef))
                enough = min(enough, 0.1 * float(np.sqrt(alpha * excess)) / float(scale.max()))
            return NEARLY if enough >= NEARLY * size else max(NEAR, float(enough) / size)

        return near

    def _most(self) -> int:
        """Say how many products cost as much as the way that takes over."""
        return products_worth(self.design.X) // self.target.shape[1]

    def evidence(self, coef: np.ndarray, intercept: np.ndarray) -> Evidence:
        """Give what proves coefficients; for those that were asked for just before only the means are new."""
        key = coef.tobytes() + (b"" if self.centered else intercept.tobytes())
        if self._known[0] != key:
            self._known = key, super().evidence(coef, intercept)
            return self._known[1]
        seen, means = self._known[1], means_of(self.statistic, coef, intercept, centered=self.centered)
        return replace(seen, r_mean=means[2])

    def _noise(self, residual: np.ndarray, coef: np.ndarray, reach: np.ndarray) -> np.ndarray:
        if not self.penalised:
            return self.design.back_noise(residual, coef, self.target)
        # A penalty leaves so much room that lengths tell enough.
        seen, design = self.statistic, self.design
        full = np.sqrt(design.lengths**2 + seen.weight * design.center**2)
        size = np.linalg.norm(self.target, axis=0) + full @ np.abs(coef)
        values = np.diff(design.X.indptr).max(initial=0) + design.counts + 64.0
        return np.asarray(EPS * np.outer(np.where(design.varying, values * full, 0.0), size))

    @property
    def metric(self) -> Metric:
        return self

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns."""
        return self.design.lengths

    def excess(self, at: Standing) -> np.ndarray:
        """Bound it by ``||g||^2`` over the least eigenvalue, with what rounding may have hidden of g; or ask the exact way."""
        if (at.alphas > 0).all():
            bound = (np.linalg.norm(at.gradient, axis=0) + np.linalg.norm(at.noise, axis=0)) ** 2 / at.alphas
            if (bound <= at.enough).all():
                return np.asarray(bound)
        elif not at.alphas.any() and (many := self._many_tell(at.rank)) is not None:
            return many.excess(at)
        elif not at.alphas.any() and self.least.bound > 0:
            varying, least = self.design.varying, self.least.bound
            bound = Distance(self.lengths[varying], least).far(at.gradient[varying], at.noise[varying]) ** 2 * least
            if (bound <= at.enough).all():
                return np.asarray(bound)
        return self._exact_metric.excess(at)

    def root(self) -> tuple[np.ndarray, Root | Distance | None]:
        varying = self.design.varying
        many = self.by_rows or self.dependent
        if many is not None and many.least.bound > 0:
            return varying, None
        if not self.least.bound > 0:
            return self._exact_metric.root()
        return varying, Distance(self.lengths[varying], self.least.bound)

    def outside(self, coef: np.ndarray, rank: int) -> float:
        varying = self.design.varying
        if (many := self._many_tell(rank)) is not None:
            return many.outside(coef)
        if self.least.bound > 0 and rank == varying.sum():
            size = float(np.linalg.norm(coef))
            return float(np.linalg.norm(coef[~varying])) / size if size > 0 else 0.0
        return self._exact_metric.outside(coef, rank)

    def condition(self, rank: int) -> float | None:
        if (many := self._many_tell(rank)) is not None:
            return float(np.sqrt(many.least.condition))
        if self.least.bound > 0 and rank == self.design.varying.sum():
            return float(np.sqrt(self.least.condition))
        return self._exact_metric.condition(rank)

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray, rank: int) -> float:
        if (many := self._many_tell(rank)) is not None:
            return many.shortest_error(coef, residual)
        return self._exact_metric.shortest_error(coef, residual, rank)


def products_worth(X: csr_array) -> int:
    """Say how many products with a sparse table take as long as forming and factoring the matrix of its equations.

    >>> from scipy import sparse
    >>> products_worth(sparse.csr_array(np.ones((4000, 400))))
    133
    """
    n, p = X.shape
    gram = float(np.square(np.diff(X.indptr), dtype=float).sum()) * LOOKED_UP / 2 if n > p else n * n * p / 2
    return int((gram + min(n, p) ** 3 / 3) / (1.5 * LOOKED_UP * max(1, X.nnz)))
