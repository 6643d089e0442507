r"""What the numbers in a node are like: their mean or median, and how far they lie from it.

.. math:: \overline{(y - \bar y)^2}, \qquad \overline{|y - \operatorname{med} y|}, \qquad \overline{y \log (y / \bar y)},

all weighted. The median is any number with no more than half of the weight on either side: where there is a stretch of them, its middle.
"""

from __future__ import annotations

from itertools import islice

import numpy as np

from qed.trees.growing import on_grid
from qed.trees.impurity import ABSOLUTE, POISSON, SQUARES
from qed.trees.nodes import Nodes


def means(
    nodes: Nodes, leaf: np.ndarray, number: np.ndarray, weight: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and mean squared distance from it of the numbers of rows in every node, times `size`; of equal ones exactly."""
    # Means are differences from a number of their node: where all are far from zero, the digits of what lies between them stay.
    one, mean, scatter = _spread(nodes.node_count, leaf, number, weight)
    total = nodes.sums(leaf, weight)
    for level in reversed(nodes.levels):
        asking = level[~nodes.is_leaf[level]]
        for part in (one, mean, scatter):
            part[asking] = part[asking + 1]
        weighed = total.copy()
        weighed[asking] = total[asking + 1]
        for parent, child in islice(nodes.children(asking), 1, None):
            before, weighed[parent] = weighed[parent], weighed[parent] + total[child]
            share = total[child] / weighed[parent]
            gap = (one[child] - one[parent]) + (mean[child] - mean[parent])
            mean[parent] += share * gap
            scatter[parent] += scatter[child] + before * share * gap**2
    with np.errstate(over="ignore", under="ignore"):
        return ((one + mean) * size)[:, None], scatter / total * size * size


def deviances(
    nodes: Nodes, leaf: np.ndarray, number: np.ndarray, weight: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give the mean of the counts of every node, and half their mean Poisson deviance from it."""
    mean = means(nodes, leaf, number, weight, 1.0)[0][:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(number > 0, number * np.log(number / mean[leaf]), 0.0) + (mean[leaf] - number)
        far = nodes.sums(leaf, weight * np.maximum(own, 0.0))
        total, gained = nodes.sums(leaf, weight), np.zeros(nodes.node_count)
        # From the mean of a node, which is no less pure than its children: what lies between their means is added, level by level.
        for level in reversed(nodes.levels):
            for parent, child in nodes.children(level[~nodes.is_leaf[level]]):
                ratio = np.where(mean[child] > 0, mean[child] * np.log(mean[child] / mean[parent]), 0.0)
                gained[parent] += gained[child] + total[child] * np.maximum(ratio + (mean[parent] - mean[child]), 0.0)
    return (mean * size)[:, None], (far + gained) / total * size


def medians(
    nodes: Nodes, leaf: np.ndarray, number: np.ndarray, weight: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give the median of the numbers of every node, and their mean distance from it, level by level from rows in order."""
    median, far, exact = np.zeros(nodes.node_count), np.zeros(nodes.node_count), on_grid(weight, all_count=True)
    order = np.lexsort((number, leaf))
    in_order = leaf[order]
    for level in nodes.levels:
        first, last = np.searchsorted(in_order, level), np.searchsorted(in_order, nodes.ends[level])
        place = np.repeat(np.arange(len(level)), last - first)
        rows = order[np.arange(len(place)) - np.repeat(np.cumsum(last - first) - last, last - first)]
        rows = rows[np.lexsort((number[rows], place))]
        median[level] = _middles(number[rows], exact[rows], place, len(level))
        distance = weight[rows] * np.abs(number[rows] - median[level][place])
        far[level] = np.bincount(place, distance, len(level)) / np.bincount(place, weight[rows], len(level))
    with np.errstate(over="ignore", under="ignore"):
        return (median * size)[:, None], far * size


def _middles(y: np.ndarray, w: np.ndarray, place: np.ndarray, count: int) -> np.ndarray:
    """Give the weighted medians of stretches of numbers that ascend in each, from weights whose sums are exact."""
    sizes, total = np.bincount(place, minlength=count), np.bincount(place, w, count)
    starts = np.cumsum(sizes) - sizes
    below = np.cumsum(w)
    below -= (below - w)[np.minimum(starts, len(w) - 1)][place]
    at = starts + np.bincount(place, 2 * below < total[place], count).astype(np.intp)
    at = np.minimum(at, len(y) - 1)
    after = np.minimum(at + 1, len(y) - 1)
    return np.where(2 * below[at] == total, y[at] / 2 + y[after] / 2, y[at])


def _spread(count: int, leaf: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give one of the numbers in each leaf, by how much their mean differs from it, and their scatter; of equal ones nothing."""
    weight = np.bincount(leaf, w, count)
    one = np.zeros(count)
    one[leaf] = y
    apart = y - one[leaf]
    with np.errstate(invalid="ignore"):
        mean = np.where(weight > 0, np.bincount(leaf, w * apart, count) / weight, 0.0)
    return one, mean, np.bincount(leaf, w * (apart - mean[leaf]) ** 2, count)


def costs(nodes: Nodes, leaf: np.ndarray, y: np.ndarray, weight: np.ndarray, kind: int) -> np.ndarray:
    """Give what every node would cost as a leaf, on rows in these leaves: distances, or half of Poisson's deviance, added up."""
    found = np.zeros(nodes.node_count)
    for level in nodes.levels:
        above, inside = nodes.above(level, leaf)
        said, own = nodes.value[above, 0], np.maximum(y, 0.0)
        if kind == POISSON:
            with np.errstate(divide="ignore", invalid="ignore"):
                cost = np.where(own > 0, own * np.log(own / said), 0.0) - own + said
        else:
            cost = np.abs(y - said)
        found += np.bincount(above[inside], (weight * cost)[inside], nodes.node_count)
    return found


DESCRIBED = {SQUARES: means, POISSON: deviances, ABSOLUTE: medians}
