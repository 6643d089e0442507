r"""What all ways of playing a bandit share: many runs side by side, and the regret of each pull.

The regret of a pull is what the best arm pays more on average, :math:`\mu^* - \mu_a`; of :math:`n` pulls it is
:math:`R_n = \sum_a N_a(n)\,(\mu^* - \mu_a)`. Runs are played side by side, so that the curve of their mean shows how regret grows: in
a straight line where an arm is tried at random for ever, like a logarithm where trying is worth its cost.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats, integers, of
from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.trial import Trial
from qed.base.numbers import EPS
from qed.base.random import Seed, generator, seed_of
from qed.base.running.steps import Step
from qed.reinforcement.bandits.bandit import Bandit, BanditMark

# Pulls between two steps that are seen.
TOGETHER = 50


class Play:
    """A bandit that is played."""

    source = "data"

    def __init__(self, bandit: Bandit) -> None:
        self.bandit = bandit

    @property
    def fingerprint(self) -> BanditMark:
        return self.bandit.fingerprint


class BanditPlayer(Trial):
    """A way of choosing arms. Subclasses say how."""

    keeps = "last"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "pulls": integer(1),
        "runs": integer(1),
        "random_state": random_state(),
    }
    attributes: ClassVar[Attributes] = {
        "counts_": integers("runs", "arms"),
        "means_": floats("runs", "arms"),
        "best_arm_": integers(below="arms"),
        "regret_": floats("pulls", low=0),
        "seed_": integers(),
        "fingerprint_": of(BanditMark, arms="arms"),
    }
    pulls: int
    runs: int
    random_state: Seed
    tol = 0.0

    @property
    def max_iter(self) -> int:  # type: ignore[override]
        """How many steps the run has."""
        return -(-self.pulls // TOGETHER)

    @abstractmethod
    def _choose(
        self, bandit: Bandit, counts: np.ndarray, sums: np.ndarray, pull: int, lots: np.random.Generator
    ) -> np.ndarray:
        """Choose an arm in every run, from how often each was pulled, what that paid, and how many pulls there were."""

    def _problem(self, world: object) -> Play:
        if not isinstance(world, Bandit):
            raise InputError(
                f"{type(self).__name__} plays a qed.Bandit, such as qed.Bandit([0.2, 0.5]), not a {type(world).__name__}."
            )
        return Play(world)

    def _steps(self, problem: Play, start: Step | None = None) -> Iterator[Step]:
        arms = len(problem.bandit.means)
        if start is None:
            seed, regret = seed_of(self.random_state), np.zeros(0)
            counts, sums = np.zeros((self.runs, arms), dtype=np.int64), np.zeros((self.runs, arms))
        else:
            seed, regret, counts, sums = start.seed, start.regret, start.counts, start.sums
        while len(regret) < self.pulls:
            counts, sums, more = self._play(problem.bandit, counts.copy(), sums.copy(), len(regret), seed)
            regret = np.concatenate([regret, more + (regret[-1] if len(regret) else 0.0)])
            left = self.pulls - len(regret)
            yield Step(
                objective=float(regret[-1]),
                gap=np.inf if left else 0.0,
                counts=counts,
                sums=sums,
                regret=regret,
                seed=seed,
            )

    def _play(
        self, bandit: Bandit, counts: np.ndarray, sums: np.ndarray, first: int, seed: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Pull a few times in every run; give counts, sums, and the mean regret that was added by each pull."""
        rows, gaps = np.arange(self.runs), bandit.gaps
        added = np.zeros(min(TOGETHER, self.pulls - first))
        for place in range(len(added)):
            lots = generator(seed, type(self).__name__, first + place)
            arms = self._choose(bandit, counts, sums, first + place, lots)
            counts[rows, arms] += 1
            sums[rows, arms] += bandit.pull(arms, lots)
            added[place] = gaps[arms].mean()
        return counts, sums, np.cumsum(added)

    def _finish(self, problem: Play, step: Step) -> None:
        self.counts_, self.regret_, self.seed_ = step.counts, step.regret, step.seed
        self.means_ = step.sums / np.maximum(step.counts, 1)
        self.best_arm_ = int(step.counts.sum(axis=0).argmax())

    def _prove(self, problem: Play) -> list[Claim]:
        gaps, pulls = problem.bandit.gaps, len(self.regret_)
        steps = np.diff(self.regret_, prepend=0.0)
        wanted = float((self.counts_ @ gaps).mean())
        # Sums of as many terms as pulls, each rounded.
        slack = 4 * EPS * (pulls + self.runs) * max(wanted, float(gaps.max()))
        wrong = np.abs(self.counts_.sum(axis=1) - self.pulls).max()
        outside = max(float((-steps).max()), float((steps - gaps.max()).max()), 0.0)
        return [
            Claim("pulls that are missing in a run", float(wrong), 0.0),
            Claim("the regret is that of the arms pulled, but for", abs(float(self.regret_[-1]) - wanted), slack),
            Claim("no pull adds less than nothing or more than the worst arm, but for", outside, slack),
        ]

    def _restate(self, problem: Play) -> list[Claim]:
        """Play all pulls again from the seed."""
        again = Step(
            objective=0.0,
            counts=np.zeros_like(self.counts_),
            sums=np.zeros(self.counts_.shape),
            regret=np.zeros(0),
            seed=int(self.seed_),
        )
        again = list(self._steps(problem, again))[-1]
        differ = float((again.counts != self.counts_).sum() + (again.regret != self.regret_).sum())
        return [
            Claim(
                "counts and regret are what the pulls give when they are played again (entries that differ)",
                differ,
                0.0,
            ),
            restated("means_", self.means_, again.sums / np.maximum(again.counts, 1)),
            restated("best_arm_", self.best_arm_, int(again.counts.sum(axis=0).argmax())),
        ]


def tied(scores: np.ndarray, lots: np.random.Generator) -> np.ndarray:
    """Give the place of the largest score of each row; where several are, each is as likely.

    >>> tied(np.array([[0.0, 2.0], [3.0, 1.0]]), np.random.default_rng(0))
    array([1, 0])
    """
    best = scores == scores.max(axis=1, keepdims=True)
    return np.asarray(np.where(best, lots.random(scores.shape), -1.0).argmax(axis=1))


def played(counts: np.ndarray, sums: np.ndarray, otherwise: float) -> np.ndarray:
    """Give what each arm paid on average, and `otherwise` where it was never pulled."""
    return np.where(counts > 0, sums / np.maximum(counts, 1), otherwise)


def usual_rules(**more: Parameter) -> dict[str, Parameter]:
    """Give the rules of all players with those of one."""
    return {**BanditPlayer.parameters, **more}


POSITIVE = number(0, above=True)
