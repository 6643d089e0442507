"""Following codes through a tree: a question about values, at the edge of a bin, is one about codes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from qed.base.compile import kernel
from qed.base.engine import work
from qed.trees.bins import MISSING, Bins
from qed.trees.forests.growing import DrawnTree
from qed.trees.nodes import FEW, PART, Nodes, skeleton


def questions_of(grown: DrawnTree, edges: np.ndarray) -> Nodes:
    """Give the nodes of a tree that was grown on codes, before their rows were looked at."""
    # Beyond the last bin with an edge there are missing values alone.
    edges = np.hstack([edges, np.full((len(edges), 1), np.inf)])
    asks = grown.feature >= 0 if grown.line is None else (grown.feature >= 0) & (grown.line < 0)
    threshold = np.where(asks, edges[np.maximum(grown.feature, 0), np.where(asks, grown.place, 0)], 0.0)
    nodes = skeleton(grown.feature, threshold, grown.right, grown.missing_left)
    return nodes if grown.line is None else replace(nodes, level_set=grown.line, sets=grown.sets)


def places_of(nodes: Nodes, bins: Bins) -> np.ndarray:
    """Give the last bin on the left of each node; MISSING where its threshold is no edge.

    Where missing values alone go right, it is the last bin that there can be; where categories are asked about, it says nothing.
    """
    found = np.full(nodes.node_count, MISSING, dtype=np.intp)
    by_number = ~nodes.is_leaf if nodes.level_set is None else ~nodes.is_leaf & (nodes.level_set < 0)
    found[~nodes.is_leaf & ~by_number] = 0
    for j in np.unique(nodes.feature[by_number]):
        here, edges = np.flatnonzero((nodes.feature == j) & by_number), np.append(bins.edges[j], np.inf)
        at = np.searchsorted(edges, nodes.threshold[here])
        found[here] = np.where(edges[np.minimum(at, MISSING)] == nodes.threshold[here], at, MISSING)
        found[here[np.isposinf(nodes.threshold[here])]] = MISSING - 1
    return found


def leaves_of(nodes: Nodes, bins: Bins, codes: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Give the number of the leaf of some rows, whose codes have the shape (p, n)."""
    leaf = np.zeros(len(rows), dtype=np.intp)
    walk = _level_by_level if len(rows) * nodes.max_depth <= FEW else descend_codes
    by_number = nodes.feature, places_of(nodes, bins), nodes.children_right, nodes.missing_go_to_left
    asked = (*by_number, nodes.level_set, nodes.sets)
    parts = (slice(start, start + PART) for start in range(0, len(rows), PART))
    for _ in work(partial(walk, codes, rows[part], *asked, leaf[part]) for part in parts):
        pass
    return leaf


def _level_by_level(
    codes: np.ndarray,
    rows: np.ndarray,
    feature: np.ndarray,
    place: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
    line: np.ndarray | None,
    sets: np.ndarray | None,
    leaf: np.ndarray,
) -> None:
    """Follow the codes of few rows, for which nothing is worth compiling."""
    while (going := np.flatnonzero(feature[leaf] >= 0)).size:
        node = leaf[going]
        code = codes[feature[node], rows[going]]
        goes = np.where(code == MISSING, missing_left[node], code <= place[node])
        if line is not None and sets is not None and len(sets):
            goes = np.where(line[node] >= 0, sets[np.maximum(line[node], 0), code] == 0, goes)
        leaf[going] = np.where(goes, node + 1, right[node])


@kernel
def descend_codes(
    codes: np.ndarray,
    rows: np.ndarray,
    feature: np.ndarray,
    place: np.ndarray,
    right: np.ndarray,
    missing_left: np.ndarray,
    line: np.ndarray | None,
    sets: np.ndarray | None,
    leaf: np.ndarray,
) -> None:
    """Follow the codes of every row to its leaf; without a `line` no node asks about categories."""
    for r in range(len(rows)):
        node, i = 0, rows[r]
        while feature[node] >= 0:
            code = codes[feature[node], i]
            if line is not None and sets is not None and line[node] >= 0:
                node = node + 1 if sets[line[node], code] == 0 else right[node]
                continue
            if code <= place[node] if code != MISSING else missing_left[node]:
                node += 1
            else:
                node = right[node]
        leaf[r] = node
