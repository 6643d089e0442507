"""The problem of least squares: what is kept of the rows, by the shape of the table, and the equations that follow from it.

A tall table is folded into its moments. One that takes less room than they would, because it has fewer rows than columns or is sparse, is
kept (:mod:`qed.stats.kept`); and a sparse one that takes a little more, where iterations end before its moments were multiplied out. A
table that one block holds is multiplied out at once, in tiles that threads share. What is kept decides the way
(:mod:`qed.optim.least_squares.equations`), whether it comes from ``fit``, from ``partial_fit`` or from a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.checked import no_weight
from qed.base.models.checks import overflowed, refuse_missing
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.problem import StatisticProblem, collect
from qed.base.numbers import EPS, TINY, smallest
from qed.base.sources.block import Block, block_rows
from qed.base.sources.rows import Rows
from qed.linalg.root import Root
from qed.optim.least_squares.equations import Equations, GramEquations, KeptEquations, RowEquations
from qed.optim.least_squares.evidence import (
    ENOUGH,
    Evidence,
    coarse_error,
    first_errors,
    least_squares_claims,
    relative_errors,
    with_residual,
)
from qed.optim.least_squares.iterative import IterativeEquations, products_worth
from qed.optim.least_squares.precise import DIGITS_WANTED, LazyFactor, lazy_factor
from qed.stats.kept import KeptRows, keep, takes_less_room
from qed.stats.moments import Moments
from qed.stats.residual_sums import ResidualSums

# With fewer columns, forming the products of sparse ones takes no time.
MANY_COLUMNS = 64
# From so many products on, one block is enough work for several threads.
MANY_PRODUCTS = 1 << 28
# So many products of conjugate gradients have to cost less than their equations: they need fewer, where columns are not too much alike.
FEW_ITERATIONS = 24
# For these, so many times the room of moments may be taken.
MORE_ROOM = 3.0
# Each correction gives about sixteen digits less those that the condition number takes; so many are never needed.
MOST_CORRECTIONS = 8

Kept = TypeVar("Kept", KeptRows, Moments)


class LinearProblem(StatisticProblem):
    """Moments of the rows, from which a linear model follows.

    Attributes
    ----------
    statistic : Moments
        Of the rows.
    lazy_factor : callable or None
        Gives the R factor of the rows; None where they are gone. A search sets it, to collect the factors of all folds together.
    """

    @cached_property
    def lazy_factor(self) -> LazyFactor | None:
        """Say how to get at the R factor."""
        return None if self.rows is None else lazy_factor(self.rows)


class LeastSquaresProblem(LinearProblem):
    """Least squares, with or without a squared penalty.

    Attributes
    ----------
    statistic : KeptRows or Moments
        What is kept of the rows.
    """

    @property
    def centered(self) -> bool:
        """Whether there is an intercept."""
        return bool(self.model.fit_intercept)

    @cached_property
    def kept(self) -> KeptRows | None:
        """The rows in memory, where keeping them is the better way."""
        found = None if self.rows is None else kept_rows(self.rows, self.model)
        return None if found is None or self.rows is None else _checked(found, self.rows, self.model)

    @cached_property
    def statistic(self) -> KeptRows | Moments:
        assert self.rows is not None
        if self.kept is not None:
            return self.kept
        whole = _at_once(self.rows)
        if whole is None:
            found: KeptRows | Moments = collect(self.rows, self.model, _function(self.rows))
            return found
        return _checked(whole, self.rows, self.model)

    @cached_property
    def equations(self) -> Equations:
        """What is to be solved; sums of training rows that all weigh nothing are known before anybody looks at the rows."""
        if not self.statistic.weight:
            raise no_weight()
        found = self._equations_of(self.statistic)
        if isinstance(found, KeptEquations):
            lengths, target = found.design.lengths, found.target
            finite = np.isfinite(lengths).all() and np.isfinite(np.square(target)).all()
            if not finite or found.statistic.vanishes(lengths, target, centered=self.centered):
                raise overflowed(self.model)
        return found

    def _equations_of(self, statistic: KeptRows | Moments) -> Equations:
        settings = {"centered": self.centered, "penalised": bool(self.model._is_penalised)}
        return equations_of(statistic, self.lazy_factor, **settings)

    @property
    def fingerprint(self) -> Fingerprint:
        seen = self.statistic
        if isinstance(seen, KeptRows) and isinstance(self.equations, KeptEquations) and self.centered:
            return seen.fingerprint_by(self.equations.design, self.equations.right)
        return seen.fingerprint()

    def evidence(self, coef: np.ndarray, intercept: np.ndarray, alpha: float = 0.0) -> Evidence:
        """Give what proves coefficients of shape (p, q): from the rows where they are kept or asked for, else from their moments.

        Where moments are too coarse for the (least) penalty, a QR factor of the rows takes their place.
        """
        if self.rows is None or self.source == "statistics" or self.kept is not None:
            return self.equations.evidence(coef, intercept)
        q = coef.shape[1]
        found = self.rows.fold(_residual_statistic, coef, intercept, _function(self.rows))
        if isinstance(found, KeptRows):
            rows = KeptRows.of_table(found.X, found.Y[:, :q], found.weights)
            return self._equations_of(rows).evidence(coef, intercept)
        closer = GramEquations(found, self.lazy_factor, centered=self.centered).looking_closer(alpha, DIGITS_WANTED)
        if closer.factor is None:
            known = (found, coef, intercept)
            return Evidence.from_residual_moments(*known, centered=self.centered, normal=closer.normal)
        return closer.evidence(coef, intercept)

    def prove(
        self, coef: np.ndarray, intercept: np.ndarray, alphas: np.ndarray, rank: int | None = None
    ) -> tuple[list[Claim], Evidence]:
        """Make the claims of coefficients, and give what they rest on: residuals to twice the digits, where rounding hides too much."""
        seen = self.evidence(coef, intercept, smallest(alphas))
        rest: dict[str, Any] = {
            "alpha": alphas,
            "centered": self.centered,
            "rank": rank,
            "positive": bool(self.model.positive),
        }
        claims = least_squares_claims(seen, coef, **rest)
        if self.rows is not None and not all(claim.holds for claim in claims):
            seen = self.sharpened(seen, coef, intercept)
            claims = least_squares_claims(seen, coef, **rest)
        return claims, seen

    def coefficient_errors(self, seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int) -> np.ndarray:
        """Bound the relative errors of coefficients and, in the last row, of intercepts: an array of shape (p + 1, q).

        Where a first look does not tell, because columns are nearly dependent, far from zero, or a coefficient is nearly zero, residuals
        are summed to twice the digits.

        Parameters
        ----------
        seen : Evidence
            Of the coefficients.
        coef, intercept : ndarray of shape (p, q) and (q,)
            The model.
        rank : int
            How many columns are independent, as it says.
        """
        if self.has_summed(coef, intercept):
            seen = self.sharpened(seen, coef, intercept)
        errors, varying, root = first_errors(seen, coef, intercept, rank)
        if root is not None and errors.max() > ENOUGH and self.rows is not None:
            root = root if root.off < 0.1 else self.triangle(varying) or root
            errors = relative_errors(self.sharpened(seen, coef, intercept), coef, intercept, varying, root, sharp=True)
        return errors

    def largest_error(self, seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int) -> float:
        """Bound the largest of them: with one bound for all where that is small enough, else one by one."""
        found = np.inf if self.has_summed(coef, intercept) else coarse_error(seen, coef, intercept, rank)
        return found if found <= ENOUGH else float(self.coefficient_errors(seen, coef, intercept, rank).max())

    def residual_sums(self, coef: np.ndarray, intercept: np.ndarray) -> ResidualSums:
        """Give the gradient to twice the digits: one pass over the rows, unless it was asked for just before."""
        assert self.rows is not None
        if not self.has_summed(coef, intercept):
            center = self.statistic.x_mean if self.centered else np.zeros(len(coef))
            self._answer = _key(coef, intercept), self.rows.fold(ResidualSums.of, center, coef, intercept)
        found: ResidualSums = self._answer[1]
        return found

    _answer: tuple[bytes, Any] = (b"", None)

    def has_summed(self, coef: np.ndarray, intercept: np.ndarray) -> bool:
        """Say whether the residuals of this model were the last that were added up."""
        return self._answer[0] == _key(coef, intercept)

    def sharpened(self, seen: Evidence, coef: np.ndarray, intercept: np.ndarray) -> Evidence:
        """Take gradient and mean of the residuals to twice the digits into what was seen."""
        sums, known, (p, _) = self.residual_sums(coef, intercept), self.statistic, coef.shape
        total, weight = sums.total.value, seen.weight
        gradient = sums.gradient.value - (np.outer(known.rest[:p], total) if self.centered else 0.0)
        blur = sums.rounding(known.count, p) * seen.full_reach(coef, intercept)
        # Where all coefficients are zero and every row is met, residuals are differences of two numbers, and nothing is lost.
        met = (coef == 0).all(axis=0) & (sums.square == 0) & (gradient == 0).all(axis=0) & (total == 0)
        blur = np.where(met, 0.0, blur)
        noise = np.outer(seen.metric.lengths, blur) + EPS * np.abs(gradient)
        if not self.centered:
            return replace(seen, xr=gradient, rr=sums.square, noise=noise)
        slip = blur / np.sqrt(weight) + 2 * EPS * np.abs(total) / weight
        rr = np.maximum(sums.square - total**2 / weight, 0.0)
        return replace(seen, xr=gradient, r_mean=total / weight, rr=rr, noise=noise, slip=slip)

    def triangle(self, varying: np.ndarray, alpha: float = 0.0) -> Root | None:
        """Give a root of the products of some columns, and a penalty, from the QR factor of the rows."""
        if self.lazy_factor is None:
            return None
        factor, p = self.lazy_factor(), len(varying)
        R = (factor.R if self.centered else factor.uncentered())[:, :p]
        R = R if alpha == 0 else np.vstack([R, np.sqrt(alpha) * np.eye(p)])
        return Root.of_triangle(np.asarray(np.linalg.qr(R[:, varying], mode="r")))

    def refined(self, coef: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Correct coefficients by what their residuals say to twice the digits, until no digit changes; give them and the intercepts."""
        seen, p = self.statistic, len(coef)
        varying = (
            np.linalg.norm(self.equations.factor.R[:, :p], axis=0) > 0
            if self.equations.factor is not None
            else np.ones(p, dtype=bool)
        )
        root, best = self.triangle(varying), np.inf
        mean = seen.x_mean + seen.rest[:p] if self.centered else np.zeros(p)
        intercept = seen.y_mean - seen.x_mean @ coef if self.centered else np.zeros(coef.shape[1])
        for _ in range(MOST_CORRECTIONS if root is not None else 0):
            assert root is not None
            sums = self.residual_sums(coef, intercept)
            total = sums.total.value if self.centered else np.zeros(coef.shape[1])
            gradient = sums.gradient.value - np.outer(seen.rest[:p] * self.centered, total)
            step = np.zeros(coef.shape)
            step[varying] = root.step(gradient[varying])
            up = total / seen.weight - mean @ step
            size = float(np.linalg.norm(root.half(gradient[varying])))
            moved = max(_share(step, coef), _share(up, intercept))
            if not size < 0.5 * best or moved <= EPS / 2:
                break
            coef, intercept, best = coef + step, intercept + up, size
        return coef, intercept


