"""Stumps on weights that change from round to round: the columns are sorted once, for all rounds.

A stump asks one question. Of rows that stand in order, one sweep along each column with the weights of the round finds the best one, so a
round costs :math:`O(np)` and no sorting; and who is marked as going left is told without walking a tree. Each is the tree, bit for bit,
that ``DecisionTreeClassifier(max_depth=1)`` grows on these weights.

For two classes and Gini's impurity most places are never looked at: some rows are added up at once, and where no place among them can be
better than the best so far, they are passed over. All other cases, and columns with missing values, go through the sweep of
:mod:`qed.trees.sweeping`, which finds the same place.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.compile import interpreted, kernel
from qed.base.models.composed import Member
from qed.base.numbers import EPS
from qed.base.threads.team import team
from qed.ensembles.problem import MemberClasses
from qed.trees.classifier import DecisionTreeClassifier
from qed.trees.columns import Columns
from qed.trees.growing import Targets
from qed.trees.impurity import GINI, KINDS, impurity
from qed.trees.model import importances
from qed.trees.nodes import LEAF, Nodes
from qed.trees.sweeping import best_place_alone, mark_alone, survey_alone

# Rows times columns times rounds below which sweeping is not worth compiling; rows from which columns are swept by all threads.
FEW, MANY = 1 << 15, 1 << 13
# Rows of which a bound tells whether one of them is worth looking at; and a little more than what rounding takes from it.
SOME, NEARLY_MORE = 32, 1 + 2.0**-48
# What says nothing about the question of a stump.
FREE = ("criterion", "random_state")


def is_stump(member: Member) -> bool:
    """Say whether a member asks one question, the best of all, and no rule limits which."""
    if type(member) is not DecisionTreeClassifier:
        return False
    usual = DecisionTreeClassifier(max_depth=1).get_params()
    return all(value == usual[name] for name, value in member.get_params().items() if name not in FREE)


class Stumps:
    """The learner of stumps for the rows of a problem."""

    def __init__(self, problem: MemberClasses, stump: DecisionTreeClassifier, rounds: int) -> None:
        self.label, self.classes = problem.target, problem.classes
        self.criterion, self.k = stump.criterion, len(problem.classes)
        self.columns = Columns(problem.X, self.label, self.k)
        self.side = np.zeros(len(self.label), dtype=np.uint8)
        self.few = problem.X.shape[0] * problem.X.shape[1] * rounds <= FEW
        row_shift, rank_shift, lost = self.columns.layout
        ranks = self.columns.keys >> rank_shift
        # Columns without missing values, of two classes.
        self.plain = (ranks[:, -1] != lost) & (KINDS[self.criterion] == GINI and self.k == 2 and not self.few)
        if self.plain.any():
            inside = (np.uint64(1) << (rank_shift - row_shift)) - np.uint64(1)
            self.order = ((self.columns.keys >> row_shift) & inside).astype(np.int32)
            self.changes = np.zeros(ranks.shape, dtype=bool)
            np.not_equal(ranks[:, 1:], ranks[:, :-1], out=self.changes[:, :-1])

    def fit(self, weight: np.ndarray) -> tuple[DecisionTreeClassifier, np.ndarray] | None:
        """Find the best stump on these weights, and what it says of the rows; None where no column has two values."""
        p, n = self.columns.keys.shape
        sweep, add_up, note = (
            interpreted(one) if self.few else one for one in (best_place_alone, survey_alone, mark_alone)
        )
        targets = Targets.of(KINDS[self.criterion], self.k, weight, None)
        layout, whole = self.columns.layout, np.zeros(self.k)
        total = add_up(self.columns.keys[0], *layout, *targets, 0, n, whole)[0]
        second = targets.mass * self.label if self.plain.any() else targets.mass

        reached = [-np.inf]  # by any column so far; who has written last does not matter for who is best in the end

        def best(j: int, _: int) -> tuple[float, int, bool]:
            if self.plain[j]:
                rows = self.order[j], self.changes[j], targets.mass, second
                value, place, heavier = best_of_two(*rows, whole[1], total, reached[0])
                reached[0] = max(reached[0], value)
                return value, place, heavier
            found: tuple[float, int, bool] = sweep(
                self.columns.keys[j], *layout, *targets, 0, n, whole, total, 1, 0.0, np.empty(self.k), -np.inf
            )
            return found

        with team(None if n > MANY else 1) as crew:
            found = crew.run(best, p)
        feature = max(range(p), key=lambda j: (found[j][0], -j))
        _, place, missing = found[feature]
        if place < 0:
            return None
        keys, shift = self.columns.keys[feature], layout[1]
        note(keys, *layout, 0, place, n, missing, self.side)
        ranks = (np.array([int(keys[at] >> shift)]) for at in (place - 1, place))
        threshold = float(self.columns.middle(np.array([feature]), *ranks)[0])
        return self._stump(p, feature, threshold, bool(missing), weight)

    def _stump(
        self, p: int, feature: int, threshold: float, missing: bool, weight: np.ndarray
    ) -> tuple[DecisionTreeClassifier, np.ndarray]:
        right = 1 - self.side.astype(np.intp)
        sides = np.bincount(right * self.k + self.label, weight, 2 * self.k).reshape(2, self.k)
        sizes = np.bincount(right, minlength=2)
        counts = np.vstack([sides.sum(axis=0), sides])
        tree = Nodes(
            np.array([feature, LEAF, LEAF]),
            np.array([threshold, 0.0, 0.0]),
            np.array([2, LEAF, LEAF]),
            np.array([missing, False, False]),
            counts / counts.sum(axis=1, keepdims=True),
            impurity(counts, self.criterion),
            np.array([sizes.sum(), *sizes]),
            counts.sum(axis=1),
        )
        made = DecisionTreeClassifier(criterion=self.criterion, max_depth=1)
        made.n_features_in_, made.classes_, made.n_classes_ = p, self.classes, self.k
        made.tree_, made.feature_importances_ = tree, importances(tree, p)
        made.certificate_ = _claimed(counts)
        return made, sides.argmax(axis=1)[right]


def _claimed(counts: np.ndarray) -> Certificate:
    """Claim what the counts of a stump show; that no question is better is proven by the model that it is a member of."""
    errors = (counts.sum(axis=1) - counts.max(axis=1)) / counts[0].sum()
    slack = (len(counts[0]) + 4) * EPS
    says = "it errs no more than the most frequent class would (share of the weight)"
    return Certificate([Claim(says, float(errors[1] + errors[2]), float(errors[0]) + slack)], source="statistics")


@kernel
def best_of_two(
    order: np.ndarray,
    changes: np.ndarray,
    mass: np.ndarray,
    second: np.ndarray,
    whole: float,
    total: float,
    reached: float,
) -> tuple[float, int, bool]:
    """Sweep along a column of rows in `order`; give the best purity, how far the left side goes, and whether it is the heavier.

    `second` is the mass of the rows of the second class, of which all have the `whole`. All sums are exact, in whatever order. Places that
    are worse than what other columns have `reached` need not be found.
    """
    n, best, place, heavy = len(order), reached, -1, 0.0
    side, part = 0.0, 0.0
    for first in range(0, n, SOME):
        last = min(first + SOME, n)
        more, own = added(order, mass, first, last), added(order, second, first, last)
        if first > 0 and last < n:
            # Purity is convex in what the two classes weigh on the left, so none in between exceeds that of a corner.
            most = max(purity_at(side, part, whole, total), purity_at(side + more, part + own, whole, total))
            most = max(most, purity_at(side + own, part + own, whole, total))
            most = max(most, purity_at(side + (more - own), part, whole, total))
            if most * NEARLY_MORE < best:
                side, part = side + more, part + own
                continue
        for q in range(first, last):
            side += mass[order[q]]
            part += second[order[q]]
            if changes[q]:
                found = purity_at(side, part, whole, total)
                if found > best or (found == best and place < 0):
                    best, place, heavy = found, q + 1, side
    return (best if place >= 0 else -np.inf), place, 2 * heavy > total


@kernel(within=True)
def purity_at(side: float, part: float, whole: float, total: float) -> float:
    """Give Gini's purity where the left side weighs `side`, and `part` of it is of the second class: see `qed.trees.impurity`."""
    rest, b = total - side, whole - part
    c, d = side - part, rest - b
    return ((part * part + c * c) * rest + (b * b + d * d) * side) / (side * rest)


@kernel(within=True, fastmath={"reassoc", "nsz"})
def added(order: np.ndarray, mass: np.ndarray, first: int, last: int) -> float:
    """Add up what some rows weigh, exactly and so in whatever order is fastest."""
    found = 0.0
    for q in range(first, last):
        found += mass[order[q]]
    return found
