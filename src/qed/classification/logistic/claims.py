"""What a fitted likelihood model claims: that no coefficients are better, and what follows from that."""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import largest
from qed.base.summary import Summary
from qed.classification.logistic.gap import magnitudes
from qed.classification.logistic.likelihood import Likelihood
from qed.classification.logistic.sparse_likelihood import SparseLikelihood

MOST_ALLOWED = 1e-9
# Two sums over the same rows, in another order, differ by less.
SAME = 1e-9


def covariance_claim(objective: Likelihood, coef: np.ndarray, intercept: np.ndarray, given: np.ndarray | None) -> Claim:
    """Claim that a covariance is the inverse of the Hessian of the likelihood at these coefficients.

    Parameters
    ----------
    objective : Likelihood
        The likelihood, without a penalty.
    coef, intercept : ndarray
        As the model has them.
    given : ndarray or None
        The covariance that the model has; None where the Hessian is singular.
    """
    says = "covariance is the inverse of the Hessian (relative)"
    if not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        return Claim(says, np.inf, 0.0)
    found, allowed = objective.covariance(objective.at(coef, intercept))
    if found is None or given is None:
        return Claim(says, 0.0 if found is given else np.inf, 0.0)
    if given.shape != found.shape or not np.isfinite(given).all():
        return Claim(says, np.inf, allowed)
    spread = np.sqrt(np.maximum(found.diagonal(), 1e-300))
    return Claim(says, float((np.abs(given - found) / spread / spread[:, None]).max()), allowed)


def likelihood_claims(
    objective: Likelihood,
    summary: Summary,
    totals: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    noted: float | None = None,
) -> list[Claim]:
    """Give the claims of coefficients and constants about the rows that `objective` folds.

    The summary of the columns says how much rounding can do, and `totals` are the weights of the classes. What the type
    of the coefficients can not represent is no fault of the fit. `noted` is the objective as the
    fit noted it.
    """
    wanted = (1 if len(totals) == 2 else len(totals), len(objective.loss.scale))
    strange = coef.shape != wanted or intercept.shape != wanted[:1]
    if strange or not (np.isfinite(coef).all() and np.isfinite(intercept).all()):
        return [Claim("coefficients are finite numbers, one for each column and class", np.inf, 0.0)]
    eps = float(np.finfo(coef.dtype).eps)
    coef, intercept = coef.astype(np.float64), intercept.astype(np.float64)
    point = objective.at(coef, intercept)
    weight = objective.factor * float(totals @ objective.loss.class_weight)
    value = max(point.objective, 1e-300)
    highest = np.maximum(np.abs(summary.low), np.abs(summary.high))
    # What rounding of coefficients and scores does is allowed for, as long as the claims still say something.
    noise = max(
        eps * float((np.abs(intercept) + np.abs(coef) @ highest).max()),
        float(magnitudes(objective.loss, coef, intercept).sum()),
    )
    noise = min(noise, np.sqrt(MOST_ALLOWED * value / weight))
    tol, slope, spared = objective.tol, point.gradient, weight * noise * noise / value
    if isinstance(objective, SparseLikelihood):
        # The gap of a dual point that is off by a little is off by as much, times the sizes of the scores.
        slope = objective.slope(point)
        largest_score = float(np.abs(coef).max(initial=0.0) > 0) * (1 + float((np.abs(coef) @ highest).max()))
        spared = min(objective.gap(point)[1] + eps * weight * largest_score / value, max(MOST_ALLOWED, 16 * eps))
    steepest = np.sqrt((weight / 2 + objective.ridge) * value)
    claims = [
        Claim(
            "objective above its minimum, at most (relative)",
            objective.final_gap(point),
            tol + spared,
        ),
        Claim(
            "score equations, residual (relative)",
            largest(np.abs(slope) / steepest),
            float(np.sqrt(2 * tol) + noise * np.sqrt(2 * weight / value)),
        ),
    ]
    if objective.loss.intercept:
        missed = np.abs(objective.loss.coding.T @ point.gradient[:, -1]).max() / weight
        claims.append(
            Claim(
                "classes are predicted as often as they occur (share)",
                float(missed),
                float(np.sqrt(2 * tol * value / weight) + noise),
            )
        )
    if noted is not None:
        off = abs(noted - point.objective) / value
        allowed = SAME + 2 * noise * objective.factor * point.curve.missed / value
        claims.append(Claim("objective is what the fit noted (relative)", float(off), float(allowed)))
    if not objective.loss.intercept:
        claims.append(Claim("there is no constant", float(np.abs(intercept).max()), 0.0))
    if len(coef) > 1:
        both = np.column_stack([coef, intercept])
        # Sizes, unlike squares, do not ask for it.
        summed = both[:, -1:] if isinstance(objective, SparseLikelihood) else both
        off = float(np.abs(summed.sum(axis=0)).max() / max(np.abs(both).max(), 1e-300))
        claims.append(Claim("coefficients of all classes sum to zero (relative)", off, 16 * len(coef) * eps))
    return claims
