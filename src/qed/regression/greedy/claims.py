r"""The proof of a pursuit, from the data and the path that it says it took.

One pass gives the products of all columns with the columns used and with the target, about the means. From them
follow, for every turn t with coefficients :math:`w^t`, the correlations :math:`X^\top r^t = X^\top y - X^\top X_I\,
w^t_I` of all columns with the residual, and its squared length: so it can be checked that each atom was the nearest
at its turn, that the residual never grew, and what it is orthogonal to. Everything is measured against :math:`\|y\| +
\sum_j \|x_j\| |w_j|`, as far as the coefficients reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.numbers import EPS, TINY, largest, smallest
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.linalg.cholesky import Cholesky
from qed.linalg.normal import solve
from qed.optim.least_squares.evidence import about_zero
from qed.regression.greedy.atoms import BLUR, noise, over
from qed.stats.moments import Moments
from qed.stats.products import dense, present_rows, target_summary

TOLERANCE = 1e-9
TURNS = 256
FAR = 1e3


@dataclass(frozen=True)
class Path:
    """What a pursuit did for one output."""

    picks: np.ndarray  # (t,): the columns taken, turn by turn
    coef: np.ndarray  # (t + 1, m): the coefficients of the columns used before the first turn, and after each


@dataclass(frozen=True)
class Offset:
    """The sums of the residuals over the root of the weight, and how far rounding carries them where means are large."""

    size: np.ndarray
    far: float

    @classmethod
    def of(cls, lost: np.ndarray, weight: float, far: np.ndarray, y_mean: np.ndarray, yy: np.ndarray) -> Offset:
        """Take the mean of the residuals, how far the columns used are from zero, and the mean and square of the target."""
        root = math.sqrt(weight)
        own = over(root * np.abs(y_mean), np.sqrt(yy))
        return cls(root * np.abs(lost), largest(far, 0.0) + largest(own, 0.0))


@dataclass(frozen=True)
class Evidence:
    """What is seen of the rows, for a fit of q outputs that uses m of p columns."""

    used: np.ndarray  # (m,): the numbers of the columns used, in increasing order
    length: np.ndarray  # (p,): the length of every column
    # (p, m) or (p, q): products of all columns with those used, and with the targets.
    xx: np.ndarray
    xy: np.ndarray
    yy: np.ndarray  # (q,): the squared length of the targets
    offset: Offset  # what the residuals sum to
    rounding: float  # what rounding can do, relative to the reach
    far: np.ndarray  # (p,): how far the centre of every column is from zero, relative to its length

    @classmethod
    def of(
        cls,
        rows: Rows,
        coef: np.ndarray,
        intercept: np.ndarray,
        picks: np.ndarray,
        *,
        centered: bool,
        known: tuple[Summary, Summary] | None = None,
    ) -> Evidence:
        """Go to the rows.

        `picks` are all columns that the path names, -1 for none; `known` the summaries of features and target, where they have been
        taken already.
        """
        summary, target = known or (rows.fold(Summary.of), rows.fold(target_summary))
        weight, p, used = float(target.weight[0]), rows.n_features, _used(coef, picks)
        center = summary.mean if centered else np.zeros(p)
        target_center = target.mean if centered else np.zeros(coef.shape[1])
        square = summary.deviation if centered else summary.deviation + weight * summary.mean**2
        length, far = _lengths(square, center, weight)
        found, m = rows.fold(_products, center, target_center, used, bool(far.max() > FAR)), len(used)
        lost = target.mean - summary.mean @ coef - intercept
        yy = np.diagonal(found[p:, m:]).copy()
        rounding = noise(summary.count) * (1 + min(largest(far), FAR))
        offset = Offset.of(lost, weight, far[used], target_center, yy)
        return cls(used, length, found[:p, :m], found[:p, m:], yy, offset, rounding, far)

    @classmethod
    def of_moments(
        cls, moments: Moments, coef: np.ndarray, intercept: np.ndarray, picks: np.ndarray, *, centered: bool
    ) -> Evidence:
        """Take the same from moments of all columns and targets."""
        seen, used = moments if centered else about_zero(moments), _used(coef, picks)
        length, far = _lengths(seen.xx.diagonal(), seen.x_mean, seen.weight)
        lost = moments.y_mean - moments.x_mean @ coef - intercept
        yy = seen.yy.diagonal()
        offset = Offset.of(lost, seen.weight, far[used], seen.y_mean, yy)
        # Columns far from zero are known to the rounding of their values.
        rounding = noise(seen.count) * (1 + min(largest(far), FAR))
        return cls(used, length, seen.xx[:, used], seen.xy, yy, offset, rounding, far)

    @property
    def bound(self) -> float:
        """The most that a claim's value may be."""
        return TOLERANCE + self.rounding

    def placed(self, picks: np.ndarray, coef: np.ndarray) -> np.ndarray:
        """Give coefficients (as rows) of the columns `picks` as coefficients of the columns used."""
        full = np.zeros((len(coef), len(self.used)))
        full[:, self.used.searchsorted(picks)] = coef
        return full

    @cached_property
    def lengths_used(self) -> np.ndarray:
        """The lengths of the columns used."""
        return self.length[self.used]

    @cached_property
    def _scale(self) -> np.ndarray:
        """What makes the columns as long as one; zero for those that have no length."""
        return over(1.0, self.length)

    def reach(self, output: int, coef: np.ndarray) -> np.ndarray:
        """Say how far coefficients (as rows) reach."""
        reach = math.sqrt(max(self.yy[output], 0.0)) + np.abs(coef) @ self.lengths_used
        return reach if smallest(reach) > 0 else np.where(reach > 0, reach, 1.0)

    def reach_of(self, output: int, coef: np.ndarray) -> float:
        """Say how far coefficients reach."""
        return math.sqrt(max(self.yy[output], 0.0)) + float(np.abs(coef) @ self.lengths_used) or 1.0

    def turns(self, output: int, coef: np.ndarray) -> Iterator[tuple[slice, np.ndarray, np.ndarray]]:
        """Give, for some turns at a time, the products of all atoms with the residual, of shape (p, t), and its square."""
        scale = self._scale[:, None]
        for start in range(0, len(coef), TURNS):
            part = slice(start, min(start + TURNS, len(coef)))
            correlation = self.xy[:, output, None] - self.xx @ coef[part].T
            both = self.xy[self.used, output] + correlation[self.used].T
            error = self.yy[output] - (coef[part] * both).sum(axis=1)
            near = np.abs(correlation, out=correlation)
            near *= scale
            yield part, near, error


