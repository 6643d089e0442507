r"""Is a function of two rows a distance? Four axioms, tried on samples:

.. math:: d(x, y) \ge 0, \qquad d(x, y) = 0 \iff x = y, \qquad d(x, y) = d(y, x), \qquad d(x, z) \le d(x, y) + d(y, z).

A *dissimilarity* has the first three. Samples can refute an axiom, with a witness, but never prove it. All pairs of :math:`m` rows and all
triples are tried: :math:`m^2` calls and :math:`O(m^3)` sums.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.random import Seed, generator, seed_of
from qed.base.visible import ShownAsText

# Rows that differ by less than this share of the largest difference all but agree.
NEAR = 1e-2
AXIOMS = ("nonnegative", "identity", "symmetric", "triangle")


@dataclass(frozen=True)
class Witness:
    """Rows that refute an axiom, and in words what they do."""

    rows: tuple[np.ndarray, ...]
    says: str


@dataclass(frozen=True, repr=False)
class DistanceAxioms(ShownAsText):
    """Which axioms of a distance a function violates on a sample.

    Attributes
    ----------
    witnesses : mapping of str to Witness
        For each axiom violated ("nonnegative", "identity", "symmetric", "triangle") the rows that violate it most.
    n_points : int
        How many rows were tried.
    """

    witnesses: Mapping[str, Witness]
    n_points: int

    @property
    def violated(self) -> tuple[str, ...]:
        """The axioms that are violated, in the order of the definition."""
        return tuple(axiom for axiom in AXIOMS if axiom in self.witnesses)

    @property
    def is_distance(self) -> bool:
        """Whether no axiom was refuted."""
        return not self.witnesses

    @property
    def is_dissimilarity(self) -> bool:
        """Whether none but the triangle inequality was refuted."""
        return not set(self.witnesses) - {"triangle"}

    def __str__(self) -> str:
        lines = [
            f"{axiom:<12} {self.witnesses[axiom].says if axiom in self.witnesses else 'holds'}" for axiom in AXIOMS
        ]
        return "\n".join([f"tried on {self.n_points} rows", *lines])


def check_distance(
    distance: Callable[[np.ndarray, np.ndarray], float],
    X: Any,
    *,
    tol: float = 1e-10,
    max_points: int = 60,
    random_state: Seed = 0,
) -> DistanceAxioms:
    """Try the axioms of a distance on all pairs and triples of some rows, and give witnesses where they fail.

    Parameters
    ----------
    distance : callable
        ``distance(x, y)`` of two rows gives a number.
    X : array-like of shape (n, p)
        Rows to try it on.
    tol : float, default=1e-10
        What counts as equal, relative to the largest value there is: allow for what rounding can do to the function.
    max_points : int, default=60
        The most different rows to try; of more, some are drawn.
    random_state : None, int or NumPy generator, default=0
        The seed of that draw.

    Returns
    -------
    DistanceAxioms
        The axioms that were violated, with witnesses.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0]]
    >>> check_distance(lambda x, y: abs(x - y).sum(), X).is_distance
    True
    >>> found = check_distance(lambda x, y: ((x - y) ** 2).sum(), X)
    >>> found.violated, found.is_dissimilarity
    (('triangle',), True)
    >>> print(found.witnesses["triangle"].says)
    d(x, z) = 4 is more than d(x, y) + d(y, z) = 1 + 1
    """
    if max_points < 1:
        raise ParameterError(f"check_distance: max_points must be at least 1, not {max_points!r}.")
    points = np.asarray(X)
    if points.ndim != 2 or not len(points):
        raise InputError(f"check_distance needs rows to try, of shape (n, p), not {points.shape}.")
    points = np.unique(points, axis=0)
    if len(points) > max_points:
        points = points[generator(seed_of(random_state), "points").choice(len(points), max_points, replace=False)]
    table = np.array([[float(distance(x, y)) for y in points] for x in points])
    if np.isnan(table).any():
        i, j = np.argwhere(np.isnan(table))[0]
        raise InputError(f"check_distance: the function gives NaN for the rows {points[i]} and {points[j]}.")
    slack = tol * float(np.abs(table[np.isfinite(table)]).max(initial=0.0))
    return DistanceAxioms(_witnesses(points, table, slack), len(points))


def _witnesses(points: np.ndarray, table: np.ndarray, slack: float) -> dict[str, Witness]:
    """Look for the rows that violate each axiom most."""
    found: dict[str, Witness] = {}

    def note(axiom: str, wrong: np.ndarray, least: float, words: Callable[..., str]) -> None:
        place = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
        if wrong[place] > least and axiom not in found:
            found[axiom] = Witness(tuple(points[i] for i in place), words(*place))

    off, d = ~np.eye(len(points), dtype=bool), table
    with np.errstate(invalid="ignore"):
        note("nonnegative", -d, slack, lambda i, j: f"d(x, y) = {d[i, j]:.6g} is below zero")
        note("identity", abs(np.diagonal(d)), slack, lambda i: f"d(x, x) = {d[i, i]:.6g} is not zero")
        same = np.where(off & ((d == 0) | (_apart(points) & (abs(d) <= slack))), 1.0, 0.0)
        note("identity", same, 0.0, lambda i, j: f"d(x, y) = {d[i, j]:.6g} although x and y differ")
        note(
            "symmetric",
            np.nan_to_num(abs(d - d.T)),
            slack,
            lambda i, j: f"d(x, y) = {d[i, j]:.6g}, d(y, x) = {d[j, i]:.6g}",
        )
        longer = np.nan_to_num(d[:, None, :] - (d[:, :, None] + d[None, :, :]), nan=-np.inf)
        note(
            "triangle",
            longer,
            slack,
            lambda i, j, k: f"d(x, z) = {d[i, k]:.6g} is more than d(x, y) + d(y, z) = {d[i, j]:.6g} + {d[j, k]:.6g}",
        )
    return found


def _apart(points: np.ndarray) -> np.ndarray:
    """Say of all pairs whether they plainly differ: of rows that all but agree, a distance within rounding of zero says nothing."""
    if points.dtype.kind not in "biuf":
        return np.ones((len(points), len(points)), dtype=bool)
    values = points.astype(np.float64)
    away = np.abs(values[:, None] - values).max(axis=2, initial=0.0)
    return away > NEAR * away.max()
