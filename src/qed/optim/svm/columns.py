r"""The dual of a machine with the linear kernel on a badly scaled table: slopes and multipliers, each as exact as they can be.

Where rows are long, :math:`w = \sum_v \beta_v x_v` loses to the rounding of the multipliers what every score then lacks, so no
multipliers in floating point are those of a good :math:`w`. The interior-point method (:mod:`qed.optim.svm.interior`) gives both, with

.. math:: P(w, b) - D(\beta) = \tfrac12 \Bigl\|w - \sum_v \beta_v x_v\Bigr\|^2
    + \sum_v \bigl[h_v (f_v - b)_+ + (-l_v)(b - f_v)_+ - \beta_v (f_v - b)\bigr], \qquad f_v = p_v - w^\top x_v .

Multipliers close to a bound are put there, and those between take up what that leaves.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.block import as_dense
from qed.optim.svm.dual import DualProblem
from qed.optim.svm.interior import Pieces, solved
from qed.optim.svm.linear import MOST_HELD
from qed.optim.svm.smo import balance

# How close to a bound, as a share of it, multipliers are put there, if what is left can take it up.
CLOSE = (1e-4, 1e-6, 1e-8, 1e-10, 1e-13)
# The gap is taken on far below the tolerance, so that f of variables inside their bounds is the same for all; and how much
# more than the rest it counts that multipliers add up to nothing.
FURTHER, HEAVIER = 1e-4, 16.0


def is_held(dual: DualProblem) -> bool:
    """Say whether the table is small enough to be worked on as a whole, and slack is allowed."""
    rows, columns = dual.X.shape
    return not dual.hard and rows * columns <= MOST_HELD


def residues(dual: DualProblem, slopes: np.ndarray) -> np.ndarray:
    """Give f of all variables for the slopes of each part."""
    scores = [dual.X[dual.row[part]] @ w for part, w in zip(dual.parts(), slopes)]
    return np.asarray(dual.p - np.concatenate(scores))


def apart(dual: DualProblem, beta: np.ndarray, slopes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give for each part half the squared distance of its slopes from what the multipliers add up to, and what rounding does to that."""
    half, rounding = np.zeros(len(slopes)), np.zeros(len(slopes))
    for k, (part, w) in enumerate(zip(dual.parts(), slopes)):
        X, own = dual.X[dual.row[part]], beta[part]
        off = EPS * (len(own) + 2) * float(np.linalg.norm(np.asarray(abs(X).T @ np.abs(own))))
        distance = float(np.linalg.norm(w - np.asarray(X.T @ own)))
        half[k], rounding[k] = distance**2 / 2, off * (distance + off)
    return half, rounding


