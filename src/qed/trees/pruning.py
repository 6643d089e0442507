r"""Pruning: smaller trees that are contained in a grown one.

The cost-complexity of a tree is the impurity of its leaves, weighted by their share of the rows, plus :math:`\alpha` for every leaf. As
:math:`\alpha` grows, the best subtree loses one weakest node after another: that whose leaves save the least impurity each,

.. math:: g(t) = \frac{R(t) - \sum_{\ell \in \text{leaves below } t} R(\ell)}{|\text{leaves below } t| - 1}.

So one grown tree holds the best tree of every :math:`\alpha`. Rows that were held out choose among its subtrees directly: from the leaves
up, a question goes that does not make fewer errors on them. It also holds the tree that grows best-first to a number of leaves: the
question of a node does not depend on when it is asked, so the order is found among the nodes that are there.

Breiman, Friedman, Olshen and Stone (1984), chapter 3.
"""

from __future__ import annotations

import heapq
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from qed.trees.nodes import Nodes


class Path(NamedTuple):
    """The sequence of best subtrees, as scikit-learn names its parts."""

    ccp_alphas: np.ndarray
    impurities: np.ndarray


def best_first(nodes: Nodes, leaves: int) -> Nodes:
    """Give the subtree with so many leaves, or all there are, in which the questions worth most were asked first.

    One with more branches than there is room for is passed over.
    """
    worth, children, ends = nodes.gains(), nodes.n_children, nodes.ends
    collapsed = ~nodes.is_leaf
    waiting = [] if nodes.is_leaf[0] else [(-worth[0], 0)]
    while waiting and leaves > 1:
        node = heapq.heappop(waiting)[1]
        if children[node] > leaves:
            continue
        leaves -= int(children[node]) - 1
        collapsed[node] = False
        child = node + 1
        for _ in range(children[node]):
            if not nodes.is_leaf[child]:
                heapq.heappush(waiting, (-worth[child], child))
            child = int(ends[child])
    return nodes.kept(collapsed)


def shallow(nodes: Nodes, depth: int) -> Nodes:
    """Give the tree with at most so many questions one after another."""
    collapsed = np.zeros(nodes.node_count, dtype=bool)
    if depth < len(nodes.levels):
        collapsed[nodes.levels[depth]] = True
    return nodes.kept(collapsed)


def no_worse_as_leaves(nodes: Nodes, errors: np.ndarray) -> np.ndarray:
    """Say which nodes are to be leaves such that the sum of the `errors` of all leaves is least, of equal ones the smaller tree.

    `errors` are what every node would cost as a leaf, for example on rows that were held out.
    """
    below = np.where(nodes.is_leaf, errors, 0.0)
    collapsed = np.zeros(nodes.node_count, dtype=bool)
    for level in reversed(nodes.levels):
        asking = level[~nodes.is_leaf[level]]
        for parent, child in nodes.children(asking):
            below[parent] += below[child]
        split = below[asking]
        collapsed[asking] = errors[asking] <= split
        below[asking] = np.minimum(errors[asking], split)
    return collapsed


@lru_cache(maxsize=4)
def weakest_links(nodes: Nodes) -> tuple[np.ndarray, np.ndarray]:
    """Give for each node the alpha from which on it is a leaf, and the impurity that the tree then has; infinity for leaves.

    Nodes are collapsed in the order of :math:`g`, the lower first where two are alike; what lies below a collapsed node goes with it.
    Many prices are asked of one tree in turn, so what was found is kept for a while.
    """
    count = nodes.node_count
    cost = nodes.weighted_n_node_samples * nodes.impurity / nodes.weighted_n_node_samples[0]
    below, leaves = np.where(nodes.is_leaf, cost, 0.0), nodes.is_leaf.astype(np.intp)
    parent = np.full(count, -1, dtype=np.intp)
    for level in reversed(nodes.levels):
        asking = level[~nodes.is_leaf[level]]
        for upper, child in nodes.children(asking):
            below[upper], leaves[upper], parent[child] = (
                below[upper] + below[child],
                leaves[upper] + leaves[child],
                upper,
            )
    strength = np.full(count, np.inf)
    asking = np.flatnonzero(~nodes.is_leaf)
    strength[asking] = (cost[asking] - below[asking]) / (leaves[asking] - 1)
    waiting = [(strength[node], -node) for node in asking]
    heapq.heapify(waiting)
    alpha, total = np.full(count, np.inf), np.full(count, np.nan)
    gone, reached, ends = np.zeros(count, dtype=bool), 0.0, nodes.ends
    while waiting:
        value, node = heapq.heappop(waiting)
        node = -node
        if gone[node] or value != strength[node]:
            continue
        # Rounding may make a later link a trace weaker than an earlier one.
        reached = max(reached, value)
        gain, fewer = cost[node] - below[node], leaves[node] - 1
        alpha[node] = reached
        gone[node : ends[node]] = True
        above = node
        while above >= 0:
            below[above], leaves[above] = below[above] + gain, leaves[above] - fewer
            if above != node:
                strength[above] = (cost[above] - below[above]) / (leaves[above] - 1)
                heapq.heappush(waiting, (strength[above], -above))
            above = parent[above]
        total[node] = below[0]
    return alpha, total


def prune(nodes: Nodes, alpha: float) -> Nodes:
    """Give the best subtree for a price of `alpha` per leaf."""
    return nodes.kept(weakest_links(nodes)[0] <= alpha)


def pruning_path(nodes: Nodes) -> Path:
    """Give all values of alpha at which the best subtree changes, and the impurity that it has from there on."""
    alpha, total = weakest_links(nodes)
    chosen = np.flatnonzero(np.isfinite(alpha))
    order = chosen[np.lexsort((total[chosen], alpha[chosen]))]
    cost = nodes.weighted_n_node_samples * nodes.impurity / nodes.weighted_n_node_samples[0]
    alphas = np.concatenate([[0.0], alpha[order]])
    impurities = np.concatenate([[cost[nodes.is_leaf].sum()], total[order]])
    # Of nodes that go at the same price, the tree without all of them counts.
    last = np.append(alphas[1:] != alphas[:-1], True)
    return Path(alphas[last], impurities[last])