def claims_of_path(
    seen: Evidence, paths: Sequence[Path], settled: Callable[[np.ndarray, int], np.ndarray]
) -> list[Claim]:
    """Claim that every atom was the nearest at its turn, and what the residual is then orthogonal to.

    ``settled(picks, t)`` gives the columns to which the residual has to be orthogonal after t turns.
    """
    astray = touching = rise = 0.0
    farthest = 1.0
    for output, path in enumerate(paths):
        before, size = np.inf, math.sqrt(max(seen.yy[output], 0.0)) or 1.0
        for part, near, error in seen.turns(output, path.coef):
            # Measured by the target, not by how far the coefficients reach: those of nearly equal columns can reach anywhere.
            stretch = seen.reach(output, path.coef[part]) / size
            farthest = max(farthest, largest(stretch))
            near /= size
            least = np.empty(len(error) + 1)
            least[0], least[1:] = before, error
            np.minimum.accumulate(least, out=least)
            # A square that is a difference of far larger ones is known to their rounding only.
            blur = seen.rounding * stretch**2
            rise = max(rise, largest((error - least[:-1]) / max(seen.yy[output], TINY) - blur))
            before = float(least[-1])
            picks = path.picks[part]
            taken = near.take(picks * near.shape[1] + np.arange(len(picks)))
            astray = max(astray, largest(near[:, : len(picks)].max(axis=0) - taken, 0.0))
            for turn in range(part.start, part.stop):
                touching = largest(near.T[turn - part.start].take(settled(path.picks, turn)), touching)
    return [
        Claim(says, value, TOLERANCE + min(seen.rounding * farthest, MOST_ROUNDING))
        for says, value in (
            ("every column was the nearest to the residual at its turn", astray),
            ("squared residual never grows", rise),
            ("residual is orthogonal to what was just fitted, at every turn", touching),
        )
    ]


def claim_of_constant(seen: Evidence, coefs: Sequence[np.ndarray]) -> Claim:
    """Claim that the residuals sum to zero; `coefs` are those of the columns used, for each output."""
    value = max(float(seen.offset.size[output]) / seen.reach_of(output, coef) for output, coef in enumerate(coefs))
    return Claim("residuals sum to zero", value, seen.bound + min(16 * EPS * (1 + seen.offset.far), MOST_ROUNDING))


