r"""How far values can be from the best ones: bounds from the Bellman residual, rounding included.

Where rewards are discounted, :math:`|V^* - V| \le \max_s |(TV)(s) - V(s)| / (1 - \gamma)`, since :math:`T` shrinks distances by
:math:`\gamma`. Without a discount there is no such factor. There a potential :math:`h > 0` stands in its place, which every action
falls by: where :math:`U = V + \theta h` has :math:`TU \le U`, no policy is worth more than :math:`U`, because what is still to come at
the end is not below zero, or because going on forever costs without end; and where :math:`L = V - \theta h` has :math:`L \le T_\pi L`
for the greedy policy, that policy ends and is worth at least :math:`L`. The potential is the longest time to the end that near-best
actions can take, with the states of loops that cost nothing taken for one (:mod:`qed.reinforcement.loops`).
Bertsekas and Tsitsiklis (1991), An analysis of stochastic shortest path problems.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from qed.base.numbers import EPS
from qed.reinforcement.loops import free_loops, together
from qed.reinforcement.world import World

# How many sweeps the search for a potential may take.
MOST_SWEEPS = 20_000


@dataclass(frozen=True)
class Bound:
    """How far the values of each state can be from the best, and how much of the largest of that is rounding."""

    error: np.ndarray
    rounding: float


def bound_values(world: World, values: np.ndarray, gamma: float) -> Bound:
    """Bound the distance of values from the best ones, on the states that an episode can come to; infinite where nothing is proven."""
    return _discounted(world, values, gamma) if gamma < 1 else _undiscounted(world, values)


def _discounted(world: World, values: np.ndarray, gamma: float) -> Bound:
    worth, lost = world.backup(values, gamma), world.rounding(values, gamma) + 2 * EPS * np.abs(values)[:, None]
    inside = world.reached
    # Chances add up to one but for rounding.
    left = 1 - gamma * (1 + _noise(world))
    if left <= 0:
        return Bound(np.full(world.n_states, np.inf), np.inf)
    off = (np.abs(worth.max(axis=1) - values) + lost.max(axis=1))[inside].max()
    return Bound(np.where(inside, off / left, 0.0), float(lost[inside].max() / left))


def _undiscounted(world: World, values: np.ndarray) -> Bound:
    inside, size = world.reached, float(np.abs(values[world.reached]).max(initial=0.0))
    nothing = Bound(np.where(inside, np.inf, 0.0), np.inf)
    if not np.isfinite(values).all():
        return nothing
    short = values[:, None] - world.backup(values, 1.0)
    off = np.abs(short.min(axis=1))[inside].max(initial=0.0) + 16 * EPS * size
    group, inner = free_loops(world, (short <= max(4 * off, 1e-9 * size)) & inside[:, None])
    level = together(group, values)
    short = level[:, None] - world.backup(level, 1.0)
    lost = world.rounding(level, 1.0) + 4 * EPS * np.abs(level)[:, None]
    near = (short <= np.maximum(max(4 * off, 1e-9 * size), short.min(axis=1, keepdims=True))) & ~inner
    height = _potential(world, near, inside, group)
    if height is None:
        return nothing
    falls = height[:, None] * (1 - 4 * EPS) - (1 + _noise(world)) * (world.onwards @ height).reshape(short.shape)
    needed = _needed(short, lost, falls, near & inside[:, None], inside[:, None] & ~inner, group)
    # What is still to come must not be negative at the end: the end comes surely, or going on costs, or nothing is below zero.
    ends = (falls[inside] > 0).all() or (world.reward[~world.ends] < 0).all()
    if not np.isfinite(needed) or not (ends or (level + needed * height >= 0)[inside].all()):
        return nothing
    error = needed * height + (level - values) * (1 + 4 * EPS)
    return Bound(np.where(inside, error, 0.0), float(4 * lost[inside].max() * (1 + height[inside].max())))


def _needed(
    short: np.ndarray, lost: np.ndarray, falls: np.ndarray, near: np.ndarray, used: np.ndarray, group: np.ndarray
) -> float:
    """Give the least multiple of the potential that makes bounds of the values, infinite where there is none.

    Above, every action that is used has to keep to the bound; below, one that leaves each set has to.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        above = np.where(used & (falls > 0), np.maximum(lost - short, 0.0) / falls, 0.0).max()
        exits = np.where(near & (falls > 0), (np.maximum(short, 0.0) + lost) / falls, np.inf).min(axis=1)
    below = together(group, exits, np.minimum)[near.any(axis=1)].max(initial=0.0)
    needed = max(above, below) * (1 + 8 * EPS)
    uphill = used & (falls <= 0)
    holds = (short[uphill] - lost[uphill] >= -needed * (1 + 8 * EPS) * falls[uphill]).all()
    return float(needed) if holds else np.inf


