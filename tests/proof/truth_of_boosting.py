"""What is true of boosting, in forty digits: losses at the sums of its trees, and how far its leaves go."""

import mpmath as mp
import numpy as np

DIGITS = 40
UNIT = mp.mpf(2) ** -52


def rounds(model, data):
    """By how much losses told differ from what they are or rise, and leaves from their steps, in units of what these are made of."""
    with mp.workdps(DIGITS):
        kept = np.arange(len(data.table))[data.kept]
        weights = [mp.mpf(1)] * len(kept) if data.weights is None else [mp.mpf(float(w)) for w in data.weights[kept]]
        two = hasattr(model, "classes_")
        target = [int(data.labels[i] == model.classes_[1]) if two else mp.mpf(float(data.target[i])) for i in kept]
        rows = [tuple(map(float, data.table[i])) for i in kept]
        measure = _logistic if two else _squared
        scores = [mp.mpf(float(model.baseline_[0]))] * len(rows)
        losses, worst = [_mean(measure, scores, target, weights)], mp.mpf(0)
        slack = [_rounding(measure, scores, target, weights)]
        for number in range(model.forest_.n_trees):
            nodes = model.forest_.tree(number)
            leaves = [_leaf(nodes, row) for row in rows]
            worst = max(worst, _astray(model, nodes, leaves, scores, target, weights, measure))
            scores = [score + mp.mpf(float(nodes.value[leaf, 0])) for score, leaf in zip(scores, leaves)]
            losses.append(_mean(measure, scores, target, weights))
            slack.append(_rounding(measure, scores, target, weights))
        told = [mp.mpf(float(value)) for value in model.train_score_]
        for mine, theirs, unit in zip(losses, told, slack, strict=True):
            worst = max(worst, abs(mine - theirs) / unit)
        for before, after, unit in zip(losses[:-1], losses[1:], slack[:-1]):
            worst = max(worst, (after - before) / unit)
        return float(worst), float(64 * (len(rows) + 8) * UNIT)


def _leaf(nodes, row):
    node = 0
    while (column := nodes.feature[node]) >= 0:
        left = nodes.missing_go_to_left[node] if np.isnan(row[column]) else row[column] <= nodes.threshold[node]
        node = node + 1 if left else int(nodes.children_right[node])
    return node


def _squared(score, y):
    return (score - y) ** 2 / 2, score - y, mp.mpf(1)


def _logistic(score, y):
    chance = 1 / (1 + mp.exp(-score))
    return mp.log(1 + mp.exp(score)) - y * score, chance - y, chance * (1 - chance)


def _mean(measure, scores, target, weights):
    total = mp.fsum(w * measure(score, y)[0] for score, y, w in zip(scores, target, weights))
    return total / mp.fsum(weights)


def _rounding(measure, scores, target, weights):
    """Give what a rounding of every score and target can do to the mean loss, in units of it, or of the least number there is.

    Weights are on a grid of the weight of all rows.
    """
    total, mass = mp.mpf(0), mp.fsum(weights)
    for score, y, w in zip(scores, target, weights):
        loss, slope, _ = measure(score, y)
        total += mass * loss + w * (abs(slope) * (abs(score) + abs(y)) + UNIT * (abs(score) + abs(y)) ** 2)
    return total / mass + mp.mpf(2) ** -1022


def _astray(model, nodes, leaves, scores, target, weights, measure):
    """Give how far a leaf's value is from its whole step, or from a half, a quarter ... of it, in units of what the step is made of.

    Weights are on a grid of the weight of all rows.
    """
    worst, total = mp.mpf(0), mp.fsum(weights)
    for leaf in set(leaves):
        slope = curvature = size = bend = mp.mpf(0)
        for place, score, y, w in zip(leaves, scores, target, weights):
            if place == leaf:
                _, g, h = measure(score, y)
                slope, curvature = slope + w * g, curvature + w * h
                size, bend = size + w * (abs(score) + abs(y)) + total * abs(g), bend + total * h
        value, whole = mp.mpf(float(nodes.value[leaf, 0])), model.learning_rate / (curvature + model.l2_regularization)
        step = -whole * slope
        unit = whole * size + abs(step) * bend / (curvature + model.l2_regularization) + mp.mpf(2) ** -1022
        apart = min(abs(value - step / 2**times) for times in range(60))
        worst = max(worst, apart / unit)
    return worst
