"""The sweep along a column of two classes that are counted, which is most of what a tree of such classes costs.

Keys are those of :mod:`qed.trees.columns`.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel
from qed.trees.impurity import purity_of_two

ONE, NONE = np.uint64(1), np.uint64(0)
# More, as a share of the rows, than what rounding does to two purities.
SURELY = 2.0**-46
# Rows that are passed over at once where none can be the best; those from one first guess to another; and what a node for guesses has.
SOME, MANY, LONG = 16, 64, 512


@kernel(within=True)
def best_of_counts(
    keys: np.ndarray,
    rank_shift: np.uint64,
    kind: int,
    first: int,
    last: int,
    whole: float,
    least: float,
    reached: float,
) -> tuple[float, int]:
    r"""Sweep along a column of two classes that are counted, of which `whole` are of the second; give the best purity and its place.

    With :math:`d = c_2 n - c\,n_2` for the left side the purity is that of the node and :math:`2 d^2 / (n c (n - c))`. Within some rows
    :math:`d` grows at most by what their second class adds, and falls at most by what the first takes away, so what can not be the best, or
    as good as what other columns have `reached`, is passed over at once, with room for rounding.
    """
    rows, second, n = last - first, np.int64(whole), np.float64(last - first)
    alone = ((n - whole) * (n - whole) + whole * whole) / n
    best, place, sum_, far = reached, -1, np.int64(0), np.int64(0)
    if rows >= LONG:
        # A few places, far from each other, tell about how good the best one is.
        for q in range(first + MANY, last, MANY):
            sum_ += seconds(keys, q - MANY, q)
            before, rest = np.float64(q - first), np.float64(last - q)
            if (keys[q] ^ keys[q - 1]) >> rank_shift != NONE and before >= least and rest >= least:
                best = max(best, purity_of_two(kind, np.float64(sum_), whole, before, rest, best))
        sum_ = np.int64(0)
    limit = (best - alone - n * SURELY) * n / 2.0
    start = first
    while start < last - 1:
        stop = min(start + SOME, last - 1)
        if stop - start == SOME:
            more = seconds(keys, start, stop)
            up, down = more * (rows - second), (SOME - more) * second
            most = max(np.float64(far + up), np.float64(down - far))
            # What d is divided by is least at one end.
            before, rest = np.float64(start + 1 - first), np.float64(last - stop)
            least_share = min(before * (n - before), rest * (n - rest))
            if most * most < limit * least_share:
                sum_, far, start = sum_ + more, far + (up - down), stop
                continue
        key = keys[start]
        for q in range(start + 1, stop + 1):
            one, other = np.int64(key & ONE), keys[q]
            sum_, far = sum_ + one, far + (one * rows - second)
            new, key = (other ^ key) >> rank_shift, other
            before, distance = np.float64(q - first), np.float64(far)
            rest = n - before
            if new == NONE or distance * distance < limit * (before * rest) or before < least or rest < least:
                continue
            found = purity_of_two(kind, np.float64(sum_), whole, before, rest, best)
            if found > best or (found == best and place < 0):
                best, place = found, q
                limit = (best - alone - n * SURELY) * n / 2.0
        start = stop
    return best, place


@kernel(within=True)
def seconds(keys: np.ndarray, first: int, last: int) -> np.int64:
    """Count the rows of the second class of two."""
    found = np.int64(0)
    for q in range(first, last):
        found += np.int64(keys[q] & ONE)
    return found
