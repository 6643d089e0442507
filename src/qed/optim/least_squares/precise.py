"""Least squares with as many digits as the data allow.

The Gram matrix is folded first, because that is the fastest pass there is; but it squares the condition number. Where its condition
says that too few digits would survive, and the rows are at hand, the R factor of a QR is folded instead, which does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.linalg.normal import Normal, Solution
from qed.stats.factor import Factor, least_squares
from qed.stats.moments import Moments

LazyFactor = Callable[[], Factor]

# So many digits of a ridge regression are wanted; with fewer from moments, the rows are looked at again.
DIGITS_WANTED = 9.0


def lazy_factor(rows: Rows) -> LazyFactor:
    """Give a function that folds the R factor of the rows when it is first called, and then knows it."""
    return _Factor(rows)


class _Factor:
    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def __call__(self) -> Factor:
        return self._found

    @cached_property
    def _found(self) -> Factor:
        found: Factor = self._rows.fold(Factor.of)
        return found


def solve_precisely(
    moments: Moments,
    alpha: float,
    factor: LazyFactor | None,
    *,
    centered: bool,
    digits_wanted: float = DIGITS_WANTED,
    normal: Normal | None = None,
) -> tuple[Solution, Factor | None]:
    """Solve ``min ||y - Xw||^2 + alpha ||w||^2`` from moments, or from a QR of the rows where moments are too coarse.

    The moments are about the means when `centered`, about zero when not. A second look is taken, with the `factor` of
    the rows, when they give fewer digits than wanted; `normal` is their scatter, where it has been factored already or
    will be needed again. Gives the factor too, where one was needed.
    """
    solution = (normal or Normal(moments.xx)).solve(moments.xy, alpha)
    full = solution.rank == len(moments.xx)
    if factor is None or (full and solution.digits >= digits_wanted):
        return solution, None
    found = factor()
    return solve_by_factor(found, alpha, centered=centered), found


def solve_by_factor(factor: Factor, alpha: float = 0.0, *, centered: bool = True) -> Solution:
    """Solve the same problem from the R factor of the rows; a penalty is so many rows more."""
    if alpha > 0:
        p, q = factor.n_features, factor.n_targets
        penalty = np.hstack([np.sqrt(alpha) * np.eye(p), np.zeros((p, q))])
        factor = replace(factor, R=np.asarray(np.linalg.qr(np.vstack([factor.R, penalty]), mode="r")))
    found = least_squares(factor, intercept=centered)
    return Solution(found.coefficients, found.rank, found.condition, float(-np.log10(EPS * found.condition)))
