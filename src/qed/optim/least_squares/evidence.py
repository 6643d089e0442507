r"""What proves a linear least-squares fit, recomputed from the data.

The minimiser of :math:`\|y - Xw - b\|^2 + \alpha\|w\|^2` is known by its residual :math:`r`: it sums to zero (when there is an
intercept) and :math:`X^\top r = \alpha w`. By how much another :math:`w` misses the minimum is known exactly too,
:math:`g^\top (X^\top X + \alpha I)^{-1} g` with :math:`g = X^\top r - \alpha w`. All of it follows from the moments of :math:`(x, y, r)`,
so the proof of a fit is one fold, on arrays, files and clusters alike. How far every coefficient is from the exact one follows, too
(:mod:`qed.linalg.root`); where columns are dependent, how far the shortest of the solutions may have moved (Wedin, 1973).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from qed.base.certificate import ALIKE, MOST_ROUNDING, Claim
from qed.base.numbers import EPS, any_of, largest
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.iterative.least_eigenvalue import Distance
from qed.linalg.normal import Normal, Standing
from qed.linalg.root import Root
from qed.stats.centred import Centred
from qed.stats.moments import Moments

TOLERANCE = 1e-9
# Rounding may hide so much of a gradient, relative to columns and what residuals are differences of; with more, nothing is proven.
MOST_HIDDEN = 1e-7
# Squares that residuals are differences of count up to so many times those of the target.
FAR = 1e9
# Coefficients are right enough when their relative errors are below this; one that is smaller than so much of what it is a difference
# of is compared with that.
ENOUGH, NO_SHARE = 1e-4, 1e-5


def about_zero(moments: Moments) -> Moments:
    """Take moments about zero in the place of the mean, for models without an intercept."""
    zero = np.zeros_like(moments.mean)
    bulk = moments.bulk_about_zero()
    return replace(moments, mean=zero, scatter=moments.uncentered(), rest=zero, bulk=bulk, drift=zero)


class Metric(Protocol):
    """What is known of the columns of a problem: how long they are, and how far coefficients are from its minimum."""

    @property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns."""

    def excess(self, at: Standing) -> np.ndarray:
        """Bound by how much coefficients are above the minimum, for each output."""

    def outside(self, coef: np.ndarray, rank: int) -> float:
        """Bound the share of the coefficients that lies where the data say nothing."""

    def condition(self, rank: int) -> float | None:
        """Give the condition number of the columns scaled to equal length, over so many directions; None where digits are missing."""

    def root(self) -> tuple[np.ndarray, Root | Distance | None]:
        """Say which columns are more than a constant, and give a root of their products where they are independent."""

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray, rank: int) -> float:
        """Bound the relative error of the shortest of many solutions, where residuals have such lengths."""


