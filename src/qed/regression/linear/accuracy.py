r"""How many digits of the coefficients of least squares are right: a bound for each of them, and the claim that follows.

Where the first look does not tell, because columns are nearly dependent, far from zero, or a coefficient is nearly zero, the bound of
:mod:`qed.linalg.root` is taken again with the gradient computed to twice the digits (:mod:`qed.stats.residual_sums`), one pass.
Where columns are dependent there are many solutions; the shortest moves by no more than Wedin's (1973) first-order bound.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.linalg.root import Root
from qed.regression.linear.evidence import Evidence
from qed.regression.linear.problem import LeastSquaresProblem

WORDS = "relative error of coefficients, at most"
SHORTEST = "relative error of the shortest coefficients, at most"
ENOUGH = 1e-4
# A coefficient, or an intercept, that is smaller than this beside what it is a difference of is compared with that.
NO_SHARE = 1e-5


def coefficient_errors(
    problem: LeastSquaresProblem, seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int
) -> np.ndarray:
    """Bound the relative errors of coefficients and, in the last row, of intercepts: an array of shape (p + 1, q).

    Parameters
    ----------
    problem : LeastSquaresProblem
        Has the rows, for a second look.
    seen : Evidence
        Of the coefficients.
    coef, intercept : ndarray of shape (p, q) and (q,)
        The model.
    rank : int
        How many columns are independent, as it says.
    """
    if problem.has_summed(coef, intercept):
        seen = problem.sharpened(seen, coef, intercept)
    errors, told, root = first_errors(seen, coef, intercept, rank)
    if root is not None and errors.max() > ENOUGH and problem.rows is not None:
        root = root if root.off < 0.1 else problem.triangle(told) or root
        errors = _relative(problem.sharpened(seen, coef, intercept), coef, intercept, told, root, sharp=True)
    return errors


def largest_error(
    problem: LeastSquaresProblem, seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int
) -> float:
    """Bound the largest of them: with one bound for all where that is small enough, else one by one."""
    told, root = seen.metric.root()
    if root is not None and rank == len(coef) == told.sum() and not problem.has_summed(coef, intercept):
        own = np.abs(coef) * root.length[:, None]
        far, size = root.far(seen.xr, seen.noise), np.abs(seen.y_mean) + np.abs(seen.x_mean) @ np.abs(coef)
        reach = NO_SHARE * (np.sqrt(np.maximum(seen.yy, 0.0)) + own.sum(axis=0))
        constant = np.abs(seen.r_mean) + seen.slip
        if seen.x_mean.any():
            constant = constant + np.linalg.norm(seen.x_mean / root.length) * far
        found = max(
            float(_over(far, own.min(axis=0, initial=np.inf), reach).max()),
            float(_over(constant, intercept, NO_SHARE * size).max()),
        )
        if found <= ENOUGH:
            return found
    return float(coefficient_errors(problem, seen, coef, intercept, rank).max(initial=0.0))


def first_errors(
    seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int
) -> tuple[np.ndarray, np.ndarray, Root | None]:
    """Bound the same from what is seen alone; give also which columns are more than constants, and their root where it was used."""
    told, root = seen.metric.root()
    if root is None or rank < told.sum():
        found = seen.metric.shortest_error(coef, np.sqrt(np.maximum(seen.rr, 0.0)), rank)
        return np.full((len(coef) + 1, coef.shape[1]), found), told, None
    errors = _relative(seen, coef, intercept, told, root, sharp=False)
    if errors.max() > ENOUGH:
        errors = _relative(seen, coef, intercept, told, root, sharp=True)
    return errors, told, root


def _relative(
    seen: Evidence, coef: np.ndarray, intercept: np.ndarray, told: np.ndarray, root: Root, *, sharp: bool
) -> np.ndarray:
    gradient, noise, mean = seen.xr[told], seen.noise[told], seen.x_mean[told]
    error = np.zeros(coef.shape)
    error[told] = root.bounds(gradient, noise, sharp=sharp)
    # The coefficients of constant columns are zero.
    error[~told] = np.where(seen.noise[~told] > 0, np.inf, np.abs(coef[~told]))
    constant = np.abs(seen.r_mean - mean @ root.step(gradient)) + seen.slip
    constant += root.bounds(gradient, noise, sharp=sharp, toward=mean)
    length = seen.metric.lengths[:, None]
    reach = np.sqrt(np.maximum(seen.yy, 0.0)) + length[:, 0] @ np.abs(coef)
    size = np.abs(seen.y_mean) + np.abs(seen.x_mean) @ np.abs(coef)
    least = np.divide(NO_SHARE * reach, length, out=np.zeros(coef.shape), where=length > 0)
    return np.vstack([_over(error, coef, least), _over(constant, intercept, NO_SHARE * size)])


def _over(error: np.ndarray, value: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Divide errors by the least that the true values can be."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0, 0.0, error / np.maximum(np.abs(value) - error, least))


def accuracy_claim(error: float, *, is_unique: bool) -> Claim:
    """Claim that the coefficients have digits that mean something."""
    return Claim(WORDS if is_unique else SHORTEST, error, ENOUGH)
