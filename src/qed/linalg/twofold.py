r"""Sums and products to twice the digits: numbers as unevaluated sums :math:`h + l` of two floats.

.. math:: a + b = s + e, \quad s = \operatorname{fl}(a + b); \qquad a\,b = p + e, \quad p = \operatorname{fl}(a\,b):

what rounding cuts off a sum or a product is a float again and can be computed (Knuth, 1969; Dekker, 1971). Added up beside the sum
itself it gives a dot product as if it had been computed with 106 bits and then rounded (Ogita, Rump and Oishi, 2005). About twenty
operations take the place of one, on any processor: no wider numbers are needed, which not every one has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# 2^27 + 1 cuts a float into two halves, whose products are exact.
HALF = 134217729.0


class Twofold(NamedTuple):
    """Numbers as sums of two floats, the second of which is below the last bit of the first.

    Examples
    --------
    >>> third = Twofold(np.array([1 / 3]), np.array([1 / 3 * 2.0**-54]))
    >>> (third + third + third).value
    array([1.])
    """

    high: np.ndarray
    low: np.ndarray

    def __add__(self, other: Twofold) -> Twofold:  # type: ignore[override]
        total, slip = two_sum(self.high, other.high)
        return Twofold(*two_sum(total, slip + (self.low + other.low)))

    @property
    def value(self) -> np.ndarray:
        """Rounded to floats."""
        return self.high + self.low


def two_sum(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the rounded sum and what rounding cut off."""
    total = a + b
    second = total - a
    return total, (a - (total - second)) + (b - second)


def halves(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut floats into two of half as many bits."""
    large = HALF * a
    high = large - (large - a)
    return high, a - high


def two_product(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the rounded product and what rounding cut off."""
    product = np.asarray(a * b)
    a_high, a_low = halves(a)
    b_high, b_low = halves(b)
    return product, a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)


def total(high: np.ndarray, low: np.ndarray) -> Twofold:
    """Add up ``high + low`` along the first axis, pair by pair.

    Examples
    --------
    >>> total(np.array([1e16, 1.0, -1e16]), np.zeros(3)).value.item()
    1.0
    """
    while len(high) > 1:
        half = len(high) // 2
        high, slip = _paired(high, half)
        low = _folded(low, half)
        low[:half] += slip
    if len(high) == 0:
        return Twofold(np.zeros(high.shape[1:]), np.zeros(high.shape[1:]))
    return Twofold(*two_sum(high[0], low[0]))


def _paired(values: np.ndarray, half: int) -> tuple[np.ndarray, np.ndarray]:
    """Add the second half to the first; one that is left over stays."""
    found, slip = two_sum(values[:half], values[half : 2 * half])
    return (np.concatenate([found, values[2 * half :]]) if len(values) % 2 else found), slip


def _folded(values: np.ndarray, half: int) -> np.ndarray:
    found = values[:half] + values[half : 2 * half]
    return np.concatenate([found, values[2 * half :]]) if len(values) % 2 else found
