"""What every question of many nodes is worth: the purity of its sides, from running sums or medians over rows in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from qed.trees.impurity import ENTROPY, POISSON, SQUARES, purities, purities_of_one
from qed.trees.problem import TreeProblem
from qed.trees.sweeping import GRID


class Ranks(NamedTuple):
    """The numbers of rows in order, within their nodes, which stand one after another."""

    rank: np.ndarray  # of each row, counted over all nodes
    point: np.ndarray  # the number at every rank, near one

    @classmethod
    def of(cls, near: np.ndarray, place: np.ndarray, count: int) -> Ranks:
        order = np.lexsort((near, place))
        rank = np.empty(len(order), dtype=np.intp)
        rank[order] = np.arange(len(order))
        return cls(rank, near[order])


class Amounts(NamedTuple):
    """What rows add to the sums of their node, near one and on a grid on which sums are exact."""

    each: np.ndarray  # a line for each class, or one of numbers
    mass: np.ndarray  # what each row weighs
    heavy: np.ndarray  # by what the weights of each node were multiplied
    wide: np.ndarray  # and its numbers, or their squares where these are what counts
    whole: np.ndarray  # the sums of each node
    total: np.ndarray  # what it weighs
    most: np.ndarray  # what its purity can be at most, of which rounding takes a share
    step: np.ndarray  # what the amounts of each node are multiples of
    mass_step: float  # and what weights are
    ranks: Ranks | None  # the places of numbers in their order, where medians are asked for

    def of(self, order: np.ndarray) -> Amounts:
        """Give the rows in another order."""
        ranks = None if self.ranks is None else self.ranks._replace(rank=self.ranks.rank[order])
        return self._replace(each=self.each[:, order], mass=self.mass[order], ranks=ranks)

    def times(self, copies: int) -> Amounts:
        """Give so many copies of rows and nodes, one behind the other; of numbers in order there is one."""
        if copies == 1:
            return self
        parts: list[Any] = [np.tile(one, copies) if isinstance(one, np.ndarray) else one for one in self]
        return Amounts(*parts)


def amounts_of(problem: TreeProblem, rows: np.ndarray, place: np.ndarray, count: int) -> Amounts:
    """Bring weights and targets of the rows near one, node by node."""
    targets, mass, mass_step = problem.targets, np.ones(len(rows)), GRID if len(problem.targets.weight) else 1.0
    heavy = wide = np.ones(count)
    ranks = None
    step = np.full(count, mass_step)
    if len(targets.weight):
        heavy = np.ldexp(1.0, -np.frexp(np.bincount(place, targets.weight[rows], count))[1])
        mass = np.maximum(np.rint(targets.weight[rows] * heavy[place] / GRID), 1.0) * GRID
    total = np.bincount(place, mass, count)
    if targets.classes > 1:
        each = np.where(problem.label[rows] == np.arange(targets.classes)[:, None], mass, 0.0)
        most = total * (2.0 + 40.0 * np.log(2.0)) if problem.kind == ENTROPY else total
    else:
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        np.minimum.at(low, place, targets.number[rows])
        np.maximum.at(high, place, targets.number[rows])
        middle = np.zeros(count) if problem.kind == POISSON else low / 2 + high / 2
        wide = np.ldexp(1.0, -np.frexp(np.where(high > low, high - middle, 1.0))[1])
        near = (targets.number[rows] - middle[place]) * wide[place]
        value = mass * near
        step = np.ldexp(GRID, np.frexp(np.bincount(place, np.abs(value), count))[1])
        each = (np.rint(value / step[place]) * step[place])[None]
        if problem.kind == SQUARES:
            most, wide = np.bincount(place, each[0] ** 2 / mass, count), wide * wide
        elif problem.kind == POISSON:
            # A share of a sum is at least a step of the grid, which has a logarithm.
            most = total * (2.0 + 40.0 * np.log(2.0))
        else:
            most, ranks = np.bincount(place, np.abs(each[0]), count), Ranks.of(near, place, count)
    whole = np.stack([np.bincount(place, one, count) for one in each])
    return Amounts(each, mass, heavy, wide, whole, total, most, step, mass_step, ranks)


def scores(
    problem: TreeProblem,
    x: np.ndarray,
    place: np.ndarray,
    starts: np.ndarray,
    sizes: np.ndarray,
    amounts: Amounts,
) -> list[np.ndarray]:
    """Give the purity of cutting after each row of a column in order: with missing values on the right, then perhaps on the left."""
    if amounts.ranks is not None:
        return _scores_by_median(problem, x, place, starts, sizes, amounts)
    n, mass, step = len(x), amounts.mass, amounts.step[place]
    first = starts[place]
    lost = np.isnan(x)
    changes = np.zeros(n, dtype=bool)
    changes[:-1] = (place[1:] == place[:-1]) & ~lost[:-1] & (x[1:] != x[:-1])
    found = []
    missing = np.bincount(place, lost, len(sizes)).astype(np.intp)
    for turn in range(1 + bool(missing.any())):
        before, count = _running(mass, first, amounts.mass_step), np.arange(1, n + 1) - first
        left = np.stack([_running(one, first, step) for one in amounts.each])
        cut = changes.copy()
        if turn:
            cut[:-1] &= ~lost[1:]
            cut &= missing[place] > 0
            before = before + np.bincount(place, np.where(lost, mass, 0.0), len(sizes))[place]
            count = count + missing[place]
            left = left + np.stack(
                [np.bincount(place, np.where(lost, one, 0.0), len(sizes))[place] for one in amounts.each]
            )
        rest = amounts.total[place] - before
        cut &= _allowed(problem, place, sizes, amounts, before, count)
        score = np.full(n, -np.inf)
        score[cut] = purities(problem.kind, left[:, cut], amounts.whole[:, place[cut]], before[cut], rest[cut])
        found.append(score)
    return found


def _running(amounts: np.ndarray, first: np.ndarray, step: Any) -> np.ndarray:
    """Give running sums that begin anew where a node begins. As whole numbers of steps they are exact, even where they wrap around."""
    steps = np.rint(amounts / step).astype(np.int64)
    sums = np.cumsum(steps)
    return np.asarray((sums - (sums - steps)[first]) * step)


def _allowed(
    problem: TreeProblem,
    place: np.ndarray,
    sizes: np.ndarray,
    amounts: Amounts,
    before: np.ndarray,
    count: np.ndarray,
) -> np.ndarray:
    """Say where both sides keep the rows and the weight that the rules ask for."""
    rules, rest = problem.rules, amounts.total[place] - before
    least = rules.weight * amounts.heavy[place]
    enough = (count >= rules.leaf) & (sizes[place] - count >= rules.leaf)
    return np.asarray(enough & (before >= least) & (rest >= least))


def _scores_by_median(
    problem: TreeProblem, x: np.ndarray, place: np.ndarray, starts: np.ndarray, sizes: np.ndarray, amounts: Amounts
) -> list[np.ndarray]:
    """Give the same for distances from the medians; missing values stand behind all others, then before them."""
    found, n = [], len(x)
    for fill in (np.inf, -np.inf)[: 1 + bool(np.isnan(x).any())]:
        keys = np.where(np.isnan(x), fill, x)
        order = np.lexsort((keys, place))
        keys, own = keys[order], amounts.of(order)
        cut = np.zeros(n, dtype=bool)
        cut[:-1] = (place[1:] == place[:-1]) & (keys[1:] != keys[:-1])
        first, last = starts[place], (starts + sizes)[place]
        before, count = _running(own.mass, first, own.mass_step), np.arange(1, n + 1) - first
        cut &= _allowed(problem, place, sizes, own, before, count)
        at = np.flatnonzero(cut)
        score = np.full(n, -np.inf)
        sides = distances(own, place, np.append(first[at], at + 1), np.append(at + 1, last[at]))[0]
        score[at] = -sides[: len(at)] - sides[len(at) :]
        found.append(score)
    return found


def distances(amounts: Amounts, place: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the distances from the median, and the median, of stretches of rows from `low` to before `high`, each within a node.

    Ranks are told apart bit by bit, from the highest on: rows without a bit are brought before those with it, in the order they had, and a
    stretch follows them to where its median is (a wavelet matrix: Claude, Navarro and Ordonez 2015). Sums of whole steps are exact.
    """
    assert amounts.ranks is not None
    rank, point = amounts.ranks
    own = place[np.minimum(low, len(place) - 1)]
    steps = np.stack([np.rint(amounts.mass / amounts.mass_step), np.rint(amounts.each[0] / amounts.step[place])])
    lines = steps.astype(np.int64)
    sums = np.concatenate([np.zeros((2, 1), dtype=np.int64), np.cumsum(lines, axis=1)], axis=1)
    weight, total = sums[:, high] - sums[:, low]
    below, amount, found = np.zeros_like(weight), np.zeros_like(total), np.zeros(len(low), dtype=np.intp)
    for bit in range(max(len(rank) - 1, 1).bit_length() - 1, -1, -1):
        has = (rank >> bit) & 1 == 1
        without = np.concatenate([[0], np.cumsum(~has)])
        sums = np.concatenate([np.zeros((2, 1), dtype=np.int64), np.cumsum(np.where(has, 0, lines), axis=1)], axis=1)
        less = sums[:, high] - sums[:, low]
        # The median is the first rank up to which half of the weight lies.
        beyond = 2 * (below + less[0]) < weight
        below, amount = below + np.where(beyond, less[0], 0), amount + np.where(beyond, less[1], 0)
        found += np.where(beyond, 1 << bit, 0)
        low, high = (np.where(beyond, without[-1] + one - without[one], without[one]) for one in (low, high))
        order = np.argsort(has, kind="stable")
        rank, lines = rank[order], lines[:, order]
    middle = point[np.minimum(found, len(point) - 1)]
    heavy, light = (one * amounts.mass_step for one in (weight, below))
    far, near = (one * amounts.step[own] for one in (total, amount))
    return ((far - near) - middle * (heavy - light)) + (middle * light - near), middle


