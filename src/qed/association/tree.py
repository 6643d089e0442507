"""The tree of baskets: nodes in lists, an item, a parent and a weight each; a parent comes before its children."""

import numpy as np

from qed.base.compile import kernel

# With so few values a tree is grown before it could be compiled how.
FEW = 2_000


@kernel
def grow(members: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Grow the tree of baskets that are sorted, so that those which begin alike stand together.

    Gives the item, the parent (-1 for the root) and the weight of every node.
    """
    n, p = members.shape
    most = 0
    for row in range(n):
        for item in range(p):
            most += members[row, item]
    items, parents, totals = np.empty(most, np.int64), np.empty(most, np.int64), np.zeros(most)
    path, nodes, length, count = np.empty(p, np.int64), np.empty(p, np.int64), 0, 0
    for row in range(n):
        at = 0
        alike = True
        for item in range(p):
            if not members[row, item]:
                continue
            if alike and at < length and path[at] == item:
                totals[nodes[at]] += weights[row]
            else:
                alike = False
                items[count] = item
                parents[count] = nodes[at - 1] if at > 0 else -1
                totals[count] = weights[row]
                path[at], nodes[at] = item, count
                count += 1
            at += 1
        length = at
    return items[:count], parents[:count], totals[:count]


@kernel(within=True)
def longer(values: np.ndarray, least: int) -> np.ndarray:
    """Give the same values in an array that has room for at least so many."""
    if least <= len(values):
        return values
    found = np.empty(2 * least, values.dtype)
    for place in range(len(values)):
        found[place] = values[place]
    return found


@kernel(within=True)
def hand_up(
    items: np.ndarray, parents: np.ndarray, weights: np.ndarray, begin: int, end: int, rank: int, sums: np.ndarray
) -> np.ndarray:
    """Hand the weight of an item's nodes up to all that come before them; add up what that gives each item."""
    handed = np.zeros(end - begin)
    for node in range(end - begin - 1, -1, -1):
        item = items[begin + node]
        if item == rank:
            handed[node] = weights[begin + node]
        if handed[node] > 0:
            if parents[begin + node] >= 0:
                handed[parents[begin + node]] += handed[node]
            if item < rank:
                sums[item] += handed[node]
    return handed


@kernel
def mine(
    items: np.ndarray, parents: np.ndarray, weights: np.ndarray, count: int, least: float, most: int, limit: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find all frequent sets of a tree: each by the item it has more than another, the number of that one (-1 for none), and its weight.

    The tree of what comes before an item holds the nodes above it, with the weights handed up, of items that stay frequent. Trees inside
    trees stand one after another in the same lists. With more than `limit` sets it gives up, and gives those found so far.
    """
    n, height = len(items), 1
    depth = np.ones(n, np.int64)
    for node in range(n):
        if parents[node] >= 0:
            depth[node] = depth[parents[node]] + 1
        height = max(height, depth[node])
    begins, ends = np.zeros(height + 1, np.int64), np.zeros(height + 1, np.int64)
    cursor, owner = np.zeros(height + 1, np.int64), np.zeros(height + 1, np.int64)
    offset, width = np.zeros(height + 1, np.int64), np.zeros(height + 1, np.int64)
    totals = np.zeros(4 * count + 4)
    for node in range(n):
        totals[items[node]] += weights[node]
    ends[0], cursor[0], owner[0], width[0] = n, count, -1, count
    ranks, mothers, heavy, found, level = np.empty(64, np.int64), np.empty(64, np.int64), np.empty(64), 0, 0
    while level >= 0 and found <= limit:
        rank = cursor[level] - 1
        while rank >= 0 and totals[offset[level] + rank] < least:
            rank -= 1
        if rank < 0:
            level -= 1
            continue
        cursor[level] = rank
        ranks, mothers, heavy = longer(ranks, found + 1), longer(mothers, found + 1), longer(heavy, found + 1)
        ranks[found], mothers[found], heavy[found] = rank, owner[level], totals[offset[level] + rank]
        found += 1
        if rank == 0 or (most > 0 and level + 1 >= most):
            continue
        sums = np.zeros(rank)
        begin, end = begins[level], ends[level]
        handed = hand_up(items, parents, weights, begin, end, rank, sums)
        size = 2 * end - begin
        items, parents, weights = longer(items, size), longer(parents, size), longer(weights, size)
        place, kept = np.full(end - begin, -1, np.int64), 0
        for node in range(end - begin):
            item = items[begin + node]
            up = place[parents[begin + node]] if parents[begin + node] >= 0 else -1
            if handed[node] > 0 and item < rank and sums[item] >= least:
                items[end + kept], parents[end + kept], weights[end + kept] = item, up, handed[node]
                place[node] = kept
                kept += 1
            else:
                place[node] = up
        if kept:
            inner = offset[level] + width[level]
            level += 1
            totals = longer(totals, inner + rank)
            for item in range(rank):
                totals[inner + item] = sums[item]
            begins[level], ends[level], cursor[level] = end, end + kept, rank
            owner[level], offset[level], width[level] = found - 1, inner, rank
    return ranks[:found], mothers[:found], heavy[:found]
