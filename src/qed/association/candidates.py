"""Which sets could be frequent, by their parts alone: a set is no more frequent than any part of it."""

from __future__ import annotations

import numpy as np

from qed.base.errors import ParameterError

# Candidates of one size, times their items, that are made at once: a gigabyte or two.
MOST_ITEMS = 100_000_000


def too_many(what: str) -> ParameterError:
    """Give the error for a search that would not end, with what to change."""
    return ParameterError(
        f"There are too many frequent sets: {what} would have to be counted. Give max_size, such as 2, or a larger min_support."
    )


def joined(sets: np.ndarray) -> np.ndarray:
    """Give the sets of one item more all of whose parts are among `sets`, of one size, each with its items rising.

    Examples
    --------
    >>> joined(np.array([[0, 1], [0, 2], [1, 2], [1, 3]]))
    array([[0, 1, 2]])
    """
    count, size = sets.shape
    if count < 2:
        return np.zeros((0, size + 1), dtype=np.int64)
    sets = sets[np.lexsort(sets.T[::-1])]
    # Two sets that differ in their last item alone make one of an item more.
    new = np.ones(count, dtype=bool)
    new[1:] = (sets[1:, :-1] != sets[:-1, :-1]).any(axis=1)
    group = np.cumsum(new)
    ends = np.searchsorted(group, group, side="right")
    more = ends - np.arange(count) - 1
    if (size + 1) * int(more.sum()) > MOST_ITEMS:
        raise too_many(f"{count:,} sets of {size} items each make {int(more.sum()):,} larger ones, which")
    first = np.repeat(np.arange(count), more)
    second = np.arange(len(first)) - np.repeat(np.cumsum(more) - more, more) + first + 1
    found = np.column_stack([sets[first], sets[second, -1]])
    items = int(sets.max()) + 1
    known = _keys(sets, items)
    for left_out in range(size - 1):
        parts = _keys(np.delete(found, left_out, axis=1), items)
        found = found[_among(parts, known)]
    return found


def border(sets: np.ndarray, items: int, most: int | None) -> np.ndarray:
    """Give the negative border: the sets that are not listed, but all of whose parts are; where these are not frequent, no other is.

    Parameters
    ----------
    sets : ndarray of int, shape (n_sets, longest)
        The listed sets, filled up with -1.
    items : int
        How many items there are.
    most : int or None
        The largest size that is looked for.

    Examples
    --------
    >>> border(np.array([[0, -1], [1, -1], [0, 1]]), 3, None)
    array([[2]])
    """
    listed = by_size(sets)
    found = [np.setdiff1d(np.arange(items), listed[0][:, 0] if listed else [])[:, None]]
    for size, part in enumerate(listed, start=1):
        if most is not None and size >= most:
            break
        above = joined(part)
        if size < len(listed):
            above = above[~np.isin(_keys(above, items), _keys(listed[size], items))]
        found.append(above)
    return filled(found)


def by_size(sets: np.ndarray) -> list[np.ndarray]:
    """Give the sets of one item, of two, and so on."""
    sizes = (sets >= 0).sum(axis=1)
    return [sets[sizes == size][:, :size] for size in range(1, int(sizes.max(initial=0)) + 1)]


def filled(parts: list[np.ndarray]) -> np.ndarray:
    """Put sets of several sizes into one table, filled up with -1.

    >>> filled([np.array([[0], [1]]), np.array([[0, 1]])])
    array([[ 0, -1],
           [ 1, -1],
           [ 0,  1]])
    """
    kept = [part for part in parts if len(part)]
    width = max((part.shape[1] for part in kept), default=1)
    whole = [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=-1) for part in kept]
    return np.concatenate(whole).astype(np.int64) if whole else np.zeros((0, width), dtype=np.int64)


def lacking(sets: np.ndarray) -> int:
    """Count the sets that are listed twice, whose items do not rise, or of which a part is not listed."""
    listed, wrong, items = by_size(sets), 0, int(sets.max(initial=-1)) + 1
    for size, part in enumerate(listed, start=1):
        wrong += len(part) - len(np.unique(_keys(part, items)))
        wrong += int((np.diff(part, axis=1) <= 0).any(axis=1).sum())
        if size > 1:
            below = _keys(listed[size - 2], items)
            for left_out in range(size):
                wrong += int((~np.isin(_keys(np.delete(part, left_out, axis=1), items), below)).sum())
    return wrong


def _among(values: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Say which values are among those known, which stand in order where they are numbers."""
    if values.dtype.kind != "i":
        return np.isin(values, known)
    return np.asarray(known[np.minimum(np.searchsorted(known, values), len(known) - 1)] == values)


def _keys(sets: np.ndarray, items: int) -> np.ndarray:
    """Give one value for each set of one size, by which they can be compared: a number, where numbers go that far.

    >>> _keys(np.array([[0, 3], [1, 3]]), 4).tolist()
    [9, 14]
    """
    base, size = items + 1, sets.shape[1]
    if base**size < 1 << 63:
        return np.asarray((sets.astype(np.int64) + 1) @ (base ** np.arange(size)[::-1]))
    whole = np.ascontiguousarray(sets, dtype=np.int64)
    return whole.view(np.dtype((np.void, whole.dtype.itemsize * size)))[:, 0]
