r"""Sparse least squares on a given table: which of two ways to go, and what both have in common.

.. math:: \min_{w, b}\ \tfrac12 \sum_i s_i (y_i - x_i^\top w - b)^2 + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2 .

With few columns, one pass over the rows, on arrays, files and clusters alike, gives the scatter matrices, and rows are not looked at again
(:class:`GramProblem`, :math:`O(np^2)`). With many columns in memory their Gram matrix would be the most expensive part, and most of it
belongs to columns whose coefficients are zero; then it is formed for a working set only (:class:`ColumnProblem`, a few times
:math:`O(np)`). Several outputs are as many problems that share their columns.
"""

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.errors import NotAvailableError, ParameterError
from qed.base.models.checks import overflowed, refuse_missing
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.problem import Problem, collect
from qed.base.numbers import EPS, largest
from qed.base.sources.rows import Rows
from qed.optim.functions.penalties import L1L2
from qed.optim.least_squares.evidence import about_zero
from qed.optim.least_squares.precise import LazyFactor, solve_precisely
from qed.optim.sparse.columns import columns_of
from qed.optim.sparse.quadratic import SparseQuadratic
from qed.optim.sparse.working_set import WorkingSet
from qed.regression.sparse.evidence import SparseEvidence
from qed.stats.moments import Moments
from qed.stats.products import present_rows

# Up to so many columns a Gram matrix is cheaper than looking for the columns that matter: four times as many where there are many
# penalties, a quarter of them where columns can be taken as they came. And it may not take more than a gigabyte.
FEW_COLUMNS, MOST_COLUMNS = 512, 11_000


