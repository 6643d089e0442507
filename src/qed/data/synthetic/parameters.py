"""Checks of what generators are given, so that a bad size or seed is refused by its name."""

from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models import parameters as rules
from qed.base.random import Seed, seed_of


def generator(random_state: Seed) -> np.random.Generator:
    """Give a generator: the one passed in, or a new one from a seed."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_of(random_state))


def whole(name: str, value: Any, *, least: int = 1) -> int:
    """Give a whole number that is large enough."""
    return int(rules.integer(least).checked(name, value))


def number(name: str, value: Any, *, least: float = -np.inf, most: float = np.inf, above: bool = False) -> float:
    """Give a finite number within bounds; with `above` it must be larger than the least."""
    return float(rules.number(least, most, above=above).checked(name, value))


def choice(name: str, value: Any, options: tuple[str, ...]) -> str:
    """Give one of a few words."""
    return str(rules.choice(*options).checked(name, value))


def interval(low: Any, high: Any) -> tuple[float, float]:
    """Give the ends of an interval that is not empty."""
    low, high = number("low", low), number("high", high)
    if low >= high:
        raise ParameterError(f"low must be smaller than high, but low={low:g} and high={high:g}.")
    return low, high


def array(name: str, value: Any, shape: tuple[int | None, ...]) -> np.ndarray:
    """Give a finite float64 array; None in `shape` stands for any positive length.

    >>> array("center", (1, 2), (2,))
    array([1., 2.])
    """
    wanted = " x ".join("any" if length is None else str(length) for length in shape)
    try:
        found = np.array(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError(f"{name} must be numbers of shape {wanted}, not {value!r}.") from error
    fits = found.ndim == len(shape) and all(
        have >= 1 if want is None else have == want for have, want in zip(found.shape, shape)
    )
    if not fits:
        raise ParameterError(f"{name} must have shape {wanted}, but has shape {found.shape}.")
    if not np.isfinite(found).all():
        raise ParameterError(f"{name} must be finite, but holds NaN or infinity.")
    return found


def probabilities(name: str, value: Any, length: int) -> np.ndarray:
    """Give probabilities that sum to one; None stands for equal ones.

    >>> probabilities("priors", None, 4)
    array([0.25, 0.25, 0.25, 0.25])
    """
    if value is None:
        return np.full(length, 1.0 / length)
    found = array(name, value, (length,))
    if (found < 0).any() or abs(found.sum() - 1.0) > 1e-9:
        raise ParameterError(f"{name} must be non-negative and sum to 1, but sums to {found.sum():g}.")
    return found / found.sum()
