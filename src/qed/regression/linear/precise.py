"""Least squares with as many digits as the data allow.

The Gram matrix is folded first, because that is the fastest pass there is; but it squares the condition number. Where its condition
says that too few digits would survive, and the rows are at hand, the R factor of a QR is folded instead, which does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.rows import Rows
from qed.linalg.normal import Solution, solve
from qed.stats.factor import Factor, least_squares
from qed.stats.moments import Moments

SecondLook = Callable[[], Factor]

# So many digits of a ridge regression are wanted; with fewer from moments, the rows are looked at again.
DIGITS_WANTED = 9.0


def second_look(rows: Rows) -> SecondLook:
    """Give a function that folds the R factor of the rows when it is first called, and then knows it."""
    return cache(partial(rows.fold, Factor.of))


def solve_precisely(
    moments: Moments, alpha: float, look: SecondLook | None, *, centered: bool, digits_wanted: float = DIGITS_WANTED
) -> tuple[Solution, Factor | None]:
    """Solve ``min ||y - Xw||^2 + alpha ||w||^2`` from moments, or from a QR of the rows where moments are too coarse.

    Parameters
    ----------
    moments : Moments
        About the means when `centered`, about zero when not.
    alpha : float
        The penalty.
    look : callable or None
        Gives the R factor of the rows; None when they are gone.
    centered : bool
        Whether there is an intercept.
    digits_wanted : float
        A second look is taken when the moments give fewer digits than this.

    Returns
    -------
    Solution, Factor or None
        The solution, and the factor where one was needed.
    """
    solution = solve(moments.xx, moments.xy, alpha)
    full = solution.rank == len(moments.xx)
    if look is None or (full and solution.digits >= digits_wanted):
        return solution, None
    factor = look()
    return solve_by_factor(factor, alpha, centered=centered), factor


def solve_by_factor(factor: Factor, alpha: float = 0.0, *, centered: bool = True) -> Solution:
    """Solve the same problem from the R factor of the rows; a penalty is so many rows more."""
    if alpha > 0:
        p, q = factor.n_features, factor.n_targets
        penalty = np.hstack([np.sqrt(alpha) * np.eye(p), np.zeros((p, q))])
        factor = replace(factor, R=np.asarray(np.linalg.qr(np.vstack([factor.R, penalty]), mode="r")))
    found = least_squares(factor, intercept=centered)
    kept = found.singular_values[: found.rank]
    condition = float(kept[0] / kept[-1]) if found.rank else 1.0
    return Solution(found.coefficients, found.rank, condition, float(-np.log10(EPS * condition)))
