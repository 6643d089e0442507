"""What is drawn by lot: the rows of a tree, and the columns of a node.

Every draw is keyed by the seed, the number of the tree, and the way from its root to the node; rows are drawn from an order that follows
from what is in them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from qed.base.random import mixed
from qed.trees.nodes import Nodes

RIGHT = np.uint64(0xD1B54A32D192ED03)
# Copies of rows that are drawn from one by one.
MOST_COPIES = 1 << 26


class Urn:
    """The rows to be drawn from, in an order that follows from their bins and targets: neither the order they came in nor copies matter."""

    def __init__(self, codes: np.ndarray, target: np.ndarray, weight: np.ndarray | None) -> None:
        lots = mixed(target.astype(np.float64).view(np.uint64))
        for column in codes:
            lots = mixed(lots ^ column)
        self.order = np.argsort(lots, kind="stable")
        self.weight = np.ones(len(target)) if weight is None else weight[self.order]
        self.ends, self.equal = np.cumsum(self.weight), weight is None
        total = float(self.ends[-1])
        # Whole weights are rows that are there so often.
        whole = total <= MOST_COPIES and bool((self.weight == np.floor(self.weight)).all())
        self.copies = round(total) if whole else len(target)
        self.unit = total / self.copies  # what a row weighs that was drawn once

    def draw(self, lot: np.uint64, share: float) -> tuple[np.ndarray, np.ndarray]:
        """Draw a share of as many rows as there are, each copy as likely as any other; give their places in order, and what they weigh."""
        count = max(1, round(share * self.copies))
        lots = mixed(np.arange(count, dtype=np.uint64) + lot)
        at = (lots >> np.uint64(11)) * 2.0**-53 * self.ends[-1]
        place = at.astype(np.intp) if self.equal else np.searchsorted(self.ends, at, side="right")
        np.minimum(place, len(self.order) - 1, out=place)
        times = np.bincount(place, minlength=len(self.order))
        found = np.flatnonzero(times)
        return found, times[found] * self.unit

    def all(self) -> tuple[np.ndarray, np.ndarray]:
        """Give the places of all rows, and what they weigh."""
        return np.arange(len(self.order)), self.weight


def lot_of(seed: int, tree: int) -> np.uint64:
    """Give the number that the lots of a tree begin with."""
    first = mixed(np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64))
    return np.uint64(mixed(first ^ np.uint64(tree))[0])


def lots_of_nodes(nodes: Nodes, first: np.uint64) -> np.ndarray:
    """Give the number that the lots of each node begin with, on the way from the root."""
    lots = np.full(nodes.node_count, first, dtype=np.uint64)
    for level in nodes.levels:
        asking = level[~nodes.is_leaf[level]]
        lots[asking + 1] = mixed(~lots[asking])
        lots[nodes.children_right[asking]] = mixed(lots[asking] ^ RIGHT)
    return lots


def columns_of(lot: np.uint64, p: int) -> Iterator[tuple[int, np.uint64]]:
    """Give the columns in the order in which a node looks at them, and the lot of each."""
    columns, own = np.arange(p), np.array([lot], dtype=np.uint64)
    for t in range(p):
        own = mixed(own)
        other = t + int(own[0] % np.uint64(p - t))
        columns[t], columns[other] = columns[other], columns[t]
        yield int(columns[t]), mixed(own ^ RIGHT)[0]