class SparseProblem(Problem):
    """Sparse least squares on a table."""

    weight: float  # the sum of the weights
    # (p,) or (q,): means of features and target; zero when there is no intercept.
    x_mean: np.ndarray
    y_mean: np.ndarray
    outputs: list[Any]  # the problem of each output
    way: str  # how the problem is solved, in words

    @property
    def coef(self) -> np.ndarray:
        """The coefficients as they stand, one column per output."""
        return np.array([output.coef for output in self.outputs]).T

    @property
    @abstractmethod
    def correlations(self) -> np.ndarray:
        """Products of the columns with the target, of shape (p, q)."""

    @abstractmethod
    def ridge(self, l2: float, factor: LazyFactor | None) -> np.ndarray:
        """Give the coefficients without a penalty on their sizes, the shortest where there are many."""

    @abstractmethod
    def evidence(self, coef: np.ndarray, intercept: np.ndarray, outputs: np.ndarray | None = None) -> SparseEvidence:
        """Give what proves coefficients of shape (p, q); many models of a few outputs say in `outputs` which is whose."""

    def begin_at(self, coef: np.ndarray) -> None:
        """Go on from other coefficients, of shape (p, q)."""
        with one_blas_thread:
            for output, column in zip(self.outputs, coef.T):
                output.begin_at(np.ascontiguousarray(column))

    def largest(self, positive: bool) -> float:
        """Give the smallest weight of the 1-norm with which all coefficients are zero."""
        found = self.correlations if positive else np.abs(self.correlations)
        return largest(found, 0.0)

    def rounds(self, penalty: L1L2, tol: float, *, newton: bool = True) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Solve for a penalty, from where the last solution was.

        Yields, of each output, the objective and a bound on how far it is above its minimum.
        """
        runs = {t: output.rounds(penalty, tol, newton=newton) for t, output in enumerate(self.outputs)}
        found = np.full((2, len(runs)), np.inf)
        while runs:
            with one_blas_thread:
                news = {t: next(run, None) for t, run in runs.items()}
            for t, new in news.items():
                if new is not None:
                    found[:, t] = new
                if new is None or new[1] <= tol * new[0]:
                    del runs[t]
            if any(new is not None for new in news.values()):
                yield found[0].copy(), found[1].copy()

    def solve(self, penalty: L1L2, tol: float) -> np.ndarray:
        """Solve for a penalty at once; give the coefficients, of shape (p, q)."""
        for _ in self.rounds(penalty, tol):
            pass
        return self.coef


class GramProblem(SparseProblem):
    """Sparse least squares from moments: rows are not needed any more."""

    way = "Gram matrix from one pass over the rows"
    source = "statistics"

    def __init__(self, moments: Moments, rows: Rows | None = None, *, centered: bool) -> None:
        self.rows, self.target_ndim = rows, 2 if rows is None else rows.target_ndim
        self.seen = moments if centered else about_zero(moments)
        self.moments, self.centered, self.weight = moments, centered, float(moments.weight)
        self.x_mean, self.y_mean = self.seen.x_mean, self.seen.y_mean
        gram, square = np.ascontiguousarray(self.seen.xx), np.diagonal(self.seen.yy)
        self.outputs = [SparseQuadratic(gram, right, one) for right, one in zip(self.seen.xy.T, square)]

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return self.moments.fingerprint()

    @property
    def correlations(self) -> np.ndarray:
        return self.seen.xy

    def ridge(self, l2: float, factor: LazyFactor | None) -> np.ndarray:
        found, _ = solve_precisely(self.seen, l2, factor, centered=self.centered)
        return found.coef

    def evidence(self, coef: np.ndarray, intercept: np.ndarray, outputs: np.ndarray | None = None) -> SparseEvidence:
        return SparseEvidence.from_moments(self.moments, coef, intercept, outputs, centered=self.centered)


class ColumnProblem(SparseProblem):
    """Sparse least squares on columns in memory."""

    way = "columns in memory, a working set of them at a time"

    def __init__(self, rows: Rows, *, centered: bool, many: bool = False) -> None:
        self.rows, self.target_ndim, self.centered = rows, rows.target_ndim, centered
        X, Y, weight = present_rows(rows.array(), target=True)
        self.weight = float(len(Y)) if weight is None else float(weight.sum())
        with one_blas_thread, np.errstate(invalid="ignore", over="ignore"):
            self.columns = columns_of(X, weight, centered=centered, often=many)
            root = self.columns.root
            mean = root**2 @ Y / self.weight
            away = (Y - mean) * root[:, None]
            self.target = away if centered else Y * root[:, None]
            square = self.target.T @ self.target
        self.x_mean = self.columns.mean if centered else np.zeros(X.shape[1])
        self.y_mean = mean if centered else np.zeros(Y.shape[1])
        self.is_finite = bool(np.isfinite(self.columns.length).all() and np.isfinite(square).all())
        if not self.is_finite:
            return
        with one_blas_thread:
            self.outputs = [WorkingSet(self.columns, np.ascontiguousarray(column)) for column in self.target.T]
        self.count, self.middle, self.scatter = len(Y), mean, away.T @ away
        self.lost = 0.0 if centered else self.weight

    @cached_property
    def fingerprint(self) -> Fingerprint:
        mean = self.columns.mean
        spread = self.columns.length**2 - self.lost * mean**2
        products = self.correlations - self.lost * np.outer(mean, self.middle)
        return Fingerprint.of_sums(self.count, self.weight, mean, spread, self.middle, products, self.scatter)

    @property
    def correlations(self) -> np.ndarray:
        return np.column_stack([output.right for output in self.outputs])

    def ridge(self, l2: float, factor: LazyFactor | None) -> np.ndarray:
        """Solve for as many unknowns as there are rows: ``w = X' v`` with ``(X X' + l2 I) v = y``."""
        if len(self.target) > MOST_COLUMNS:
            raise NotAvailableError(
                f"Without a 1-norm penalty this takes a matrix of {len(self.target)} x {len(self.target)} numbers: "
                "use qed.GradientRidge for so large a table, or a positive alpha * l1_ratio."
            )
        with one_blas_thread:
            value, vector = np.linalg.eigh(self.columns.outer())
        shifted = np.maximum(value, 0.0) + l2
        kept = shifted > 4 * len(value) * EPS * shifted.max(initial=0.0)
        dual = vector[:, kept] / shifted[kept] @ (vector[:, kept].T @ self.target)
        return np.column_stack([self.columns.correlate(np.ascontiguousarray(column)) for column in dual.T])

    def evidence(self, coef: np.ndarray, intercept: np.ndarray, outputs: np.ndarray | None = None) -> SparseEvidence:
        assert self.rows is not None
        return SparseEvidence.from_rows(self.rows, coef, intercept, outputs, centered=self.centered, lengths=True)


def problem_for(rows: Rows, model: Any, *, many: bool = False) -> SparseProblem:
    """Choose the way that costs less for these rows, and set out on it.

    Many penalties are worth a larger Gram matrix.
    """
    centered = bool(model.fit_intercept)
    general = model.solver not in ("auto", "coordinate")
    if general and rows.n_features > MOST_COLUMNS:
        raise ParameterError(
            f"solver={model.solver!r} needs a matrix of {rows.n_features} x {rows.n_features} numbers: use solver='auto'."
        )
    if general or wants_gram(rows, many=many):
        return GramProblem(collect(rows, model, model._statistic), rows, centered=centered)
    problem = ColumnProblem(rows, centered=centered, many=many)
    if not problem.is_finite:
        refuse_missing(rows, model)
        raise overflowed(model)
    return problem


def wants_gram(rows: Rows, *, many: bool = False) -> bool:
    """Say whether a Gram matrix of all columns is the cheaper way."""
    p = rows.n_features
    if not rows.in_memory:
        return p <= MOST_COLUMNS
    if many:
        return p <= max(FEW_COLUMNS, min(4 * FEW_COLUMNS, rows.count()))
    # Rows in a file are better read once.
    return p <= (FEW_COLUMNS if rows.is_sparse or rows.facts.is_mapped else FEW_COLUMNS // 4)
