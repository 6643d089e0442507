r"""What proves a Gaussian posterior, recomputed from the data.

The mode :math:`w` of the posterior makes the gradient of its negative logarithm vanish,
:math:`\Sigma_w^{-1}(w - \mu) = X^\top (y - Xw)/\sigma^2`. Multiplied by :math:`\Sigma_w` this needs no inverse, and holds for a
singular prior too, whose coefficients stay where they are known to be. The covariance :math:`C` is proven likewise by
:math:`C + \Sigma_w X^\top X C/\sigma^2 = \Sigma_w`. And for the prior :math:`N(0, \sigma_w^2 I)` the mode is the solution of
ridge regression with :math:`\alpha = \sigma^2/\sigma_w^2`.
"""

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS
from qed.linalg.cholesky import Cholesky
from qed.linalg.normal import Normal
from qed.linalg.root import Root
from qed.optim.least_squares.evidence import TOLERANCE, Evidence


def posterior_claims(
    seen: Evidence,
    coef: np.ndarray,
    covariance: np.ndarray,
    prior_mean: np.ndarray,
    prior: np.ndarray,
    *,
    noise: float,
    centered: bool,
) -> list[Claim]:
    """Make the claims of a Gaussian posterior.

    The posterior has the means `coef`, a column for each output, and one covariance; the intercept, where there is one,
    has no prior.
    """
    length = np.sqrt(np.maximum(np.diagonal(seen.xx), 0.0))
    reach = np.sqrt(np.maximum(seen.yy, 0.0)) + length @ np.abs(coef)
    reach = np.where(reach > 0, reach, 1.0)
    size = np.abs(seen.y_mean) + np.abs(seen.x_mean) @ np.abs(coef)
    bound = TOLERANCE + float((16 * EPS * (1 + np.sqrt(seen.weight) * size / reach)).max())
    claims = []
    if centered:
        total = np.sqrt(seen.weight) * np.abs(seen.r_mean) / reach
        claims.append(Claim("residuals sum to zero", float(total.max()), bound))
    step = coef - prior_mean[:, None]
    gradient = step - prior @ seen.xr / noise
    # An error next to the posterior's own deviation is none, however small a coefficient or a covariance is.
    spread = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    scale = np.abs(step) + np.abs(prior_mean)[:, None] + np.abs(prior) @ (length[:, None] * reach) / noise
    scale += spread[:, None]
    unknown = np.abs(gradient) + np.abs(prior) @ seen.noise / noise
    claims.append(Claim("gradient of the negative log posterior vanishes", _largest(unknown, scale), bound))
    gap = np.abs(covariance + prior @ (seen.xx @ covariance) / noise - prior)
    gap += np.abs(prior) @ np.outer(seen.blur, seen.blur @ np.abs(covariance)) / noise
    size = np.outer(spread, spread)
    scale = size + np.abs(prior) + np.abs(prior) @ np.outer(length, length @ size) / noise
    claims.append(Claim("covariance is the inverse of the posterior's precision", _largest(gap, scale), bound))
    return claims


def ridge_claim(seen: Evidence, coef: np.ndarray, alpha: float, root: Root | None = None) -> Claim:
    """Claim that the coefficients are those of ridge regression with penalty `alpha`: by ``A^-1 g``, the way from one to the other.

    A root of A, where one is known that is better than that of the scatter, may be given.
    """
    size, words = np.linalg.norm(coef, axis=0), f"equals ridge regression with alpha = {alpha:.6g}"
    if root is None:
        assert isinstance(seen.metric, Normal)
        factor = Cholesky.of(seen.xx, alpha)
        if factor is None:
            return Claim(words, float("inf"), TOLERANCE)
        root = Root.of_cholesky(factor, seen.metric.noise)
    gradient = seen.xr - alpha * coef
    gap = np.linalg.norm(root.bounds(gradient, seen.noise, sharp=True), axis=0) / np.where(size > 0, size, 1.0)
    hidden = np.linalg.norm(root.bounds(0 * gradient, seen.noise, sharp=True), axis=0) / np.where(size > 0, size, 1.0)
    return Claim(words, float(gap.max()), TOLERANCE + min(10 * float(hidden.max()), 1e-4))


def _largest(gap: np.ndarray, scale: np.ndarray) -> float:
    return float((np.abs(gap) / np.where(scale > 0, scale, 1.0)).max(initial=0.0))
