r"""Impurity: how mixed a node is, and what a question about it tells.

With the shares :math:`p_k` of the classes in a node, its impurity is

.. math:: 1 - \sum_k p_k^2 \ \text{(Gini)}, \qquad -\sum_k p_k \log_2 p_k \ \text{(entropy)}, \qquad 1 - \max_k p_k \ \text{(error)},

and for numbers their mean squared distance from the mean, their mean distance from the median, or for counts half their mean Poisson
deviance from the mean, :math:`\overline{y \log (y / \bar y)}`. A question is worth the impurity before it less the mean impurity of the
two sides, weighted by their rows. The first two, and squares, are strictly concave: a question whose sides differ is always worth
something. The error is only piecewise linear, and worth nothing wherever both sides keep the same majority.

What the search for a question maximises is the *purity* of its sides, which differs from that worth by a constant and a factor:
:math:`\sum_k c_k^2 / c` for Gini, :math:`\sum_k c_k \log c_k - c \log c` for entropy, :math:`\max_k c_k` for the error, for numbers
:math:`s^2 / c`, and for counts :math:`s \log (s / c)`, with :math:`c_k` and :math:`c` the weights of classes and side, and :math:`s` the
sum of the numbers. A side of counts that are all zero would make any other count impossible, and is not allowed. Distances from the median
have no sums to be told by: see :mod:`qed.trees.asking.absolute`.
"""

from __future__ import annotations

import math

import numpy as np

from qed.base.compile import kernel
from qed.base.errors import ParameterError

# Less than one by more than what three roundings do.
NEARLY = 1.0 - 2.0**-50
GINI, ENTROPY, ERROR, SQUARES, POISSON, ABSOLUTE = range(6)
# The last bit of a logarithm depends on who takes it.
WITH_LOGARITHMS = (ENTROPY, POISSON)
KINDS = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": ERROR,
    "squared_error": SQUARES,
    "friedman_mse": SQUARES,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE,
}


def impurity(counts: np.ndarray, criterion: str = "gini") -> np.ndarray:
    """Give the impurity of nodes with so much weight in each class, along the last axis.

    Parameters
    ----------
    counts : array-like of shape (..., n_classes)
        What each class weighs.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        Which impurity; entropy in bits.

    Examples
    --------
    >>> impurity([20, 10], "entropy").round(6), impurity([40, 40]), impurity([30, 10], "misclassification")
    (np.float64(0.918296), np.float64(0.5), np.float64(0.25))
    """
    kind = KINDS.get(criterion, SQUARES)
    if kind >= SQUARES:
        raise ParameterError(f"criterion must be one of 'gini', 'entropy', 'misclassification', not {criterion!r}.")
    counts = np.asarray(counts, dtype=np.float64)
    share, ones = shares(counts), np.ones(counts.shape[-1])
    total = counts @ ones
    if kind == GINI:
        # A sum of products, none of which cancels, where one less a sum would.
        mixed: np.ndarray = (share * ((total[..., None] - counts) / np.where(total > 0, total, 1.0)[..., None])) @ ones
        return mixed
    if kind == ERROR:
        return (total > 0) * (1.0 - share.max(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        bits: np.ndarray = np.where(share > 0, -share * np.log2(share), 0.0) @ ones
    return bits


def shares(counts: np.ndarray) -> np.ndarray:
    """Give the shares of classes, along the last axis; nothing of nothing."""
    total = counts @ np.ones(counts.shape[-1])
    return np.asarray(counts / np.where(total > 0, total, 1.0)[..., None])


def information_gain(sides: np.ndarray, criterion: str = "entropy") -> float:
    """Give what a question is worth that leads to `sides`, two or more, with so much weight in each class.

    Parameters
    ----------
    sides : array-like of shape (n_sides, n_classes)
        What each class weighs on each side.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="entropy"
        Which impurity it lowers; entropy in bits.

    Examples
    --------
    >>> round(information_gain([[20, 40], [20, 0]]), 7), information_gain([[30, 10], [10, 30]], "misclassification")
    (0.3112781, 0.25)
    """
    sides = np.asarray(sides, dtype=np.float64)
    weight = sides.sum(axis=-1)
    before = impurity(sides.sum(axis=0), criterion)
    return float(before - weight @ impurity(sides, criterion) / weight.sum())


@kernel(within=True)
def purity(kind: int, left: np.ndarray, whole: np.ndarray, before: float, after: float) -> float:
    """Give the purity of two sides: one with the sums `left`, the other with what is left of the `whole`."""
    if kind == SQUARES:
        rest = whole[0] - left[0]
        return left[0] * left[0] / before + rest * rest / after
    if kind == POISSON:
        # Of one side alone: two are the business of the function below.
        return left[0] * math.log(left[0] / before) if left[0] > 0.0 else -np.inf
    first = second = 0.0
    for k in range(len(whole)):
        here, there = left[k], whole[k] - left[k]
        if kind == GINI:
            first, second = first + here * here, second + there * there
        elif kind == ENTROPY:
            first += here * math.log(here) if here > 0.0 else 0.0
            second += there * math.log(there) if there > 0.0 else 0.0
        else:
            first, second = max(first, here), max(second, there)
    if kind == GINI:
        return first / before + second / after
    if kind == ENTROPY:
        return (first - before * math.log(before)) + (second - after * math.log(after))
    return first + second


def purities(kind: int, left: np.ndarray, whole: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Give the purity of many pairs of sides at once: `left` and `whole` have a row for each class, or one of sums of numbers."""
    return purities_of_one(kind, left, before) + purities_of_one(kind, whole - left, after)


def purities_of_one(kind: int, sums: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Give the purity of many sides: what each class weighs in them, or sums of numbers, and what they weigh in all."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind in (SQUARES, GINI):
            return np.asarray((sums * sums).sum(axis=0) / size)
        if kind == ERROR:
            return np.asarray(sums.max(axis=0))
        if kind == POISSON:
            return np.asarray(np.where(sums[0] > 0, sums[0] * np.log(sums[0] / size), -np.inf))
        logs = np.where(sums > 0, sums * np.log(np.where(sums > 0, sums, 1.0)), 0.0)
        return np.asarray(logs.sum(axis=0) - size * np.log(size))


@kernel(within=True)
def purity_of_two(kind: int, part: float, whole: float, before: float, after: float, best: float) -> float:
    """Give the purity of two sides of two classes, `part` of the second on the left; or of numbers, whose sum it is.

    It is worked out where it may be more than the `best` one, and is nothing otherwise: a quotient takes as long as all the rest.
    """
    rest = whole - part
    if kind == POISSON:
        if part <= 0.0 or rest <= 0.0:
            return -np.inf
        return part * math.log(part / before) + rest * math.log(rest / after)
    other, others = before - part, after - rest
    if kind == ERROR:
        return max(part, other) + max(rest, others)
    if kind == ENTROPY:
        sides = 0.0
        for amount in (part, other, rest, others):
            sides += amount * math.log(amount) if amount > 0.0 else 0.0
        return sides - before * math.log(before) - after * math.log(after)
    squares, beyond = part * part, rest * rest
    if kind == GINI:
        squares, beyond = squares + other * other, beyond + others * others
    top, bottom = squares * after + beyond * before, before * after
    return top / bottom if top > best * bottom * NEARLY else -np.inf
