"""What value and policy iteration share: the world to solve, what they leave behind, and the proof that nothing is worth more."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats, integers, of
from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, integer, number
from qed.base.models.proof import restated
from qed.base.models.trial import Trial
from qed.base.numbers import TINY
from qed.base.running.steps import Step
from qed.reinforcement.bounds import Bound, bound_values
from qed.reinforcement.world import World, WorldMark


class Known:
    """A world of which all is known, to be solved with a discount."""

    source = "data"

    def __init__(self, world: World, gamma: float) -> None:
        self.world, self.gamma = world, gamma

    @property
    def fingerprint(self) -> WorldMark:
        return self.world.fingerprint

    @cached_property
    def inside(self) -> np.ndarray:
        return self.world.reached

    def worth(self, values: np.ndarray) -> np.ndarray:
        """Give what each action in each state is worth by the values of the next states; nothing where no episode comes to."""
        return np.where(self.inside[:, None], self.world.backup(values, self.gamma), 0.0)

    def gap(self, values: np.ndarray) -> tuple[float, Bound]:
        """Give how far values can be from the best ones, relative to the largest."""
        bound = bound_values(self.world, values, self.gamma)
        return float(bound.error.max(initial=0.0)) / self.scale(values), bound

    def scale(self, values: np.ndarray) -> float:
        """Give the size that errors are relative to."""
        return max(float(np.abs(values[self.inside]).max(initial=0.0)), TINY)


class Planner(Trial):
    """A way to the best policy of a world of which all is known."""

    keeps = "last"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "gamma": number(0, 1, kind="model"),
        "tol": number(0),
        "max_iter": integer(1),
    }
    attributes: ClassVar[Attributes] = {
        "values_": floats("states"),
        "q_values_": floats("states", "actions"),
        "policy_": integers("states", below="actions"),
        "return_": floats(),
        "fingerprint_": of(WorldMark, states="states", actions="actions"),
    }
    gamma: float
    values_: np.ndarray
    q_values_: np.ndarray
    policy_: np.ndarray
    return_: float

    def _problem(self, world: object) -> Known:
        return Known(World.of(world), self.gamma)

    def _finish(self, problem: Known, step: Step) -> None:
        self.values_ = step.values
        self.q_values_ = problem.worth(step.values)
        self.policy_ = self.q_values_.argmax(axis=1)
        self.return_ = float(problem.world.start @ step.values)

    def _prove(self, problem: Known) -> list[Claim]:
        distance, bound = problem.gap(self.values_)
        scale = problem.scale(self.values_)
        inside = problem.inside
        taken = np.take_along_axis(self.q_values_, self.policy_[:, None], axis=1)[:, 0]
        lost = problem.world.rounding(self.values_, self.gamma).max(initial=0.0) / scale
        missed = float((self.q_values_.max(axis=1) - taken)[inside].max(initial=0.0)) / scale
        return [
            Claim.within(
                "values are within so much of the best, at most (relative)", distance, self.tol, bound.rounding / scale
            ),
            Claim("the policy takes actions that are worth less by, at most (relative)", missed, self.tol + 4 * lost),
        ]

    def _restate(self, problem: Known) -> list[Claim]:
        return [
            restated("values_", np.where(problem.inside, 0.0, self.values_), np.zeros(len(self.values_)), scale=1.0),
            restated("q_values_", self.q_values_, problem.worth(self.values_)),
            restated("return_", self.return_, float(problem.world.start @ self.values_)),
        ]

    def _advice(self) -> str:
        if self.gamma == 1:
            return "Without a discount only worlds that end can be solved: give gamma < 1, or make every step cost something."
        return ""
