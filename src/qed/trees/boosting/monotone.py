r"""Columns in which a model may only rise, or only fall.

A question about such a column is asked only where the values of its sides, :math:`-G / (H + \lambda)`, stand in the right order. Their
middle then bounds both sides, and all that grows below them: whatever is on the left of the question stays on its side of the middle. So
the left of every such question lies below all of its right (or above), in every tree, and a sum of trees that rise rises, rounded or not.
A value :math:`v` that its bounds do not let go to the minimum is worth :math:`-(2 G v + (H + \lambda) v^2)`, which is
:math:`G^2 / (H + \lambda)` where they do.

Where leaves go to quantiles, bounds while growing are those of slopes and curvatures, and leaves are bounded again by the means of the
quantiles on either side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from qed.base.compile import kernel
from qed.base.errors import InputError
from qed.base.sources.rows import Rows
from qed.trees.boosting.forest import Forest


class Fence(NamedTuple):
    """What values may be: between two bounds, and on the two sides of a question in an order."""

    low: np.ndarray
    high: np.ndarray
    direction: int = 0  # 1 where the right side may not be lower, -1 where it may not be higher
    margin: float = 0.0  # by how much of their sizes the sides have to differ


def is_of_directions(value: Any) -> bool:
    """Say whether a value can tell in which direction columns go."""
    if value is None:
        return True
    given = np.asarray(list(value.values()) if isinstance(value, Mapping) else value)
    return given.ndim == 1 and (
        not given.size or (given.dtype.kind in "iufb" and bool(np.isin(given, (-1, 0, 1)).all()))
    )


def directions_of(asked: Any, rows: Rows, is_categorical: np.ndarray | None) -> np.ndarray | None:
    """Give the direction of each column, by number or by name; None where there is none.

    >>> from qed.base.sources.open import rows
    >>> directions_of([0, -1], rows([[0.0, 1.0]]), None), directions_of([0, 0], rows([[0.0, 1.0]]), None)
    (array([ 0, -1], dtype=int8), None)
    """
    if asked is None:
        return None
    p, names = rows.n_features, rows.feature_names
    found = np.zeros(p, dtype=np.int8)
    if isinstance(asked, Mapping):
        lost = [name for name in asked if not names or name not in names]
        if names is None or lost:
            why = (
                f"names {lost[0]!r}, but there is no column of that name"
                if lost
                else "is a dict, but no column has a name"
            )
            raise InputError(f"monotonic_cst {why}.")
        for name, direction in asked.items():
            found[names.index(name)] = direction
    elif len(asked) != p:
        raise InputError(f"monotonic_cst has {len(asked)} entries, but there are {p} columns.")
    else:
        found[:] = asked
    both = np.flatnonzero(found) if is_categorical is None else np.flatnonzero((found != 0) & is_categorical)
    if is_categorical is not None and len(both):
        raise InputError(
            f"Column {rows.name_of(int(both[0]))} holds categories, which have no order: take it out of monotonic_cst, or out of "
            "categorical_features."
        )
    return found if found.any() else None


def bounded(slope: np.ndarray, width: np.ndarray, fence: Fence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the value of rows with these sums between its bounds, what it is worth, and the size of what that is a difference of."""
    own = -slope / width
    value = np.clip(own, fence.low, fence.high)
    plain = slope * slope / width
    bent = 2.0 * slope * value, width * value * value
    inside = own == value
    score = np.where(inside, plain, -(bent[0] + bent[1]))
    return value, score, np.where(inside, plain, np.abs(bent[0]) + bent[1])


def in_order(left: np.ndarray, right: np.ndarray, fence: Fence) -> np.ndarray:
    """Say whether the values of two sides stand in the right order."""
    if fence.direction == 0:
        return np.ones(np.broadcast_shapes(left.shape, right.shape), dtype=bool)
    return np.asarray(fence.direction * (right - left) >= fence.margin * (np.abs(left) + np.abs(right)))


