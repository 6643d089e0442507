r"""The tightest rectangle: a class as a box with sides along the axes, the smallest that holds all rows of the class.

.. math:: h(x) = 1 \iff a_j \le x_j \le b_j \text{ for all } j, \qquad a_j = \min_{i: y_i = 1} x_{ij},\; b_j = \max_{i: y_i = 1} x_{ij} .

It misses no row of the class that it has seen; its errors are false alarms alone. Where the class is a rectangle in truth, it lies
inside that, so that on new rows it can only miss. One pass. Alpaydin (2010), Introduction to machine learning, chapter 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError


@dataclass(frozen=True)
class Rectangle:
    """A box with sides along the axes.

    Attributes
    ----------
    low, high : ndarray of shape (p,)
        Its sides.
    certificate : Certificate
        That it holds all rows it was made of, and is not larger than it must be.
    """

    low: np.ndarray
    high: np.ndarray
    certificate: Certificate

    def contains(self, X: object) -> np.ndarray:
        """Say which rows lie inside, the sides included."""
        rows = _rows(X)
        if rows.shape[1] != len(self.low):
            raise InputError(f"The rectangle has {len(self.low)} sides, the rows {rows.shape[1]} columns.")
        return np.asarray(((rows >= self.low) & (rows <= self.high)).all(axis=1))

    def errors(self, X: object, y: object) -> tuple[int, int]:
        """Count false alarms (rows inside that are not of the class) and misses (rows of the class outside); `y` says who is of it."""
        inside, truth = self.contains(X), np.asarray(y).astype(bool)
        return int((inside & ~truth).sum()), int((~inside & truth).sum())


def tightest_rectangle(X: object, y: object) -> Rectangle:
    """Give the smallest rectangle around the rows of a class.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The rows.
    y : array-like of bool, shape (n,)
        Who is of the class.

    Returns
    -------
    Rectangle
        With its certificate.

    Examples
    --------
    >>> import qed
    >>> box = qed.tightest_rectangle([[1, 1], [2, 3], [9, 9]], [True, True, False])
    >>> box.low, box.high, box.errors([[1.5, 2], [5, 5]], [False, True])
    (array([1., 1.]), array([2., 3.]), (1, 1))
    """
    rows, said = _rows(X), np.asarray(y)
    if not np.isin(said, (0, 1)).all():
        raise InputError("y says who is of the class: give truth values, such as y == 'spam'.")
    mine = said.astype(bool)
    if mine.shape != (len(rows),) or not mine.any():
        raise InputError("A rectangle needs a row of the class at least, and one truth value for every row.")
    held = rows[mine]
    low, high = held.min(axis=0), held.max(axis=0)
    missed = float((~((held >= low) & (held <= high)).all(axis=1)).sum())
    loose = float((~((held == low).any(axis=0) & (held == high).any(axis=0))).sum())
    claims = [
        Claim("rows of the class outside", missed, 0.0),
        Claim("sides that no row of the class touches", loose, 0.0),
    ]
    return Rectangle(low, high, Certificate(claims))


def _rows(X: object) -> np.ndarray:
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or not np.isfinite(rows).all():
        raise InputError("Rows must be a table of finite numbers.")
    return rows
