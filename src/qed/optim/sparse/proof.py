r"""The duality gap of sparse linear models, from the data and the coefficients alone.

Scores :math:`z = Xw + b` give the pull :math:`\theta`, its balance with the constant is made exact, and then :math:`X^\top\theta` is
all that is needed (:mod:`qed.optim.functions.gap`). Nothing is taken from the solver. What rounding can do is worked out alongside:
products :math:`x_j^\top\theta` are known to a few units in the last place of :math:`\|x_j\| \|\theta\|`, scores to as many of
:math:`|x_i|^\top |w| + |b|`. Many models share one pass over the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.base.numbers import EPS, ratio
from qed.optim.functions.gap import balanced, fenchel_gap
from qed.optim.functions.penalties import L1L2
from qed.optim.sparse.columns import Columns
from qed.optim.sparse.scored import Scored, ScoredLoss

ROUNDING = 64 * EPS
# So many numbers a table of scores may hold.
MOST_SCORES = 1 << 24


def prove(
    fit: ScoredLoss,
    X: Any,
    columns: Columns,
    penalties: Sequence[L1L2],
    coefs: np.ndarray,
    intercepts: np.ndarray,
) -> np.ndarray:
    """Bound how far the objectives of models are above their minima.

    There are m models with a penalty each; `columns` are those of `X`. Gives, as three rows, the objective less the
    least loss for any predictions; the bound relative to that; and how much of it rounding can explain.
    """
    size = max(1, MOST_SCORES // len(fit.y))
    if len(penalties) > size:
        parts = [slice(first, first + size) for first in range(0, len(penalties), size)]
        return np.hstack([prove(fit, X, columns, penalties[one], coefs[one], intercepts[one]) for one in parts])
    support = np.flatnonzero(coefs.any(axis=0))
    read, used = X[:, support], coefs[:, support].T
    scores = np.asarray(read @ used, dtype=np.float64) + intercepts
    reach = np.asarray(abs(read) @ np.abs(used), dtype=np.float64) + np.abs(intercepts)
    places = [fit.at(np.ascontiguousarray(z), float(b)) for z, b in zip(scores.T, intercepts)]
    pulls = np.column_stack([balanced(here.pull) if fit.intercept else here.pull for here in places])
    correlations = columns.products(pulls / columns.root[:, None])
    # A pull is no better known than its score; where the loss bends much, that matters.
    bends = np.column_stack([fit.curvature(here) for here in places])
    size = np.linalg.norm((np.abs(pulls) + bends * reach) / columns.root[:, None], axis=0)
    noises = ROUNDING * np.outer(size, columns.length)
    arguments = zip(places, pulls.T, penalties, coefs, correlations.T, reach.T, noises)
    return np.array([_gap(fit, *one) for one in arguments]).T


def _gap(
    fit: ScoredLoss,
    here: Scored,
    pull: np.ndarray,
    penalty: L1L2,
    coef: np.ndarray,
    correlation: np.ndarray,
    reach: np.ndarray,
    noise: np.ndarray,
) -> tuple[float, float, float]:
    """Give objective, relative gap and what rounding can do to it, of one model."""
    found = fenchel_gap(here.value, lambda scale: fit.misfit(here, scale, pull), penalty, coef, correlation)
    sizes = np.abs(coef)
    slip = float(sizes @ noise) + ROUNDING * (float(np.abs(pull) @ reach) + here.value)
    if penalty.l2 > 0:
        over = np.maximum(np.abs(correlation) - penalty.l1, 0.0)
        slip += float(noise @ (over + 0.5 * noise)) / penalty.l2
    else:
        # By so much the dual point may have been shrunk for nothing but rounding.
        most = float(noise.max(initial=0.0))
        slip += most * float(sizes.sum()) + fit.misfit(here, penalty.l1 / (penalty.l1 + most), here.pull)
    return found.primal, found.relative, ROUNDING + ratio(slip, found.primal)
