r"""How far a round goes along its trees, where that is searched for.

.. math:: \alpha = \arg\min_\alpha \sum_i w_i L(y_i, F(x_i) + \alpha\, t(x_i)),

for the value :math:`t(x)` of the round's trees. The losses are convex, so the slope along the line never falls, and its zero is enclosed
and found by the secant; at the kinks of absolute errors it jumps over it. Each trial is a pass over the rows.

Friedman (2001), Greedy function approximation: a gradient boosting machine.
"""

from __future__ import annotations

import numpy as np

from qed.base.numbers import EPS
from qed.base.threads.team import Team
from qed.optim.searches.downhill import Bracket
from qed.trees.boosting.losses.measuring import Table, measure
from qed.trees.boosting.losses.objectives import Objective

# What may be left of the first slope, or how near, as a share, both ends of what encloses the best length are; trials; the longest way,
# in units of the trees as they were grown, where the loss only falls.
FLAT, NEAR, TRIALS, LONGEST = 1e-9, 1e-9, 100, 64.0
# A proof takes a length for the best one where there is none so much shorter or longer, as a share, with more than this of the slope left.
CLOSE, LEFT = 1e-6, 1e-7


class Line:
    """The losses of the rows that a round learns from, along a direction of shape (outputs, n) from their scores."""

    def __init__(
        self,
        objective: Objective,
        table: Table,
        scores: np.ndarray,
        direction: np.ndarray,
        crew: Team,
        drawn: np.ndarray | None,
    ) -> None:
        self.objective, self.table, self.scores, self.direction, self.crew = objective, table, scores, direction, crew
        self.drawn = slice(None) if drawn is None else drawn

    def _terms(self, scores: np.ndarray) -> np.ndarray:
        found = measure(self.objective, self.table, scores, self.crew)
        return found.slope[:, self.drawn] * self.direction[:, self.drawn] * self.table.weights[self.drawn]

    def slope(self, length: float) -> tuple[float, float]:
        """Give the slope there, and what the rounding of its sum may do to it."""
        terms = self._terms(self.scores + length * self.direction)
        return float(terms.sum()), 64 * EPS * float(np.abs(terms).sum())

    def _blurred(self, length: float) -> tuple[float, float]:
        """Give the slope there, and what the rounding of scores may do to it: of each row it only rises with its own score."""
        scores, step = self.scores, length * self.direction
        near = 4 * EPS * (np.abs(scores) + np.abs(step))
        apart = self._terms(scores + step + near) - self._terms(scores + step - near)
        slope, rounding = self.slope(length)
        return slope, rounding + float(np.abs(apart).sum())

    def best(self, trial: float) -> float:
        """Give the length at which the loss is least, where a length is to be tried first; that one, where no way leads down."""
        first, _ = self.slope(0.0)
        if not first < 0:
            return trial
        longest = trial * LONGEST
        bracket, length = Bracket(first, longest), trial
        for _ in range(TRIALS):
            slope, rounding = self.slope(length)
            if abs(slope) <= max(-FLAT * first, rounding) or (slope < 0 and length == longest):
                break
            after = bracket.next(length, slope)
            if not bracket.holds(after) or bracket.high - bracket.low <= NEAR * bracket.low:
                break
            length = after
        return length

    def is_best(self, length: float, trial: float) -> bool:
        """Say whether the loss is least there, to all that can be told."""
        first, rounding = self._blurred(0.0)
        if not first < -rounding:
            # Where nothing is to be gained, no length is better than another.
            return abs(first) <= rounding or abs(length - trial) <= CLOSE * trial
        shorter, longer = (self._blurred(length * (1 + sign * CLOSE)) for sign in (-1, 1))
        ends = length >= trial * LONGEST * (1 - CLOSE)
        return shorter[0] <= -LEFT * first + shorter[1] and (ends or longer[0] >= LEFT * first - longer[1])