def purity_of_branches(problem: TreeProblem, amounts: Amounts, place: np.ndarray, branch: np.ndarray) -> np.ndarray:
    """Give the purity of every node, the rows of which take some branches."""
    most, count = int(branch.max(initial=0)), len(amounts.total)
    if amounts.ranks is None and most < 2:
        if most == 0:
            return purities_of_one(problem.kind, amounts.whole, amounts.total)
        left = np.stack([np.bincount(place, np.where(branch == 0, one, 0.0), count) for one in amounts.each])
        before = np.bincount(place, np.where(branch == 0, amounts.mass, 0.0), count)
        return purities(problem.kind, left, amounts.whole, before, amounts.total - before)
    group = np.unique(place * (most + 1) + branch, return_inverse=True)[1]
    owner = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.intp)
    owner[group] = place
    return np.bincount(owner, purity_of_groups(problem, amounts, place, group), count)


def purity_of_groups(problem: TreeProblem, amounts: Amounts, place: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Give the purity of every group of rows; those of a node are numbered one after another, and groups are never empty."""
    if amounts.ranks is not None:
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group))
        return -distances(amounts.of(order), place[order], np.append(0, ends[:-1]), ends)[0]
    sums = np.stack([np.bincount(group, one) for one in amounts.each])
    return purities_of_one(problem.kind, sums, np.bincount(group, amounts.mass))
