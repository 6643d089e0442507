r"""Probabilistic PCA: rows are normal, spread along a plane by a few hidden numbers, and off it by noise that is the same everywhere.

.. math:: x \sim \mathcal N(\mu, \Lambda \Lambda^\top + \sigma^2 I), \qquad \hat\mu = \bar x, \qquad
    \hat\sigma^2 = \frac{1}{p - k} \sum_{j > k} \lambda_j, \qquad \hat\Lambda = V_k^\top (L_k - \hat\sigma^2 I)^{1/2},

with the eigenvalues :math:`\lambda_j` of the covariance (divided by W). The most likely plane is that of :class:`qed.PCA`, so one pass
and an eigendecomposition find the global maximum of a likelihood that is not concave. The posterior mean of a row is its projection, drawn
towards the mean; as :math:`\sigma^2 \to 0` it becomes the projection itself.

Tipping and Bishop (1999), Probabilistic principal component analysis.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from qed.base.attributes import floats, size
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, ParameterError
from qed.base.models.estimator import OnePass
from qed.base.models.parameters import choice, integer, number
from qed.base.models.proof import restated, whole
from qed.base.numbers import TINY
from qed.base.sources.block import Block
from qed.reduction.claims import TOLERANCE, Plane
from qed.reduction.evidence import enough_for
from qed.reduction.hidden.normal import HiddenNormal, turned_up, wrong_signs
from qed.reduction.pca import SpreadProblem
from qed.stats.kept import KeptRows, keep_features
from qed.stats.moments import Moments

UNLIKELY = "squared distances from the most likely plane above the least possible, at most (relative to all variance)"


class ProbabilisticPCA(HiddenNormal, OnePass):
    """Probabilistic principal component analysis: PCA as the most likely model of a few hidden numbers and noise.

    Parameters
    ----------
    n_components : int or float, default=0.95
        How many hidden numbers; below one, as few as have that share of the variance together. Fewer than columns, so that noise is left.
    noise_variance : float, optional
        The variance of the noise, where it is known.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        What hidden numbers do to columns: the directions of PCA times the roots of the variances that noise leaves them.
    explained_variance_ : ndarray of shape (k,)
        The variances along them, with the divisor W, as the most likely has it.
    noise_variance_ : float
        The variance of the noise.
    mean_ : ndarray of shape (p,)
        The mean of the rows.
    log_likelihood_ : float
        The mean log-likelihood of the rows.
    n_components_ : int
        How many hidden numbers there are.
    n_samples_ : int
        The number of rows.
    certificate_ : Certificate
        The proof: components are eigenvectors, and no model of this kind is likelier.
    statistic_ : Moments or KeptRows
        What the model remembers of its rows.

    See Also
    --------
    PCA : The plane alone.
    FactorAnalysis : Noise of its own for each column.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = qed.ProbabilisticPCA(1).fit(X)
    >>> model.noise_variance_, model.components_.round(6), bool(model.certificate_)
    (0.5, array([[1.224745, 0.      ]]), True)
    >>> model.get_covariance()
    array([[2. , 0. ],
           [0. , 0.5]])
    """

    problem_kind = SpreadProblem
    attributes: ClassVar = {
        "explained_variance_": floats("factors", low=0),
        "noise_variance_": floats(above=0),
        "log_likelihood_": floats(),
        "n_samples_": size("rows"),
    }
    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    least_weight: ClassVar[float] = 1.0
    parameters: ClassVar = {
        "n_components": integer(1, kind="model") | number(0, 1, above=True),
        "noise_variance": number(0, above=True, kind="model") | choice(None),
    }

    def __init__(self, n_components: float = 0.95, *, noise_variance: float | None = None) -> None:
        self.n_components = n_components
        self.noise_variance = noise_variance

    def _statistic(self, block: Block) -> Moments | KeptRows:
        return keep_features(block)

    def _most(self) -> int:
        return int(self.n_features_in_) - (self.noise_variance is None)

    def _solve(self, problem: SpreadProblem) -> None:
        seen, spread, most = problem.statistic, problem.spread, self._most()
        asked, p = self.n_components, int(self.n_features_in_)
        if most < 1:
            raise DegenerateError(
                f"ProbabilisticPCA needs two columns or more, so that noise is left, but n_features = {p}. Give noise_variance."
            )
        if asked >= 1 and (asked > most or asked > min(seen.count, p)):
            raise ParameterError(
                f"ProbabilisticPCA: n_components={asked} must be between 1 and {min(most, seen.count)}, so that noise is left "
                f"in the {p} columns. Ask for fewer, or give noise_variance."
            )
        values, vectors = spread.leading(int(asked) if asked >= 1 else None)
        kept = self._wanted(values, spread.total)
        values, vectors = values[:kept] / seen.weight, vectors[:kept]
        self.explained_variance_, self.n_components_, self.n_samples_ = values, kept, int(seen.count)
        self.noise_variance_ = self._left(problem)
        if not self.noise_variance_ > spread.noise / seen.weight:
            raise DegenerateError(
                f"ProbabilisticPCA: {kept} components leave nothing but rounding, so the likelihood has no bound. Give a smaller "
                "n_components, or noise_variance."
            )
        self.mean_ = np.array(seen.x_mean)
        self.components_ = turned_up(vectors * np.sqrt(np.maximum(values - self.noise_variance_, 0.0))[:, None])
        self.log_likelihood_ = self._likelihood_now(problem)

    def _wanted(self, values: np.ndarray, total: float) -> int:
        """Say how many components were asked for."""
        asked = self.n_components
        return int(asked) if asked >= 1 else max(min(enough_for(values, total, float(asked)), self._most()), 1)

    def _left(self, problem: SpreadProblem) -> float:
        """Give the variance of the noise: known, or the mean of what is left out."""
        if self.noise_variance is not None:
            return float(self.noise_variance)
        rest = problem.spread.total / problem.statistic.weight - float(np.sum(self.explained_variance_))
        return max(rest, 0.0) / (self.n_features_in_ - len(self.explained_variance_))

    def _likelihood_now(self, problem: SpreadProblem) -> float:
        """Give the mean log-likelihood of the rows, from the variances along components and off them."""
        weight, p, noise = problem.statistic.weight, int(self.n_features_in_), float(self.noise_variance_)
        own = (self.components_**2).sum(axis=1) + noise
        along = np.asarray(self.explained_variance_)
        rest = max(problem.spread.total / weight - float(along.sum()), 0.0)
        level = float(np.log(own).sum()) + (p - len(own)) * float(np.log(noise)) + p * float(np.log(2 * np.pi))
        return -(level + float((along / own).sum()) + rest / noise) / 2

    def _noise(self) -> np.ndarray:
        return np.full(len(self.mean_), float(self.noise_variance_))

    def _prove(self, problem: SpreadProblem) -> list[Claim]:
        spread, weight = problem.spread, problem.statistic.weight
        values, noise = np.atleast_1d(self.explained_variance_), float(self.noise_variance_)
        if damage := whole(len(values), self.n_components_, values, self.components_, self.mean_, noise):
            return damage
        shown = values > noise
        claims = [
            Claim(
                "lengths of components are the roots of what noise leaves of their variances (off, relative)",
                float(np.abs((self.components_**2).sum(axis=1) - np.where(shown, values - noise, 0.0)).max(initial=0.0))
                / max(float(values.max(initial=0.0)), TINY),
                TOLERANCE,
            ),
            Claim("the largest entry of a component is positive (others)", wrong_signs(self.components_), 0.0),
        ]
        if not shown.any():
            return claims
        length = np.sqrt(np.maximum(values - noise, TINY))
        plane = Plane(spread, self.components_[shown] / length[shown, None], values[shown] * weight)
        claims += plane.claims("directions of components")
        if int(shown.sum()) < min(problem.statistic.count, self.n_features_in_):
            claims.append(plane.claim_of_least(UNLIKELY))
        return claims

    def _restate(self, problem: SpreadProblem) -> list[Claim]:
        seen, spread = problem.statistic, problem.spread
        hidden = spread.noise / TOLERANCE / seen.weight
        values = spread.leading(None if self.n_components < 1 else int(self.n_components))[0]
        kept, noise, now = self._wanted(values, spread.total), self._left(problem), self._likelihood_now(problem)
        wide = np.sqrt(np.maximum(spread.total / seen.weight, 0.0))
        blur = 1 + self.n_features_in_ * hidden / max(float(self.noise_variance_), TINY)
        return [
            restated("mean_", self.mean_, seen.x_mean, scale=np.abs(seen.x_mean) + wide),
            restated(
                "explained_variance_",
                self.explained_variance_,
                values[:kept] / seen.weight,
                scale=values[0] / seen.weight,
            ),
            restated("noise_variance_", self.noise_variance_, noise, scale=noise + hidden),
            restated("log_likelihood_", self.log_likelihood_, now, scale=abs(now) + blur),
            restated("n_samples_", self.n_samples_, int(seen.count)),
            restated("n_components_", self.n_components_, kept),
        ]
