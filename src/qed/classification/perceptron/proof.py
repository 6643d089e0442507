r"""What the corrections of a perceptron prove, computed from its public numbers and the rows.

The planes are sums of pulls, :math:`w = \sum a_i y_i x_i` with :math:`a_i \ge 0`. Where all rows are right, there were at most
:math:`(R/\gamma)^2` of them, with the margin :math:`\gamma` of the plane found. Where some are wrong, :math:`\|w\| / \sum a_i` is an
upper bound on the margin of *any* plane, and it has to be small. Sums of n terms are off by at most :math:`n u` times the sum of the
terms' sizes.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Ending
from qed.base.sources.block import Block
from qed.classification.perceptron.passes import Settings, Visits, summed


class Found(Settings, Protocol):
    """The public numbers of a fitted model, as in `Perceptron`."""

    intercept_: np.ndarray
    coef_: np.ndarray
    dual_coef_: np.ndarray
    updates_: np.ndarray
    X_fit_: np.ndarray
    ending_: Ending

    @property
    def least_margin(self) -> float: ...


def _sizes(block: Block, amounts: np.ndarray) -> np.ndarray:
    """Give the sizes of the terms of a sum."""
    used = amounts[:, block.start : block.start + len(block)].any(axis=0)
    own = np.abs(amounts[:, block.start : block.start + len(block)][:, used])
    return np.asarray((abs(block.X[used]).astype(np.float64, copy=False).T @ own.T).T)


def _scores(block: Block, coef: np.ndarray) -> np.ndarray:
    """Give the scores of the rows, and the sizes of their terms, as columns."""
    X = block.X.astype(np.float64, copy=False)
    return np.hstack([np.asarray(X @ coef.T), np.asarray(abs(X) @ np.abs(coef).T)])


def perceptron_claims(model: Found, problem: Visits) -> list[Claim]:
    """Compute the claims; see the module."""
    dual, updates, n = np.asarray(model.dual_coef_), np.asarray(model.updates_), len(problem.codes)
    shapes = (problem.planes, n), (problem.planes,), (problem.planes,)
    if problem.others or (dual.shape, updates.shape, model.intercept_.shape) != shapes:
        return [Claim("classes, rows and planes are those of the data (others)", np.inf, 0.0)]
    if problem.before is not None:
        return _added_claims(model, problem, dual, updates)
    facts, counted = problem.facts, problem.weight > 0
    amounts = dual * facts.sign
    pulled = np.abs(dual) @ problem.measure / model.eta0
    rounding = (n + problem.rows.n_features + 8) * EPS
    scores, terms, length, off = _looked_at(model, problem, dual, rounding)
    margins = np.where(counted, facts.sign * scores / problem.measure, np.inf)
    margins[:, problem.measure == 0] = np.where(counted[problem.measure == 0], 0.0, np.inf)
    doubt = np.where(counted, rounding * terms / np.maximum(problem.measure, 1e-300), 0.0)
    on_it = (margins == 0) & (facts.sign < 0) & (not model.strict)
    right = ((margins > doubt) | on_it).all(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        possible = np.where(pulled > 0, length / (model.eta0 * pulled * (1 - rounding) * problem.longest), np.inf)
        possible = np.where(right, 0.0, np.where(np.isnan(possible), np.inf, possible))
        reached = np.maximum(margins.min(axis=1) - doubt.max(axis=1), 0.0) / np.where(length > 0, length, np.inf)
    share = np.where(right, updates * (reached / problem.longest) ** 2, 0.0)
    spare = updates - pulled
    unsaid = np.abs(spare) if not model.average else np.maximum(-spare, 0.0)
    return [
        Claim.within(
            "planes are the sums of their corrections (distance, relative to their sizes)", off, 0.0, rounding
        ),
        Claim("corrections pull to the side of their row (the other way, at most)", _largest(-amounts), 0.0),
        Claim(
            "updates_ are the corrections (difference, relative)",
            _largest(unsaid / np.maximum(pulled, 1e-300)),
            rounding,
        ),
        Claim(
            "a plane could still have this margin where rows are wrong (relative to the longest row)",
            _largest(possible),
            model.least_margin + 2 * rounding,
        ),
        Claim(
            "corrections, as a share of (longest row / margin)^2, where all rows are right", _largest(share), 1 + 1e-9
        ),
    ]


def _added_claims(model: Found, problem: Visits, dual: np.ndarray, updates: np.ndarray) -> list[Claim]:
    """Claim that the planes are where one pass over these rows leads from where they were; of other rows nothing is known."""
    assert problem.before is not None
    n, p = len(problem.codes), problem.rows.n_features
    seed, rounding = int(model.ending_.step.seed), (n + p + 8) * EPS
    again = problem.passed(problem.beginning(), np.ones(problem.planes, bool), seed, 1).row_pulls[0]
    pulled = again @ problem.measure
    unsaid = (pulled - updates) / np.maximum(pulled, 1.0)
    sums = np.hstack([summed(problem.held, dual), problem.unit * dual.sum(axis=1)[:, None]])
    sizes = np.hstack([problem.held.fold(_sizes, dual), problem.unit * np.abs(dual).sum(axis=1)[:, None]])
    off = np.hstack([model.coef_, model.intercept_[:, None]]) - problem.before - sums
    share = np.abs(off) / np.maximum(sizes + np.abs(problem.before), 1e-300)
    missed = np.abs(dual - model.eta0 * again * problem.facts.sign) / np.maximum(np.abs(dual).max(initial=0.0), 1e-300)
    return [
        Claim("one pass over these rows makes these corrections (difference, relative)", _largest(missed), rounding),
        Claim.within(
            "planes are where they were, and the sums of these (distance, relative)", _largest(share), 0.0, rounding
        ),
        Claim(
            "updates_ are these corrections, or more (missing, relative)",
            _largest(unsaid),
            rounding,
        ),
    ]


def _looked_at(
    model: Found, problem: Visits, dual: np.ndarray, rounding: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Give scores, the sizes of their terms, bounds on the planes' lengths, and how far planes are from sums of corrections."""
    constant, intercept = problem.unit * dual.sum(axis=1), model.intercept_
    most = problem.unit * np.abs(dual).sum(axis=1)
    off = _largest(np.abs(intercept - constant) / np.maximum(most, 1e-300))
    if problem.gram is not None:
        gram = problem.gram - problem.unit
        scores, terms = dual @ gram + intercept[:, None], np.abs(dual) @ np.abs(gram) + np.abs(intercept)[:, None]
        # Squares of corrections under a weight of 1e-300 are none.
        unit = np.maximum(np.abs(dual).max(axis=1, keepdims=True), TINY)
        square = (dual / unit * (scores / unit)).sum(axis=1)
        square += rounding * (np.abs(dual) / unit * (terms / unit)).sum(axis=1)
        kept = model.X_fit_.shape == problem.rows.array().X.shape
        return scores, terms, unit[:, 0] * np.sqrt(np.maximum(square, 0.0)), off if kept else np.inf
    if model.coef_.shape != (problem.planes, problem.rows.n_features):
        return np.zeros_like(dual), np.zeros_like(dual), np.full(len(dual), np.inf), np.inf
    sums, sizes = summed(problem.held, dual), problem.held.fold(_sizes, dual)
    off = max(off, _largest(np.abs(model.coef_ - sums) / np.maximum(sizes, 1e-300)))
    both = problem.held.map(_scores, np.asarray(model.coef_))
    scores, terms = both[:, : len(dual)].T + intercept[:, None], both[:, len(dual) :].T + np.abs(intercept)[:, None]
    parts = np.column_stack([np.abs(sums) + rounding * sizes, np.abs(constant) + rounding * most])
    unit = np.maximum(parts.max(axis=1, keepdims=True), TINY)
    return scores, terms, unit[:, 0] * np.sqrt(((parts / unit) ** 2).sum(axis=1)), off


def _largest(values: np.ndarray) -> float:
    return float(np.max(values, initial=0.0)) + 0.0 if not np.isnan(values).any() else np.inf
