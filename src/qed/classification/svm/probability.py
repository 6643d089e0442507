r"""Probabilities of a support vector machine, which by itself has only scores.

For each pair of classes, :math:`P(y = + \mid s) = 1 / (1 + e^{As + B})` is fitted to scores :math:`s` of rows that the machine
has not seen: five times a fifth of the rows is left out, which is the same dual with their multipliers held at zero, on the same
similarities. From the probabilities :math:`r_{ab}` of the pairs follow those of the classes,

.. math:: \min_p \sum_{a \ne b} (r_{ba} p_a - r_{ab} p_b)^2, \qquad \sum_a p_a = 1,

a linear system for each row. The class with the most votes need not be the most probable then. Of all probabilities in which it is, the
nearest ones are taken: they agree with ``predict``.

Platt (1999), Probabilistic outputs for support vector machines; Lin, Lin and Weng (2007), A note on Platt's probabilistic outputs; Wu, Lin
and Weng (2004), Probability estimates for multi-class classification by pairwise coupling.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from qed.base.numbers import EPS
from qed.optim.svm.dual import DualProblem
from qed.optim.svm.search import solved

FOLDS = 5
# Probabilities of pairs stay so far away from zero and one.
LEAST = 1e-7
STEPS, HALVINGS, FLAT = 100, 60, 1e-12


class Sigmoid(NamedTuple):
    """Scores of one pair of classes, with the share of the positive class that each stands for, and weights."""

    scores: np.ndarray
    wanted: np.ndarray
    weight: np.ndarray

    @classmethod
    def of(cls, scores: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> Sigmoid:
        """Take classes for a little less than certain, as if one more row of each had been seen."""
        many, few = float(weight[positive].sum()), float(weight[~positive].sum())
        return cls(scores, np.where(positive, (many + 1) / (many + 2), 1 / (few + 2)), weight)

    def loss(self, point: np.ndarray) -> float:
        """Give minus the logarithm of the likelihood at (A, B)."""
        z = point[0] * self.scores + point[1]
        return float(self.weight @ (np.logaddexp(0.0, z) - (1 - self.wanted) * z))

    def minimum(self) -> np.ndarray:
        """Find A and B by Newton's method."""
        share = float(self.weight @ self.wanted) / float(self.weight.sum())
        point = np.array([0.0, np.log((1 - share) / share)])
        here = self.loss(point)
        for _ in range(STEPS):
            p = expit(-(point[0] * self.scores + point[1]))
            off, bend = self.weight * (self.wanted - p), self.weight * p * (1 - p)
            gradient = np.array([self.scores @ off, off.sum()])
            cross = self.scores @ bend
            curve = np.array([[self.scores**2 @ bend, cross], [cross, bend.sum()]])
            curve += (FLAT * np.trace(curve) + np.finfo(np.float64).tiny) * np.eye(2)
            step = -np.linalg.solve(curve, gradient)
            if abs(gradient @ step) <= EPS * max(here, EPS):
                break
            size = 1.0
            while (after := self.loss(point + size * step)) > here + 1e-4 * size * float(
                gradient @ step
            ) and size > 0.5**HALVINGS:
                size /= 2
            if after >= here:
                break
            point, here = point + size * step, after
        return point


def unseen_scores(dual: DualProblem, codes: np.ndarray, tol: float, most: int) -> np.ndarray:
    """Score every variable's row in its own part by machines that have not seen it; rows of a class are dealt out in turn."""
    fold, scores = np.empty(len(codes), dtype=np.intp), np.empty(len(dual.p))
    for code in range(int(codes.max()) + 1):
        own = np.flatnonzero(codes == code)
        fold[own] = np.arange(len(own)) % FOLDS
    for k in range(FOLDS):
        out = fold[dual.row] == k
        if out.any():
            less = dual.without(out)
            state = solved(less, less.beginning(), tol, most)
            scores[out] = (dual.p - state.f + state.found[dual.part_of, 0])[out]
    return scores


def sigmoids(dual: DualProblem, scores: np.ndarray, weight: np.ndarray) -> list[Sigmoid]:
    """Give the problem of A and B for each part."""
    return [Sigmoid.of(scores[part], dual.p[part] > 0, weight[dual.row[part]]) for part in dual.parts()]


def coupled(positive: np.ndarray, classes: int) -> np.ndarray:
    """Turn probabilities of the first class of each pair, of shape (n, pairs), into those of the classes.

    >>> coupled(np.array([[0.5, 0.8, 0.8]]), 3).round(4)
    array([[0.4444, 0.4444, 0.1111]])
    """
    r, n = np.zeros((len(positive), classes, classes)), len(positive)
    first, second = np.triu_indices(classes, 1)
    r[:, first, second], r[:, second, first] = positive, 1 - positive
    system = np.zeros((n, classes + 1, classes + 1))
    system[:, :classes, :classes] = -r * r.transpose(0, 2, 1)
    places = np.arange(classes)
    system[:, places, places] = (r**2).sum(axis=1)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((n, classes + 1, 1))
    right[:, classes] = 1.0
    found = np.maximum(np.linalg.solve(system, right)[:, :classes, 0], 0.0)
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def agreeing(p: np.ndarray, chosen: np.ndarray, grain: float) -> np.ndarray:
    """Give the nearest probabilities in which the chosen class is the most probable one, by a grain of rounding at least.

    >>> agreeing(np.array([[0.5, 0.3, 0.2]]), np.array([1]), 0.0)
    array([[0.4, 0.4, 0.2]])
    """
    rows = np.arange(len(p))
    out, own = p.copy(), p[rows, chosen]
    others = p.copy()
    others[rows, chosen] = -np.inf
    order = np.argsort(-others, axis=1, kind="stable")[:, :-1]
    sorted_others = np.take_along_axis(others, order, axis=1)
    # The chosen one shares with those above the mean of all that share.
    means = (own[:, None] + np.cumsum(sorted_others, axis=1)) / np.arange(2, p.shape[1] + 1)
    before = np.column_stack([own, means[:, :-1]])
    count = (sorted_others >= before).sum(axis=1)
    for i in np.flatnonzero(count):
        level = means[i, count[i] - 1]
        out[i, order[i, : count[i]]] = level * (1 - grain)
        out[i, chosen[i]] = level * (1 + count[i] * grain)
    return out
