r"""The search for best subsets: which m columns leave the smallest squared residual, for every m, without trying them all.

In the triangular factor of :math:`(X_V, y)` the last column tells the squared residual of every leading part of V at
once, :math:`\sum_{i \ge m} R_{iy}^2` for its first m columns. Dropping column i and rotating what follows back into a
triangle gives another V; dropping only behind the column dropped last, every subset is met exactly once. No subset of
V can do better than V itself, so where dropping a column leaves more than the best subsets of all sizes behind it
already do, none of them has to be looked at. With the strongest columns first, the largest branches are the first to
be cut. A node costs :math:`O(p^2)`; the number of nodes is at most that of subsets.

Gatu and Kontoghiorghes (2006), Branch-and-bound algorithms for computing the best-subset regression models.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.numbers import TINY

TRACE = 1e-8


def best_subsets(
    A: np.ndarray, b: np.ndarray, most: int, at_most: np.ndarray | None = None, *, trace: float = TRACE
) -> tuple[np.ndarray, np.ndarray, int]:
    """Find the best subsets of 1, 2, ... `most` columns.

    Only subsets that leave less than `at_most`, for each size, are looked for. Gives the squared residual for sizes 0
    to `most` (those of `at_most` where there is no better); the columns, of shape (most + 1, most) with -1 where there
    are none; and how many sets were looked at. `trace` is the penalty on columns,
    as a share of their lengths: columns that differ by less are taken for equal.

    >>> errors, subsets, nodes = best_subsets(np.eye(3), np.array([1.0, 3.0, 2.0]), 2)
    >>> errors.round(12), subsets[1:].tolist()
    (array([14.,  5.,  1.]), [[1, -1], [1, 2]])
    """
    order = _strongest_first(A, b)
    p = A.shape[1]
    # A trace of a penalty, smaller than rounding, keeps dependent columns from claiming what they do not explain.
    length = np.linalg.norm(A[:, order], axis=0)
    penalty = np.diag(np.where(length > 0, trace * length, 1.0))
    rows = np.vstack([np.column_stack([A[:, order], b]), np.hstack([penalty, np.zeros((p, 1))]), np.zeros((1, p + 1))])
    triangle = np.linalg.qr(rows, mode="r")
    errors = np.full(most + 1, np.inf) if at_most is None else np.array(at_most, dtype=np.float64)
    errors[0] = b @ b
    found = np.full((most + 1, most), -1, dtype=np.int64)
    nodes = int(_search(triangle, most, errors, found))
    for size, chosen in enumerate(found):
        there = chosen >= 0
        found[size, there] = np.sort(order[chosen[there]])
    return errors, found, nodes


def _strongest_first(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Order columns as forward selection does: each is the one that explains most of what those before it left."""
    rest, residual = A.astype(np.float64), b.astype(np.float64)
    length = np.linalg.norm(rest, axis=0)
    left, order = list(range(A.shape[1])), []
    while left:
        now = np.linalg.norm(rest[:, left], axis=0)
        known = now > 1e-8 * np.maximum(length[left], TINY)
        gain = np.where(known, np.abs(residual @ rest[:, left]) / np.where(known, now, 1.0), -1.0)
        best = left.pop(int(gain.argmax()))
        order.append(best)
        size = np.linalg.norm(rest[:, best])
        if size > 0:
            unit = rest[:, best] / size
            residual = residual - unit * (unit @ residual)
            rest[:, left] -= np.outer(unit, unit @ rest[:, left])
    return np.array(order, dtype=np.int64)


@kernel(within=True)
def _note(triangle: Any, columns: Any, size: int, first: int, most: int, errors: Any, found: Any) -> None:
    """Compare the leading parts of a set, from `first` columns on, with the best known subsets of their size."""
    left = 0.0
    for m in range(size, first - 1, -1):
        left += triangle[m, size] ** 2
        if m <= most and left < errors[m]:
            errors[m] = left
            for c in range(m):
                found[m, c] = columns[c]


@kernel(within=True)
def _drop(before: Any, size: int, dropped: int, after: Any) -> float:
    """Leave out a column of a triangle and rotate the rest back; give the squared residual of what remains."""
    for r in range(size + 1):
        for c in range(size):
            after[r, c] = before[r, c if c < dropped else c + 1]
    for c in range(dropped, size - 1):
        x, y = after[c, c], after[c + 1, c]
        length = np.hypot(x, y)
        if length == 0.0:
            continue
        cosine, sine = x / length, y / length
        for k in range(c, size):
            top, low = after[c, k], after[c + 1, k]
            after[c, k] = cosine * top + sine * low
            after[c + 1, k] = cosine * low - sine * top
    after[size - 1, size - 1] = np.hypot(after[size - 1, size - 1], after[size, size - 1])
    return after[size - 1, size - 1] ** 2


@kernel
def _search(triangle: Any, most: int, errors: Any, found: Any) -> int:
    """Walk the tree of sets: depth d holds a set of p - d columns and which of them was dropped last."""
    p = len(triangle) - 1
    stack = np.zeros((p, p + 1, p + 1))
    columns = np.zeros((p, p), dtype=np.int64)
    following = np.zeros(p, dtype=np.int64)
    for r in range(p + 1):
        for c in range(p + 1):
            stack[0, r, c] = triangle[r, c]
    for c in range(p):
        columns[0, c] = c
    _note(stack[0], columns[0], p, 1, most, errors, found)
    depth, nodes = 0, 1
    while depth >= 0:
        size, dropped = p - depth, following[depth]
        if dropped > min(size - 2, most - 1):
            depth -= 1
            continue
        following[depth] += 1
        bound = _drop(stack[depth], size, dropped, stack[depth + 1])
        nodes += 1
        hopeful = False
        for m in range(dropped + 1, min(size - 1, most) + 1):
            hopeful = hopeful or bound < errors[m]
        if not hopeful:
            continue
        for c in range(size - 1):
            columns[depth + 1, c] = columns[depth, c if c < dropped else c + 1]
        depth += 1
        following[depth] = dropped
        _note(stack[depth], columns[depth], size - 1, dropped + 1, most, errors, found)
    return nodes