def _noise(world: World) -> float:
    """Give how much a weighted mean of the values of the next states can be off, relative."""
    return float((np.diff(world.begins).max() + 4) * EPS)


def _potential(world: World, near: np.ndarray, inside: np.ndarray, group: np.ndarray) -> np.ndarray | None:
    """Give about the longest time to the end that near-best actions can take; None where they can go on for ever, or lead nowhere."""
    height = np.zeros(world.n_states)
    if not together(group, near.any(axis=1).astype(float))[inside].all():
        return None
    for _ in range(MOST_SWEEPS):
        times = np.where(near, (world.onwards @ height).reshape(near.shape), -np.inf).max(axis=1)
        longer = np.where(inside, 1 + together(group, times), 0.0)
        # Where another step adds at most a half, what is there falls by a half with every action.
        if (longer - height).max(initial=0.0) <= 0.5:
            return height
        height = longer
    return None


def evaluate(world: World, policy: np.ndarray, gamma: float) -> tuple[np.ndarray, Bound]:
    """Give what following a policy is worth on the states that it comes to, with a bound of the error; minus infinity where it never ends.

    Elsewhere the values are zero.
    """
    inside = world.visited(policy)
    places = np.flatnonzero(inside)
    rows = places * world.n_actions + policy[places]
    onwards = world.onwards[rows][:, places]
    rewards = world.mean_reward[rows]
    values, error = np.zeros(world.n_states), np.zeros(world.n_states)
    solved = _solve(onwards, rewards, gamma)
    if solved is None:
        values[places] = -np.inf
        error[places] = np.inf
        return values, Bound(error, np.inf)
    found, times = solved
    lost = world.rounding(_placed(values, places, found), gamma).reshape(-1)[rows]
    off = np.abs(found - rewards - gamma * (onwards @ found)) + lost + 4 * EPS * np.abs(found)
    falls = times - gamma * (onwards @ times)
    falls -= world.rounding(_placed(values, places, times), gamma).reshape(-1)[rows] + 4 * EPS * times
    if times.min() < 0 or falls.min() <= 0:
        return values, Bound(np.where(inside, np.inf, 0.0), np.inf)
    values[places] = found
    error[places] = off.max() / falls.min() * times
    return values, Bound(error, float(lost.max() / falls.min() * times.max()))


def evaluate_all(world: World, policy: np.ndarray, gamma: float) -> np.ndarray | None:
    """Give what following a policy is worth in every state that an episode can come to, zero elsewhere; None where it does not end."""
    places = np.flatnonzero(world.reached)
    rows = places * world.n_actions + policy[places]
    solved = _solve(world.onwards[rows][:, places], world.mean_reward[rows], gamma)
    if solved is None or solved[1].min(initial=1.0) < 0:
        return None
    return _placed(np.zeros(world.n_states), places, solved[0])


def _placed(zeros: np.ndarray, places: np.ndarray, found: np.ndarray) -> np.ndarray:
    whole = zeros.copy()
    whole[places] = found
    return whole


def _solve(onwards: sparse.csr_array, rewards: np.ndarray, gamma: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Give the worth of a chain and its time to the end, both discounted; None where it has none."""
    try:
        factor = splu(sparse.csc_matrix(sparse.eye_array(len(rewards), format="csc") - gamma * onwards))
    except RuntimeError:  # exactly singular
        return None
    both = factor.solve(np.column_stack([rewards, np.ones(len(rewards))]))
    return (both[:, 0], both[:, 1]) if np.isfinite(both).all() else None