def objectives(dual: DualProblem, beta: np.ndarray, f: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Give constant, dual and primal objective of each part, of shape (parts, 3)."""
    found = np.empty((len(slopes), 3))
    found[:, 0] = [_best_constant(f[part], dual.high[part], -dual.low[part]) for part in dual.parts()]
    over = f - found[:, 0][dual.part_of]
    lost = dual.high * np.maximum(over, 0.0) - dual.low * np.maximum(-over, 0.0)
    found[:, 2] = (slopes**2).sum(axis=1) / 2 + dual.sums(lost)
    found[:, 1] = found[:, 2] - dual.sums(lost - beta * over) - apart(dual, beta, slopes)[0]
    return found


def _best_constant(f: np.ndarray, high: np.ndarray, low: np.ndarray) -> float:
    """Give the b with the least sum of ``high (f - b)_+ + low (b - f)_+``; the middle, where there are many.

    >>> (
    ...     _best_constant(np.array([0.0, 1.0, 5.0]), np.ones(3), np.ones(3)),
    ...     _best_constant(np.array([0.0, 4.0]), np.ones(2), np.ones(2)),
    ... )
    (1.0, 2.0)
    """
    order = np.argsort(f, kind="stable")
    f, high, low = f[order], high[order], low[order]
    slope = np.cumsum(low) - (high.sum() - np.cumsum(high))
    first = min(int(np.searchsorted(slope, -EPS * len(f) * (high.sum() + low.sum()))), len(f) - 1)
    flat = slope[first] <= EPS * len(f) * (high.sum() + low.sum()) and first + 1 < len(f)
    return float((f[first] + f[first + 1]) / 2 if flat else f[first])


def by_columns(dual: DualProblem, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Solve every part on its rows as they are: give the multipliers of all variables, and slopes of shape (parts, p)."""
    beta, slopes = np.zeros(len(dual.p)), np.zeros((len(dual.starts) - 1, dual.X.shape[1]))
    for k, part in enumerate(dual.parts()):
        cost = np.maximum(dual.high[part], -dual.low[part])
        present = cost > 0
        X = dual.X[dual.row[part][present]]
        table = np.asarray(as_dense(X))
        sign, cost = np.where(dual.high[part] > 0, 1.0, -1.0)[present], cost[present]
        turn: Any = None
        if table.shape[1] > len(table):
            turn, triangle = np.linalg.qr(table.T)
            table = np.ascontiguousarray(triangle.T)
        offset = sign * dual.p[part][present]
        pieces = Pieces(table, offset[None], sign[None], cost[None], False, True)
        found = solved(pieces, FURTHER * tol)
        slopes[k] = found.w if turn is None else turn @ found.w
        alpha = _netted(dual.row[part][present], sign, pieces.inside(found.alpha)[0])
        own = np.zeros(len(present))
        own[present] = sign * _settled(pieces, found.w, found.b, alpha, tol)
        balance(own, dual.low[part], dual.high[part])
        beta[part] = own
    return beta, slopes


def _netted(row: np.ndarray, sign: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Take off what the two sides of a row have in common: it adds up to nothing, and lowers the dual objective at best not."""
    rows, place = np.unique(row, return_inverse=True)
    if len(rows) == len(row):
        return alpha
    up, down = np.bincount(place, alpha * (sign > 0)), np.bincount(place, alpha * (sign < 0))
    return np.asarray(np.maximum(alpha - np.minimum(up, down)[place], 0.0))


def _settled(pieces: Pieces, w: np.ndarray, b: float, alpha: np.ndarray, tol: float) -> np.ndarray:
    """Put multipliers close to a bound there, as many as go with a gap within the tolerance."""
    cost, sign, u = pieces.cost[0], pieces.sign[0], pieces.excess(w, b)[0]
    primal, best, least = pieces.primal(w, b), alpha, np.inf
    for close in CLOSE:
        tried = np.where(alpha <= close * cost, 0.0, np.where(alpha >= (1 - close) * cost, cost, alpha))
        for _ in range(2):
            free = np.flatnonzero((tried > 0) & (tried < cost))
            tried[free] = _taken_up(pieces.X[free], sign[free], cost[free], tried[free], _left(pieces, w, tried))
        gap = (
            float((cost * np.maximum(u, 0.0) - tried * u).sum()) + float((_left(pieces, w, tried)[:-1] ** 2).sum()) / 2
        )
        if gap <= tol * primal / 2:
            return tried
        if gap < least:
            best, least = tried, gap
    return best


def _left(pieces: Pieces, w: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """Give what the multipliers lack to add up to w, and to nothing."""
    across, total = pieces.spread(alpha[None])
    return np.append(w - across, -total)


def _taken_up(X: np.ndarray, sign: np.ndarray, cost: np.ndarray, alpha: np.ndarray, left: np.ndarray) -> np.ndarray:
    """Move multipliers between their bounds, each by no more than its room if that can be, so that nothing is left."""
    if not len(alpha):
        return alpha
    room = np.minimum(alpha, cost - alpha)
    equations = np.vstack([X.T, np.ones(len(alpha))]) * (sign * room)
    size = np.abs(equations).max(axis=1)
    size[:-1] = float(size[:-1].max(initial=0.0)) or 1.0
    size[-1] /= HEAVIER
    share = np.linalg.lstsq(equations / size[:, None], left / size, rcond=EPS)[0]
    return np.clip(alpha + room * share, 0.0, cost)
