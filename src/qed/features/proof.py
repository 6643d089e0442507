"""What the claims of transformers share: the worst of many columns, and columns of which nothing is there."""

import numpy as np

from qed.base.certificate import Claim


def worst_of(says: str, values: np.ndarray, bounds: np.ndarray) -> Claim:
    """Claim ``values <= bounds`` for every column, by the column that comes nearest to breaking it.

    >>> worst_of("all small", np.array([1e-9, 1e-3]), np.array([1e-8, 1.0]))
    Claim(says='all small', value=1e-09, bound=1e-08)
    """
    if not len(values):
        return Claim(says, 0.0, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(values <= bounds, np.where(bounds > 0, values / bounds, 0.0), np.inf)
    worst = int(np.argmax(np.where(np.isnan(values), np.inf, share)))
    return Claim(says, float(values[worst]), float(bounds[worst]))


def zero_where(empty: np.ndarray, learned: np.ndarray) -> np.ndarray:
    """Give what was learned of columns, with zero in place of the NaN that is right where nothing is there."""
    return np.where(empty & np.isnan(learned), 0.0, learned)
