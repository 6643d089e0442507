"""Stumps on weights that change from round to round: the columns are sorted once, for all rounds.

A stump asks one question. Of rows that stand in order, one sweep along each column with the weights of the round finds the best one, so a
round costs :math:`O(np)` and no sorting; and who is marked as going left is told without walking a tree. Each is the tree, bit for bit,
that ``DecisionTreeClassifier(max_depth=1)`` grows on these weights.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.compile import interpreted
from qed.base.models.composed import Member
from qed.base.numbers import EPS
from qed.base.threads.team import team
from qed.ensembles.problem import MemberClasses
from qed.trees.classifier import DecisionTreeClassifier
from qed.trees.columns import Columns
from qed.trees.growing import Targets
from qed.trees.impurity import KINDS, impurity
from qed.trees.model import importances
from qed.trees.nodes import LEAF, Nodes
from qed.trees.sweeping import best_place, mark, survey

# Rows times columns times rounds below which sweeping is not worth compiling; rows from which columns are swept by all threads.
FEW, MANY = 1 << 15, 1 << 13
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
        self.few = problem.X.size * rounds <= FEW

    def fit(self, weight: np.ndarray) -> tuple[DecisionTreeClassifier, np.ndarray] | None:
        """Find the best stump on these weights, and what it says of the rows; None where no column has two values."""
        p, n = self.columns.keys.shape
        sweep, add_up, note = (interpreted(one) if self.few else one for one in (best_place, survey, mark))
        targets = Targets.of(KINDS[self.criterion], self.k, None if (weight == 1).all() else weight, None)
        layout, whole = self.columns.layout, np.zeros(self.k)
        total = add_up(self.columns.keys[0], *layout, *targets, 0, n, whole)[0]

        def best(j: int, _: int) -> tuple[float, int, bool]:
            found: tuple[float, int, bool] = sweep(
                self.columns.keys[j], *layout, *targets, 0, n, whole, total, 1, 0.0, np.empty(self.k)
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

