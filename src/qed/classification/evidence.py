"""What a fitted likelihood model claims: that no coefficients are better, and what follows from that."""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.base.summary import Summary
from qed.classification.likelihood import Likelihood


def likelihood_claims(
    objective: Likelihood,
    summary: Summary,
    totals: np.ndarray,
    coef: np.ndarray,
    intercept: np.ndarray,
    tol: float,
) -> list[Claim]:
    """Give the claims of coefficients and constants about the rows that `objective` folds.

    Parameters
    ----------
    objective : Likelihood
        The objective on the rows.
    summary : Summary
        Of their columns, for how much rounding can do.
    totals : ndarray of shape (K,)
        The weight of each class.
    coef, intercept : ndarray
        As the model has them; what their type can not represent is no fault of the fit.
    tol : float
        The relative distance from the minimum that was asked for.
    """
    eps = float(np.finfo(coef.dtype).eps)
    coef, intercept = coef.astype(np.float64), intercept.astype(np.float64)
    point = objective.at(coef, intercept)
    weight = objective.factor * float(totals @ objective.loss.class_weight)
    value = max(point.objective, 1e-300)
    largest = np.maximum(np.abs(summary.low), np.abs(summary.high))
    noise = eps * float((np.abs(intercept) + np.abs(coef) @ largest).max())
    steepest = np.sqrt((weight / 2 + objective.ridge) * value)
    claims = [
        Claim(
            "objective above its minimum, at most (relative)",
            objective.newton(point).gap,
            tol + weight * noise**2 / value,
        ),
        Claim(
            "score equations, residual (relative)",
            float((np.abs(point.gradient) / steepest).max()),
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
    if len(coef) > 1:
        off = float(np.abs(coef.sum(axis=0)).max() / max(np.abs(coef).max(), 1e-300))
        claims.append(Claim("coefficients of all classes sum to zero (relative)", off, 16 * len(coef) * eps))
    return claims
