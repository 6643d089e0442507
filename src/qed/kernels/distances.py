r"""Distances of rows by matrix products, with no digits lost where rows are close.

.. math:: -\tfrac12 \|u - v\|^2 = u^\top v - \tfrac12 \|u\|^2 - \tfrac12 \|v\|^2, \qquad u = s\,(x - m),\quad v = s\,(z - m),

is as fast as a matrix product, but cancels: its error is a few units of rounding of the norms, which is everything if the
distance is small against them. The mean :math:`m` of the rows is taken off first, which a distance does not notice (unless it is so
near to zero that this changes little), and every entry below a small share of the norms is computed anew from the differences
:math:`x - z` themselves. So the relative error stays below about :math:`10^{-10}`, equal rows have distance zero exactly, and no
scale of the data overflows unless the distance itself does, which then is infinite.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.numbers import EPS
from qed.kernels.gram.gaussian import FAR_AWAY
from qed.kernels.inputs import size_of
from qed.kernels.linear import squared_norms
from qed.kernels.tiles import Bound, Places, after, dot

# Entries below this share of the norms have lost five digits or more.
CLOSE = 1e-5
# Tables of so many columns are not copied where their mean is small and no square is so large, or so small, that digits are lost.
WIDE, LARGE = 256, 1e100
STRIP_VALUES, TASK_VALUES = 1 << 15, 1 << 18
Pairs = tuple[np.ndarray, np.ndarray]
NOWHERE: Pairs = (np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))


Change = Callable[[np.ndarray], object]
# Changes a tile of products, given half the squared lengths of its rows and columns, the share that is close, and which column the first
# row is; says whether two rows may be close.
Together = Callable[[np.ndarray, np.ndarray, np.ndarray, float, int], bool]


def half_squares(X: Any, Z: Any, scale: float, change: Change, together: Together | None = None) -> Bound:
    r"""Bind a function of :math:`-\tfrac12 s^2 \|x - z\|^2`, which works in place, to two checked tables, for the scale :math:`s`.

    What does the same `together` with the differences is tried first, and what it did is kept where no rows are close.

    >>> out = np.empty((1, 2))
    >>> X, Z = np.array([[0.0, 1e9]]), np.array([[3.0, 1e9 + 4], [0.0, 1e9]])
    >>> half_squares(X, Z, 2.0, lambda tile: np.abs(tile, out=tile)).fill(slice(0, 1), slice(0, 2), out)
    >>> out
    array([[50.,  0.]])
    """
    shift = _middle(X)
    factor, change_of = (scale * scale, _as_it_is) if _is_near(X, shift, scale) else (1.0, _scaled)
    U, half_U = change_of(X, scale, shift)
    V, half_V = (U, half_U) if Z is X else change_of(Z, scale, shift)
    products = dot(U, V) if factor == 1 else after(dot(U, V), lambda out: np.multiply(out, factor, out=out))

    def fill(rows: Places, columns: slice, out: np.ndarray) -> None:
        a, b = half_U[rows], half_V[columns]
        products.fill(rows, columns, out)
        if together is not None:
            if not together(out, a, b, CLOSE, _offset(rows, columns) if Z is X else FAR_AWAY):
                return
            products.fill(rows, columns, out)
        out -= a[:, None]
        out -= b
        own = _own_places(rows, columns, len(a)) if Z is X else NOWHERE
        # A row has no distance from itself; that it is zero need not be found out from its columns.
        out[own] = -np.inf
        # One limit for a whole row is cheap and errs on the safe side; each pair is asked only where that finds any.
        if _is_close(out, a[:, None] + np.max(b, initial=0.0)).any():
            _from_differences(X[rows], Z[columns], scale, _is_close(out, a[:, None] + b), out)
        out[own] = 0.0
        change(out)

    held = size_of(U) + (0 if V is U else size_of(V)) + half_U.nbytes + half_V.nbytes
    return Bound(fill, held, extra=4)


def lost_by_gaussian(X: Any, scale: float) -> float:
    r"""Bound what rounding does to :math:`e^{-s^2 \|x - z\|^2 / 2}` of rows of a checked table, compared by `half_squares`.

    The exponent is off by some roundings of the squared lengths it is a difference of, and the similarity by as much times itself. An
    exponent below a share of the lengths is computed anew: lengths beyond one over that share leave no similarity to be off.
    """
    shift = _middle(X)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = squared_norms(X * scale if shift is None else (X - shift) * scale)
    longest = float(np.where(np.isnan(lengths), np.inf, lengths).max(initial=0.0))
    return (2 * X.shape[1] + 16) * EPS * min(longest, 1 / (math.e * CLOSE))


def _offset(rows: Places, columns: slice) -> int:
    """Say which column of a tile its first row is, if rows follow each other."""
    return int(rows.start - columns.start) if isinstance(rows, slice) else FAR_AWAY


def _is_close(out: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Say which entries are small against the norms; of norms that are not finite nothing is known, so all of theirs are."""
    return ~(out <= np.where(np.isfinite(norms), -CLOSE * norms, np.nan))


