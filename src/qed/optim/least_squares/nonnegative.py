r"""Least squares with coefficients that must not be negative, by active sets.

.. math:: \min_{w \ge 0,\, b}\ \sum_i s_i (y_i - x_i^\top w - b)^2 + \alpha \|w\|_2^2, \qquad
   g = X^\top r - \alpha w:\quad g_j = 0 \ \text{ where } w_j > 0, \qquad g_j \le 0 \ \text{ where } w_j = 0 .

On its support the minimum is that of ordinary least squares, so only the support has to be found. Columns along which the error falls join
it, all of them at once as long as that helps and one by one where it does not; least squares on the support is solved as precisely as ever;
a column whose coefficient would turn negative leaves on the way there. The error falls in every round, so no support comes twice and the
end is exact. A round costs one least squares on the support, from moments or from rows that are kept; a few rounds are usual.

Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial

import numpy as np

from qed.base.numbers import TINY
from qed.base.sources.block import Block
from qed.optim.least_squares.equations import Equations, GramEquations
from qed.optim.least_squares.problem import equations_of
from qed.stats.factor import Factor
from qed.stats.kept import KeptRows


def nonnegative(equations: Equations, alphas: np.ndarray, digits_wanted: float) -> np.ndarray:
    """Give the coefficients that are not negative with the least error, of shape (p, q), with one penalty for each output.

    >>> from qed.base.sources.open import rows
    >>> from qed.stats.moments import Moments
    >>> X, y = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), np.array([1.0, -1.0, 1.0])
    >>> seen = equations_of(rows(X, y).fold(Moments.of), None, centered=False)
    >>> nonnegative(seen, np.zeros(1), 10.0).round(12)
    array([[1.],
           [0.]])
    """
    p, q = equations.statistic.n_features, equations.statistic.n_targets
    parts = [equations if q == 1 else _restricted(equations, np.arange(p), t) for t in range(q)]
    return np.column_stack([_one_output(part, alpha, digits_wanted) for part, alpha in zip(parts, alphas.tolist())])


def _one_output(equations: Equations, alpha: float, digits_wanted: float) -> np.ndarray:
    """Let columns join the support until the error falls along none of them any more."""
    seen = equations.statistic
    coef, barred, patient = np.zeros(seen.n_features), np.zeros(seen.n_features, dtype=bool), True
    # More columns than rows fit anything: then the support grows by half of what is left.
    most = seen.count - equations.centered if isinstance(seen, KeptRows) and alpha == 0 else None
    for _ in range(10 * (seen.n_features + 10)):
        slope, noise = _slope(equations, coef, alpha)
        rising = np.flatnonzero((coef == 0) & ~barred & (slope > noise))
        if len(rising) == 0:
            break
        rising = rising[np.argsort(-slope[rising] / np.maximum(noise[rising], TINY), kind="stable")]
        room = len(rising) if most is None else (most - np.count_nonzero(coef)) // 2
        joining = rising[: max(1, room) if patient else 1]
        found = _downhill(equations, coef, joining, alpha, digits_wanted)
        moved = bool(found[joining].any())
        # A column that does not stay, not even alone, was called by rounding.
        barred[joining] = not moved and len(joining) == 1
        coef, patient = (found if moved else coef), moved or bool(barred[joining].any())
    return coef


def _downhill(
    equations: Equations, coef: np.ndarray, joining: np.ndarray, alpha: float, digits_wanted: float
) -> np.ndarray:
    """Go from coefficients that are not negative to the minimum on their support and the columns that join, as far as all stay so."""
    support = coef > 0
    support[joining] = True
    while support.any():
        aim, part = np.zeros(len(coef)), _restricted(equations, np.flatnonzero(support))
        aim[support] = part.solve(alpha, digits_wanted).coef[:, 0]
        below = support & (aim <= 0)
        if not below.any():
            return aim
        still = below & (coef == 0)
        if still.any():
            support &= ~still
            continue
        share = coef[below] / (coef[below] - aim[below])
        coef = np.maximum(coef + share.min() * (aim - coef), 0.0)
        coef[np.flatnonzero(below)[share == share.min()]] = 0.0
        support = coef > 0
    return coef


def _slope(equations: Equations, coef: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Give how fast half the error falls along every column, and what of it may be rounding."""
    seen, column = equations.statistic, coef[:, None]
    intercept = seen.y_mean - seen.x_mean @ column if equations.centered else np.zeros(1)
    found = equations.evidence(column, intercept)
    return found.xr[:, 0] - alpha * coef, found.noise[:, 0]


def _restricted(equations: Equations, columns: np.ndarray, output: int = 0) -> Equations:
    """Give the equations of some of the columns and one of the outputs."""
    seen, centered = equations.statistic, equations.centered
    if isinstance(seen, KeptRows):
        kept = KeptRows.of_table(seen.X[:, columns], seen.Y[:, [output]], seen.weights)
        if len(columns) > seen.count:
            return equations_of(kept, None, centered=centered)
        factor = cache(partial(Factor.of, Block(kept.X, kept.Y, kept.weights)))
        return GramEquations(kept.moments(), factor, centered=centered)
    assert isinstance(equations, GramEquations)
    places, lazy = np.append(columns, seen.n_features + output), equations.lazy_factor
    only = {name: getattr(seen, name)[places] for name in ("mean", "rest", "bulk", "drift")}
    moments = replace(seen, scatter=seen.scatter[np.ix_(places, places)], n_features=len(columns), **only)
    return GramEquations(moments, None if lazy is None else lambda: _some(lazy(), places), centered=centered)


def _some(factor: Factor, places: np.ndarray) -> Factor:
    """Give the QR factor of some of the columns, the last of which is the target."""
    R = np.asarray(np.linalg.qr(factor.R[:, places], mode="r"))
    return replace(factor, mean=factor.mean[places], rest=factor.rest[places], R=R, n_features=len(places) - 1)
