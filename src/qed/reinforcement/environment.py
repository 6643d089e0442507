"""Environments that only answer: Gymnasium's, with numbered states and actions, of which nothing else is known.

What they answered is kept and counted. It is the world as it was seen, from which a certificate can be made.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any, Protocol

import numpy as np

from qed.base.errors import InputError
from qed.base.random import generator, mixed
from qed.reinforcement.world import World, WorldMark

Outcomes = dict[tuple[int, int, int, float, bool], int]


class Environment(Protocol):
    """What is asked of an environment."""

    observation_space: Any
    action_space: Any

    def reset(self, *, seed: int | None = None) -> tuple[Any, Any]:
        """Begin an episode."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, Any]:
        """Answer an action: the state, the reward, whether that ends the episode, or its time is over."""


def _told(spaces: list[Any]) -> str:
    """Say which spaces an environment has, if it is one."""
    return f" with {spaces[0]} and {spaces[1]}" if all(space is not None for space in spaces) else ""


class Answering:
    """An environment with numbered states and actions, and all that it has answered."""

    def __init__(self, env: Environment) -> None:
        self.env = env
        spaces = [getattr(env, "observation_space", None), getattr(env, "action_space", None)]
        if not all(hasattr(space, "n") for space in spaces) or not hasattr(env, "step"):
            raise InputError(
                "Q-learning keeps a table: it needs a qed.World, or a Gymnasium environment whose states and actions are numbered "
                f"(spaces.Discrete), not {type(env).__name__}{_told(spaces)}. Number the states first."
            )
        self.n_states, self.n_actions = (int(env.observation_space.n), int(env.action_space.n))
        self.first_state, self.first_action = (int(getattr(space, "start", 0)) for space in spaces)

    @property
    def fingerprint(self) -> WorldMark:
        """What tells this environment from others: its size and its name, since all else is unknown."""
        spec = getattr(self.env, "spec", None)
        name = f"{getattr(spec, 'id', type(self.env).__name__)} {getattr(spec, 'kwargs', '')}"
        return WorldMark(self.n_states, self.n_actions, zlib.crc32(name.encode()))

    def run(
        self,
        q: np.ndarray,
        visits: np.ndarray,
        seen: Outcomes,
        starts: np.ndarray,
        seed: int,
        first: int,
        most: int,
        settings: tuple[float, float, float],
        chances: np.ndarray,
        returns: np.ndarray,
    ) -> int:
        """Run episodes and learn, as `qed.reinforcement.episodes.run_episodes` does in a known world."""
        gamma, rate, power = settings
        made = 0
        for number, chance in enumerate(chances):
            lots = generator(seed, "episode", first + number)
            key = int(mixed(np.array([seed + first + number], dtype=np.uint64))[0] >> np.uint64(33))
            state = int(self.env.reset(seed=key)[0]) - self.first_state
            starts[state] += 1
            paid, worth = 0.0, 1.0
            for _ in range(most):
                best = np.flatnonzero(q[state] == q[state].max())
                ways = np.arange(self.n_actions) if lots.random() < chance else best
                action = int(ways[lots.integers(len(ways))])
                answer = self.env.step(action + self.first_action)
                there, reward, ends = int(answer[0]) - self.first_state, float(answer[1]), bool(answer[2])
                outcome = (state, action, there, reward, ends)
                seen[outcome] = seen.get(outcome, 0) + 1
                goal = reward if ends else reward + gamma * q[there].max()
                visits[state, action] += 1
                alpha = rate if rate > 0 else float(visits[state, action]) ** -power
                q[state, action] += alpha * (goal - q[state, action])
                paid, worth, made = paid + worth * reward, worth * gamma, made + 1
                if ends or answer[3]:
                    break
                state = there
            returns[number] = paid
        return made


def packed(seen: Outcomes) -> np.ndarray:
    """Give counted outcomes as a table, in order: state, action, next state, reward, whether it ends, how often.

    >>> packed({(0, 1, 0, 2.0, True): 3})
    array([[0., 1., 0., 2., 1., 3.]])
    """
    return np.array([[*map(float, outcome), float(often)] for outcome, often in sorted(seen.items())]).reshape(-1, 6)


def unpacked(table: Iterable[np.ndarray]) -> Outcomes:
    """Give what `packed` was made from."""
    return {(int(s), int(a), int(t), float(r), bool(e)): int(n) for s, a, t, r, e, n in table}


def world_seen(shape: tuple[int, ...], table: np.ndarray, starts: np.ndarray) -> World:
    """Make the world that was seen: chances are shares of what happened. What was never tried stays where it is and pays the least."""
    n_states, n_actions = shape
    worst = float(table[:, 3].min()) if len(table) else 0.0
    cells: dict[tuple[int, int], list[tuple[float, int, float, bool]]] = {}
    for s, a, t, r, e, n in table:
        cells.setdefault((int(s), int(a)), []).append((float(n), int(t), float(r), bool(e)))
    outcomes = []
    for state in range(n_states):
        row = []
        for action in range(n_actions):
            cell = cells.get((state, action), [(1.0, state, min(worst, 0.0), False)])
            total = sum(one[0] for one in cell)
            row.append([(often / total, *rest) for often, *rest in cell])
        outcomes.append(row)
    return World(outcomes, starts / starts.sum())