@dataclass(slots=True, eq=False)
class Evidence:
    """What is seen of features, target and residual: of a fit with p features and q outputs.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    x_mean, y_mean, r_mean : ndarray of shape (p,) or (q,)
        Means of features, target and residual.
    metric : Metric
        The columns of the features; `Normal` where their scatter is known.
    xr : ndarray of shape (p, q)
        Scatter of features with residuals.
    yy, rr : ndarray of shape (q,)
        Squared deviations of target and residual.
    noise : ndarray of shape (p, q)
        How far `xr` may be off, at most.
    slip : ndarray of shape (q,)
        How far `r_mean` may be off, at most.
    """

    weight: float
    x_mean: np.ndarray
    y_mean: np.ndarray
    r_mean: np.ndarray
    metric: Metric
    xr: np.ndarray
    yy: np.ndarray
    rr: np.ndarray
    noise: np.ndarray
    slip: np.ndarray

    @classmethod
    def from_rows(cls, rows: Rows, coef: np.ndarray, intercept: np.ndarray, *, centered: bool) -> Evidence:
        """Go back to the rows; `coef` has shape (p, q). About zero unless `centered`."""
        found = rows.fold(residual_moments, coef, intercept)
        return cls.from_residual_moments(found, coef, intercept, centered=centered)

    @classmethod
    def from_residual_moments(
        cls, moments: Moments, coef: np.ndarray, intercept: np.ndarray, *, centered: bool, normal: Normal | None = None
    ) -> Evidence:
        """Take it from the moments of features, targets and residuals."""
        seen, (p, q) = moments if centered else about_zero(moments), coef.shape
        square, h = np.diagonal(seen.yy), seen.noise
        means = (seen.x_mean, seen.y_mean[:q], seen.y_mean[q:])
        sums = (seen.xy[:, q:], square[:q], square[q:])
        noise, slip = np.outer(h[:p], h[p + q :]), seen.slip[p + q :]
        found = cls(seen.weight, *means, normal or Normal(seen.xx, h[:p]), *sums, noise, slip)
        blur = (p + 3) * EPS / 2 * found.full_reach(coef, intercept)
        slip = (slip + blur / np.sqrt(seen.weight)) * centered
        return replace(found, noise=noise + np.outer(found.metric.lengths, blur), slip=slip)

    @classmethod
    def from_moments(
        cls,
        moments: Moments,
        coef: np.ndarray,
        intercept: np.ndarray,
        *,
        centered: bool,
        normal: Normal | None = None,
    ) -> Evidence:
        """Work it out from the moments of features and target, without going back to the rows.

        What solved the equations may be given as `normal`: what it has factored is not factored again. Several solutions for each
        target may be given, one after another for all targets in turn.
        """
        seen, p = moments if centered else about_zero(moments), len(coef)
        image, targets, h = seen.xx @ coef, _targets(seen, coef), seen.noise
        xy, yy = seen.xy[:, targets], seen.yy.diagonal()[targets]
        rr = yy - (coef * (2 * xy - image)).sum(axis=0)
        means = (seen.x_mean, seen.y_mean[targets], mean_residual(seen, coef, intercept))
        unknown, metric = h[p:][targets] + h[:p] @ np.abs(coef), normal or Normal(seen.xx, h[:p])
        # The products here round, too, but by less than those of the moments: h is at least the length of a column times this.
        each = math.sqrt(seen.roundings * EPS)
        noise = h[:p, None] * (unknown * (1 + (p + 2) * EPS / each**2))
        slip = seen.slip[p:][targets] + seen.slip[:p] @ np.abs(coef) if centered else np.zeros(len(yy))
        return cls(seen.weight, *means, metric, xy - image, yy, rr, noise, slip)

    def full_reach(self, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
        """Give the length of what residuals are differences of when they are computed row by row, means included: of shape (q,)."""
        target = np.sqrt(np.maximum(self.yy, 0.0) + self.weight * self.y_mean**2)
        columns = np.sqrt(self.metric.lengths**2 + self.weight * self.x_mean**2)
        return np.asarray(target + columns @ np.abs(coef) + np.sqrt(self.weight) * np.abs(intercept))

    @property
    def blur(self) -> np.ndarray:
        """The h for which products of features are off by no more than ``h[j] * h[k]``, of shape (p,)."""
        assert isinstance(self.metric, Normal)
        return self.metric.noise

    @property
    def xx(self) -> np.ndarray:
        """The scatter of the features, of shape (p, p)."""
        assert isinstance(self.metric, Normal)
        return self.metric.gram


def mean_residual(seen: Centred, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Give the mean residual of each output from the means of features and targets, off by no more than the rounding of each product."""
    p, targets = len(coef), _targets(seen, coef)
    far, rest, constant = seen.mean[p:][targets].tolist(), seen.rest[p:][targets].tolist(), intercept.tolist()
    parts = (seen.mean[:p, None] * coef).T.tolist(), (seen.rest[:p, None] * coef).T.tolist()
    return -np.array([math.fsum([-a, -b, c, *d, *e]) for a, b, c, d, e in zip(far, rest, constant, *parts)])


def _targets(seen: Centred, coef: np.ndarray) -> slice | np.ndarray:
    """Say which target each solution is for: they come one after another for all targets in turn."""
    q = seen.n_targets
    return slice(None) if coef.shape[1] == q else np.arange(coef.shape[1]) % q


def mean_slip(seen: Centred, coef: np.ndarray, means: tuple[np.ndarray, ...], reach: np.ndarray) -> np.ndarray:
    """Bound how far the mean residuals are off: by the rounding of each product, and by that of the means beyond their last bit."""
    size = np.abs(means[1]) + np.abs(means[0]) @ np.abs(coef)
    return np.asarray(EPS * size + 64 * EPS * reach / np.sqrt(seen.weight))


def means_of(
    seen: Centred, coef: np.ndarray, intercept: np.ndarray, *, centered: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the means of features, targets and residuals; zero where nothing is centred."""
    if centered:
        return seen.x_mean, seen.y_mean, mean_residual(seen, coef, intercept)
    zero = np.zeros(coef.shape[1])
    return np.zeros(len(coef)), zero, zero


def residual_moments(block: Block, coef: np.ndarray, intercept: np.ndarray) -> Moments:
    """Give the moments of features, target and residual of one block."""
    return Moments.of(with_residual(block, coef, intercept))


def with_residual(block: Block, coef: np.ndarray, intercept: np.ndarray) -> Block:
    """Add the residuals of a block to its targets, as further columns."""
    y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
    residual = y - np.asarray(block.X @ coef, dtype=np.float64) - intercept
    return Block(block.X, np.hstack([y, residual]), block.weight, block.start)


class Sizes(NamedTuple):
    """What is added up and taken away to find residuals, for each output."""

    reach: np.ndarray  # the length of what they are differences of, one where that is nothing
    mean: np.ndarray  # the sum of absolute values behind their mean

    @classmethod
    def of(cls, seen: Evidence, coef: np.ndarray) -> Sizes:
        """Measure what the residuals of coefficients are made of."""
        coef = np.abs(coef)
        reach = np.sqrt(np.maximum(seen.yy, 0.0)) + seen.metric.lengths @ coef
        return cls(np.where(reach > 0, reach, 1.0), np.abs(seen.y_mean) + np.abs(seen.x_mean) @ coef)

    def rounding(self, weight: float) -> float:
        """Bound what rounding of large values does to residuals, relative to their reach."""
        return 16 * EPS * (1 + math.sqrt(weight) * largest(self.mean / self.reach))


def least_squares_claims(
    seen: Evidence,
    coef: np.ndarray,
    *,
    alpha: float | np.ndarray = 0.0,
    centered: bool = True,
    rank: int | None = None,
    positive: bool = False,
) -> list[Claim]:
    """Make the claims of a linear least-squares model.

    The rank is that of the independent columns that the model found; below p the solution has to be the shortest. Where coefficients must
    be `positive`, one that is zero may have a gradient that would make it negative.
    """
    p, length, sizes = len(coef), seen.metric.lengths, Sizes.of(seen, coef)
    reach, bound = sizes.reach, TOLERANCE + min(sizes.rounding(seen.weight), MOST_ROUNDING)
    alphas = alpha if isinstance(alpha, np.ndarray) else np.full(coef.shape[1], alpha)
    penalised = any(alphas.tolist())
    gradient, noise, claims = seen.xr - alphas * coef if penalised else seen.xr, seen.noise, []
    held = (coef == 0) & (gradient + noise <= 0) if positive else None
    if held is not None:
        gradient, noise = np.where(held, 0.0, gradient), np.where(held, 0.0, noise)
        claims.append(Claim("coefficients are not negative", float(np.maximum(-coef, 0.0).max(initial=0.0)), 0.0))
    if centered:
        total = math.sqrt(seen.weight) * largest(np.abs(seen.r_mean) / reach)
        claims.append(Claim("residuals sum to zero", total, bound))
    scale = np.where(length > 0, length, 1.0)[:, None] * reach
    slope = largest((np.abs(gradient) + noise) / scale, 0.0)
    hidden = largest(noise / scale, 0.0)
    words = "gradient of the penalised error vanishes" if penalised else "residuals are orthogonal to every column"
    words = "gradient vanishes, or would have a zero coefficient negative" if positive else words
    claims.append(Claim(words, slope, bound + min(hidden, MOST_HIDDEN)))
    excess, more = relative_excess(seen, coef, alphas, bound, centered=centered, rank=rank, held=held, sizes=sizes)
    if positive and not (excess <= bound + more).all():
        slack = (coef * (np.abs(gradient) + noise)).sum(axis=0) / reach**2
        return [*claims, Claim("coefficients times their gradient vanish", float(slack.max()), bound)]
    bound += largest(more)
    dropped = rank is not None and rank < p
    words = f"excess over the least possible error{ALIKE if dropped else ''}"
    claims.append(Claim(words, largest(excess), bound))
    if rank is not None and dropped:
        claims.append(Claim(f"solution is the shortest of many{ALIKE}", seen.metric.outside(coef, rank), 1e-6))
    return claims


def relative_excess(
    seen: Evidence,
    coef: np.ndarray,
    alphas: np.ndarray,
    bound: float,
    *,
    centered: bool,
    rank: int | None = None,
    held: np.ndarray | None = None,
    sizes: Sizes | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Bound what is missing from the minimum, relative to it and to a trace of what residuals are differences of, for each output.

    A share of a `bound` need not be known any better. Where coefficients must not be negative, those that are `held` by zero have a
    gradient that leads where they may not go. Gives also what rounding of coefficients and of large means may hide of it.
    """
    (reach, size), gradient = sizes or Sizes.of(seen, coef), seen.xr
    scale = np.maximum(seen.rr, 0.0) + 1e-8 * _traced(seen, reach)
    if any(alphas.tolist()):
        gradient = gradient - alphas * coef
        scale += alphas * (coef * coef).sum(axis=0)
    at = Standing(coef, gradient, seen.noise, alphas, reach, 0.1 * bound * scale, rank)
    excess = seen.metric.excess(at) if held is None else _nonnegative_excess(seen.metric, at, held)
    # Coefficients are floats, and residuals differences of p + 1 products: so much is left by rounding. Columns taken for dependent excuse
    # nothing.
    unique = rank is None or rank == len(coef)
    own = ((len(coef) + 3) * EPS * (seen.metric.lengths @ np.abs(coef))) ** 2 * unique
    if not centered:
        return excess / scale, np.minimum(own / scale, MOST_ROUNDING)
    slip = EPS * size
    excess = excess + seen.weight * (np.abs(seen.r_mean) + slip) ** 2
    return excess / scale, np.minimum((own + seen.weight * (4 * slip) ** 2) / scale, MOST_ROUNDING)


def _traced(seen: Evidence, reach: np.ndarray) -> np.ndarray:
    """Give the squares that residuals are differences of; those of a row so far away that beside it the target is nothing do not count."""
    return np.asarray(np.minimum(reach**2, np.where(seen.yy > 0, FAR * seen.yy, np.inf)))


def _nonnegative_excess(metric: Metric, at: Standing, held: np.ndarray) -> np.ndarray:
    """Bound by how much coefficients are above the least error of those that are not negative: by much, where columns depend on others.

    A gradient that is held by zero is left out: going where it leads is not allowed. For the rest ``g' A^-1 g`` is a bound, as it is
    without the constraint.
    """
    gradient, noise = np.where(held, 0.0, at.gradient), np.where(held, 0.0, at.noise)
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        found = np.asarray(((np.abs(gradient) + noise) ** 2).sum(axis=0) / at.alphas)
    found = np.where(np.isnan(found), 0.0, found)
    if (found <= at.enough).all():
        return found
    varying, root = metric.root(float(at.alphas.min())) if isinstance(metric, Normal) else metric.root()
    if not isinstance(root, Root) or (gradient[~varying] != 0).any() or noise[~varying].any():
        return found
    return np.minimum(found, root.excess(gradient[varying], noise[varying], at.enough))


def coarse_error(seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int) -> float:
    """Bound the relative errors of coefficients and intercepts by one number, in a few operations; infinite where that tells nothing."""
    _, root = seen.metric.root()
    if root is None or not rank == len(coef) == len(root.length):
        return np.inf
    absolute = np.abs(coef)
    own, far = absolute * root.length[:, None], root.far(seen.xr, seen.noise)
    size = np.abs(seen.y_mean) + np.abs(seen.x_mean) @ absolute
    reach = np.sqrt(np.maximum(seen.yy, 0.0)) + own.sum(axis=0)
    constant = np.abs(seen.r_mean) + seen.slip
    if any_of(seen.x_mean):
        constant = constant + np.linalg.norm(seen.x_mean / root.length) * far
    error, value = np.array([far, constant]), np.array([own.min(axis=0, initial=np.inf), intercept])
    return largest(_over(error, value, NO_SHARE * np.array([reach, size])))


def first_errors(
    seen: Evidence, coef: np.ndarray, intercept: np.ndarray, rank: int
) -> tuple[np.ndarray, np.ndarray, Root | Distance | None]:
    """Bound the same from what is seen alone; give also which columns are more than constants, and their root where it was used."""
    varying, root = seen.metric.root()
    if root is None or rank < varying.sum():
        found = seen.metric.shortest_error(coef, np.sqrt(np.maximum(seen.rr, 0.0)), rank)
        return np.full((len(coef) + 1, coef.shape[1]), found), varying, None
    known = isinstance(root, Root) and root.found is not None
    errors = relative_errors(seen, coef, intercept, varying, root, sharp=known)
    if errors.max() > ENOUGH and not known:
        errors = relative_errors(seen, coef, intercept, varying, root, sharp=True)
    return errors, varying, root


def relative_errors(
    seen: Evidence, coef: np.ndarray, intercept: np.ndarray, varying: np.ndarray, root: Root | Distance, *, sharp: bool
) -> np.ndarray:
    gradient, noise, mean = seen.xr[varying], seen.noise[varying], seen.x_mean[varying]
    error = np.zeros(coef.shape)
    error[varying] = root.bounds(gradient, noise, sharp=sharp)
    # The coefficients of constant columns are zero.
    error[~varying] = np.where(seen.noise[~varying] > 0, np.inf, np.abs(coef[~varying]))
    constant = np.abs(seen.r_mean - mean @ root.step(gradient)) + seen.slip
    constant += root.bounds(gradient, noise, sharp=sharp, toward=mean)
    length = seen.metric.lengths[:, None]
    reach = np.sqrt(np.maximum(seen.yy, 0.0)) + length[:, 0] @ np.abs(coef)
    size = np.abs(seen.y_mean) + np.abs(seen.x_mean) @ np.abs(coef)
    least = NO_SHARE * np.divide(reach, length, out=np.zeros(coef.shape) + np.abs(coef).max(axis=0), where=length > 0)
    return np.vstack([_over(error, coef, least), _over(constant, intercept, NO_SHARE * size)])


def _over(error: np.ndarray, value: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Divide errors by the least that the true values can be."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(error == 0, 0.0, error / np.maximum(np.abs(value) - error, least))


def accuracy_claim(error: float, *, is_unique: bool) -> Claim:
    """Claim that the coefficients have digits that mean something."""
    of = "coefficients, at most" if is_unique else f"the shortest coefficients, at most{ALIKE}"
    return Claim(f"relative error of {of}", error, ENOUGH)
