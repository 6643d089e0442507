r"""Worlds of finitely many states and actions: what an action leads to, with which chance, and what it pays.

An action :math:`a` in the state :math:`s` leads to the state :math:`s'` with the chance :math:`p(s' \mid s, a)` and pays
:math:`r(s, a, s')`; it may end the episode. What a policy is worth is the expected sum of rewards, each step's worth
:math:`\gamma` of the one before,

.. math:: V^*(s) = \max_a \sum_{s'} p(s' \mid s, a)\,\bigl(r(s, a, s') + \gamma V^*(s')\bigr),

with nothing to come where the episode has ended. All outcomes stand in one list, ordered by state and action. Bellman (1957), Dynamic
programming.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import breadth_first_order

from qed.base.attributes import booleans, floats, integers
from qed.base.errors import InputError
from qed.base.numbers import EPS
from qed.base.saving.known import savable

# Chances that add up to one but for this are divided by their sum.
NEAR_ONE = 1e-9


@savable
@dataclass(frozen=True)
class WorldMark:
    """What tells one world from another: its size, and a checksum of all that it holds."""

    attributes: ClassVar = {"states": integers(low=1), "actions": integers(low=1), "code": integers()}
    states: int
    actions: int
    code: int

    def difference(self, other: WorldMark) -> str:
        """Say in words how another world differs; nothing where it does not."""
        if (self.states, self.actions) != (other.states, other.actions):
            return f"{self.states} states and {self.actions} actions then, {other.states} and {other.actions} now"
        return "" if self.code == other.code else "other outcomes, chances or rewards"


@savable
class World:
    """A world of finitely many states and actions, of which all is known.

    Parameters
    ----------
    outcomes : sequence
        ``outcomes[state][action]`` is a list of ``(chance, next_state, reward, ends)``: what Gymnasium keeps in ``env.unwrapped.P``.
    start : array_like of shape (n_states,), optional
        The chance that an episode begins in each state; in the first one, if not given.

    Examples
    --------
    >>> import qed
    >>> walk = qed.World(
    ...     [[[(1.0, 0, -1.0, False)], [(1.0, 1, -1.0, False)]], [[(1.0, 0, -1.0, False)], [(1.0, 1, 5.0, True)]]]
    ... )
    >>> plan = qed.ValueIteration(gamma=0.5).fit(walk)
    >>> plan.policy_, plan.values_
    (array([1, 1]), array([1.5, 5. ]))
    """

    attributes: ClassVar = {
        "begins": integers("pairs+1"),
        "to": integers("outcomes"),
        "chance": floats("outcomes", low=0),
        "reward": floats("outcomes"),
        "ends": booleans("outcomes"),
        "start": floats("states", low=0),
    }
    names: tuple[str, ...] = ()  # what the actions are called, where they have names

    def __init__(
        self, outcomes: Sequence[Any] | Mapping[int, Any], start: Sequence[float] | np.ndarray | None = None
    ) -> None:
        lists = [[outcomes[state][action] for action in range(len(outcomes[state]))] for state in range(len(outcomes))]
        if not lists or not lists[0] or {len(row) for row in lists} != {len(lists[0])}:
            raise InputError("A world needs a state, an action, and in every state the same number of actions.")
        cells = [cell for row in lists for cell in row]
        begins = np.cumsum([0, *map(len, cells)])
        flat = np.array([tuple(one) for cell in cells for one in cell], dtype=np.float64).reshape(-1, 4)
        first = np.eye(1, len(lists))[0] if start is None else np.array(start, dtype=np.float64)
        self._set(begins, flat[:, 1].astype(np.int64), flat[:, 0], flat[:, 2], flat[:, 3] != 0, first)

    def _set(self, begins: Any, to: Any, chance: Any, reward: Any, ends: Any, start: np.ndarray) -> None:
        self.begins, self.to, self.chance, self.reward, self.ends, self.start = begins, to, chance, reward, ends, start
        self.n_states = len(start)
        self.n_actions = (len(begins) - 1) // self.n_states
        self._check()
        self.start = start / start.sum()
        sums = np.add.reduceat(chance, begins[:-1])
        self.chance = chance / np.repeat(sums, np.diff(begins))

    def _check(self) -> None:
        """Refuse what is no world, and say where."""
        pair = np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))

        def where(wrong: np.ndarray) -> str:
            state, action = divmod(int(pair[np.flatnonzero(wrong)[0]]), self.n_actions)
            return f"of action {action} in state {state}"

        if len(self.begins) - 1 != self.n_states * self.n_actions:
            raise InputError(f"start has {self.n_states} entries: one for each state of the world is needed.")
        if (empty := np.flatnonzero(np.diff(self.begins) <= 0)).size:
            state, action = divmod(int(empty[0]), self.n_actions)
            raise InputError(f"Action {action} in state {state} has no outcome: say what follows it.")
        if (wrong := (self.to < 0) | (self.to >= self.n_states)).any():
            raise InputError(
                f"An outcome {where(wrong)} leads to a state that is not there (0 to {self.n_states - 1})."
            )
        if (wrong := ~np.isfinite(self.reward) | ~np.isfinite(self.chance) | (self.chance < 0)).any():
            raise InputError(f"Rewards must be finite and chances at least 0: an outcome {where(wrong)} is not so.")
        sums = np.add.reduceat(self.chance, self.begins[:-1])
        if (wrong := np.abs(sums - 1)[pair] > NEAR_ONE).any():
            raise InputError(f"The chances of the outcomes {where(wrong)} do not add up to 1.")
        if not np.isfinite(self.start).all() or (self.start < 0).any() or abs(self.start.sum() - 1) > NEAR_ONE:
            raise InputError("start must be chances that add up to 1.")

    @classmethod
    def of(cls, source: Any) -> World:
        """Give a world as it is, or that of a Gymnasium environment which tells all its outcomes (``env.unwrapped.P``).

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> inner = SimpleNamespace(P={0: {0: [(1.0, 0, 1.0, True)]}}, initial_state_distrib=[1.0])
        >>> World.of(SimpleNamespace(unwrapped=inner)).n_states
        1
        """
        if isinstance(source, World):
            return source
        inner = getattr(source, "unwrapped", None)
        if inner is None or not hasattr(inner, "P"):
            raise InputError(
                "A world must be a qed.World, a qed.GridWorld, or a Gymnasium environment that tells its outcomes "
                f"(env.unwrapped.P), not {type(source).__name__}. qed.QLearning learns without knowing them."
            )
        return cls(inner.P, getattr(inner, "initial_state_distrib", None))

    def to_dict(self) -> dict[str, Any]:
        """Give all that the world holds, for saving."""
        return {name: getattr(self, name) for name in World.attributes}

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> World:
        """Make the world again from what `to_dict` gave."""
        world = World.__new__(World)
        world._set(*(saved[name] for name in World.attributes))
        return world

    @cached_property
    def fingerprint(self) -> WorldMark:
        """What tells this world from others."""
        code = 0
        for name in World.attributes:
            code = zlib.crc32(np.ascontiguousarray(getattr(self, name)).tobytes(), code)
        return WorldMark(self.n_states, self.n_actions, code)

    @property
    def is_deterministic(self) -> bool:
        """Whether every action has one outcome."""
        return len(self.to) == len(self.begins) - 1

    @cached_property
    def onwards(self) -> sparse.csr_array:
        """The chance of going on in each state, one row for each state and action; what ends the episode is left out."""
        shape = (len(self.begins) - 1, self.n_states)
        return sparse.csr_array((np.where(self.ends, 0.0, self.chance), self.to, self.begins), shape=shape)

    @cached_property
    def mean_reward(self) -> np.ndarray:
        """What an action pays on average, for each state and action."""
        return np.add.reduceat(self.chance * self.reward, self.begins[:-1])

    def backup(self, values: np.ndarray, gamma: float) -> np.ndarray:
        """Give what each action in each state is worth where `values` is what its next states are worth."""
        return (self.mean_reward + gamma * (self.onwards @ values)).reshape(self.n_states, self.n_actions)

    def rounding(self, values: np.ndarray, gamma: float) -> np.ndarray:
        """Give how much rounding can have changed of each entry of `backup`: nothing where a sure outcome pays nothing, or ends."""
        sizes = np.add.reduceat(self.chance * np.abs(self.reward), self.begins[:-1])
        sizes = sizes + gamma * (self.onwards @ np.abs(values))
        most = (np.diff(self.begins) + 6) * EPS * sizes
        first = self.begins[:-1]
        sure = (np.diff(self.begins) == 1) & ((self.reward[first] == 0) | self.ends[first]) & (gamma == 1)
        return np.where(sure, 0.0, most).reshape(self.n_states, self.n_actions)

    @cached_property
    def reached(self) -> np.ndarray:
        """Which states an episode can come to."""
        steps = self.onwards.reshape((self.n_states, self.n_actions * self.n_states)).tocoo()
        on = steps.data > 0
        return self._reach(steps.row[on], steps.col[on] % self.n_states)

    def visited(self, policy: np.ndarray) -> np.ndarray:
        """Say which states an episode can come to that follows a policy, an action for each state."""
        steps = self.onwards[np.arange(self.n_states) * self.n_actions + policy].tocoo()
        return self._reach(steps.row[steps.data > 0], steps.col[steps.data > 0])

    def _reach(self, tail: np.ndarray, head: np.ndarray) -> np.ndarray:
        # One more node, from which all possible beginnings are a step away.
        first, n = np.flatnonzero(self.start > 0), self.n_states
        rows, columns = np.concatenate([tail, np.full(len(first), n)]), np.concatenate([head, first])
        graph = sparse.csr_array((np.ones(len(rows), dtype=bool), (rows, columns)), shape=(n + 1, n + 1))
        found = np.zeros(n + 1, dtype=bool)
        found[breadth_first_order(graph, n, return_predecessors=False)] = True
        return found[:n]
