"""The loops that grow a tree on bins: all threads run `grow_together`, each over its own rows and columns, and meet at a gate.

A row is one whole number, slope times 2^32 plus curvature, both in units that :class:`qed.trees.boosting.growing.Grid` chooses such that no
sum leaves its half. So histograms are added and subtracted exactly, in any order, and rows stay in ascending order in every node: the tree
does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.base.threads.gate import meet

LOW = np.int64(0xFFFFFFFF)
# The share of the sides' scores that a gain has to exceed, for rounding not to ask a question.
LEAST_SHARE = 2.0**-40
GAIN, COLUMN, BIN, SIDE, SLOPE, CURVATURE = range(6)


@kernel
def grow_together(
    member: int,
    members: int,
    gate: np.ndarray,
    codes: np.ndarray,
    n_bins: np.ndarray,
    has_missing: np.ndarray,
    slope: np.ndarray,
    curvature: np.ndarray,
    weight: np.ndarray,
    is_whole: bool,
    to_grid: np.ndarray,
    most_leaves: int,
    most_levels: int,
    leaf_weight: float,
    leaf_curvature: float,
    penalty: float,
    allowed: np.ndarray,
    rows: np.ndarray,
    spare: np.ndarray,
    packed: np.ndarray,
    own: np.ndarray,
    histograms: np.ndarray,
    best: np.ndarray,
    shared: np.ndarray,
    tree: np.ndarray,
    gains: np.ndarray,
    sums: np.ndarray,
    leaf: np.ndarray,
) -> None:
    """Grow a tree, the question that is worth most first; nodes are numbered as they come, the children of a node together.

    `rows` holds the rows to be used in ascending order, and those of one node after those of another when all is done.
    """
    n, p = len(rows), codes.shape[1]
    low, high = pack(
        slope, curvature, weight, is_whole, to_grid, rows, n * member // members, n * (member + 1) // members, packed
    )
    shared[member, 0], shared[member, 1] = low, high
    if not meet(gate, members):
        return
    for other in range(members):
        low, high = min(low, shared[other, 0]), max(high, shared[other, 1])
    # Curvature below which a side is too light for certain, and from which on it is heavy enough.
    bounds = np.empty(2)
    bounds[0], bounds[1] = leaf_weight * low * (1.0 - 1e-9), leaf_weight * high * (1.0 + 1e-9)
    first_column, last_column = p * member // members, p * (member + 1) // members
    counts, most_nodes = np.empty(256), 2 * most_leaves - 1
    first, last, depth = np.zeros(most_nodes, np.int64), np.zeros(most_nodes, np.int64), np.zeros(most_nodes, np.int64)
    slot, leaves = np.zeros(most_nodes, np.int64), np.zeros(most_leaves, np.int64)
    total, spread = np.zeros(most_nodes, np.int64), np.zeros(most_nodes, np.int64)
    last[0], count, n_leaves = n, 1, 1
    add_up(codes, packed, rows, 0, n, member, members, own)
    if not meet(gate, members):
        return
    for q in range(first_column << 8, last_column << 8):
        amount = np.int64(0)
        for other in range(members):
            amount += own[other, q]
        histograms[0, q] = amount
    if not meet(gate, members):
        return
    amount = np.int64(0)
    for q in range(256):
        amount += histograms[0, q]
    total[0], spread[0] = amount >> 32, amount & LOW
    search(
        *(
            histograms[0],
            first_column,
            last_column,
            n_bins,
            has_missing,
            allowed[0],
            total[0],
            spread[0],
            to_grid,
            penalty,
        ),
        *(leaf_curvature, leaf_weight, bounds, codes, rows, 0, n, weight, counts, best[member, 0]),
    )
    if not meet(gate, members):
        return
    while n_leaves < most_leaves:
        gain, node, chosen = 0.0, -1, 0
        for q in range(n_leaves):
            for other in range(members):
                if best[other, leaves[q], GAIN] > gain:
                    gain, node, chosen = best[other, leaves[q], GAIN], leaves[q], other
        if node < 0:
            break
        found = best[chosen, node]
        column, cut, side = np.int64(found[COLUMN]), np.int64(found[BIN]), found[SIDE] > 0.0
        begin, end = first[node], last[node]
        middle = divide(gate, member, members, codes, column, cut, side, rows, spare, shared, begin, end)
        if middle < 0:
            return
        left, right = count, count + 1
        if member == 0:
            tree[node, 0], tree[node, 1], tree[node, 2], tree[node, 3] = column, cut, np.int64(side), left
            gains[node] = gain
        total[left], spread[left] = np.int64(found[SLOPE]), np.int64(found[CURVATURE])
        total[right], spread[right] = total[node] - total[left], spread[node] - spread[left]
        first[left], last[left], first[right], last[right] = begin, middle, middle, end
        depth[left] = depth[right] = depth[node] + 1
        slot[left], slot[right] = slot[node], n_leaves
        for q in range(n_leaves):
            if leaves[q] == node:
                leaves[q] = left
        leaves[n_leaves] = right
        n_leaves, count = n_leaves + 1, count + 2
        for child in (left, right):
            best[member, child, GAIN] = 0.0
        if n_leaves < most_leaves and depth[left] < most_levels:
            small = left if 2 * middle <= begin + end else right
            add_up(codes, packed, rows, first[small], last[small], member, members, own)
            if not meet(gate, members):
                return
            less, more = histograms[slot[left]], histograms[slot[right]]
            for q in range(first_column << 8, last_column << 8):
                amount = np.int64(0)
                for other in range(members):
                    amount += own[other, q]
                rest = less[q] - amount
                less[q] = amount if small == left else rest
                more[q] = rest if small == left else amount
            for child in (left, right):
                search(
                    *(
                        histograms[slot[child]],
                        first_column,
                        last_column,
                        n_bins,
                        has_missing,
                        allowed[child],
                        total[child],
                    ),
                    *(spread[child], to_grid, penalty, leaf_curvature, leaf_weight, bounds, codes, rows, first[child]),
                    *(last[child], weight, counts, best[member, child]),
                )
        if not meet(gate, members):
            return
    describe(member, members, leaves, n_leaves, first, last, rows, slope, curvature, weight, sums, leaf)
    if member == 0:
        shared[0, 2] = np.float64(count)


@kernel(within=True)
def pack(
    slope: np.ndarray,
    curvature: np.ndarray,
    weight: np.ndarray,
    is_whole: bool,
    to_grid: np.ndarray,
    rows: np.ndarray,
    begin: int,
    end: int,
    packed: np.ndarray,
) -> tuple[float, float]:
    """Bring some rows to the grid; give the least and the largest curvature of a weight of one."""
    low, high = np.inf, 0.0
    for q in range(begin, end):
        i = rows[q]
        if len(weight) == 0:
            first, second, w = np.rint(slope[i] * to_grid[0]), np.rint(curvature[i] * to_grid[1]), 1.0
        elif is_whole:
            # As often as the row stands there.
            w = weight[i]
            first, second = w * np.rint(slope[i] * to_grid[0]), w * np.rint(curvature[i] * to_grid[1])
        else:
            w = weight[i]
            first, second = np.rint(w * slope[i] * to_grid[0]), np.rint(w * curvature[i] * to_grid[1])
        packed[i] = (np.int64(first) << 32) + np.int64(second)
        low, high = min(low, second / w), max(high, second / w)
    return low, high


@kernel(within=True)
def add_up(
    codes: np.ndarray,
    packed: np.ndarray,
    rows: np.ndarray,
    begin: int,
    end: int,
    member: int,
    members: int,
    own: np.ndarray,
) -> None:
    """Make the histograms of this member's share of some rows."""
    p, histogram = codes.shape[1], own[member]
    for q in range(len(histogram)):
        histogram[q] = 0
    size = end - begin
    for q in range(begin + size * member // members, begin + size * (member + 1) // members):
        i = np.uint64(rows[q])
        amount, row = packed[i], codes[i]
        for j in range(p):
            histogram[np.uint64((j << 8) + row[j])] += amount


@kernel(within=True)
def search(
    histogram: np.ndarray,
    first_column: int,
    last_column: int,
    n_bins: np.ndarray,
    has_missing: np.ndarray,
    allowed: np.ndarray,
    total: int,
    spread: int,
    to_grid: np.ndarray,
    penalty: float,
    leaf_curvature: float,
    leaf_weight: float,
    bounds: np.ndarray,
    codes: np.ndarray,
    rows: np.ndarray,
    begin: int,
    end: int,
    weight: np.ndarray,
    counts: np.ndarray,
    best: np.ndarray,
) -> None:
    """Find the best question about some columns: the lowest column, then missing values on the right, then the lowest bin."""
    best[GAIN] = 0.0
    from_slope, from_curvature = 1.0 / to_grid[0], 1.0 / to_grid[1]
    whole, width = total * from_slope, spread * from_curvature
    alone = whole * whole / (width + penalty)
    for column in range(first_column, last_column):
        if not allowed[column]:
            continue
        lost, counted = histogram[(column << 8) + 255], False
        for turn in range(1 + (lost != 0)):
            left, breadth = np.int64(0), np.int64(0)
            if turn == 1:
                left, breadth = lost >> 32, lost & LOW
            for b in range(n_bins[column] - (lost == 0 or turn == 1)):
                amount = histogram[(column << 8) + b]
                left, breadth = left + (amount >> 32), breadth + (amount & LOW)
                lighter = min(breadth, spread - breadth)
                if lighter < bounds[0]:
                    continue
                before, after = breadth * from_curvature, (spread - breadth) * from_curvature
                if before < leaf_curvature or after < leaf_curvature:
                    continue
                here, there = left * from_slope, (total - left) * from_slope
                score = here * here / (before + penalty) + there * there / (after + penalty)
                gain = score - alone
                if not gain > max(best[GAIN], LEAST_SHARE * score):
                    continue
                if lighter < bounds[1]:
                    # What the curvature does not tell is counted, once for a column.
                    if not counted:
                        count_weights(codes, rows, begin, end, weight, column, counts)
                        counted = True
                    heavy = counts[b] + (counts[255] if turn == 1 else 0.0)
                    if heavy < leaf_weight or counts[254] + counts[255] - heavy < leaf_weight:
                        continue
                side = turn == 1 if has_missing[column] else 2 * breadth > spread
                best[GAIN], best[COLUMN], best[BIN], best[SIDE] = gain, column, b, side
                best[SLOPE], best[CURVATURE] = left, breadth


@kernel(within=True)
def count_weights(
    codes: np.ndarray, rows: np.ndarray, begin: int, end: int, weight: np.ndarray, column: int, counts: np.ndarray
) -> None:
    """Add up what rows weigh, up to each bin; what is missing by itself."""
    for b in range(256):
        counts[b] = 0.0
    for q in range(begin, end):
        counts[codes[rows[q], column]] += weight[rows[q]] if len(weight) else 1.0
    for b in range(1, 255):
        counts[b] += counts[b - 1]


@kernel(within=True)
def divide(
    gate: np.ndarray,
    member: int,
    members: int,
    codes: np.ndarray,
    column: int,
    cut: int,
    side: bool,
    rows: np.ndarray,
    spare: np.ndarray,
    shared: np.ndarray,
    begin: int,
    end: int,
) -> int:
    """Bring the rows of a node that go left to the front, all in the order they had; give where the right ones begin."""
    size = end - begin
    start, stop = begin + size * member // members, begin + size * (member + 1) // members
    front = back = start
    for q in range(start, stop):
        i = rows[q]
        code = codes[i, column]
        goes = np.int64(code <= cut or (code == 255 and side))
        # Both are written, and one of them stays.
        spare[0, front] = i
        spare[1, back] = i
        front += goes
        back += 1 - goes
    shared[member, 2] = np.float64(front - start)
    if not meet(gate, members):
        return -1
    lefts, before = np.int64(0), np.int64(0)
    for other in range(members):
        before += np.int64(shared[other, 2]) if other < member else 0
        lefts += np.int64(shared[other, 2])
    place = begin + before
    for q in range(start, front):
        rows[place + q - start] = spare[0, q]
    place = begin + lefts + (start - begin) - before
    for q in range(start, back):
        rows[place + q - start] = spare[1, q]
    if not meet(gate, members):
        return -1
    return begin + lefts


@kernel(within=True)
def describe(
    member: int,
    members: int,
    leaves: np.ndarray,
    n_leaves: int,
    first: np.ndarray,
    last: np.ndarray,
    rows: np.ndarray,
    slope: np.ndarray,
    curvature: np.ndarray,
    weight: np.ndarray,
    sums: np.ndarray,
    leaf: np.ndarray,
) -> None:
    """Add up slopes, curvatures, weights and rows of each leaf, and tell the rows which leaf is theirs."""
    for q in range(member, n_leaves, members):
        node = leaves[q]
        down, bend, heavy = 0.0, 0.0, 0.0
        for place in range(first[node], last[node]):
            i = rows[place]
            w = weight[i] if len(weight) else 1.0
            down, bend, heavy = down + w * slope[i], bend + w * curvature[i], heavy + w
            leaf[i] = node
        sums[node, 0], sums[node, 1], sums[node, 2] = down, bend, heavy
        sums[node, 3] = np.float64(last[node] - first[node])
