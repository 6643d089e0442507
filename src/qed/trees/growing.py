r"""Growing a tree from the root: at every node the best question of all.

For each column the rows of a node stand in order. One sweep along them moves a row after the other from the right side to the left and
asks, wherever the value changes, how pure the two sides are. The best of all columns and places is the question of the node; equally good
ones are decided by the lower column, then the lower threshold. Where values are missing, their rows are tried on either side. A level of
the tree costs :math:`O(np)`.

In every node weights and numbers are brought near one, numbers about the middle of their range, and rounded to multiples of a power of two
for which all sums of them are exact: that moves a sum by no more than rounding moves a plain one. So sums depend on no order, and neither
does the tree: not on that of the rows, not on the threads; and a node does not suffer from what lies beyond it. Nodes with many rows are
searched by all threads together, column by column; the trees below them are grown side by side.

Breiman, Friedman, Olshen and Stone (1984), Classification and regression trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from qed.base.compile import is_ready, unless_few
from qed.base.engine import work
from qed.base.threads.team import Team, team
from qed.trees.columns import Columns
from qed.trees.impurity import WITH_LOGARITHMS
from qed.trees.sweeping import (
    best_place_alone,
    divide_alone,
    grow_below,
    mark_alone,
    numbered_anew,
    survey_alone,
)

NOTHING = np.empty(0)
# Rows times columns below which growing is not worth compiling; rows from which a node is searched by all threads, and at least so many;
# and rows below which it is not worth compiling what all threads need.
FEW, MANY, ENOUGH, ALONE = 1 << 11, 1 << 13, 1 << 10, 1 << 15


class Targets(NamedTuple):
    """What the rows of a tree are to be told apart by."""

    kind: int  # which impurity: see `qed.trees.impurity`
    classes: int  # how many classes there are; 1 where the target is a number
    weight: np.ndarray  # what each row weighs; empty where all weigh one
    number: np.ndarray  # the number of each row; empty where the target is a class
    mass: np.ndarray  # room for what rows weigh within their node
    value: np.ndarray  # room for their numbers within their node, times that

    @classmethod
    def of(cls, kind: int, classes: int, weight: np.ndarray | None, number: np.ndarray | None) -> Targets:
        given = (NOTHING if weight is None else weight, NOTHING if number is None else number)
        return cls(kind, classes, *given, *(np.empty(len(one)) for one in given))


class Rules(NamedTuple):
    """Where growing ends."""

    depth: int  # levels below the root
    split: int  # rows that a node must have to be split
    leaf: int  # rows that a leaf must have
    weight: float  # what a leaf must weigh
    gain: float  # what the weight of a node times the impurity that its question takes away must come to, in units of purity
    tried: int  # columns that are looked at in each node, drawn by lot; all of them where it is the number of columns
    seed: int


def on_grid(weights: np.ndarray, *, all_count: bool = False) -> np.ndarray:
    r"""Round weights to multiples of a power of two on which every sum of some of them is exact; whole ones stay what they are.

    With the grid :math:`q \ge 2^{-52} \sum_i w_i` all sums are whole numbers of :math:`q` below :math:`2^{53}`. Rounding moves a weight by
    at most half of that, as much as rounding moves a plain sum; where `all_count`, none of them becomes nothing.

    >>> (
    ...     on_grid(np.array([2.0, 3.0])),
    ...     on_grid(np.array([1.0, 1e-30]))[1],
    ...     on_grid(np.array([1.0, 1e-30]), all_count=True)[1] > 0,
    ... )
    (array([2., 3.]), np.float64(0.0), np.True_)
    """
    total = float(weights.sum())
    if total == 0.0 or not np.isfinite(total):
        return weights.astype(np.float64)
    grid = np.ldexp(1.0, max(int(np.frexp(total)[1]) - 52, -1022))
    return np.asarray(np.maximum(np.rint(weights / grid), float(all_count)) * grid)


def near_one(weights: np.ndarray) -> float:
    """Give the power of two that brings the largest weight near one, so that no product of two of them vanishes or overflows.

    >>> 0.5 <= near_one(np.array([1e-200, 3e-200])) * 3e-200 < 1
    True
    """
    return float(np.ldexp(1.0, int(np.clip(-np.frexp(weights.max(initial=0.0))[1], -1022, 1000))))


@dataclass
class Grown:
    """The nodes of a tree as they are grown: what each asks, as ranks, and its right child."""

    feature: np.ndarray
    low: np.ndarray
    high: np.ndarray
    missing_left: np.ndarray
    right: np.ndarray

    @classmethod
    def room(cls, count: int) -> Grown:
        return cls(
            np.full(count, -1, dtype=np.intp),
            np.zeros(count, dtype=np.intp),
            np.zeros(count, dtype=np.intp),
            np.zeros(count, dtype=bool),
            np.full(count, -1, dtype=np.intp),
        )

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return self.feature, self.low, self.high, self.missing_left, self.right


class Stretch(NamedTuple):
    """A node that is not grown yet: its rows are a stretch of every column."""

    first: int
    last: int
    depth: int


def grow(columns: Columns, targets: Targets, rules: Rules) -> Grown:
    """Grow the tree of some rows."""
    p, n = columns.keys.shape
    number = np.empty(n, dtype=np.int32)
    root = Stretch(0, n, 0)
    below = partial(_subtree, columns, targets, rules, number)
    if n <= MANY or rules.tried < p or (n <= ALONE and not is_ready(best_place_alone)):
        return below(root)
    # Where their keys take half the room, subtrees are grown sooner.
    fitting = 1 << max(32 - columns.label_bits - n.bit_length(), 0)
    many = min(MANY, fitting) if fitting >= ENOUGH else MANY
    with team() as crew:
        asked, open_ = _top(crew, columns, targets, rules, many, root)
    grown = list(work(partial(below, node) for node in open_.values()))
    return _joined(asked, dict(zip(open_, grown)))


def _subtree(columns: Columns, targets: Targets, rules: Rules, number: np.ndarray, node: Stretch) -> Grown:
    """Grow the tree below a node by one thread; its rows get a `number` of their own there."""
    rows, (p, n) = node.last - node.first, columns.keys.shape
    most, levels = 2 * max(rows // rules.leaf, 1) - 1, rules.depth - node.depth
    grown = Grown.room(min(most, (2 << levels) - 1) if levels < 62 else most)
    run = unless_few(grow_below, n * p, FEW, same=targets.kind not in WITH_LOGARITHMS)
    limits = (rules.depth, rules.split, rules.leaf, rules.weight, rules.gain, rules.tried, np.uint64(rules.seed))
    own, targets, node = _own(columns, targets, number, node)
    side = np.zeros(own.keys.shape[1], dtype=np.uint8)
    count = run(own.keys, *own.layout, *targets, *limits, side, *node, *grown.parts)
    return Grown(*(part[:count].copy() for part in grown.parts))


class Own(NamedTuple):
    """The keys that a subtree is grown from, and their layout."""

    keys: np.ndarray
    layout: tuple[np.uint64, np.uint64, np.uint64]


def _own(columns: Columns, targets: Targets, number: np.ndarray, node: Stretch) -> tuple[Own, Targets, Stretch]:
    """Give the keys of a node in half the room, if that is enough, with their targets; else all keys."""
    rows, (p, n), (row_shift, rank_shift, _) = node.last - node.first, columns.keys.shape, columns.layout
    shift = columns.rank_shift if rows == n else columns.label_bits + (rows - 1).bit_length()
    if shift + n.bit_length() > 32:
        return Own(columns.keys, columns.layout), targets, node
    layout = row_shift, np.uint64(shift), np.uint64(((1 << 32) - 1) >> shift)
    if rows == n:
        return Own(columns.keys.astype(np.uint32), layout), targets, node
    keys, chosen = np.empty((p, rows), dtype=np.uint32), np.empty(rows, dtype=np.intp)
    numbered_anew(columns.keys, row_shift, rank_shift, node.first, node.last, number, chosen, keys, layout[1])
    weight, numbers = (one[chosen] if len(one) else None for one in (targets.weight, targets.number))
    return Own(keys, layout), Targets.of(targets.kind, targets.classes, weight, numbers), Stretch(0, rows, node.depth)


Asked = dict[int, tuple[int, int, int, bool]]


def _top(
    crew: Team, columns: Columns, targets: Targets, rules: Rules, many: int, root: Stretch
) -> tuple[Asked, dict[int, Stretch]]:
    """Split the nodes that have many rows, all threads at one of them; number them as a heap, and leave the others open."""
    side = np.zeros(root.last, dtype=np.uint8)
    asked: Asked = {}
    open_: dict[int, Stretch] = {}
    waiting = {1: root}
    while waiting:
        name, node = waiting.popitem()
        found = _question(crew, columns, targets, rules, node) if node.last - node.first > many else None
        if found is None:
            open_[name] = node
            continue
        feature, place, missing = found
        keys, shift = columns.keys[feature], columns.layout[1]
        asked[name] = (feature, int(keys[place - 1] >> shift), int(keys[place] >> shift), missing)
        gone = int(mark_alone(keys, *columns.layout, node.first, place, node.last, missing, side)[0])
        crew.run(partial(_divide, columns, node, gone, side), len(columns.keys))
        waiting[2 * name] = Stretch(node.first, node.first + gone, node.depth + 1)
        waiting[2 * name + 1] = Stretch(node.first + gone, node.last, node.depth + 1)
    # The largest first: whoever is done early takes one of the small ones.
    return asked, dict(sorted(open_.items(), key=lambda one: one[1].first - one[1].last))


def _question(
    crew: Team, columns: Columns, targets: Targets, rules: Rules, node: Stretch
) -> tuple[int, int, bool] | None:
    """Find the best question of a node by all threads; None where it is a leaf."""
    whole = np.zeros(targets.classes)
    total, alone, heavy, wide, mixed = survey_alone(
        columns.keys[0], *columns.layout, *targets, node.first, node.last, whole
    )
    if not mixed or node.depth >= rules.depth or node.last - node.first < rules.split:
        return None
    least = rules._replace(weight=rules.weight * heavy, gain=rules.gain * heavy * wide)
    # What any column has reached so far; who has written last does not matter for who is best in the end.
    reached = [-np.inf]
    found = crew.run(partial(_sweep, columns, targets, least, node, whole, total, reached), len(columns.keys))
    feature = max(range(len(found)), key=lambda j: (found[j][1] >= 0, found[j][0], -j))
    score, place, missing = found[feature]
    if place < 0 or score - alone < least.gain:
        return None
    return feature, int(place), bool(missing)


def _sweep(
    columns: Columns,
    targets: Targets,
    rules: Rules,
    node: Stretch,
    whole: np.ndarray,
    total: float,
    reached: list[float],
    j: int,
    _: int,
) -> Any:
    where = (columns.keys[j], *columns.layout, *targets, node.first, node.last)
    found = best_place_alone(*where, whole, total, rules.leaf, rules.weight, np.empty(targets.classes), reached[0])
    if found[1] >= 0:
        reached[0] = max(reached[0], found[0])
    return found


def _divide(columns: Columns, node: Stretch, gone: int, side: np.ndarray, j: int, _: int) -> None:
    keys = columns.keys[j, node.first : node.last]
    divided = np.empty_like(keys)
    divide_alone(keys, *columns.layout, 0, gone, len(keys), side, divided)
    keys[:] = divided


def _joined(asked: Asked, below: dict[int, Grown]) -> Grown:
    """Put the trees below the split nodes in the places where they belong."""
    grown = Grown.room(len(asked) + sum(len(one.feature) for one in below.values()))
    place, waiting = 0, [(1, -1)]
    while waiting:
        name, parent = waiting.pop()
        if parent >= 0:
            grown.right[parent] = place
        if name in asked:
            grown.feature[place], grown.low[place], grown.high[place], grown.missing_left[place] = asked[name]
            waiting += [(2 * name + 1, place), (2 * name, -1)]
            place += 1
            continue
        part = below[name]
        here = slice(place, place + len(part.feature))
        for to, own in zip(grown.parts[:-1], part.parts[:-1]):
            to[here] = own
        grown.right[here] = np.where(part.right >= 0, part.right + place, -1)
        place = here.stop
    return grown
