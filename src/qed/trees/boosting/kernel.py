"""The loops that grow a tree on bins: all threads run `grow_together`, each over its own rows and columns, and meet at a gate.

A row is one whole number, slope times 2^32 plus curvature, both in units that :class:`qed.trees.boosting.growing.Grid` chooses such that no
sum leaves its half. So histograms are added and subtracted exactly, in any order, and rows stay in ascending order in every node: the tree
does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.base.threads.gate import meet
from qed.trees.boosting.dividing import DEPTH, FIRST, LAST, LEAVES, SLOT, SPREAD, TOTAL, describe, divide
from qed.trees.boosting.histograms import (
    BIN,
    COLUMN,
    CURVATURE,
    GAIN,
    LEAST_SHARE,
    LOW,
    NEARLY,
    SIDE,
    SLOPE,
    add_up,
    count_weights,
    pack,
    share_out,
)
from qed.trees.boosting.levels import search_levels
from qed.trees.boosting.monotone import bounded_score, fenced, hand_down

# A penalty above which products might overflow.
HUGE = 2.0**500


@kernel
def grow_together(
    member: int,
    members: int,
    gate: np.ndarray,
    words: np.ndarray,
    codes: np.ndarray,
    n_bins: np.ndarray,
    has_missing: np.ndarray,
    is_categorical: np.ndarray | None,
    level_share: float,
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
    directions: np.ndarray | None,
    limits: np.ndarray | None,
    allowed: np.ndarray,
    drawn: np.ndarray,
    rows: np.ndarray,
    spare: np.ndarray,
    packed: np.ndarray,
    own: np.ndarray,
    histograms: np.ndarray,
    states: np.ndarray,
    counts: np.ndarray,
    best: np.ndarray,
    shared: np.ndarray,
    bounds: np.ndarray,
    found: np.ndarray,
    tree: np.ndarray,
    sides: np.ndarray,
    gains: np.ndarray,
    parts: np.ndarray,
    sums: np.ndarray,
    leaf: np.ndarray,
) -> None:
    """Grow a tree, the question that is worth most first; nodes are numbered as they come, the children of a node together.

    `codes` lie column by column, `words` hold those of eight columns of a row each. `rows` has room for the rows to be used, those
    `drawn` or all where that is empty; when all is done, it holds those of one node after those of another. `sides` says for each node
    which codes go left. Where no column holds categories, `is_categorical` is None, and what is for these alone is not even compiled;
    likewise `directions`, and the `limits` of values that each member keeps, where no column is to be monotone.
    """
    state = states[member]
    pack(slope, curvature, weight, is_whole, to_grid, drawn, rows, member, members, packed, shared, bounds)
    if not meet(gate, members):
        return
    begin_at_root(state, len(rows), members, leaf_weight, level_share, shared, bounds[member], bounds)
    count = np.int64(1)
    # The root is new at first, then always the two children of a node, of which the rows of one are added up.
    left = right = small = np.int64(0)
    while True:
        n_leaves = (count + 1) >> 1
        goes_on = n_leaves < most_leaves and state[DEPTH, left] < most_levels
        if goes_on:
            add_up(words, packed, rows, state[FIRST, small], state[LAST, small], member, members, own)
            if not meet(gate, members):
                return
            share_out(
                own, len(codes), member, members, histograms, state[SLOT, small], state[SLOT, left + right - small]
            )
        for child in range(left, right + 1):
            best[member, child, GAIN] = 0.0
            if goes_on:
                search(
                    *(histograms, state, child, member, members, n_bins, has_missing, is_categorical, allowed, to_grid),
                    *(penalty, directions, limits, leaf_curvature, leaf_weight, bounds, codes, rows, weight, counts),
                    *(best, found),
                )
        if not meet(gate, members):
            return
        limit = n_leaves if n_leaves < most_leaves else 0
        node = choose(best, found, state, members, limit, is_categorical, tree, sides, gains, count)
        if node < 0:
            break
        if not divide(gate, member, members, codes, tree, sides, node, rows, spare, shared, state):
            return
        left, right = count, count + 1
        small = branch(state, node, count, n_leaves)
        if directions is not None and limits is not None:
            values = value_of(state, left, to_grid, penalty), value_of(state, right, to_grid, penalty)
            hand_down(limits[member], node, left, *values, directions[tree[node, 0]])
        count += 2
    describe(gate, member, members, state, (count + 1) >> 1, rows, slope, curvature, weight, parts, sums, leaf)
    if member == 0:
        shared[0, 0] = count


@kernel(within=True)
def begin_at_root(
    state: np.ndarray,
    n: int,
    members: int,
    leaf_weight: float,
    level_share: float,
    shared: np.ndarray,
    own: np.ndarray,
    bounds: np.ndarray,
) -> None:
    """Set the root, between which curvatures the weight of a side has to be counted, and below which one a category is rare."""
    amount, low, high = np.int64(0), np.inf, 0.0
    for other in range(members):
        amount += shared[other, 0]
        low = bounds[other, 0] if bounds[other, 0] < low else low
        high = bounds[other, 1] if bounds[other, 1] > high else high
    # Below the one a side is too light for certain, from the other on it is heavy enough.
    own[2] = leaf_weight * low * (1.0 - 1e-9)
    own[3] = leaf_weight * high * (1.0 + 1e-9)
    own[4] = level_share * (amount & LOW)
    state[TOTAL, 0] = amount >> 32
    state[SPREAD, 0] = amount & LOW
    state[FIRST, 0] = 0
    state[LAST, 0] = n
    state[DEPTH, 0] = 0
    state[SLOT, 0] = 0
    state[LEAVES, 0] = 0


@kernel(within=True)
def choose(
    best: np.ndarray,
    sets: np.ndarray,
    state: np.ndarray,
    members: int,
    n_leaves: int,
    is_categorical: np.ndarray | None,
    tree: np.ndarray,
    sides: np.ndarray,
    gains: np.ndarray,
    count: int,
) -> int:
    """Find the leaf whose question is worth most, the first of equal ones, and write it down; -1 where there is none.

    All members find, and write, the same.
    """
    gain, node, chosen = 0.0, np.int64(-1), 0
    for q in range(n_leaves):
        for other in range(members):
            if best[other, state[LEAVES, q], GAIN] > gain:
                node = state[LEAVES, q]
                chosen = other
                gain = best[other, node, GAIN]
    if node >= 0:
        found = best[chosen, node]
        for q in range(3):
            tree[node, q] = np.int64(found[COLUMN + q])
        tree[node, 3] = count
        gains[node] = gain
        by_level = False
        if is_categorical is not None:
            by_level = is_categorical[tree[node, 0]]
        # Once and for all: others may be reading already what they wrote.
        for b in range(256):
            below = tree[node, 2] == 1 if b == 255 else b <= tree[node, 1]
            sides[node, b] = sets[chosen, node, b] if by_level else np.uint8(below)
        state[TOTAL, count] = np.int64(found[SLOPE])
        state[SPREAD, count] = np.int64(found[CURVATURE])
    return int(node)


@kernel(within=True)
def value_of(state: np.ndarray, node: int, to_grid: np.ndarray, penalty: float) -> float:
    """Give how far a node would go."""
    return -(state[TOTAL, node] / to_grid[0]) / (state[SPREAD, node] / to_grid[1] + penalty)


@kernel(within=True)
def branch(state: np.ndarray, node: int, left: int, n_leaves: int) -> int:
    """Set the two children of a node, the left one of which begins where it does; give the smaller one."""
    right, middle = left + 1, state[LAST, left]
    for what in (TOTAL, SPREAD):
        state[what, right] = state[what, node] - state[what, left]
    state[FIRST, left] = state[FIRST, node]
    state[FIRST, right] = middle
    state[LAST, right] = state[LAST, node]
    state[DEPTH, left] = state[DEPTH, node] + 1
    state[DEPTH, right] = state[DEPTH, node] + 1
    # The larger child has the histograms of its parent, less those of the smaller one.
    small = left if 2 * middle <= state[FIRST, node] + state[LAST, node] else right
    state[SLOT, left + right - small] = state[SLOT, node]
    state[SLOT, small] = n_leaves
    for q in range(n_leaves):
        if state[LEAVES, q] == node:
            state[LEAVES, q] = left
    state[LEAVES, n_leaves] = right
    return small


@kernel(within=True)
def search(
    histograms: np.ndarray,
    state: np.ndarray,
    node: int,
    member: int,
    members: int,
    n_bins: np.ndarray,
    has_missing: np.ndarray,
    is_categorical: np.ndarray | None,
    allowed: np.ndarray,
    to_grid: np.ndarray,
    penalty: float,
    directions: np.ndarray | None,
    limits: np.ndarray | None,
    leaf_curvature: float,
    leaf_weight: float,
    bounds: np.ndarray,
    codes: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    counts: np.ndarray,
    bests: np.ndarray,
    sets: np.ndarray,
) -> None:
    """Find the best question about this member's columns: the lowest one, then missing values on the right, then the lowest bin."""
    histogram, best = histograms[state[SLOT, node]], bests[member, node]
    total, spread = state[TOTAL, node], state[SPREAD, node]
    from_slope, from_curvature = 1.0 / to_grid[0], 1.0 / to_grid[1]
    whole, width = total * from_slope, spread * from_curvature
    alone, least, most = whole * whole / (width + penalty), -np.inf, np.inf
    if directions is not None and limits is not None:
        least, most = limits[member, 0, node], limits[member, 1, node]
        alone = bounded_score(whole, width + penalty, least, most)[1]
    low, high, own, p = bounds[member, 2], bounds[member, 3], counts[member], len(codes)
    # In units of the grid no product overflows, and what is worth less than the best so far is known without a division.
    more = penalty * to_grid[1]
    # Of values that are held between bounds, products say nothing.
    sieved = directions is None and more < HUGE
    bar = float(total) * float(total) / (spread + more) * NEARLY if sieved else -np.inf
    for column in range(p * member // members, p * (member + 1) // members):
        if not allowed[node, column]:
            continue
        if is_categorical is not None and is_categorical[column]:
            search_levels(
                *(histogram, column, bounds[member], total, spread, to_grid, penalty, directions, least, most, alone),
                *(leaf_curvature, leaf_weight),
                *(codes, rows, state[FIRST, node], state[LAST, node], weight, own, best, sets[member, node]),
            )
            continue
        first = column << 8
        lost, counted = histogram[first + 255], False
        for turn in range(1 + (lost != 0)):
            running = lost if turn == 1 else np.int64(0)
            for b in range(n_bins[column] - (lost == 0 or turn == 1)):
                running += histogram[np.uint64(first + b)]
                left, breadth = running >> 32, running & LOW
                steep, flat = float(left) * float(left), float(total - left) * float(total - left)
                near, far = breadth + more, (spread - breadth) + more
                if steep * far + flat * near <= bar * (near * far):
                    continue
                lighter = breadth if 2 * breadth < spread else spread - breadth
                before, after = breadth * from_curvature, (spread - breadth) * from_curvature
                if lighter < low or before < leaf_curvature or after < leaf_curvature:
                    continue
                here, there = left * from_slope, (total - left) * from_slope
                score = size = here * here / (before + penalty) + there * there / (after + penalty)
                if directions is not None:
                    widths = before + penalty, after + penalty
                    score, size = fenced(here, widths[0], there, widths[1], least, most, directions[column])
                gain = score - alone
                if not (gain > best[GAIN] and gain > LEAST_SHARE * size):
                    continue
                if lighter < high:
                    # What the curvature does not tell is counted, once for a column.
                    if not counted:
                        count_weights(codes, rows, state[FIRST, node], state[LAST, node], weight, column, own)
                        counted = True
                    heavy = own[b] + (own[255] if turn == 1 else 0.0)
                    if heavy < leaf_weight or own[254] + own[255] - heavy < leaf_weight:
                        continue
                side = turn == 1 if has_missing[column] else 2 * breadth > spread
                bar = (steep / near + flat / far) * NEARLY if sieved else bar
                best[GAIN], best[COLUMN], best[BIN] = gain, column, b
                best[SIDE], best[SLOPE], best[CURVATURE] = side, left, breadth