def _key(coef: np.ndarray, intercept: np.ndarray) -> bytes:
    return coef.tobytes() + intercept.tobytes()


def _share(step: np.ndarray, value: np.ndarray) -> float:
    return float(np.max(np.abs(step) / np.maximum(np.abs(value), TINY), initial=0.0))


def equations_of(
    statistic: KeptRows | Moments, lazy_factor: LazyFactor | None, *, centered: bool, penalised: bool = False
) -> Equations:
    """Set up the equations for what is known of the rows."""
    if isinstance(statistic, Moments):
        return GramEquations(statistic, lazy_factor, centered=centered)
    if statistic.is_sparse:
        return IterativeEquations(statistic, centered=centered, penalised=penalised)
    return RowEquations(statistic, centered=centered)


def kept_rows(rows: Rows, model: Any) -> KeptRows | None:
    """Keep the rows of a table in memory where they take less room than their moments, or not much more and are solved sooner."""
    p = rows.n_features
    if not rows.in_memory:
        return None
    if not rows.is_sparse:
        found: KeptRows | None = rows.fold(KeptRows.of) if rows.count() <= p else None
        return found
    if p < MANY_COLUMNS:
        return None
    table = rows.array()
    X = table.X
    iterates = X.nnz > 0 and products_worth(X) >= FEW_ITERATIONS
    fitting = takes_less_room(X, MORE_ROOM) if iterates else takes_less_room(X) and len(table) <= p
    return KeptRows.of(table) if fitting else None


def _at_once(rows: Rows) -> Moments | None:
    """Multiply out a table for which a fold would take longer: a dense one that one block holds, or a sparse one of many columns."""
    p = rows.n_features
    if not rows.in_memory:
        return None
    if rows.is_sparse:
        fitting = p >= MANY_COLUMNS
    else:
        fitting = rows.count() * p**2 >= MANY_PRODUCTS and rows.count() <= block_rows(p)
    return KeptRows.of(rows.array(), copy=False).moments() if fitting else None


def _checked(statistic: Kept, rows: Rows, model: Any) -> Kept:
    """Say where something missing or infinite is, if it is in the statistic."""
    if not statistic.is_finite:
        refuse_missing(rows, model)
        raise overflowed(model)
    return statistic


def _function(rows: Rows) -> Callable[[Block], KeptRows | Moments]:
    """Say what to fold: files and clusters tell how many rows they have at their end only."""
    return Moments.of if rows.in_memory else keep


def _residual_statistic(
    block: Block, coef: np.ndarray, intercept: np.ndarray, function: Callable[[Block], KeptRows | Moments]
) -> KeptRows | Moments:
    return function(with_residual(block, coef, intercept))