def claim_of_coefficients(seen: Evidence, coefs: Sequence[np.ndarray], paths: Sequence[Path]) -> Claim:
    """Claim that the coefficients are those at the end of the path, relative to what they reach."""
    value = 0.0
    for output, (coef, path) in enumerate(zip(coefs, paths)):
        off = float(np.abs(coef - path.coef[-1]) @ seen.lengths_used)
        value = max(value, off / seen.reach_of(output, coef))
    return Claim("coefficients are where the path ends", value, TOLERANCE)


def claim_of_end(seen: Evidence, paths: Sequence[Path], wanted: int, tol: float | None) -> Claim:
    """Claim that the residual is as small as asked for; or that there are as many atoms, or none that can explain more."""
    missing, excess = 0, 0.0
    for output, path in enumerate(paths):
        lacking = wanted - len(set(path.picks.tolist()))
        if tol is None and lacking <= 0:
            continue
        ((_, near, error),) = seen.turns(output, path.coef[-1:])
        excess = max(excess, float(error[0] - (tol or 0.0)) / max(seen.yy[output], TINY))
        # A column that the others tell but for the rounding of its values, or of theirs, has nothing of its own.
        blur = np.maximum(seen.far, largest(seen.far[path.picks], 0.0)) * BLUR
        rest = near[:, 0] / seen.reach_of(output, path.coef[-1]) - blur
        if largest(rest, 0.0) > 4 * seen.rounding + 2 * EPS * len(path.picks):
            missing = max(missing, lacking)
    if tol is None:
        return Claim("columns that are missing, of those asked for", float(missing), 0.0)
    return Claim("squared residual above tol, relative to the target", excess, seen.bound)


def claim_of_excess(seen: Evidence, coefs: Sequence[np.ndarray], *, centered: bool) -> Claim:
    """Claim that no other coefficients of the same columns, and no other constant, leave a smaller residual."""
    value = hidden = 0.0
    for output, coef in enumerate(coefs):
        chosen = coef.nonzero()[0]
        places, weights = seen.used[chosen], coef[chosen]
        gram, right = seen.xx.take(places, 0).take(chosen, 1), seen.xy[places, output]
        gradient = right - gram @ weights
        gain = abs(float(gradient @ _solved(gram, gradient))) if len(chosen) else 0.0
        # A constant that is off, if only by the rounding of large means, adds to the squares as well; so much may be left by rounding.
        reach = seen.reach_of(output, coef)
        slip = centered * EPS * seen.offset.far * reach
        shift = centered * float(seen.offset.size[output] + slip) ** 2
        error = max(float(seen.yy[output] - weights @ (right + gradient)), 0.0)
        # What cancels between columns that are nearly alike is no measure for a constant.
        size = error + 1e-8 * reach**2
        left = error + 1e-8 * float(seen.yy[output]) or size
        value, hidden = max(value, (gain + shift) / size, shift / left), max(hidden, (4 * slip) ** 2 / left)
    return Claim.within("excess over the least error with these columns", value, seen.bound, hidden)


def _solved(gram: np.ndarray, right: np.ndarray) -> np.ndarray:
    factor = Cholesky.of(gram)
    return (solve(gram, right[:, None]).coef if factor is None else factor.solve(right[:, None]))[:, 0]


def _used(coef: np.ndarray, picks: np.ndarray) -> np.ndarray:
    """Give the columns that the model or its path uses."""
    used = np.asarray(coef.any(axis=1))
    used[picks[picks >= 0]] = True
    return used.nonzero()[0]


def _lengths(square: np.ndarray, center: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray]:
    """Give the length of every column (zero where it is rounding), and how far its centre is from zero, relative to that."""
    length, size = np.sqrt(np.maximum(square, 0.0)), math.sqrt(weight) * np.abs(center)
    length[length <= BLUR * size] = 0.0
    return length, over(size, length)


def _products(block: Block, center: np.ndarray, target_center: np.ndarray, used: np.ndarray, far: bool) -> np.ndarray:
    """Multiply all columns and targets with the columns used and the targets, about the centres."""
    X, Y, weight = present_rows(block, target=True)
    Y = Y - target_center
    right = np.hstack([dense(X[:, used]) - center[used], Y])
    if weight is not None:
        right *= weight[:, None]
    if far:
        top = (dense(X) - center).T @ right
    else:
        top = np.asarray(X.T @ right, dtype=np.float64) - np.outer(center, right.sum(axis=0))
    return np.vstack([top, Y.T @ right])
