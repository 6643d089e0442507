r"""Grid worlds: fields in rows and columns, four directions, walls, holes and goals.

A step leads to the next field, or stays where a wall or the edge is. On slippery ground it goes to either side with the chance
:math:`\text{slip}/2` each; Gymnasium's frozen lake is ``slip=2/3``. Goals and holes end the episode.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from qed.base.errors import InputError
from qed.reinforcement.world import World

FIELDS = {"S": "start", ".": "free", "#": "wall", "H": "hole", "G": "goal"}
ARROWS = "←↓→↑"
MOVES = ((0, -1), (1, 0), (0, 1), (-1, 0))


class GridWorld(World):
    """A world drawn as lines of text: ``S`` start, ``.`` free, ``#`` wall, ``H`` hole, ``G`` goal.

    Parameters
    ----------
    plan : sequence of str
        The lines, all of one length. Where several fields are starts, each is as likely.
    goal, hole, step : float
        What reaching a goal, falling into a hole, and every other step pays.
    slip : float
        The chance to go sideways, half of it to either side.

    Examples
    --------
    >>> import qed
    >>> world = qed.GridWorld(["S.G", ".#.", "..."])
    >>> plan = qed.ValueIteration(gamma=0.9).fit(world)
    >>> print(world.arrows(plan.policy_))
    → → G
    ↑ # ↑
    → → ↑
    >>> float(plan.return_)
    0.9
    """

    names = ("left", "down", "right", "up")

    def __init__(
        self,
        plan: Sequence[str],
        *,
        goal: float = 1.0,
        hole: float = 0.0,
        step: float = 0.0,
        slip: float = 0.0,
    ) -> None:
        self.plan = tuple(plan)
        self._check_plan(slip)
        self.shape = len(self.plan), len(self.plan[0])
        self._pays = {"G": goal, "H": hole}
        marks = np.array(["".join(self.plan)]).view("U1")
        outcomes = [
            [self._outcomes(place, move, step, slip) for move in range(4)]
            for place in range(self.shape[0] * self.shape[1])
        ]
        start = (marks == "S").astype(float)
        super().__init__(outcomes, start / start.sum())

    def _check_plan(self, slip: float) -> None:
        lines = self.plan
        if not lines or not lines[0] or len({len(line) for line in lines}) != 1:
            raise InputError("A grid world needs lines of one length, such as ['S..', '..G'].")
        for row, line in enumerate(lines):
            for column, mark in enumerate(line):
                if mark not in FIELDS:
                    raise InputError(
                        f"{mark!r} in row {row}, column {column} is no field: write one of {'  '.join(FIELDS)}."
                    )
        if not any("S" in line for line in lines):
            raise InputError("A grid world needs a start: mark a field with S.")
        if not 0 <= slip <= 1:
            raise InputError(f"slip must be a chance from 0 to 1, not {slip!r}.")

    def _outcomes(self, place: int, move: int, step: float, slip: float) -> list[tuple[float, int, float, bool]]:
        row, column = divmod(place, self.shape[1])
        if self.plan[row][column] in "GH#":
            return [(1.0, place, 0.0, True)]
        ways = [(1 - slip, move), (slip / 2, (move - 1) % 4), (slip / 2, (move + 1) % 4)]
        return [(chance, *self._arrival(row, column, way, step)) for chance, way in ways if chance > 0]

    def _arrival(self, row: int, column: int, move: int, step: float) -> tuple[int, float, bool]:
        """Say where a move leads, what it pays, and whether it ends the episode."""
        there = row + MOVES[move][0], column + MOVES[move][1]
        inside = 0 <= there[0] < self.shape[0] and 0 <= there[1] < self.shape[1]
        if not inside or self.plan[there[0]][there[1]] == "#":
            there = row, column
        mark = self.plan[there[0]][there[1]]
        return there[0] * self.shape[1] + there[1], self._pays.get(mark, step), mark in self._pays

    def arrows(self, policy: np.ndarray) -> str:
        """Draw a policy: an arrow on every field that an episode can come to, else the field itself."""
        marks = [mark for line in self.plan for mark in line]
        shown = [
            ARROWS[policy[place]] if mark in "S." and self.reached[place] else mark for place, mark in enumerate(marks)
        ]
        width = self.shape[1]
        return "\n".join(" ".join(shown[row * width : (row + 1) * width]) for row in range(self.shape[0]))
