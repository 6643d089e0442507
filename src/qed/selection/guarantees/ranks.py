r"""Counting ranks: what n scores of rows held out promise about the next row.

If the next row is drawn like the n others, the rank of its score among all n + 1 is as likely to be any. So its score exceeds the
:math:`\lceil \ell (n + 1) \rceil`-th smallest of the n with probability :math:`1 - \ell` at most, whatever the model and whatever the
distribution; where that rank is n + 1 only an infinite bound will do. Ties make a set larger, never smaller. A row of weight w counts as w
rows.

Vovk, Gammerman and Shafer (2005), Algorithmic Learning in a Random World; Barber, Candès, Ramdas and Tibshirani (2021), Predictive
inference with the jackknife+.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np


def rank_of(level: float, total: float) -> int | Fraction:
    """Give the rank that a level asks for among rows of some total weight: the least whole number that is not below.

    The level is the decimal number that was written, so that 0.9 of 10 rows are nine of them.

    >>> rank_of(0.9, 9), rank_of(0.9, 100), rank_of(0.7, 9)
    (9, 91, 7)
    """
    wanted = Fraction(repr(float(level))) * (Fraction(float(total)) + 1)
    return math.ceil(wanted) if float(total).is_integer() else wanted


def rows_needed(level: float) -> int:
    """Say how many rows a level needs at least, for a bound that is not infinite.

    >>> rows_needed(0.9), rows_needed(0.95), rows_needed(0.5)
    (9, 19, 1)
    """
    share = Fraction(repr(float(level)))
    return math.ceil(share / (1 - share))


def guaranteed(method: str, level: float, total: float, folds: int, equal: bool = True) -> float:
    """Give the coverage that theory guarantees: zero where rows of different weights leave nothing to prove.

    With rows held out once (``split``) it is the rank over n + 1, which is at least the level :math:`1 - \\alpha`. Leaving each of n rows
    out in turn guarantees :math:`1 - 2\\alpha`, and leaving out k folds
    :math:`1 - 2\\alpha - \\min\\{2(1 - 1/k)/(n/k + 1),\\ (1 - k/n)/(k + 1)\\}`; both are mostly near :math:`1 - \\alpha`.

    >>> (
    ...     guaranteed("split", 0.9, 99, 1),
    ...     round(guaranteed("jackknife+", 0.9, 99, 99), 9),
    ...     round(guaranteed("cv+", 0.9, 99, 9), 3),
    ... )
    (0.9, 0.8, 0.709)
    """
    if not equal:
        return 0.0
    rank = rank_of(level, total)
    if rank > total:
        return 1.0
    within = Fraction(rank) / (Fraction(float(total)) + 1)
    if method == "split":
        return float(within)
    n, k = Fraction(float(total)), Fraction(folds)
    slack = min(2 * (1 - 1 / k) / (n / k + 1), (1 - k / n) / (k + 1))
    return float(max(Fraction(0), 1 - 2 * (1 - within) - slack))


def upper(values: np.ndarray, weight: np.ndarray | None, level: float) -> np.ndarray:
    """Give the value of the rank that a level asks for, in every line of a table of shape (m, n); infinite where there is none.

    >>> upper(np.array([[3.0, 1.0, 2.0]]), None, 0.5), upper(np.array([[3.0, 1.0, 2.0]]), None, 0.9)
    (array([2.]), array([inf]))
    """
    total = values.shape[1] if weight is None else float(weight.sum())
    rank = rank_of(level, total)
    if rank > total:
        return np.full(len(values), np.inf)
    if weight is None:
        return np.asarray(np.partition(values, int(rank) - 1, axis=1)[:, int(rank) - 1])
    order = np.argsort(values, axis=1, kind="stable")
    reached = np.cumsum(weight[order], axis=1)
    # Sums of weights are rounded: a rank that is reached but for that is reached.
    place = (reached < float(rank) * (1 - 1e-12)).sum(axis=1).clip(max=values.shape[1] - 1)
    return np.asarray(np.take_along_axis(values, np.take_along_axis(order, place[:, None], axis=1), axis=1)[:, 0])


def below(scores: np.ndarray, weight: np.ndarray | None, values: np.ndarray) -> np.ndarray:
    """Say for each value how much the scores that are less than it weigh.

    >>> below(np.array([1.0, 3.0, 2.0]), None, np.array([[2.0, 9.0]]))
    array([[1., 3.]])
    """
    order = np.argsort(scores, kind="stable")
    counted = np.ones(len(scores)) if weight is None else weight[order]
    reached = np.concatenate([[0.0], np.cumsum(counted)])
    return np.asarray(reached[np.searchsorted(scores[order], values, side="left")])