def handed_down(
    own: np.ndarray, left: float, right: float, direction: int
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Give the bounds of both children of a node from its own, and from the values of the children.

    >>> handed_down(np.array([-np.inf, 3.0]), 1.0, 2.0, 1)
    ((-inf, 1.5), (1.5, 3.0))
    """
    low, high = float(own[0]), float(own[1])
    if direction == 0:
        return (low, high), (low, high)
    middle = min(max(left, low), high) / 2 + min(max(right, low), high) / 2
    return ((low, middle), (middle, high)) if direction > 0 else ((middle, high), (low, middle))


def limits_of(
    feature: np.ndarray, left: np.ndarray, right: np.ndarray, directions: np.ndarray, value: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give the bounds (nodes, 2) of all nodes of a tree, whose children come after them, from their values.

    Also, for each of the bounds, the node whose question set it; -1 where there is none.
    """
    found, by = np.tile([-np.inf, np.inf], (len(feature), 1)), np.full((len(feature), 2), -1)
    for node in np.flatnonzero(feature >= 0).tolist():
        children, direction = [int(left[node]), int(right[node])], int(directions[feature[node]])
        found[children] = handed_down(found[node], float(value[children[0]]), float(value[children[1]]), direction)
        by[children] = by[node]
        if direction != 0:
            by[children[0], int(direction > 0)] = by[children[1], int(direction < 0)] = node
    return found, by


def loose_by(by: np.ndarray, right: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """Give how far bounds (nodes, 2) may be off, from the nodes whose questions set them and from what the values of nodes may be."""
    found = np.zeros(by.shape)
    for node, side in np.argwhere(by >= 0).tolist():
        asked = int(by[node, side])
        # Bounds come from nodes above, which are done.
        found[node, side] = unit[asked + 1] + unit[right[asked]] + found[asked].max()
    return found


def mean_values(
    feature: np.ndarray, left: np.ndarray, right: np.ndarray, value: np.ndarray, weight: np.ndarray
) -> np.ndarray:
    """Give the mean of the values of the leaves below each node, whose children come after it, by weight."""
    found, heavy = value.copy(), np.where(feature >= 0, 0.0, weight)
    for node in np.flatnonzero(feature >= 0)[::-1].tolist():
        first, second = left[node], right[node]
        heavy[node] = heavy[first] + heavy[second]
        found[node] = found[first] + heavy[second] / heavy[node] * (found[second] - found[first])
    return found


def wrong_way(forest: Forest, directions: np.ndarray) -> float:
    """Give the most by which a value on one side of a question goes against the direction of its column; at most zero where none does."""
    low, high, worst = forest.value.copy(), forest.value.copy(), 0.0
    start = np.repeat(forest.starts[:-1], np.diff(forest.starts))
    for node in np.flatnonzero(forest.feature >= 0)[::-1].tolist():
        left, right = node + 1, int(start[node] + forest.children_right[node])
        direction = directions[forest.feature[node]]
        if direction != 0:
            above, below = (left, right) if direction > 0 else (right, left)
            worst = max(worst, float(high[above] - low[below]))
        low[node], high[node] = min(low[left], low[right]), max(high[left], high[right])
    return worst


@kernel(within=True)
def bounded_score(slope: float, width: float, low: float, high: float) -> tuple[float, float, float]:
    """Give value, worth and size as `bounded` does."""
    own = -slope / width
    value = min(max(own, low), high)
    if value == own:
        score = slope * slope / width
        return value, score, score
    first, second = 2.0 * slope * value, width * value * value
    return value, -(first + second), abs(first) + second


@kernel(within=True)
def fenced(
    here: float, before: float, there: float, after: float, low: float, high: float, direction: int
) -> tuple[float, float]:
    """Give what the sides of a question are worth, minus infinity where they stand in the wrong order; and the size of that."""
    left, first, size = bounded_score(here, before, low, high)
    right, second, other = bounded_score(there, after, low, high)
    if (direction > 0 and left > right) or (direction < 0 and left < right):
        return -np.inf, size + other
    return first + second, size + other


@kernel(within=True)
def hand_down(limits: np.ndarray, node: int, child: int, left: float, right: float, direction: int) -> None:
    """Set the bounds of both children of a node, which stand side by side, from the values of the children."""
    low, high = limits[0, node], limits[1, node]
    for k in range(2):
        limits[0, child + k] = low
        limits[1, child + k] = high
    if direction != 0:
        middle = min(max(left, low), high) / 2 + min(max(right, low), high) / 2
        limits[1 if direction > 0 else 0, child] = middle
        limits[0 if direction > 0 else 1, child + 1] = middle
