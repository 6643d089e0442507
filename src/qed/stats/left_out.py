"""Combinations of columns that a fit leaves out because they do not vary: whether that is so, row by row.

Sums of squares over all rows are blind beside one row that is far larger than the others: whatever the others do is rounding to them. A
combination that does not vary has the same value in every row, up to the rounding of that row.
"""

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS, TINY
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows

# What is left out as dependent varies by no more than so many roundings of a row; where one row hides the others, by many more.
MOST_ALIKE = 1e8


def left_out_claim(rows: Rows, directions: np.ndarray, most: float, *, centered: bool = True) -> Claim:
    """Claim that combinations, of shape (p, m), are the same in every row, but for the rounding of a row as large as most are.

    Without an intercept, when nothing is `centered`, they have to be zero. Of a combination without any column nothing is known.
    """
    found = rows.map(_beside, directions)
    found = found[~np.isnan(found).any(axis=1)]
    value, size = np.split(found, 2, axis=1)
    level = np.median(value, axis=0) if centered else 0.0
    away = np.abs(value - level) / (EPS * np.maximum(size, np.median(size, axis=0)) + TINY)
    says = "combinations of columns left out vary by rounding (units of it)"
    known = directions.any(axis=0).all()
    return Claim(says, float(away.max(initial=0.0)) if known else np.inf, most)


def _beside(block: Block, directions: np.ndarray) -> np.ndarray:
    """Give combinations of the columns of each row, and the sums of the sizes behind them; NaN for rows that do not count."""
    found = np.hstack([block.X @ directions, abs(block.X) @ np.abs(directions)]).astype(np.float64)
    if block.weight is not None:
        found[block.weight == 0] = np.nan
    return found
