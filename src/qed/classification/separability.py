r"""Can a plane separate two classes? The plane of the largest margin, or a proof that there is none.

.. math:: \max_{w, b, \|w\| = 1} \min_i y_i (w^\top x_i + b) \qquad\text{or}\qquad
   a \ge 0,\ \sum_i a_i = 1,\ \sum_i a_i y_i x_i = 0,\ \sum_i a_i y_i = 0 .

Exactly one of them exists (Farkas): multipliers such as these add any plane's margins up to nothing, so they can not all be positive;
they say that a point is in the convex hulls of both classes at once. For any non-negative :math:`a` with :math:`\sum a_i y_i = 0` that
come only near, :math:`\|\sum a_i y_i x_i\| / \sum a_i` still bounds the margin of every plane. The simplex method gives multipliers of
at most p + 2 rows; these are few enough to be computed again as fractions, so that the proof is exact. The plane comes from the
quadratic program of the hard margin, and rows whose side rounding leaves in doubt are looked at in exact arithmetic.

Boyd and Vandenberghe (2004), Convex Optimization, sections 5.8 and 8.6.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from qed.base.certificate import Certificate, Claim
from qed.base.errors import ConvergenceWarning, InputError
from qed.base.numbers import EPS
from qed.optim import QuadraticMinimum, solve_qp

# Fractions of so many unknowns are still computed in no time.
MOST_EXACT = 40


@dataclass(frozen=True)
class Separation:
    """Whether a plane separates two classes, with the proof.

    Attributes
    ----------
    is_separable : bool or None
        Whether some plane has every row strictly on its side; None where rounding leaves it open. Of more than 38 columns, where fractions
        take too long, no means that none does with a margin of a billionth of the spread.
    coef : ndarray of shape (p,) or None
        The plane of the largest margin, where there is one: ``coef @ x + intercept`` is positive for the second class.
    intercept : float
        Its constant.
    margin : float
        The distance of the nearest row from the plane, from below; zero where nothing separates.
    most : float
        A margin that no plane exceeds, from above.
    multipliers : ndarray of shape (n,)
        Non-negative numbers that prove it: Farkas' proof where the classes can not be separated, else the shares of the support vectors.
    is_exact : bool
        Whether the proof was checked in exact arithmetic.
    certificate : Certificate
        The claims.
    """

    is_separable: bool | None
    coef: np.ndarray | None
    intercept: float
    margin: float
    most: float
    multipliers: np.ndarray = field(repr=False)
    is_exact: bool
    certificate: Certificate = field(repr=False)


def plane_distance(X: ArrayLike, coef: ArrayLike, intercept: float = 0.0) -> np.ndarray:
    """Give the distances of points from the plane ``coef @ x + intercept = 0``, positive on the side to which `coef` points.

    Parameters
    ----------
    X : array_like of shape (n, p)
        The points.
    coef : array_like of shape (p,)
        What the plane is at right angles to; its length does not matter.
    intercept : float, default=0.0
        The constant.

    Returns
    -------
    ndarray of shape (n,)
        The distances.

    Examples
    --------
    >>> plane_distance([[5.0, 5.0], [1.0, 0.5]], [3.0, 4.0], -5.0)
    array([6., 0.])
    """
    normal = np.asarray(coef, dtype=np.float64).ravel()
    length = float(np.linalg.norm(normal))
    if not length > 0:
        raise InputError(
            "A plane needs coefficients that are not all zero: there is nothing that it is at right angles to."
        )
    return np.asarray((np.atleast_2d(np.asarray(X, dtype=np.float64)) @ normal + intercept) / length)


def separating_plane(X: ArrayLike, y: ArrayLike) -> Separation:
    """Find the plane of the largest margin between two classes, or prove that no plane separates them.

    Parameters
    ----------
    X : array_like of shape (n, p)
        The rows.
    y : array_like of shape (n,)
        Their labels, of two classes.

    Returns
    -------
    Separation
        The plane or the proof.

    Examples
    --------
    >>> import qed
    >>> found = qed.separating_plane([[2, 2], [2, 0], [0, 0], [-1, 1]], [1, 1, -1, -1])
    >>> found.is_separable, found.coef.round(6) + 0.0, round(found.intercept, 6), round(found.margin, 6)
    (True, array([1., 0.]), -1.0, 1.0)
    >>> crossed = qed.separating_plane([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    >>> crossed.is_separable, crossed.multipliers, crossed.is_exact
    (False, array([0.25, 0.25, 0.25, 0.25]), True)
    """
    table, sign = _checked(X, y)
    rows, lengths = _comparable(table)
    multipliers = _farkas(rows, sign)
    exact = None if multipliers is None else _exact(table, sign, multipliers)
    if exact is not None:
        return _conflict(table, sign, exact, True)
    # What the simplex method found may be due to its tolerance: a plane that is proven to separate settles it.
    found = _plane(table, sign)
    return found if multipliers is None or found.is_separable else _conflict(table, sign, multipliers / lengths, False)


def _comparable(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give rows with a constant in units in which no column and no row is larger than others, and the lengths that they had.

    Neither changes whether planes separate them, nor, but for a factor of each, the multipliers.
    """
    moved = X - np.median(X, axis=0)
    size = np.median(np.abs(moved), axis=0)
    size = np.where(size > 0, size, np.abs(moved).max(axis=0))
    rows = np.column_stack([moved / np.where(size > 0, size, 1.0), np.ones(len(X))])
    lengths = np.linalg.norm(rows, axis=1)
    return rows / lengths[:, None], lengths


def _checked(X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    table, labels = np.asarray(X), np.asarray(y).ravel()
    if table.dtype.kind not in "biuf" or table.ndim != 2 or table.shape[0] != len(labels):
        raise InputError(
            f"X must be a table of numbers with one row for each of the {len(labels)} labels; its shape is {table.shape}."
        )
    table = table.astype(np.float64)
    if not np.isfinite(table).all():
        raise InputError("X must be finite: fill the holes or drop those rows.")
    classes = np.unique(labels)
    if len(classes) != 2:
        raise InputError(
            f"separating_plane needs two classes, but the labels have {len(classes)}: {classes.tolist()[:5]}."
        )
    return table, np.where(labels == classes[1], 1.0, -1.0)


def _farkas(X: np.ndarray, sign: np.ndarray) -> np.ndarray | None:
    """Ask the simplex method for a common point of both hulls; None where it finds that there is none."""
    from scipy.optimize import linprog

    n = len(X)
    rows = np.vstack([(X * sign[:, None]).T, np.ones(n)])
    right = np.append(np.zeros(len(rows) - 1), 1.0)
    found = linprog(np.zeros(n), A_eq=rows, b_eq=right, bounds=(0, None), method="highs-ds")
    return np.maximum(np.asarray(found.x), 0.0) if found.status == 0 else None


def _exact(X: np.ndarray, sign: np.ndarray, near: np.ndarray) -> np.ndarray | None:
    """Compute multipliers of the same rows as fractions; None where these prove nothing, or are too many."""
    rows = np.flatnonzero(near > 0)
    if not 0 < len(rows) <= min(MOST_EXACT, X.shape[1] + 2):
        return None
    columns = [[Fraction(float(s)) * Fraction(float(v)) for v in (*X[i], 1.0)] for i, s in zip(rows, sign[rows])]
    solution = _null_vector([list(row) for row in zip(*columns)])
    if solution is None:
        return None
    if all(value <= 0 for value in solution):
        solution = [-value for value in solution]
    total = sum(solution)
    if total <= 0 or any(value < 0 for value in solution):
        return None
    found = np.zeros(len(X))
    found[rows] = [float(value / total) for value in solution]
    return found


def _null_vector(matrix: list[list[Fraction]]) -> list[Fraction] | None:
    """Give the one solution of ``matrix @ a = 0`` that is not zero, by elimination; None where there is none or there are several."""
    columns, pivots, row = len(matrix[0]), [], 0
    for column in range(columns):
        pivot = next((k for k in range(row, len(matrix)) if matrix[k][column] != 0), None)
        if pivot is None:
            continue
        matrix[row], matrix[pivot] = matrix[pivot], matrix[row]
        lead = matrix[row][column]
        matrix[row] = [value / lead for value in matrix[row]]
        for k in range(len(matrix)):
            factor = matrix[k][column]
            if k != row and factor != 0:
                matrix[k] = [value - factor * own for value, own in zip(matrix[k], matrix[row])]
        pivots.append(column)
        row += 1
    free = [column for column in range(columns) if column not in pivots]
    if len(free) != 1:
        return None
    solution = [Fraction(0)] * columns
    solution[free[0]] = Fraction(1)
    for k, column in enumerate(pivots):
        solution[column] = -matrix[k][free[0]]
    return solution


def margin_bound(X: np.ndarray, sign: np.ndarray, multipliers: np.ndarray) -> tuple[float, float]:
    """Give what no plane's margin exceeds, rounding allowed for, and by how much the multipliers of the classes differ.

    Multipliers whose sums differ between the classes are made to agree by taking less of the larger.
    """
    n, p = X.shape
    first, second = multipliers[sign > 0], multipliers[sign < 0]
    totals = float(first.sum()), float(second.sum())
    if min(totals) <= 0:
        return np.inf, np.inf
    centres = first @ X[sign > 0] / totals[0], second @ X[sign < 0] / totals[1]
    sizes = first @ np.abs(X[sign > 0]) / totals[0] + second @ np.abs(X[sign < 0]) / totals[1]
    length = float(np.linalg.norm(np.abs(centres[0] - centres[1]) + (n + p + 4) * EPS * sizes))
    return length / 2 * (1 + 8 * EPS), abs(totals[0] - totals[1]) / max(totals)


def _conflict(X: np.ndarray, sign: np.ndarray, multipliers: np.ndarray, exact: bool) -> Separation:
    """Make the answer that no plane separates the classes, as far as the multipliers prove it."""
    most, uneven = margin_bound(X, sign, multipliers)
    spread = float(np.linalg.norm(X.max(axis=0) - X.min(axis=0)))
    size = float(np.abs(X).max(initial=0.0)) * np.sqrt(X.shape[1])
    claims = [
        Claim(
            "multipliers are not negative (the most below zero)", float(np.max(-multipliers, initial=0.0)) + 0.0, 0.0
        ),
        Claim("both classes have the same share of them (difference)", uneven, 1e-9),
        Claim("no plane has a margin above this", most, 1e-9 * spread + 4 * (len(X) + X.shape[1] + 4) * EPS * size),
    ]
    certificate = Certificate(claims)
    known = exact or (bool(certificate) and X.shape[1] + 2 > MOST_EXACT)
    return Separation(False if known else None, None, 0.0, 0.0, 0.0 if exact else most, multipliers, exact, certificate)


def _plane(X: np.ndarray, sign: np.ndarray) -> Separation:
    """Make the answer that a plane separates the classes, as far as its margins prove it."""
    p = X.shape[1]
    centre = X.max(axis=0) / 2 + X.min(axis=0) / 2
    scale = float(np.abs(X - centre).max(initial=0.0)) or 1.0
    scaled = (X - centre) / scale
    found = _margins_of_one(scaled, sign)
    w, b = found.point[:p], float(found.point[p])
    length = float(np.linalg.norm(w)) or 1.0
    coef, intercept = w / length, b / length * scale - float(w @ centre) / length
    margin, exact = least_margin(X, sign, coef, intercept)
    most, _ = margin_bound(scaled, sign, found.multipliers)
    most = float(most * scale) + 4 * EPS * float(np.abs(X).max(initial=0.0)) * math.sqrt(p)
    least = float(margin.min())
    claims = [
        Claim("rows on the wrong side, or not proven to be right", float((margin <= 0).sum()), 0.0),
        Claim("a plane could have a margin larger by this, relative to it", most / max(least, 1e-300) - 1, 1e-4),
    ]
    separable = True if least > 0 else None
    return Separation(separable, coef, intercept, max(least, 0.0), most, found.multipliers, exact, Certificate(claims))


def _margins_of_one(X: np.ndarray, sign: np.ndarray) -> QuadraticMinimum:
    """Find the shortest weights for which every row is at least one on its side."""
    n, p = X.shape
    P, G = np.diag(np.append(np.ones(p), 0.0)), -sign[:, None] * np.hstack([X, np.ones((n, 1))])
    with warnings.catch_warnings():
        # Margins say themselves how good the plane is.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return solve_qp(P, np.zeros(p + 1), G, -np.ones(n), tol=1e-10)


def least_margin(X: np.ndarray, sign: np.ndarray, coef: np.ndarray, intercept: float) -> tuple[np.ndarray, bool]:
    """Give for each row a distance from the plane that it has at least, on its side; in exact arithmetic where rounding leaves it open."""
    p, length = X.shape[1], float(np.linalg.norm(coef)) * (1 + 4 * EPS)
    scores = sign * (X @ coef + intercept)
    doubt = (p + 4) * EPS * (np.abs(X) @ np.abs(coef) + abs(intercept))
    lower = scores - doubt
    open_rows = np.flatnonzero((lower <= 0) & (scores + doubt >= 0))
    if len(open_rows) * p > 100_000:
        return lower / length, False
    w, b = [Fraction(float(value)) for value in coef], Fraction(float(intercept))
    for i in open_rows:
        exactly = (sum(v * Fraction(float(x)) for v, x in zip(w, X[i])) + b) * int(sign[i])
        lower[i] = float(exactly) * (1 - 4 * EPS) if exactly > 0 else float(exactly)
    return lower / length, True
