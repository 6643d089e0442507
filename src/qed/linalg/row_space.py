r"""A wide table in the coordinates of its rows.

.. math:: X = L Q^\top, \qquad Q^\top Q = I, \qquad w = Q v, \quad Xw = Lv, \quad \|w\| = \|v\| .

With fewer rows than columns, whatever is fitted to some of the rows with a penalty on the length of the coefficients is a combination of
these rows, so it lies in the space of all rows. In an orthonormal basis :math:`Q` of that space the table has as many columns as rows, and
the same penalty gives the same predictions: a search over penalties then costs :math:`O(n^2 p)` once, and nothing that depends on
:math:`p` for a fold or a penalty. See Hastie and Tibshirani (2004), Efficient quadratic regularization for expression arrays.
"""

from typing import Any

import numpy as np

from qed.base.models.checks import is_finite
from qed.base.sources.rows import ArrayRows, Rows

# With fewer columns, products between all of them take no time.
MANY_COLUMNS = 64


def is_wide(rows: Rows) -> bool:
    """Say whether a table in memory has fewer rows than columns, and many of these."""
    p = rows.n_features
    return rows.in_memory and not rows.is_sparse and p >= MANY_COLUMNS and rows.count() < p


def in_row_space(rows: Rows) -> ArrayRows | None:
    """Give a wide table in the coordinates of its rows; None where something is missing, which others refuse by name."""
    block = rows.array()
    if not is_finite(block.X):
        return None
    triangle: Any = np.linalg.qr(np.asarray(block.X, dtype=np.float64).T, mode="r")
    return ArrayRows(np.ascontiguousarray(triangle.T), block.y, block.weight, target_names=rows.target_names)
