r"""Factor analysis: rows are the work of a few hidden numbers, and of noise that each column has of its own.

.. math:: x \sim \mathcal N(\mu, \Lambda \Lambda^\top + \Psi), \qquad \Psi = \operatorname{diag}(\psi_1, \dots, \psi_p).

Other than in :class:`qed.ProbabilisticPCA` there is no closed form, and units do not matter: a column times ten has ten times its loadings.
One pass folds the moments; all steps (:mod:`qed.reduction.hidden.profile`) are made on them, :math:`O(p^3)` each, whatever the number of
rows. The likelihood has local maxima, and where a column can be explained all by itself, its noise falls to the floor (Heywood).

Rubin and Thayer (1982), EM algorithms for ML factor analysis; Jöreskog (1967), Some contributions to maximum likelihood factor analysis.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, integers
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, ParameterError
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import CLOSED, no_effect, one_of, takes
from qed.base.models.parameters import choice, integer, number, numbers
from qed.base.models.problem import StatisticProblem, refuse_light
from qed.base.models.proof import restated
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.reduction.hidden.normal import HiddenNormal, turned_up, wrong_signs
from qed.reduction.hidden.profile import Profile, rotated
from qed.stats.moments import Moments

TOLERANCE = 1e-9
ROTATIONS = {"varimax": 1.0, "quartimax": 0.0}


@takes(
    "copy",
    "random_state",
    svd_method=one_of("randomized", "lapack", instead=CLOSED),
    iterated_power=no_effect(integer(0), 3, CLOSED),
)
class FactorAnalysis(HiddenNormal, Iterative):
    """Factor analysis: a few hidden numbers, and noise of its own for each column.

    Parameters
    ----------
    n_components : int, optional
        How many factors; by default as many as there are columns, which explains everything: give a number.
    tol : float, default=1e-6
        The fit ends when the derivatives of the mean log-likelihood by the logarithms of the noise are no larger.
    max_iter : int, default=1000
        The most steps.
    noise_variance_init : array-like of shape (p,), optional
        Where noise begins; by default at half of each column's variance.
    noise_floor : float, default=1e-5
        No column has less noise than such a share of its variance.
    rotation : {"varimax", "quartimax"}, optional
        Turn the factors so that each touches few columns. The likelihood is the same.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        What factors do to columns; the largest entry of each is positive.
    noise_variance_ : ndarray of shape (p,)
        The noise of each column.
    mean_ : ndarray of shape (p,)
        The mean of the rows.
    log_likelihood_ : float
        The mean log-likelihood of the rows.
    n_components_ : int
        How many factors there are.
    floored_ : int
        How many columns have no more noise than the floor: Heywood cases.
    n_iter_ : int
        Steps made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof: the likelihood never fell, and nothing near is likelier.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> generator = np.random.default_rng(0)
    >>> loadings = np.array([[2.0, -1.0, 1.0, 0.5, 0.2]])
    >>> X = generator.standard_normal((4000, 1)) @ loadings + generator.standard_normal((4000, 5)) * [1, 2, 1, 3, 1]
    >>> model = qed.FactorAnalysis(1).fit(X)
    >>> model.components_.round(1), model.noise_variance_.round(0), bool(model.certificate_)
    (array([[ 2. , -1. ,  1. ,  0.5,  0.2]]), array([1., 4., 1., 9., 1.]), True)
    """

    attributes: ClassVar = {
        "noise_variance_": floats("features", above=0),
        "log_likelihood_": floats(),
        "floored_": integers(),
    }
    passes: ClassVar[str] = "one"
    least_weight: ClassVar[float] = 1.0
    parameters: ClassVar = {
        "n_components": integer(1, kind="model") | choice(None),
        "tol": number(0),
        "max_iter": integer(1),
        "noise_variance_init": numbers(finite=False) | choice(None),
        "noise_floor": number(0, 1, above=True, kind="model"),
        "rotation": choice(None, *ROTATIONS, kind="model"),
    }
    noise_variance_: np.ndarray

    def __init__(
        self,
        n_components: int | None = None,
        *,
        tol: float = 1e-6,
        max_iter: int = 1000,
        noise_variance_init: Any = None,
        noise_floor: float = 1e-5,
        rotation: str | None = None,
    ) -> None:
        self.n_components = n_components
        self.tol = tol
        self.max_iter = max_iter
        self.noise_variance_init = noise_variance_init
        self.noise_floor = noise_floor
        self.rotation = rotation

    def _statistic(self, block: Block) -> Moments:
        return Moments.of_features(block)

    def _problem(self, rows: Rows) -> FactorProblem:
        return FactorProblem(self, rows)

    def _evidence(self, rows: Rows) -> FactorProblem:
        return FactorProblem(self, rows, source="data")

    def _start(self, problem: FactorProblem) -> np.ndarray:
        """Give the noise to begin with, as shares of the variances."""
        given, p = self.noise_variance_init, int(self.n_features_in_)
        if given is None:
            return np.full(p, 0.5)
        noise = np.asarray(given, dtype=np.float64)
        if noise.shape != (p,) or not (np.isfinite(noise) & (noise > 0)).all():
            raise ParameterError(
                f"FactorAnalysis: noise_variance_init holds {np.size(noise)} numbers for {p} columns, or some that are "
                "not above zero. Give one variance for each column."
            )
        return np.clip(noise / problem.variance, self.noise_floor, 1.0)

    def _steps(self, problem: FactorProblem, start: Step | None = None) -> Iterator[Step]:
        noise = self._start(problem) if start is None else start.noise
        now = Profile(problem.R, noise, problem.k)
        if start is not None:
            now = now.following(self.noise_floor)
        while True:
            yield Step(now.cost + problem.level, gap=now.gap(self.noise_floor), noise=now.noise)
            now = now.following(self.noise_floor)

    def _finish(self, problem: FactorProblem, step: Step) -> None:
        found, deviation = Profile(problem.R, step.noise, problem.k), np.sqrt(problem.variance)
        self.mean_ = np.array(problem.statistic.x_mean)
        self.noise_variance_ = step.noise * problem.variance
        loadings = found.loadings() * deviation
        if self.rotation is not None:
            loadings = rotated(loadings, ROTATIONS[self.rotation])
        self.components_, self.n_components_ = turned_up(loadings), problem.k
        self.log_likelihood_ = self._likelihood_of(problem.covariance)
        self.floored_ = problem.on_floor(self.noise_variance_)

    @property
    def loglike_(self) -> np.ndarray:
        """The log-likelihood of all rows at each step."""
        self._check_fitted()
        return np.array([-record["objective"] for record in self.ending_.trace]) * self.fingerprint_.weight

    def _noise(self) -> np.ndarray:
        return np.asarray(self.noise_variance_)

    def _prove(self, problem: FactorProblem) -> list[Claim]:
        deviation = np.sqrt(problem.variance)
        loadings, noise = self.components_ / deviation, self.noise_variance_ / problem.variance
        p, k = len(noise), len(loadings)
        scaled = loadings / noise
        inner = np.linalg.inv(np.eye(k) + scaled @ loadings.T)
        precision = np.diag(1 / noise) - scaled.T @ inner @ scaled
        # In shares of the columns' variances: how far the covariance of the model is from that of the rows, as the likelihood sees it.
        off = precision - precision @ problem.R @ precision
        by_noise, by_loadings = noise * off.diagonal(), (loadings @ off) * np.sqrt(noise)
        held = (noise <= self.noise_floor * (1 + 1e-6)) & (by_noise > 0)
        size = float(np.linalg.norm(precision, 2))
        rounding = (problem.blur + 8 * p * EPS) * size * max(1.0, float(noise.max() * size))
        claims = [
            Claim.within(
                "derivatives of the mean log-likelihood by logarithms of the noise (largest)",
                float(np.abs(by_noise[~held]).max(initial=0.0)),
                self.tol,
                rounding,
            ),
            Claim.within(
                "derivatives by the loadings, in units of the noise (largest)",
                float(np.abs(by_loadings).max(initial=0.0)),
                self.tol + TOLERANCE,
                rounding * max(1.0, float(np.abs(scaled).max(initial=0.0))),
            ),
            Claim("the largest entry of a component is positive (others)", wrong_signs(self.components_), 0.0),
        ]
        if hasattr(self, "ending_"):
            cost = np.array([record["objective"] for record in self.ending_.trace])
            fall = float(np.diff(cost).max(initial=0.0))
            # Small eigenvalues beside large ones, which are one over the least noise, are rounded like these.
            allowed = 16 * p * EPS * (float(np.abs(cost).max(initial=0.0)) + 1 / self.noise_floor)
            claims.append(Claim("the likelihood never fell (largest fall of the mean)", fall, allowed))
        return claims

    def _restate(self, problem: FactorProblem) -> list[Claim]:
        seen = problem.statistic
        now = self._likelihood_of(problem.covariance)
        deviation = np.sqrt(problem.variance)
        noise = self.noise_variance_ / problem.variance
        total = ((self.components_ / deviation) ** 2).sum(axis=0) + noise
        free = noise > self.noise_floor * (1 + 1e-6)
        claims = [
            restated("mean_", self.mean_, seen.x_mean, scale=np.abs(seen.x_mean) + deviation),
            restated("log_likelihood_", self.log_likelihood_, now, scale=abs(now) + 1.0),
            restated("n_components_", self.n_components_, problem.k),
            restated("floored_", self.floored_, problem.on_floor(self.noise_variance_)),
            # Half the derivative by the noise of a column, times its noise, is what its variance misses.
            Claim(
                "variances of the model are those of the columns (off, relative)",
                float(np.abs(total - 1)[free].max(initial=0.0)),
                2 * self.tol + TOLERANCE + problem.blur,
            ),
        ]
        if self.rotation is None:
            inner = (self.components_ / self.noise_variance_) @ self.components_.T
            own = inner.diagonal()
            # A factor that explains more than the one before it is out of its place by as much.
            off = max(np.abs(inner - np.diag(own)).max(initial=0.0), np.diff(own).max(initial=0.0))
            apart = off / max(float(inner.max(initial=0.0)), TINY)
            claims.append(Claim("factors are in the order of what they explain, and apart (off)", float(apart), 1e-7))
        return claims

    def _advice(self) -> str:
        return "Give a larger max_iter, or fewer n_components."


class FactorProblem(StatisticProblem):
    """The moments of the rows, as correlations and variances."""

    def __init__(self, model: Any, rows: Rows | None, statistic: Any = None, *, source: Any = "statistics") -> None:
        super().__init__(model, rows, statistic, source=source)
        seen = self.statistic
        refuse_light(model, seen)
        if not self.varies.all() and rows is not None:
            column = rows.name_of(int(self.varies.argmin()))
            raise DegenerateError(
                f"FactorAnalysis: column {column} does not vary, so that its likelihood has no bound. Leave it out."
            )
        p = seen.n_features
        self.k = p if model.n_components is None else int(model.n_components)
        if self.k > p:
            raise ParameterError(
                f"FactorAnalysis: n_components={self.k} must be at most the number of columns, {p}. Ask for fewer."
            )

    @cached_property
    def varies(self) -> np.ndarray:
        """Which columns vary by more than rounding."""
        return np.asarray(np.diagonal(self.statistic.scatter) > 64 * self.statistic.noise**2)

    @cached_property
    def variance(self) -> np.ndarray:
        """The variances of the columns, with the divisor W."""
        return np.asarray(np.diagonal(self.statistic.scatter) / self.statistic.weight)

    @cached_property
    def covariance(self) -> np.ndarray:
        """Their covariance."""
        return np.asarray(self.statistic.scatter / self.statistic.weight)

    @cached_property
    def R(self) -> np.ndarray:
        """Their correlations."""
        length = np.sqrt(np.diagonal(self.statistic.scatter))
        found = self.statistic.scatter / length / length[:, None]
        np.fill_diagonal(found, 1.0)
        return np.asarray(found)

    @cached_property
    def level(self) -> float:
        """What the units of the columns add to the cost."""
        return float(np.log(self.variance).sum()) / 2

    @property
    def blur(self) -> float:
        """What rounding can do to the correlations."""
        return float((self.statistic.noise**2 / np.diagonal(self.statistic.scatter)).sum())

    def on_floor(self, noise: np.ndarray) -> int:
        """Count columns that have no more noise than the floor."""
        return int((noise / self.variance <= self.model.noise_floor * (1 + 1e-6)).sum())
