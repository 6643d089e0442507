"""The loops that hand rows on: to the children of a node, and in the end to the leaves, whose sums are then taken."""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.base.threads.gate import meet

# What each member knows of the nodes: their rows, level, place among the histograms and sums; and the leaves there are.
FIRST, LAST, DEPTH, SLOT, TOTAL, SPREAD, LEAVES = range(7)


@kernel(within=True)
def divide(
    gate: np.ndarray,
    member: int,
    members: int,
    codes: np.ndarray,
    tree: np.ndarray,
    sides: np.ndarray,
    node: int,
    rows: np.ndarray,
    spare: np.ndarray,
    shared: np.ndarray,
    state: np.ndarray,
) -> bool:
    """Bring the rows of a node that go left to the front, all in the order they had; False where a member failed."""
    begin, goes_left = state[FIRST, node], sides[node]
    size = state[LAST, node] - begin
    start, stop = begin + size * member // members, begin + size * (member + 1) // members
    front, back, own = start, start, codes[tree[node, 0]]
    # Places without a sign are not taken for ones that are counted from the end.
    for q in range(start, stop):
        i = rows[np.uint64(q)]
        goes = goes_left[own[np.uint64(i)]]
        # Both are written, and one of them stays.
        spare[0, np.uint64(front)] = i
        spare[1, np.uint64(back)] = i
        front += goes
        back += 1 - goes
    shared[member, 0] = front - start
    if not meet(gate, members):
        return False
    lefts, before = np.int64(0), np.int64(0)
    for other in range(members):
        before += shared[other, 0] if other < member else 0
        lefts += shared[other, 0]
    for q in range(start, front):
        rows[np.uint64(begin + before + q - start)] = spare[0, np.uint64(q)]
    for q in range(start, back):
        rows[np.uint64(lefts - before + q)] = spare[1, np.uint64(q)]
    state[LAST, tree[node, 3]] = begin + lefts
    return meet(gate, members)


@kernel(within=True)
def describe(
    gate: np.ndarray,
    member: int,
    members: int,
    state: np.ndarray,
    n_leaves: int,
    rows: np.ndarray,
    slope: np.ndarray,
    curvature: np.ndarray,
    weight: np.ndarray,
    parts: np.ndarray,
    sums: np.ndarray,
    leaf: np.ndarray,
) -> None:
    """Tell the rows which leaf is theirs, and add up slopes, curvatures, weights and rows of each leaf.

    All rows are gone through in their order, in parts that do not depend on the members; those not used have a leaf below zero.
    """
    for q in range(n_leaves):
        node = state[LEAVES, q]
        begin, size = state[FIRST, node], state[LAST, node] - state[FIRST, node]
        for k in range(begin + size * member // members, begin + size * (member + 1) // members):
            leaf[np.uint64(rows[np.uint64(k)])] = node
    if not meet(gate, members):
        return
    n, size = len(leaf), -(-len(leaf) // len(parts))
    for part in range(member, len(parts), members):
        own = parts[part]
        last = (part + 1) * size
        for i in range(part * size, last if last < n else n):
            row = np.uint64(i)
            if leaf[row] >= 0:
                home, w = np.uint64(leaf[row]), weight[row] if len(weight) else 1.0
                own[home, 0] += w * slope[row]
                own[home, 1] += w * curvature[row]
                own[home, 2] += w
    if not meet(gate, members) or member > 0:
        return
    for q in range(n_leaves):
        node = state[LEAVES, q]
        sums[node, 3] = state[LAST, node] - state[FIRST, node]
        for part in range(len(parts)):
            for k in range(3):
                sums[node, k] += parts[part, node, k]
