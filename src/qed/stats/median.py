"""The median of values that have weights."""

import numpy as np

from qed.base.numbers import EPS, halfway


def weighted_median(values: np.ndarray, weight: np.ndarray) -> float:
    """Average the lower and the upper weighted median, which differ when half the weight lies on either side.

    So a weight of two is a value given twice.
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    half, rounding = below[-1] / 2, below[-1] * EPS
    lower, upper = np.searchsorted(below, [half - rounding, half + rounding])
    return float(halfway(values[order[lower]], values[order[min(upper, len(order) - 1)]]))
