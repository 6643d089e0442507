"""Randomness that depends on the seed and on nothing else.

A draw is keyed by what it is for, such as ``(seed, "seeding", iteration)``, never by a generator that is handed from
call to call. So a resumed fit draws what the uninterrupted one would have drawn, and the number of threads or blocks
changes nothing.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from qed.base.errors import ParameterError, shown

Seed = int | np.integer | np.random.Generator | np.random.RandomState | None


def seed_of(random_state: Any) -> int:
    """Turn a ``random_state`` (None, an integer, a Generator or a RandomState) into one seed."""
    if random_state is None:
        return int(np.random.default_rng().integers(2**62))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**62))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if random_state is np.random:
        return int(np.random.mtrand._rand.randint(2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise ParameterError(
        f"random_state must be None, a non-negative integer or a NumPy generator, not {shown(random_state)}."
    )


def generator(seed: int, *key: str | int) -> np.random.Generator:
    """Give the generator for one purpose, such as ``generator(seed, "seeding", 3)``.

    >>> bool(generator(1, "rows", 0).random() == generator(1, "rows", 0).random())
    True
    """
    words = [zlib.crc32(part.encode()) if isinstance(part, str) else int(part) for part in key]
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=tuple(words)))


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Scatter whole numbers over all of 64 bits (the finaliser of SplitMix64): lots that belong to rows, trees or nodes by their number.

    >>> mixed(np.array([0], dtype=np.uint64))
    array([16294208416658607535], dtype=uint64)
    """
    with np.errstate(over="ignore"):
        z = numbers + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(z ^ (z >> np.uint64(31)))
