r"""What is true of a mixture that EM has found, and how far rounding may carry it.

* The likelihood never fell. An M step maximises the bound that the E step made equal to the likelihood, which rises by at least as
  much. With ``reg_covar`` a step maximises something else; by how much its bound can fall for that is worked out at each step.
* It is stationary: one more M step moves it by no more than ``tol``, as the bound measures it (:meth:`Mixture.moved_to`).
* Moments are kept. After any M step :math:`\sum_j \alpha_j \mu_j = \bar x` and
  :math:`\sum_j \alpha_j (\Sigma_j + (\mu_j - \bar x)(\mu_j - \bar x)^\top) = \operatorname{cov}(x) + \varepsilon I`.
* The precisions are those of the covariances, which therefore are positive definite.
"""

from __future__ import annotations

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import DegenerateError
from qed.base.numbers import EPS, TINY, largest_share
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.problem import MixtureProblem
from qed.clustering.mixtures.shapes import is_diagonal, on_floor
from qed.clustering.mixtures.shares import Held, Shares

TOLERANCE = 1e-9


def roots_claim(mixture: Mixture) -> Claim:
    """Claim that the roots are those of the covariances: what is whitened by them has the identity as its covariance."""
    if is_diagonal(mixture.kind):
        off, diagonal = np.abs(mixture.roots**2 * mixture.covariances - 1), mixture.roots
    else:
        white = np.swapaxes(mixture.roots, -1, -2) @ mixture.covariances @ mixture.roots
        off, diagonal = np.abs(white - np.eye(mixture.p)), np.diagonal(mixture.roots, axis1=-2, axis2=-1)
    # A factor is that of a covariance off by p + 1 roundings of |L| |L'|, whatever the units of the columns.
    rounding = 8 * (mixture.p + 1) * EPS * mixture.skew**2
    says = "covariances are positive definite, and have these precisions (off the identity, at most)"
    # Of the two signs of each column the positive one is meant: that of the logarithm of the determinant.
    return Claim.within(says, float(off.max()) if (diagonal > 0).all() else np.inf, TOLERANCE, rounding)


def likelihood_claim(said: float, found: Shares, rounding: float) -> Claim:
    """Claim that a mean log-likelihood is that of the rows."""
    now = found.mean_likelihood
    size = max(found.size / found.total, 1e-3)
    says = "lower_bound_ is the mean log-likelihood of the rows (difference, relative)"
    return Claim.within(says, abs(said - now) / size, 1e-12, 2 * rounding / size)


def stationary_claim(problem: MixtureProblem, mixture: Mixture, found: Shares, tol: float) -> Claim:
    """Claim that another step would move nothing."""
    try:
        moved = mixture.moved_to(found.updated(mixture, problem.held), found.shift)
    except DegenerateError:  # it would shrink a component to nothing
        moved = np.inf
    says = "another step would move the mixture by (rise of its bound for each row)"
    return Claim(says, moved, tol + moves_of_rounding(mixture))


def moves_of_rounding(mixture: Mixture) -> float:
    """Bound how far rounding alone seems to move a mixture: by the square of what it does to ratios of variances,
    which no units of the columns change."""
    share = 16 * mixture.p * EPS * mixture.skew**2
    return float(mixture.p * share * share)


def moment_claims(problem: MixtureProblem, mixture: Mixture, found: Shares) -> list[Claim]:
    """Claim that the mixture has the mean and the covariance of the rows."""
    held, seen, p = problem.held, problem.summary, mixture.p
    middle, weight = found_mean(mixture, found), found.weight / found.weight.sum()
    offset = np.abs(mixture.means).max(axis=0) + np.abs(seen.mean)
    spread = np.sqrt(seen.variance)
    scale = np.maximum(np.maximum(spread, 1e-6 * offset), TINY)
    rounding = float((8 * (mixture.k + 8) * EPS * (offset + spread) / scale).max() + 2 * (seen.slip / scale).max())
    away = mixture.weights @ (mixture.means - middle)
    claims = [
        Claim.within(
            "weighted means add up to the mean of the rows (difference, in standard deviations)",
            largest_share(away, np.zeros(p), scale),
            TOLERANCE,
            rounding,
        )
    ]
    floored = held.floor > 0 and bool(
        on_floor(mixture.covariances, held.kind, mixture.k, p, held.regulariser, held.floor).any()
    )
    if held.covariances or floored:
        return claims
    ours = _total(mixture.weights, mixture.means - middle, mixture.matrices - held.regulariser * np.eye(p))
    if is_diagonal(mixture.kind):
        scatter = np.zeros((mixture.k, p, p))
        scatter[:, range(p), range(p)] = found.scatter
    else:
        scatter = found.scatter
    shift = mixture.means + found.shift - middle
    theirs = scatter.sum(axis=0) / found.total + _total(weight, shift, np.zeros((mixture.k, p, p)))
    size = scale**2 + held.regulariser
    if mixture.kind == "spherical":
        value = abs(np.trace(ours) - np.trace(theirs)) / size.sum()
    elif mixture.kind == "diag":
        value = largest_share(ours.diagonal(), theirs.diagonal(), size)
    else:
        value = largest_share(ours, theirs, np.multiply.outer(np.sqrt(size), np.sqrt(size)))
    rounding += 8 * (p + mixture.k) * EPS
    says = "covariances within and between components add up to that of the rows (difference, relative)"
    return [*claims, Claim.within(says, float(value), TOLERANCE, 4 * rounding)]


def found_mean(mixture: Mixture, found: Shares) -> np.ndarray:
    """Give the mean of the rows, as they were shared out."""
    weight = found.weight / found.weight.sum()
    middle = mixture.weights @ mixture.means
    return np.asarray(middle + weight @ (mixture.means - middle + found.shift))


def _total(weights: np.ndarray, away: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Give the covariance of a mixture: within components, and of their means about the middle."""
    between = (away * weights[:, None]).T @ away
    return np.asarray(np.tensordot(weights, inside, 1) + between)


def given_up(mixture: Mixture, following: Mixture, held: Held) -> float:
    """Bound by how much an M step with a regulariser can lower the bound of each row, since it adds to what would be most likely.

    The most likely of all covariances that are nowhere below c has variances max(s, c) along the axes of the scatter, which has s there.
    """
    if held.regulariser == 0 or held.covariances:
        return 0.0
    taken = following.axes
    # Variances that were raised to a floor were below it.
    likely = np.maximum(np.where(taken > held.floor, taken - held.regulariser, 0.0), 0.0)
    least = min(max(held.regulariser, held.floor), float(mixture.axes.min()))
    best = np.maximum(likely, least)
    lost = 0.5 * (np.log(taken / best) + likely / taken - likely / best)
    weight = np.ones(1) if held.kind == "tied" else following.weights
    times = mixture.p if held.kind == "spherical" else 1
    return float(times * (weight @ np.maximum(lost, 0.0).sum(axis=1)))


def never_fell(objectives: np.ndarray, slack: float, rounding: float) -> Claim:
    """Claim that minus the mean log-likelihood never rose, but for what the regulariser gives up."""
    rise = float(np.diff(objectives).max(initial=0.0))
    says = "the likelihood never fell (largest fall of the mean logarithm)"
    return Claim.within(says, rise, slack, 2 * rounding if rise > 0 else 0.0)
