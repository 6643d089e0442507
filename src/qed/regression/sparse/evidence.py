r"""What proves a sparse linear fit, recomputed from the data.

The minimiser of :math:`\tfrac12\|y - Xw - b\|^2 + \lambda_1 \|w\|_1 + \tfrac12 \lambda_2 \|w\|^2` is known by its residual :math:`r`:

.. math:: x_j^\top r - \lambda_2 w_j = \lambda_1 \operatorname{sign}(w_j) \ \text{ where } w_j \ne 0, \qquad
          |x_j^\top r| \le \lambda_1 \ \text{ where } w_j = 0, \qquad \textstyle\sum_i r_i = 0 .

By how much another :math:`w` can miss the minimum, at most, is the duality gap (:mod:`qed.optim.functions.gap`), or, where the penalty is
nothing beside what sums round away, what the curvature of the squares leaves room for (:mod:`qed.optim.sparse.curvature`). All of it
needs of the rows no more than :math:`X^\top r`, :math:`r^\top r` and a few sums: one fold,
on arrays, files and clusters alike; or the moments, where a fit has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from qed.base.certificate import MOST_ROUNDING, Claim
from qed.base.numbers import EPS, TINY, largest
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.optim.functions.gap import fenchel_gap
from qed.optim.functions.penalties import L1L2
from qed.optim.least_squares.evidence import about_zero
from qed.optim.sparse.curvature import curvature_gap
from qed.stats.moments import Moments
from qed.stats.products import dense, present_rows

# What Newton steps reach easily: by how much a correlation may differ from the penalty, relative to it.
OPTIMALITY = 1e-6
ROUNDING = 64 * EPS
# It takes as long to pick one column in so many as to go through all of them.
FEW = 8
# An objective below this share of that without coefficients is none.
EXACT = 1e-10


@dataclass(frozen=True)
class SparseEvidence:
    """Sums of features, target and residual, for p features and q outputs."""

    weight: float  # the sum of the weights
    # (p,) or (q,): means of features, target and residual; those of the features are zero where there is no
    # intercept.
    x_mean: np.ndarray
    y_mean: np.ndarray
    r_mean: np.ndarray
    xr: np.ndarray  # (p, q): products of the (centred) features with the residuals
    # (q,): sums of squares of target (about its mean, with an intercept) and residual.
    yy: np.ndarray
    rr: np.ndarray
    # (p,): lengths of the columns, which say what rounding can do; zero where they were not asked for.
    length: np.ndarray
    behind: np.ndarray  # (q,): sums of squares of the target, as they were taken
    # (p, p) and (p,): products of the features, where they are known, and what rounding may have done to them.
    gram: np.ndarray | None = None
    noise: np.ndarray | None = None

    @classmethod
    def from_rows(
        cls,
        rows: Rows,
        coef: np.ndarray,
        intercept: np.ndarray,
        outputs: np.ndarray | None = None,
        *,
        centered: bool,
        lengths: bool,
    ) -> SparseEvidence:
        """Go back to the rows; `coef` has shape (p, q). Many models of a few outputs say in `outputs` which is whose.

        Where lengths are asked for, sums are taken about the means: of columns far from zero little else would be left of them.
        """
        start, length = np.zeros(len(coef)), np.zeros(len(coef))
        if lengths:
            summary = rows.fold(Summary.of)
            start = summary.mean if centered and not rows.is_sparse else start
            length = np.sqrt(summary.deviation + summary.weight * (summary.mean - start) ** 2)
        level = intercept + start @ coef if centered else np.zeros(coef.shape[1])
        seen = rows.fold(_sums, coef, intercept, outputs, centered, start, level)
        x_off, y_off, r_mean = seen.x / seen.weight, seen.y / seen.weight, seen.r / seen.weight
        xr = seen.xr - np.outer(x_off, seen.r) if centered else seen.xr
        yy = np.maximum(seen.yy - (seen.weight * y_off**2 if centered else 0.0), 0.0)
        return cls(seen.weight, start + x_off, level + y_off, r_mean, xr, yy, seen.rr, length, seen.yy)

    @classmethod
    def from_moments(
        cls,
        moments: Moments,
        coef: np.ndarray,
        intercept: np.ndarray,
        outputs: np.ndarray | None = None,
        *,
        centered: bool,
    ) -> SparseEvidence:
        """Work it out from the moments, without going back to the rows."""
        seen = moments if centered else about_zero(moments)
        some = slice(None) if outputs is None else outputs
        xy, yy, y_mean = seen.xy[:, some], seen.yy.diagonal()[some], seen.y_mean[some]
        xr = xy - seen.xx @ coef
        rr = np.maximum(yy - (coef * (xy + xr)).sum(axis=0), 0.0)
        r_mean = y_mean - seen.x_mean @ coef - intercept
        taken = np.maximum(seen.bulk, seen.scatter.diagonal())
        length, behind = np.sqrt(taken[: len(coef)]), taken[len(coef) :][some]
        known = seen.xx, seen.noise[: len(coef)]
        return cls(seen.weight, seen.x_mean, y_mean, r_mean, xr, yy, rr, length, behind, *known)

    def with_products(self, rows: Rows, *, centered: bool) -> SparseEvidence:
        """Add the products of the features, for which the rows are looked at once more."""
        seen = rows.fold(Moments.of_features)
        seen = seen if centered else about_zero(seen)
        return replace(self, gram=seen.xx, noise=seen.noise)

    def reach(self, coef: np.ndarray) -> np.ndarray:
        """Give how large the numbers were whose difference is the residual, as a length.

        With an intercept they are taken about a middle, from which a difference has all its digits, however far from zero that is.
        """
        return np.asarray(np.sqrt(self.behind) + self.length @ np.abs(coef))

    def offset(self, coef: np.ndarray) -> np.ndarray:
        """Give how large the numbers are whose difference is the mean residual, as a length."""
        return np.asarray(np.sqrt(self.weight) * (np.abs(self.y_mean) + np.abs(self.x_mean) @ np.abs(coef)))


@dataclass(frozen=True)
class _Sums:
    """Sums over the rows of a block."""

    weight: float
    x: np.ndarray
    y: np.ndarray
    yy: np.ndarray
    r: np.ndarray
    rr: np.ndarray
    xr: np.ndarray

    def __add__(self, other: _Sums) -> _Sums:
        return _Sums(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values())))


def _sums(
    block: Block,
    coef: np.ndarray,
    intercept: np.ndarray,
    outputs: np.ndarray | None,
    centered: bool,
    start: np.ndarray,
    level: np.ndarray,
) -> _Sums:
    """Take the sums about `start` and, of the target, about `level`, which is what the model says there."""
    X, Y, weight = present_rows(block, target=True)
    Y = (Y if outputs is None else Y[:, outputs]) - level
    w = np.ones(len(Y)) if weight is None else weight
    if start.any():
        X = dense(X) - start
    elif isinstance(X, np.ndarray):
        X = X.astype(np.float64, copy=False)  # once for three products
    support = np.flatnonzero(coef.any(axis=1))
    few = FEW * len(support) < len(coef)
    fitted = X[:, support] @ coef[support] if few else X @ coef
    r = Y - np.asarray(fitted, dtype=np.float64) - (0.0 if centered else intercept)
    weighted = w[:, None] * r
    x = np.asarray(w @ X, dtype=np.float64) if centered else np.zeros(len(coef))
    xr = np.asarray(X.T @ weighted, dtype=np.float64)
    return _Sums(float(w.sum()), x, w @ Y, w @ Y**2, weighted.sum(axis=0), (weighted * r).sum(axis=0), xr)


def sparse_claims(
    seen: SparseEvidence, coef: np.ndarray, penalty: L1L2, tol: float, *, centered: bool, exact: bool
) -> list[Claim]:
    """Make the claims of a sparse linear model.

    The penalty is for sums (not means) over the rows. If `exact`, the optimality conditions of every single coefficient
    are claimed as well.
    """
    return path_claims(seen, coef, [penalty] * coef.shape[1], tol, centered=centered, exact=exact)[1]


def path_claims(
    seen: SparseEvidence, coef: np.ndarray, penalties: Sequence[L1L2], tol: float, *, centered: bool, exact: bool = True
) -> tuple[np.ndarray, list[Claim]]:
    """Make the claims of many sparse linear models together, each of which is a column of `coef` with its own penalty.

    Gives the relative duality gap of each, and the claims about the worst of them.
    """
    reach, offset = seen.reach(coef), seen.offset(coef) * centered
    # How long residuals are because they do not sum to zero, and what rounding may hide of that.
    level, hidden = np.sqrt(seen.weight) * np.abs(seen.r_mean) * centered, (len(coef) + 2) * EPS * offset
    gaps, slips, slopes, offs, most = np.zeros((5, len(penalties)))
    for t, penalty in enumerate(penalties):
        noise = ROUNDING * seen.length * reach[t]
        distance = penalty.kkt_distance(coef[:, t], -seen.xr[:, t])
        gaps[t], slips[t], most[t] = _relative_gap(seen, coef, penalty, noise, t, float(reach[t] + offset[t]))
        if gaps[t] > tol + slips[t] or slips[t] > most[t]:
            bounds = [_by_curvature(seen, coef, penalty, part * noise, t, float(reach[t])) for part in (1, 0)]
            if bounds[0] < gaps[t] + slips[t]:
                gaps[t], slips[t], most[t] = bounds[0], ROUNDING + bounds[0] - bounds[1], MOST_ROUNDING
        whole = 0.5 * float(seen.rr[t]) + penalty.value(coef[:, t])
        gaps[t] += 0.5 * level[t] ** 2 / max(whole, TINY)
        # Where nothing is left of the objective, rounding has nothing to hide.
        slips[t] += hidden[t] * (level[t] + 0.5 * hidden[t]) / whole if whole > 0 else 0.0
        if penalty.l1 == 0:
            scale = np.where(seen.length > 0, seen.length, 1.0) * (reach[t] if reach[t] > 0 else 1.0)
            slopes[t] = (distance / scale).max(initial=0.0)
        elif exact:
            offs[t] = largest(distance / (penalty.l1 + noise / OPTIMALITY), 0.0)
    claims, convex = [], [penalty.l1 > 0 or penalty.l2 > 0 for penalty in penalties]
    if any(convex):
        far = np.where(convex, np.maximum(gaps - slips, slips - most), -np.inf) if len(gaps) > 1 else gaps
        worst = int(far.argmax())
        says = "duality gap, relative to the objective"
        claims.append(Claim.within(says, float(gaps[worst]), tol, float(slips[worst]), float(most[worst])))
    if any(penalty.l1 == 0 for penalty in penalties):
        claims.append(Claim("gradient of the penalised error vanishes", float(slopes.max()), 1e-9))
    if exact and any(penalty.l1 > 0 for penalty in penalties):
        words = "correlations are alpha on the support, and no more elsewhere"
        claims.append(Claim(words, largest(offs), OPTIMALITY))
    if centered:
        claims.append(sum_claim(seen, coef))
    return gaps, claims


def _relative_gap(
    seen: SparseEvidence, coef: np.ndarray, penalty: L1L2, noise: np.ndarray, t: int, reach: float
) -> tuple[float, float, float]:
    """Give the relative gap of one output, what rounding can do to it, and what it may do.

    That is little, unless the objective is next to nothing of what it is without coefficients: then the rows are met exactly.
    """
    if penalty.l1 == 0 and penalty.l2 == 0:
        return 0.0, 0.0, MOST_ROUNDING
    w, xr, rr = coef[:, t], seen.xr[:, t], float(seen.rr[t])
    found = fenchel_gap(0.5 * rr, lambda scale: 0.5 * (1.0 - scale) ** 2 * rr, penalty, w, xr)
    slip = float(np.abs(w) @ noise)
    if penalty.l2 == 0:
        # By so much the dual point may have been shrunk for nothing but rounding.
        most = largest(noise, 0.0)
        shrunk = most / (penalty.l1 + most)
        slip += most * float(np.abs(w).sum()) + 0.5 * shrunk**2 * rr
    else:
        over = np.maximum(np.abs(xr) - penalty.l1, 0.0)
        slip += float(noise @ (over + 0.5 * noise)) / penalty.l2
    if found.primal <= 0:
        return found.relative, ROUNDING, MOST_ROUNDING
    nothing = EXACT * float(seen.yy[t]) + (ROUNDING * reach) ** 2
    return found.relative, ROUNDING + slip / found.primal, max(MOST_ROUNDING, nothing / found.primal)


def _by_curvature(
    seen: SparseEvidence, coef: np.ndarray, penalty: L1L2, noise: np.ndarray, t: int, reach: float
) -> float:
    """Bound what is missing from the minimum of one output, relative to the objective, by the curvature of its squares.

    Correlations are known up to `noise`.
    """
    if seen.gram is None or seen.noise is None:
        return np.inf
    slope = -seen.xr[:, t]
    # Being convex, the distance from a subgradient of zero is largest at one of the ends of what the slope may be.
    worst = np.maximum(*(penalty.kkt_distance(coef[:, t], slope + sign * noise) for sign in (-1, 1)))
    missing = curvature_gap(seen.gram, seen.noise, penalty.l2, worst)
    least = 0.5 * float(seen.rr[t]) + penalty.value(coef[:, t]) - ROUNDING * reach**2
    return missing / least if least > 0 else np.inf


def sum_claim(seen: SparseEvidence, coef: np.ndarray) -> Claim:
    """Claim that the residuals sum to zero, as they do with the best intercept."""
    spread = np.sqrt(seen.yy)
    spread = np.where(spread > 0, spread, 1.0)
    size = np.abs(seen.y_mean) + np.abs(seen.x_mean) @ np.abs(coef)
    value = np.sqrt(seen.weight) * np.abs(seen.r_mean) / spread
    bound = 1e-9 + ROUNDING * (1 + np.sqrt(seen.weight) * size / spread)
    worst = int(np.argmax(value - bound)) if len(value) > 1 else 0
    return Claim("residuals sum to zero", float(value[worst]), float(bound[worst]))