def _own_places(rows: Places, columns: slice, count: int) -> Pairs:
    """Say where, in a tile of a table with itself, a row is compared with itself."""
    numbers = np.arange(rows.start, rows.start + count) if isinstance(rows, slice) else rows
    inside = np.flatnonzero((columns.start <= numbers) & (numbers < columns.stop))
    return inside, numbers[inside] - columns.start


def _middle(X: Any) -> np.ndarray | None:
    """Give the mean row of a dense table: zero where it overflows, None for a sparse table, which must stay sparse."""
    if not isinstance(X, np.ndarray):
        return None
    mean = X.sum(axis=0) / max(1, len(X))
    return np.where(np.isfinite(mean), mean, 0.0)


def _is_near(X: Any, shift: np.ndarray | None, scale: float) -> bool:
    """Say whether the rows of a wide table, which would take long to shift, are as far from zero as from their mean, up to a factor."""
    if shift is None or X.shape[1] < WIDE or not 1 / LARGE < scale < LARGE:
        return False
    flat = X.ravel("K")
    typical = float(flat @ flat) / max(1, len(X))
    return 1 / LARGE < typical < LARGE and 2 * float(shift @ shift) <= typical


def _as_it_is(X: np.ndarray, scale: float, shift: object) -> tuple[np.ndarray, np.ndarray]:
    """Give the rows themselves, and half the squared lengths that they would have if they were scaled."""
    return X, squared_norms(X) * (scale * scale / 2)


def _scaled(X: Any, scale: float, shift: np.ndarray | None) -> tuple[Any, np.ndarray]:
    """Give the shifted and scaled rows, and half their squared lengths; some rows at a time, which then are in the cache."""
    if shift is None:
        U = X * scale
        return U, squared_norms(U) / 2
    U, half, size = np.empty(X.shape), np.empty(len(X)), max(1, TASK_VALUES // max(1, X.shape[1]))
    for _ in work(partial(_scale_rows, X, scale, shift, start, size, U, half) for start in range(0, len(X), size)):
        continue
    return U, half


def _scale_rows(
    X: np.ndarray, scale: float, shift: np.ndarray, first: int, size: int, U: np.ndarray, half: np.ndarray
) -> None:
    step = max(1, STRIP_VALUES // max(1, X.shape[1]))
    for start in range(first, min(first + size, len(X)), step):
        some = slice(start, min(start + step, first + size))
        np.subtract(X[some], shift, out=U[some])
        U[some] *= scale
        half[some] = squared_norms(U[some]) / 2


def _from_differences(X: Any, Z: Any, scale: float, chosen: np.ndarray, out: np.ndarray) -> None:
    """Set the chosen entries of `out` from the differences of their rows, a few at a time so that they take little memory."""
    i, j = np.nonzero(chosen)
    size = max(1, out.size // (4 * X.shape[1]) if isinstance(X, np.ndarray) else len(out))
    for start in range(0, len(i), size):
        some = slice(start, start + size)
        gap = X[i[some]] - Z[j[some]]
        gap *= scale
        out[i[some], j[some]] = -0.5 * squared_norms(gap)
