"""The kernels that grow a k-d tree: where a node is cut, and its rows moved to the two sides of the cut.

A cut needs the middle of some values, and no order among the others. A sorted sample tells between which two values it lies, and one pass
leaves few to look among. What decides where a value goes is added up, not branched on, since no processor can guess it.
"""

from __future__ import annotations

import numpy as np

from qed.base.compile import kernel

# Levels that a tree can have.
LEVELS = 48
# A sample of so many values, of which the middle of all is within so many places of the middle one, nearly always; it is taken of many.
SAMPLE, AROUND, MANY = 63, 8, 1024
# So few values are ordered one by one.
FEW = 24


@kernel
def split(
    points: np.ndarray,
    numbers: np.ndarray,
    root: int,
    first: int,
    last: int,
    leaves: int,
    column: np.ndarray,
    value: np.ndarray,
    keys: np.ndarray,
    values: np.ndarray,
    names: np.ndarray,
    places: np.ndarray,
) -> None:
    """Cut the node `root`, which has the places `first` to `last`, and those below it, down to node `leaves`, and move its rows there.

    The last four, as long as there are rows, are worked in: `keys` holds float64, `values` what the points do.
    """
    nodes, lows, highs = np.empty(LEVELS, np.int64), np.empty(LEVELS, np.int64), np.empty(LEVELS, np.int64)
    nodes[0], lows[0], highs[0], waiting = root, first, last, 1
    while waiting > 0:
        waiting -= 1
        node, low, high = nodes[waiting], lows[waiting], highs[waiting]
        if node >= leaves:
            continue
        widest, most, middle = 0, -1.0, (low + high) // 2
        for j in range(len(points)):
            wide = width(points[j, low:high])
            if wide > most:
                widest, most = j, wide
        cut = least_after(points[widest, low:high], middle - low, keys)
        column[node - 1], value[node - 1] = widest, cut
        sides(points[widest, low:high], cut, middle - low, places)
        for j in range(len(points)):
            move(points[j, low:high], places, values)
        move(numbers[low:high], places, names)
        nodes[waiting], lows[waiting], highs[waiting] = 2 * node, low, middle
        nodes[waiting + 1], lows[waiting + 1], highs[waiting + 1] = 2 * node + 1, middle, high
        waiting += 2


@kernel(within=True, fastmath={"nnan", "nsz", "reassoc"})
def width(values: np.ndarray) -> float:
    """Give how far the largest value is from the least."""
    least, greatest = np.float64(values[0]), np.float64(values[0])
    for value in values:
        least, greatest = min(least, np.float64(value)), max(greatest, np.float64(value))
    return greatest - least


@kernel(within=True)
def least_after(values: np.ndarray, place: int, keys: np.ndarray) -> float:
    """Give the value that would be at a place if they were in order; `keys` is room to look for it."""
    count, less = 0, 0
    if len(values) > MANY:
        for t in range(SAMPLE):
            keys[t] = values[(2 * t + 1) * len(values) // (2 * SAMPLE)]
        order(keys[:SAMPLE])
        low, high = keys[SAMPLE // 2 - AROUND], keys[SAMPLE // 2 + AROUND]
        for value in values:
            keys[count] = value
            count += (value >= low) & (value <= high)
            less += value < low
    if not less <= place < less + count:
        less, count = 0, len(values)
        for r in range(count):
            keys[r] = values[r]
    return chosen(keys, count, place - less)


@kernel(within=True)
def chosen(keys: np.ndarray, count: int, place: int) -> float:
    """Give the key that would be at a place if so many of them were in order."""
    low, high = 0, count
    while high - low > FEW:
        a, b, c = keys[low], keys[(low + high) // 2], keys[high - 1]
        pivot = max(min(a, b), min(max(a, b), c))
        below = low
        for r in range(low, high):
            key = keys[r]
            keys[r] = keys[below]
            keys[below] = key
            below += key < pivot
        if place < below:
            high = below
        elif below > low:
            low = below
        else:
            # Nothing is less than the pivot: what equals it comes first.
            for r in range(low, high):
                key = keys[r]
                keys[r] = keys[below]
                keys[below] = key
                below += key == pivot
            if place < below:
                return float(pivot)
            low = below
    order(keys[low:high])
    return float(keys[place])


@kernel(within=True)
def order(keys: np.ndarray) -> None:
    """Put few keys in order."""
    for r in range(1, len(keys)):
        key, place = keys[r], r
        while place > 0 and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            place -= 1
        keys[place] = key


@kernel(within=True)
def sides(values: np.ndarray, cut: float, half: int, places: np.ndarray) -> None:
    """Say where each value goes: what is less than the cut among the first `half`, and what equals it where there is room."""
    room = half
    for value in values:
        room -= value < cut
    left, right = 0, half
    for r in range(len(values)):
        same = (values[r] == cut) & (room > 0)
        goes = (values[r] < cut) | same
        room -= same
        places[r] = left if goes else right
        left += goes
        right += not goes


@kernel(within=True)
def move(values: np.ndarray, places: np.ndarray, room: np.ndarray) -> None:
    """Move values to their places."""
    for r in range(len(values)):
        room[places[r]] = values[r]
    for r in range(len(values)):
        values[r] = room[r]
