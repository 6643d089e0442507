r"""Questions about categories: which of them go left, or one branch for each.

For numbers, counts and two classes the purity of a side is its weight times a convex function of its mean. Of all :math:`2^{m-1} - 1` ways
to divide :math:`m` categories the purest then cuts the order of their means (Fisher 1958, On grouping for maximum homogeneity; Breiman and
others 1984), so that :math:`m - 1` questions stand for all. For more classes all ways are tried where a node has few categories; else the
cuts of as many orders as there are classes, those of the share of each, which may miss the purest. So may the order of the medians,
where distances from these are what counts, and so do cuts where both sides have to keep rows or weight that a cut does not leave them.

Missing values are a category like others. Categories that a node has no rows of take the heaviest branch.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.trees.asking.absolute import ONE
from qed.trees.impurity import ABSOLUTE, purity

# Categories of a node up to which, for more than two classes, all ways to divide them are tried.
MOST_TRIED = 8


@kernel(within=True)
def add_up_parts(
    keys: np.ndarray,
    row_shift: np.uint64,
    rank_shift: np.uint64,
    classes: int,
    weight: np.ndarray,
    mass: np.ndarray,
    value: np.ndarray,
    first: int,
    last: int,
    begin: np.ndarray,
    amounts: np.ndarray,
    part: np.ndarray,
) -> int:
    """Add up the rows of each category, which stand together; give how many there are.

    `begin` is where each begins and the last ends, `amounts` has the sums of classes or numbers and then the weight of each, and `part` is
    the category of every row, as they are counted here.
    """
    row_mask, label_mask = (ONE << (rank_shift - row_shift)) - ONE, (ONE << row_shift) - ONE
    count = 0
    for q in range(first, last):
        if q == first or keys[q] >> rank_shift != keys[q - 1] >> rank_shift:
            begin[count], count = q, count + 1
            for k in range(classes + 1):
                amounts[count - 1, k] = 0.0
        i = (keys[q] >> row_shift) & row_mask
        w = mass[i] if len(weight) else 1.0
        own = np.uint64(0) if classes == 1 else keys[q] & label_mask
        amounts[count - 1, own] += value[i] if classes == 1 else w
        amounts[count - 1, classes] += w
        part[i] = count - 1
    begin[count] = last
    return count


@kernel(within=True)
def best_division(
    kind: int,
    classes: int,
    multiway: bool,
    count: int,
    begin: np.ndarray,
    amounts: np.ndarray,
    far: np.ndarray,
    whole: np.ndarray,
    total: float,
    leaf: int,
    leaf_weight: float,
    left: np.ndarray,
    branch: np.ndarray,
) -> float:
    """Give the purity of one branch for each category, or of the best of all ways to divide few of them; and write their branches."""
    score = 0.0
    if multiway:
        for c in range(count):
            branch[c] = c
            if count < 2 or begin[c + 1] - begin[c] < leaf or amounts[c, classes] < leaf_weight:
                return -np.inf
            for k in range(classes):
                left[k] = amounts[c, k]
            score += -far[c] if kind == ABSOLUTE else purity(kind, left, left, amounts[c, classes], 1.0)
        return score
    best, before, rows, all_rows = -np.inf, 0.0, 0, begin[count] - begin[0]
    for k in range(classes):
        left[k] = 0.0
    # Each way is a step from another: one category changes sides (Gray's code).
    for turn in range(1, 1 << (count - 1)):
        code, old, c = turn ^ (turn >> 1), (turn - 1) ^ ((turn - 1) >> 1), 0
        while (code ^ old) >> c != 1:
            c += 1
        sign = 1 if (code >> c) & 1 else -1
        for k in range(classes):
            left[k] += sign * amounts[c, k]
        before += sign * amounts[c, classes]
        rows += sign * (begin[c + 1] - begin[c])
        if rows < leaf or all_rows - rows < leaf or before < leaf_weight or total - before < leaf_weight:
            continue
        found = purity(kind, left, whole, before, total - before)
        if found > best:
            best = found
            for c in range(count):
                branch[c] = 1 - ((code >> c) & 1)
    return best


@kernel(within=True)
def put_in_order(
    keys: np.ndarray,
    rank_shift: np.uint64,
    count: int,
    begin: np.ndarray,
    amounts: np.ndarray,
    median: np.ndarray | None,
    k: int,
    classes: int,
    order: np.ndarray,
    line: np.ndarray,
) -> None:
    """Put categories in the order of their medians, or means, or of their share of the second or the `k`-th class; and rows on a line.

    A row has the place of its category in the place of a rank, so that the line is searched as if categories were numbers.
    """
    ratio = np.empty(count)
    for c in range(count):
        ratio[c] = amounts[c, 1 if classes == 2 else k] / amounts[c, classes]
        if median is not None:
            ratio[c] = median[c]
        q = c
        while q > 0 and ratio[order[q - 1]] > ratio[c]:
            order[q] = order[q - 1]
            q -= 1
        order[q] = c
    at, mask = 0, (ONE << rank_shift) - ONE
    for place in range(count):
        for q in range(begin[order[place]], begin[order[place] + 1]):
            line[at] = (np.uint64(place) << rank_shift) | (keys[q] & mask)
            at += 1


@kernel(within=True)
def cut_order(count: int, begin: np.ndarray, order: np.ndarray, cut: int, branch: np.ndarray) -> None:
    """Write the branches of categories that stand in an order, of which those before a place on the line go left."""
    at = 0
    for place in range(count):
        branch[order[place]] = 0 if at < cut else 1
        at += begin[order[place] + 1] - begin[order[place]]
