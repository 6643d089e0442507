"""Loops that cost nothing: sets of states among which some actions lead for ever, at no reward.

Without a discount such a loop is worth what its best way out is, in every state of it, and staying in it for ever is worth nothing.
Taking its states for one makes the rest of a world one that ends. These sets are the maximal end components of de Alfaro (1997),
Formal verification of probabilistic systems.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from qed.reinforcement.world import World


def free_loops(world: World, allowed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Find the loops that allowed actions make at no reward.

    Parameters
    ----------
    world : World
        The world.
    allowed : ndarray of bool, shape (n_states, n_actions)
        The actions that may be taken.

    Returns
    -------
    group : ndarray of int, shape (n_states,)
        The number of the set that each state belongs to; by itself where it is in no loop.
    inner : ndarray of bool, shape (n_states, n_actions)
        The actions that lead from a state of a loop to states of the same loop alone.

    Examples
    --------
    >>> from qed import GridWorld
    >>> group, inner = free_loops(GridWorld(["S.G"]), np.ones((3, 4), dtype=bool))
    >>> group, inner.any(axis=1)
    (array([0, 0, 1]), array([ True,  True, False]))
    """
    n, actions = allowed.shape
    pair = np.repeat(np.arange(n * actions), np.diff(world.begins))
    possible = world.chance > 0
    pays = np.zeros(n * actions, dtype=bool)
    np.logical_or.at(pays, pair, possible & (world.ends | (world.reward != 0)))
    inner = allowed.reshape(-1) & ~pays
    while True:
        used = inner[pair] & possible
        graph = sparse.csr_array((np.ones(used.sum()), (pair[used] // actions, world.to[used])), shape=(n, n))
        group = connected_components(graph, directed=True, connection="strong")[1]
        leaves = np.zeros(n * actions, dtype=bool)
        np.logical_or.at(leaves, pair, possible & (group[pair // actions] != group[world.to]))
        kept = inner & ~leaves
        if (kept == inner).all():
            order = np.unique(group, return_index=True)[1].argsort().argsort()  # numbered as they come
            return order[group], inner.reshape(n, actions)
        inner = kept


def together(group: np.ndarray, values: np.ndarray, joined: np.ufunc = np.maximum) -> np.ndarray:
    """Give each state the largest (or, with ``np.minimum``, the least) value of its set."""
    found = np.full(group.max() + 1, -np.inf if joined is np.maximum else np.inf)
    joined.at(found, group, values)
    return np.asarray(found[group])
