r"""Q-learning: what an action is worth, learned from what followed it, without knowing the world.

.. math:: Q(s, a) \leftarrow Q(s, a) + \alpha\,\bigl(r + \gamma \max_{a'} Q(s', a') - Q(s, a)\bigr)

In a world where every action has one outcome :math:`\alpha = 1`, and the value is replaced; elsewhere :math:`\alpha` falls with the
number of visits, which makes :math:`Q` a mean of what was seen. It tends to the best values where every action is tried again and
again in every state.
Learning needs no knowledge of the world. The proof does: it compares what was learned with the best values, which are found and
proven by planning in the world, or in the world as it was seen where nothing else is known. Watkins and Dayan (1992), Q-learning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import ClassVar

import numpy as np

from qed.base.attributes import Attributes, floats, integers, maybe, of
from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, choice, integer, number, random_state
from qed.base.models.proof import restated
from qed.base.models.trial import Trial
from qed.base.numbers import TINY
from qed.base.random import Seed, seed_of
from qed.base.running.steps import Step
from qed.reinforcement.bounds import Bound, bound_values, evaluate
from qed.reinforcement.environment import Answering, packed, unpacked, world_seen
from qed.reinforcement.episodes import run_episodes
from qed.reinforcement.exploration import DecayingExploration, as_decaying, exploration_rule
from qed.reinforcement.planning import Known
from qed.reinforcement.policy_iteration import PolicyIteration
from qed.reinforcement.world import World, WorldMark

# Chances are looked up in running sums; the last of them is sure.
POWER = 0.7


class Judged(Known):
    """A world, and the best that can be done in it."""

    @cached_property
    def best(self) -> tuple[np.ndarray, Bound]:
        """The best values, and how far from the best they can be."""
        planner = PolicyIteration(self.gamma)
        ends = list(planner._steps(self))
        values = ends[-1].values if ends else np.zeros(self.world.n_states)
        return values, bound_values(self.world, values, self.gamma)

    def shortfalls(self, q: np.ndarray) -> tuple[float, float, float]:
        """Say how far learned values are from the best, relative to the largest: by the return of their policy, by the values themselves on
        its way; and how much of that is rounding."""
        best, bound = self.best
        policy = q.argmax(axis=1)
        worth, own = evaluate(self.world, policy, self.gamma)
        scale, start, way = max(float(np.abs(best).max()), TINY), self.world.start, self.world.visited(policy)
        with np.errstate(invalid="ignore"):
            lost = float(start @ (best + bound.error) - start @ (worth - own.error)) / scale
            apart = float((np.abs(q.max(axis=1) - best) + bound.error)[way].max()) / scale
            rounding = (bound.rounding + own.rounding) / scale
        return max(lost, 0.0) if lost == lost else np.inf, apart, rounding


class Lesson:
    """What Q-learning learns from: a world of which the outcomes are listed, or an environment that only answers."""

    source = "data"

    def __init__(self, given: object, gamma: float) -> None:
        self.gamma = gamma
        known = isinstance(given, World) or hasattr(getattr(given, "unwrapped", None), "P")
        self.world: World | None = World.of(given) if known else None
        self.answering = None if known else Answering(given)  # type: ignore[arg-type]

    @cached_property
    def learned_in(self) -> World | Answering:
        learned_in = self.world if self.answering is None else self.answering
        assert learned_in is not None
        return learned_in

    @property
    def fingerprint(self) -> WorldMark:
        return self.learned_in.fingerprint

    @cached_property
    def judged(self) -> Judged | None:
        return None if self.world is None else Judged(self.world, self.gamma)

    def judge(self, seen: World | None) -> Judged:
        """Give the world in which a policy is judged: the known one, or that which was seen."""
        if self.judged is not None:
            return self.judged
        assert seen is not None
        return Judged(seen, self.gamma)


class QLearning(Trial):
    """The best policy of an unknown world, by trying.

    Parameters
    ----------
    gamma : float, default=0.99
        The discount: what a reward is worth one step later.
    learning_rate : float or "auto", default="auto"
        How far a value moves towards what was seen. By default all the way where every action has one outcome, else by the number of
        visits to the power of -0.7.
    exploration : float or DecayingExploration, default=0.1
        The chance of an action at random.
    initial : float
        What every action is taken to be worth before it is tried. Above what is possible, everything is tried.
    starts : {"world", "anywhere"}
        Where episodes begin: where the world says, or in any state, which only a known world can do.
    episodes : int
        How many episodes make one step of the run.
    max_steps : int
        The most actions in an episode.
    tol : float
        The run ends when the return of the policy, and the values on its way, are proven to be within this of the best, relative to
        the largest value.
    max_iter : int
        The most steps; ``max_iter * episodes`` is the most episodes.
    random_state : int, optional
        The seed.

    Attributes
    ----------
    q_values_ : ndarray of shape (n_states, n_actions)
        What each action in each state is worth, as learned.
    policy_ : ndarray of shape (n_states,)
        The action that looks best in each state.
    visits_ : ndarray of shape (n_states, n_actions)
        How often each action was tried.
    return_ : float
        What an episode that follows the policy is worth on average.
    n_episodes_ : int
        How many episodes were lived through.
    seed_ : int
        The seed that was used.
    world_ : World
        The world as it was seen, where nothing else is known of it.

    Examples
    --------
    >>> import qed
    >>> world = qed.GridWorld(["S..", ".#.", "..G"])
    >>> learner = qed.QLearning(gamma=0.9, random_state=0).fit(world)
    >>> learner.q_values_[0].max().round(6), bool(learner.certificate_)
    (np.float64(0.729), True)
    """

    keeps = "last"
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "gamma": number(0, 1, kind="model"),
        "learning_rate": choice("auto") | number(0, 1, above=True),
        "exploration": exploration_rule(),
        "initial": number(),
        "starts": choice("world", "anywhere"),
        "episodes": integer(1),
        "max_steps": integer(1),
        "tol": number(0),
        "max_iter": integer(1),
        "random_state": random_state(),
    }
    attributes: ClassVar[Attributes] = {
        "q_values_": floats("states", "actions"),
        "policy_": integers("states", below="actions"),
        "visits_": integers("states", "actions"),
        "return_": floats(finite=False),
        "n_episodes_": integers(),
        "seed_": integers(),
        "world_": maybe(of(World)),
        "fingerprint_": of(WorldMark, states="states", actions="actions"),
    }

    def __init__(
        self,
        gamma: float = 0.99,
        *,
        learning_rate: float | str = "auto",
        exploration: float | DecayingExploration = 0.1,
        initial: float = 0.0,
        starts: str = "world",
        episodes: int = 100,
        max_steps: int = 200,
        tol: float = 0.02,
        max_iter: int = 1000,
        random_state: Seed = None,
    ) -> None:
        self.gamma, self.learning_rate, self.exploration, self.initial = gamma, learning_rate, exploration, initial
        self.starts, self.episodes, self.max_steps = starts, episodes, max_steps
        self.tol, self.max_iter, self.random_state = tol, max_iter, random_state

    def _problem(self, world: object) -> Lesson:
        return Lesson(world, self.gamma)

    def _steps(self, problem: Lesson, start: Step | None = None) -> Iterator[Step]:
        step = self._first(problem) if start is None else start
        while True:
            step = self._lived(problem, step)
            yield step

    def _first(self, problem: Lesson) -> Step:
        """Give what is known before the first episode."""
        shape = problem.learned_in.n_states, problem.learned_in.n_actions
        return Step(
            objective=0.0,
            q=np.full(shape, float(self.initial)),
            visits=np.zeros(shape, dtype=np.int64),
            done=0,
            seed=seed_of(self.random_state),
            seen=np.zeros((0, 6)),
            starts=np.zeros(shape[0]),
        )

    def _lived(self, problem: Lesson, step: Step) -> Step:
        """Live through the next episodes."""
        q, visits, done, seed = step.q.copy(), step.visits.copy(), step.done, step.seed
        decaying = as_decaying(self.exploration)
        chances = np.array([decaying.at(done + number) for number in range(self.episodes)])
        returns = np.zeros(self.episodes)
        seen, starts = step.seen, step.starts
        if problem.world is not None:
            self._run_known(problem.world, q, visits, done, seed, chances, returns)
            world = None
        else:
            assert problem.answering is not None
            counted, starts = unpacked(seen), starts.copy()
            settings = (self.gamma, self._rate(problem), POWER)
            problem.answering.run(q, visits, counted, starts, seed, done, self.max_steps, settings, chances, returns)
            seen = packed(counted)
            world = world_seen(q.shape, seen, starts)
        lost, apart, _ = problem.judge(world).shortfalls(q)
        return Step(
            objective=-float(returns.mean()),
            gap=max(lost, apart),
            q=q,
            visits=visits,
            done=done + self.episodes,
            seed=seed,
            seen=seen,
            starts=starts,
        )

    def _run_known(
        self,
        world: World,
        q: np.ndarray,
        visits: np.ndarray,
        done: int,
        seed: int,
        chances: np.ndarray,
        returns: np.ndarray,
    ) -> None:
        sums = np.cumsum(world.chance)
        before = np.concatenate([[0.0], sums])[world.begins[:-1]]
        total = sums - np.repeat(before, np.diff(world.begins))
        first = np.cumsum(world.start if self.starts == "world" else world.reached / world.reached.sum())
        rate = self.learning_rate if self.learning_rate != "auto" else float(world.is_deterministic)
        run_episodes(
            q,
            visits,
            world.begins.astype(np.int64),
            world.to.astype(np.int64),
            world.reward,
            world.ends,
            total,
            first,
            np.uint64(seed),
            done,
            self.episodes,
            self.max_steps,
            float(self.gamma),
            float(rate),
            POWER,
            chances,
            returns,
        )

    def _rate(self, problem: Lesson) -> float:
        return 0.0 if self.learning_rate == "auto" else float(self.learning_rate)

    def _finish(self, problem: Lesson, step: Step) -> None:
        self.q_values_, self.visits_, self.n_episodes_, self.seed_ = step.q, step.visits, step.done, step.seed
        self.policy_ = step.q.argmax(axis=1)
        if problem.world is None:
            self.world_ = world_seen(step.q.shape, step.seen, step.starts)
        self.return_ = self._return(problem)

    def _return(self, problem: Lesson) -> float:
        """Work out what following the policy is worth."""
        world = problem.judge(getattr(self, "world_", None)).world
        return float(world.start @ evaluate(world, self.policy_, self.gamma)[0])

    def _prove(self, problem: Lesson) -> list[Claim]:
        judged = problem.judge(getattr(self, "world_", None))
        lost, apart, rounding = judged.shortfalls(self.q_values_)
        seen = "" if problem.world is not None else ", in the world as it was seen"
        return [
            Claim.within(
                f"the policy's return is below the best by, at most (relative{seen})", lost, self.tol, rounding
            ),
            Claim.within(f"values on the policy's way are off by, at most (relative{seen})", apart, self.tol, rounding),
        ]

    def _restate(self, problem: Lesson) -> list[Claim]:
        """Live through all episodes again, from the seed: the same values have to come out, to the last bit."""
        again = self._first(problem)
        again.state["seed"] = int(self.seed_)
        for _ in range(-(-int(self.n_episodes_) // self.episodes)):
            again = self._lived(problem, again)
        differ = float((again.q != self.q_values_).sum() + (again.visits != self.visits_).sum())
        wrong = float((self.policy_ != again.q.argmax(axis=1)).sum())
        claims = [
            Claim("values are what the episodes give when they are lived again (entries that differ)", differ, 0.0),
            Claim("policy_ takes the best learned action (states that differ)", wrong, 0.0),
            restated("n_episodes_", self.n_episodes_, again.done),
            restated("return_", self.return_, self._return(problem)),
        ]
        if problem.world is None:
            seen = world_seen(again.q.shape, again.seen, again.starts).fingerprint
            claims.append(Claim("world_ is what was seen", float(bool(seen.difference(self.world_.fingerprint))), 0.0))
        return claims

    def _advice(self) -> str:
        return "More episodes, or more exploration, may help."
