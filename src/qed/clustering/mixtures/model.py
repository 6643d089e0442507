r"""Gaussian mixtures: rows that come from a few normal distributions, nobody knows which from which.

.. math:: \max_{\alpha, \mu, \Sigma}\ \ell = \sum_i w_i \log \sum_{j=1}^k \alpha_j\, \mathcal N(x_i; \mu_j, \Sigma_j).

The sum inside the logarithm couples all parameters. EM uncouples them: with shares :math:`r_{ij}` of the rows held, Jensen's inequality
bounds the likelihood from below,

.. math:: \ell \ge \sum_{i, j} w_i r_{ij} \log \frac{\alpha_j \mathcal N(x_i; \mu_j, \Sigma_j)}{r_{ij}},

with equality where they are the posterior probabilities of the components (*E step*), and the bound is maximised in closed form by the
weights, means and covariances of the rows so shared out (*M step*). Neither can lower the likelihood. It ends at a stationary point, which
need not be the best one. A pass costs :math:`O(nkp^2)`, and adds up over blocks of rows.

Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via the EM algorithm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import booleans, floats, integers
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import PROGRESS, no_effect, takes
from qed.base.models.parameters import Parameter, boolean, choice, integer, number, numbers, random_state
from qed.base.models.proof import restated
from qed.base.numbers import EPS
from qed.base.random import Seed, seed_of
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.rows import Rows
from qed.clustering.mixtures.claims import (
    given_up,
    likelihood_claim,
    moment_claims,
    moves_of_rounding,
    never_fell,
    roots_claim,
    stationary_claim,
)
from qed.clustering.mixtures.density import MixtureDensity
from qed.clustering.mixtures.given import checked_covariance, checked_means, checked_weights
from qed.clustering.mixtures.gradient import METHODS, climb
from qed.clustering.mixtures.mixture import Mixture
from qed.clustering.mixtures.problem import MixtureProblem
from qed.clustering.mixtures.shapes import KINDS, covariances_from, on_floor, precisions_of, shape_of
from qed.clustering.mixtures.shares import Held
from qed.clustering.mixtures.starting import WAYS, Beginning


@takes("warm_start", "verbose", verbose_interval=no_effect(integer(1), 10, PROGRESS))
class GaussianMixture(MixtureDensity, Iterative):
    """A mixture of normal distributions, found by EM.

    Parameters
    ----------
    n_components : int, default=1
        How many components.
    covariance_type : {"full", "tied", "diag", "spherical"}, default="full"
        Each component has a covariance of its own; all have the same; columns are independent within components; or they vary
        alike, too.
    tol : float, default=1e-3
        The fit ends when a step raises the mean log-likelihood by no more than this, and the bound says that another would not either.
    reg_covar : float, default=1e-6
        Added to all variances, so that a component can not shrink to a point. In the units of the columns, squared.
    max_iter : int, default=100
        The most iterations; with none the mixture is what it begins with.
    n_init : int, default=1
        How many beginnings to try, side by side in the same passes; the most likely end is kept.
    init_params : {"kmeans", "k-means++", "random", "random_from_data"}, default="kmeans"
        How rows are first shared out: by the clusters of k-means, to the nearest of some rows that lie far apart, at random, or to
        the nearest of any rows.
    weights_init, means_init, precisions_init : array-like, optional
        Parameters to begin with, of the shapes of the attributes. Where only means are given, rows go to the nearest.
    random_state : None, int or NumPy generator
        The seed.
    algorithm : {"em", "hard", "gradient", "lbfgs"}, default="em"
        "hard" gives each row whole to its likeliest component and maximises the likelihood of rows and labels together. The last two
        climb the likelihood along its gradient, for comparison.
    covariance : float or array-like, optional
        The covariance, where it is known: a variance, or an array of the shape of ``covariances_``. It is kept.
    equal_weights : bool, default=False
        Keep the weights equal.
    covariance_floor : float, default=0.0
        No component varies less than this along any axis. Other than with `reg_covar`, the most likely covariance of those allowed is
        taken, so with ``reg_covar=0`` the likelihood never falls at all.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
        The share of each component.
    means_ : ndarray of shape (n_components, p)
        Their means.
    covariances_ : ndarray
        Their covariances: of shape (n_components, p, p) when full, (p, p) when tied, (n_components, p) when diagonal, (n_components,)
        when spherical.
    precisions_, precisions_cholesky_ : ndarray
        Their inverses, and the upper triangles U with ``U @ U.T`` equal to these.
    lower_bound_ : float
        The mean log-likelihood of the rows; when hard, of rows and labels together.
    converged_ : bool
        Whether another step would move it by no more than `tol`.
    floored_ : ndarray of shape (n_components,)
        Along how many axes each component varies no more than the regulariser or the floor makes it: there the data say nothing.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof: the likelihood never fell, another step moves nothing, and the moments are those of the rows.

    Notes
    -----
    Rows may lack values (NaN): these take part by what they have, as EM has it, if values are missing at random. The defaults are those of
    scikit-learn, and so is the objective. ``lower_bound_`` is that of the parameters given; scikit-learn's is that of those before the
    last step.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[-2.1], [-2.0], [-1.9], [2.8], [3.0], [3.2]])
    >>> model = qed.GaussianMixture(2, random_state=0).fit(X)
    >>> sorted(model.means_.ravel().round(3).tolist()), model.weights_.round(3)
    ([-2.0, 3.0], array([0.5, 0.5]))
    >>> bool(model.certificate_), bool(model.converged_)
    (True, True)
    """

    missing: ClassVar[bool] = True
    attributes: ClassVar = {
        "weights_": floats("components", low=0, high=1 + 1e-9),
        "means_": floats("components", "features"),
        "covariances_": floats("components", "features", "features")
        | floats("features", "features")
        | floats("components", "features")
        | floats("components"),
        "precisions_": floats("components", "features", "features")
        | floats("features", "features")
        | floats("components", "features")
        | floats("components"),
        "precisions_cholesky_": floats("components", "features", "features")
        | floats("features", "features")
        | floats("components", "features")
        | floats("components"),
        "lower_bound_": floats(),
        "converged_": booleans(),
        "floored_": integers("components"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "n_components": integer(1, kind="model"),
        "covariance_type": choice(*KINDS, kind="model"),
        "tol": number(0),
        "reg_covar": number(0, kind="model"),
        "max_iter": integer(0),
        "n_init": integer(1),
        "init_params": choice(*WAYS),
        "weights_init": numbers(finite=False) | choice(None),
        "means_init": numbers(finite=False) | choice(None),
        "precisions_init": numbers(finite=False) | choice(None),
        "random_state": random_state(),
        "algorithm": choice("em", "hard", *METHODS),
        "covariance": number(0, above=True, kind="model") | numbers("model", finite=False) | choice(None),
        "equal_weights": boolean(),
        "covariance_floor": number(0, kind="model"),
    }

    compare_grid: ClassVar[Mapping[str, Any]] = {
        "covariance_type": ("full", "diag"),
        "n_components": range(2, 11),
    }
    compare_name: ClassVar[str] = "Gaussian mixture"

    def __init__(
        self,
        n_components: int = 1,
        *,
        covariance_type: str = "full",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init_params: str = "kmeans",
        weights_init: Any = None,
        means_init: Any = None,
        precisions_init: Any = None,
        random_state: Seed = None,
        algorithm: str = "em",
        covariance: Any = None,
        equal_weights: bool = False,
        covariance_floor: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.algorithm = algorithm
        self.covariance = covariance
        self.equal_weights = equal_weights
        self.covariance_floor = covariance_floor

    @classmethod
    def _settings_on(cls, n_rows: int, n_columns: int, n_outputs: int) -> Mapping[str, Any]:
        # Fewer rows than columns leave a covariance singular, so that the regulariser decides: there columns are taken as independent.
        settings = super()._settings_on(n_rows, n_columns, n_outputs)
        return settings if 2 * n_columns < n_rows else {**settings, "covariance_type": ("diag",)}

    def _rule(self) -> Rule:
        # While the best of several beginnings rests, another one may still overtake it.
        rule = super()._rule()
        return replace(rule, patience=self.max_iter) if self.n_init > 1 else rule

    def _held(self) -> Held:
        known = self.covariance is not None
        return Held(
            self.covariance_type,
            0.0 if known else float(self.reg_covar),
            0.0 if known else float(self.covariance_floor),
            known,
            self.equal_weights,
            self.algorithm == "hard",
        )

    def _problem(self, rows: Rows) -> MixtureProblem:
        return MixtureProblem(rows.cached(), self, self._held())

    def _beginning(self, p: int, start: Step | None) -> Beginning:
        """Check what is given to begin with."""
        k, kind = self.n_components, self.covariance_type
        weights = np.full(k, 1 / k) if self.equal_weights else checked_weights(self.weights_init, k)
        means = checked_means(self.means_init, k, p)
        covariances = checked_covariance("covariance", self.covariance, kind, k, p)
        if covariances is None:
            precisions = checked_covariance("precisions_init", self.precisions_init, kind, k, p)
            covariances = None if precisions is None else covariances_from(precisions, kind)
        runs = 1 if means is not None or self.algorithm in METHODS else self.n_init
        seed = seed_of(self.random_state) if start is None else start.seed
        return Beginning(self.init_params, k, runs, seed, weights, means, covariances)

    def _steps(self, problem: MixtureProblem, start: Step | None = None) -> Iterator[Step]:
        if start is None or start.prepares:
            beginning = self._beginning(problem.rows.n_features, start)
            mixtures = yield from beginning.mixtures(problem, start)
            start = None
        else:
            stacks = (start.next_weights, start.next_means, start.next_covariances)
            mixtures = [Mixture.of(self.covariance_type, *one) for one in zip(*stacks)]
        climbs = self.algorithm in METHODS
        return (yield from (self._ascent if climbs else self._alternate)(problem, mixtures, start))

    def _alternate(self, problem: MixtureProblem, mixtures: list[Mixture], start: Step | None) -> Iterator[Step]:
        """Alternate E and M steps, for all beginnings at once; those at rest, or about to shrink to nothing, are left alone."""
        held, count = problem.held, len(mixtures)
        before = np.full(count, -np.inf) if start is None else start.likelihoods.copy()
        gaps = np.full(count, np.inf) if start is None else start.gaps.copy()
        slack, blur = (0.0, 0.0) if start is None else (start.slack, start.blur)
        collapsed = ""
        while True:
            moving = np.flatnonzero(gaps > self.tol) if (gaps > self.tol).any() else np.arange(count)
            following, here = list(mixtures), before.copy()
            for run, found in zip(moving, problem.shares([mixtures[run] for run in moving])):
                now, here[run] = mixtures[run], found.mean_likelihood
                try:
                    following[run] = found.updated(now, held)
                except DegenerateError as error:
                    collapsed = str(error)
                    gaps[run] = np.inf
                else:
                    moved = now.moved_to(following[run], found.shift)
                    gaps[run] = max(moved - moves_of_rounding(now), abs(here[run] - before[run]))
                slack = max(slack, given_up(now, following[run], held))
                blur = max(blur, problem.rounding(now, found))
                if here[run] >= here.max():
                    problem.remember(now, found)
            best = int(here.argmax())
            yield self._step(
                mixtures[best],
                -here[best],
                gaps.max(),
                following,
                best,
                slack,
                blur,
                likelihoods=here,
                gaps=gaps.copy(),
            )
            if collapsed and count == 1:
                return Halt(Reason.DEGENERATE, collapsed.removeprefix("GaussianMixture: "))  # type: ignore[return-value]
            mixtures, before = following, here

    def _ascent(self, problem: MixtureProblem, mixtures: list[Mixture], start: Step | None) -> Iterator[Step]:
        """Climb along the gradient."""
        before = np.inf if start is None else start.objective
        blur = 0.0 if start is None else start.blur
        for found in climb(problem, mixtures[0], self.algorithm, None if start is None else start.inner):
            if isinstance(found, Halt):
                return found  # type: ignore[return-value]
            now, inner = found
            shares = problem.found(now)
            following = shares.updated(now, problem.held)
            gap = max(now.moved_to(following, shares.shift) - moves_of_rounding(now), abs(before - inner.objective))
            blur = max(blur, problem.rounding(now, shares))
            before = inner.objective
            yield self._step(now, before, gap, [now], 0, 0.0, blur, inner=inner)

    @staticmethod
    def _step(
        mixture: Mixture,
        objective: float,
        gap: float,
        following: list[Mixture],
        best: int,
        slack: float,
        blur: float,
        **more: Any,
    ) -> Step:
        state: dict[str, Any] = {name: getattr(mixture, name) for name in ("weights", "means", "covariances")}
        later: dict[str, Any] = {f"next_{name}": np.stack([getattr(one, name) for one in following]) for name in state}
        return Step(objective, gap, best=best, slack=slack, blur=blur, **state, **later, **more)

    def _finish(self, problem: MixtureProblem, step: Step) -> None:
        kind, k, p = self.covariance_type, self.n_components, problem.rows.n_features
        mixture = Mixture.of(kind, step.weights, step.means, step.covariances)
        self.weights_, self.means_ = mixture.weights.copy(), mixture.means.copy()
        self.covariances_, self.precisions_cholesky_ = mixture.covariances.copy(), mixture.roots.copy()
        self.precisions_ = precisions_of(mixture.roots, kind)
        found, held = problem.found(mixture), problem.held
        self.lower_bound_ = found.mean_likelihood
        self.converged_ = bool(stationary_claim(problem, mixture, found, self.tol).holds)
        self.floored_ = on_floor(mixture.covariances, kind, k, p, held.regulariser, held.floor)

    @property
    def lower_bounds_(self) -> list[float]:
        """The mean log-likelihood at each step."""
        self._check_fitted()
        return [-record["objective"] for record in self.ending_.trace if record["number"] >= 0]

    def _prove(self, problem: MixtureProblem) -> list[Claim]:
        mixture = self._mixture()
        found = problem.found(mixture)
        rounding, k = problem.rounding(mixture, found), len(self.weights_)
        claims = [
            Claim("weights sum to one (difference)", abs(float(self.weights_.sum()) - 1), 4 * (k + 4) * EPS),
            roots_claim(mixture),
            likelihood_claim(self.lower_bound_, found, rounding),
            stationary_claim(problem, mixture, found, self.tol),
        ]
        if not (problem.holes or self.equal_weights or self.algorithm in METHODS):
            claims += moment_claims(problem, mixture, found)
        if hasattr(self, "ending_") and "slack" in self.ending_.step.state:
            step = self.ending_.step
            claims.append(never_fell(-np.array(self.lower_bounds_), step.slack, step.blur))
        return claims

    def _restate(self, problem: MixtureProblem) -> list[Claim]:
        mixture, held, kind = self._mixture(), problem.held, self.covariance_type
        k, p = self.means_.shape
        found = problem.found(mixture)
        claims = [
            restated("precisions_", self.precisions_, precisions_of(mixture.roots, kind)),
            restated("converged_", self.converged_, stationary_claim(problem, mixture, found, self.tol).holds),
            restated("floored_", self.floored_, on_floor(self.covariances_, kind, k, p, held.regulariser, held.floor)),
        ]
        if self.equal_weights:
            claims.append(restated("weights_", self.weights_, np.full(k, 1 / k)))
        if self.covariance is not None:
            known = checked_covariance("covariance", self.covariance, kind, k, p)
            claims.append(restated("covariances_", self.covariances_, known))
        return claims

    def _disagreement(self) -> str:
        k, p = self.means_.shape
        wanted = shape_of(self.covariance_type, k, p)
        for name in ("covariances_", "precisions_", "precisions_cholesky_"):
            if np.shape(getattr(self, name)) != wanted:
                return f"{name} must have the shape {wanted} of covariance_type={self.covariance_type!r}"
        return "" if k == self.n_components else f"there are {k} components, but n_components={self.n_components}"
