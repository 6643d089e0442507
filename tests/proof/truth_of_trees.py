"""What is true of trees, in exact fractions: the judge of what they claim."""

from fractions import Fraction

import numpy as np


def questions(model, data):
    """By how much the best question of a node leaves its sides purer than the one asked, as a share of what purity can be.

    Sums are rounded to a grid of 2^-52 of them, once for each row, and a purity is a few operations on them.
    """
    kept = np.arange(len(data.table))[data.kept]
    weights = np.ones(len(data.table)) if data.weights is None else data.weights
    target = data.labels if hasattr(model, "classes_") else data.target
    rows = [(tuple(map(float, data.table[i])), target[i], Fraction(float(weights[i]))) for i in kept]
    nodes = model.tree_
    least = model.min_samples_leaf
    worst = 0.0
    members = {0: rows}
    for node in range(nodes.node_count):
        here = members.pop(node, [])
        if not here:
            return np.inf, 0.0
        best = max((found for found in _all(model, here, least)), default=None)
        j = nodes.feature[node]
        if j < 0:
            if best is not None and len({str(y) for _, y, _ in here}) > 1:
                return np.inf, 0.0  # a leaf that could have been split
            continue
        sides = (
            [row for row in here if row[0][j] <= nodes.threshold[node]],
            [row for row in here if row[0][j] > nodes.threshold[node]],
        )
        if best is None or not all(len(side) >= least for side in sides):
            return np.inf, 0.0
        most = _most(model, here)
        lost = best - _purity(model, here, sides)
        worst = max(worst, float(lost / most) if most else float(lost > 0))
        members[node + 1], members[int(nodes.children_right[node])] = sides
    return worst, (len(rows) + 32) * 2.0**-50


def stumps(model, data):
    """By how much a better question would leave the sides of a stump purer, or a weak error differs from what it is, at most.

    Weights are rounded once in each round, and sums as those of a tree.
    """
    kept = np.arange(len(data.table))[data.kept]
    label = data.labels[kept]
    weight = np.ones(len(kept)) if data.weights is None else np.asarray(data.weights, dtype=float)[kept]
    worst = 0.0
    for stump, say, error in zip(model.estimators_, model.estimator_weights_, model.estimator_errors_):
        here = [(tuple(map(float, data.table[i])), y, Fraction(float(w))) for i, y, w in zip(kept, label, weight)]
        j, cut = stump.tree_.feature[0], stump.tree_.threshold[0]
        sides = [row for row in here if row[0][j] <= cut], [row for row in here if row[0][j] > cut]
        if not all(sides):
            return np.inf, 0.0
        lost = max(_all(stump, here, 1)) - _purity(stump, here, sides)
        wrong = stump.predict(data.table[kept]) != label
        true = sum(w for (_, _, w), off in zip(here, wrong) if off) / _most(stump, here)
        worst = max(worst, float(lost / _most(stump, here)), abs(float(true - Fraction(float(error)))))
        weight = np.where(wrong, weight, weight * np.exp(-say))
    return worst, (len(kept) + 64) * 2.0**-50


def _all(model, here, least):
    """Give the purity of every question there is."""
    for j in range(len(here[0][0])):
        for value in sorted({row[0][j] for row in here})[:-1]:
            sides = [row for row in here if row[0][j] <= value], [row for row in here if row[0][j] > value]
            if all(len(side) >= least for side in sides):
                yield _purity(model, here, sides)


def _sums(side):
    totals = {}
    for _, y, weight in side:
        totals[y] = totals.get(y, 0) + weight
    return totals.values()


def _middle(here):
    numbers = [Fraction(float(y)) for _, y, _ in here]
    return (min(numbers) + max(numbers)) / 2


def _purity(model, here, sides):
    if not hasattr(model, "classes_"):
        middle = _middle(here)
        return sum(
            sum(w * (Fraction(float(y)) - middle) for _, y, w in side) ** 2 / sum(w for _, _, w in side)
            for side in sides
        )
    if model.criterion == "misclassification":
        return sum(max(_sums(side)) for side in sides)
    return sum(sum(c * c for c in _sums(side)) / sum(_sums(side)) for side in sides)


def _most(model, here):
    if hasattr(model, "classes_"):
        return sum(w for _, _, w in here)
    middle = _middle(here)
    return sum(w * (Fraction(float(y)) - middle) ** 2 for _, y, w in here)
