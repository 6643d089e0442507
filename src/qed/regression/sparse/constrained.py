r"""The lasso in its constrained form: the best coefficients whose sizes sum up to at most k.

.. math:: \min_{w, b}\ \sum_i s_i (y_i - x_i^\top w - b)^2 \quad \text{subject to} \quad \|w\|_1 \le k .

Every solution of the penalised form with :math:`\alpha` solves this one with :math:`k = \|w(\alpha)\|_1`, by strong duality, and
every :math:`k` has its :math:`\alpha`, the price of the constraint. As :math:`\|w(\alpha)\|_1` is continuous, falling and piecewise linear,
with the slope :math:`-n\, s^\top G_{SS}^{-1} s` known from the support :math:`S` and its signs :math:`s`, Newton's method ends exactly
at the right :math:`\alpha` as soon as it is in the right piece; a handful of solves, each from the one before. The proof is the
duality gap of the constrained problem, :math:`k \|X^\top r\|_\infty - w^\top X^\top r \ge 0`.

Osborne, Presnell and Turlach (2000), On the lasso and its dual.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.base.models.parameters import number
from qed.optim.functions.penalties import L1L2
from qed.regression.sparse.evidence import ROUNDING, SparseEvidence, sum_claim
from qed.regression.sparse.lasso import Lasso
from qed.regression.sparse.problem import SparseProblem, problem_for

# Penalties below this share of the largest one are lost in rounding; sums of sizes this close to the radius are equal to it.
LEAST, NEAR = 1e-14, 1e-13


@dataclass(frozen=True, eq=False)
class ConstrainedLasso:
    """The best coefficients within a ball of the 1-norm.

    Attributes
    ----------
    coef : ndarray of shape (p,)
        The coefficients.
    intercept : float
        The constant.
    radius : float
        The bound on the sum of the coefficients' sizes.
    alpha : float
        The penalty with which `Lasso` finds the same; zero where the constraint does not matter.
    certificate : Certificate
        The proof.
    """

    coef: np.ndarray
    intercept: float
    radius: float
    alpha: float
    certificate: Certificate


def constrained_lasso(
    X: Any,
    y: Any = None,
    radius: float = 1.0,
    *,
    fit_intercept: bool = True,
    positive: bool = False,
    sample_weight: Any = None,
    tol: float = 1e-6,
) -> ConstrainedLasso:
    """Minimise the squared error over coefficients whose sizes sum up to at most `radius`.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features.
    y : array-like of shape (n,), optional
        The target; not needed when `X` is Rows that know it.
    radius : float, default=1.0
        The bound.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative.
    tol : float, default=1e-6
        The relative duality gap: how far the objective may be above its minimum.
    sample_weight : array-like of shape (n,), optional
        Weights.

    Examples
    --------
    >>> found = constrained_lasso(np.eye(2), [3.0, 0.5], 2.0, fit_intercept=False)
    >>> found.coef.round(12), round(found.alpha, 12)
    (array([2., 0.]), 0.5)
    >>> bool(found.certificate)
    True
    """
    number(0).checked("radius", radius)
    model = Lasso(fit_intercept=fit_intercept, positive=positive, tol=tol)
    rows = model._open(X, y, sample_weight, reset=True, target=model.target)
    problem = problem_for(rows, model, many=True)
    if len(problem.y_mean) > 1:
        raise InputError(f"The constrained lasso takes one output, but y has {len(problem.y_mean)}: call it for each.")
    coef, l1 = _search(problem, float(radius), tol, positive)
    intercept = problem.y_mean - problem.x_mean @ coef
    seen = problem.evidence(coef, intercept)
    claims = constrained_claims(seen, coef, float(radius), tol, positive=positive, centered=fit_intercept)
    return ConstrainedLasso(
        coef[:, 0], float(intercept[0]), float(radius), l1 / problem.weight, Certificate(claims, problem.source)
    )


def _search(problem: SparseProblem, radius: float, tol: float, positive: bool) -> tuple[np.ndarray, float]:
    """Find the penalty with which the sizes sum up to `radius`; give the coefficients, and the penalty."""
    high = problem.largest(positive)
    if radius == 0 or high == 0:
        return np.zeros((len(problem.x_mean), 1)), high
    low, least = 0.0, LEAST * high
    l1 = 0.5 * high
    for _ in range(200):
        coef = problem.solve(L1L2(l1, 0.0, positive), tol)
        size, way = float(np.abs(coef).sum()), problem.outputs[0].direction()
        rate = float((np.sign(coef[:, 0]) * way).sum())
        if abs(size - radius) <= NEAR * radius or high - low <= NEAR * high:
            break
        if size < radius and l1 <= least:
            return _without_penalty(coef, l1 * way[:, None], radius), 0.0
        low, high = (l1, high) if size > radius else (low, l1)
        newton = l1 + (size - radius) / rate if rate > 0 else 0.0
        l1 = newton if max(low, least) < newton < high else max(np.sqrt(max(low, least) * high), least)
    return coef * min(1.0, radius / size), l1


def _without_penalty(coef: np.ndarray, rest: np.ndarray, radius: float) -> np.ndarray:
    """Go the rest of the way to no penalty at all, if nothing is in the way."""
    end = coef + rest
    free = (np.sign(end) == np.sign(coef)).all() and np.abs(end).sum() <= radius
    return end if free else coef


def constrained_claims(
    seen: SparseEvidence, coef: np.ndarray, radius: float, tol: float, *, positive: bool, centered: bool
) -> list[Claim]:
    """Make the claims of the constrained form."""
    w, xr = coef[:, 0], seen.xr[:, 0]
    largest = float((xr if positive else np.abs(xr)).max(initial=0.0))
    gap = radius * max(largest, 0.0) - float(w @ xr)
    # A fit without any error would leave nothing to compare with: then the gap is compared with the target.
    scale = 0.5 * float(seen.rr[0]) + 1e-9 * float(seen.yy[0])
    slip = (
        ROUNDING
        * float(seen.reach(coef)[0])
        * (radius * float(seen.length.max(initial=0.0)) + float(seen.length @ np.abs(w)))
    )
    over = max(0.0, float(np.abs(w).sum()) - radius) / radius if radius > 0 else float(np.abs(w).sum())
    claims = [Claim("sizes of the coefficients beyond the radius (relative)", over, 1e-9)]
    if scale > 0:
        words = "duality gap of the constrained problem, relative"
        claims.append(Claim.within(words, max(gap, 0.0) / scale, tol, slip / scale))
    if positive:
        claims.append(Claim("negative coefficients", float(np.maximum(-w, 0.0).max(initial=0.0)), 0.0))
    return [*claims, sum_claim(seen, coef)] if centered else claims
