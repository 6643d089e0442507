r"""Principal components: the few directions in which rows vary most.

.. math:: v_j = \operatorname*{arg\,max}_{\|v\| = 1,\; v \perp v_1, \dots, v_{j-1}} \sum_i w_i \big(v^\top (x_i - \bar x)\big)^2,
   \qquad S v_j = \lambda_j v_j, \qquad z_i = V (x_i - \bar x).

They are the eigenvectors of the scatter :math:`S` about the mean, in falling order of their eigenvalues. Of all planes of k dimensions
theirs is the nearest to the rows: what it misses, :math:`\sum_i w_i \|x_i - \bar x - V^\top z_i\|^2 = \sum_{j > k} \lambda_j`, is the least
possible (Eckart and Young). One pass folds the scatter, :math:`O(np^2)`; where rows are fewer than columns their products serve instead
(:mod:`qed.reduction.spread`).

Pearson (1901), On lines and planes of closest fit to systems of points in space.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats, maybe, size
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, InputError, ParameterError
from qed.base.models.checks import complete, overflowed
from qed.base.models.estimator import OnePass
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.no_effect import CLOSED, no_effect, one_of, takes
from qed.base.models.parameters import boolean, choice, integer, number, random_state
from qed.base.models.problem import StatisticProblem
from qed.base.models.proof import restated, whole
from qed.base.models.roles import ClassNamePrefixFeaturesOutMixin
from qed.base.numbers import EPS
from qed.base.random import Seed, seed_of
from qed.base.sources.block import Block, as_dense, is_sparse
from qed.features.filling import Filling
from qed.reduction.claims import TOLERANCE, Plane, claim_of_signs
from qed.reduction.evidence import enough_for, most_likely
from qed.reduction.likelihood import NormalRows
from qed.reduction.spread import Spread, SpreadOfRows, spread_of
from qed.reduction.views import stored
from qed.stats.kept import KeptRows, keep_features
from qed.stats.moments import Moments

# How often images of random directions are taken by default: more often where few directions are wanted, as scikit-learn has it.
OFTEN, SELDOM, FEW = 7, 4, 0.1


class SpreadProblem(StatisticProblem):
    """What is kept of the rows, and how they are spread."""

    @cached_property
    def spread(self) -> Spread:
        """Say how the rows are spread about their mean."""
        if np.isfinite((found := spread_of(self.statistic)).total):
            return found
        raise overflowed(self.model)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """Tell these rows from others; what is centred already is not centred again."""
        seen, spread = self.statistic, self.spread
        return seen.fingerprint_by(spread.design) if isinstance(spread, SpreadOfRows) else seen.fingerprint()


@takes(
    "copy",
    tol=no_effect(number(0), 0.0, CLOSED),
    power_iteration_normalizer=one_of("auto", "QR", "LU", "none", instead="directions are made orthonormal by QR"),
)
class PCA(ClassNamePrefixFeaturesOutMixin, NormalRows, Filling, OnePass):  # type: ignore[misc]
    """Principal component analysis: turn the axes, and keep those along which rows vary.

    Parameters
    ----------
    n_components : int, float, "mle" or None, default=0.95
        How many components to keep. Below one it is the share of the variance that they have together, at least: by default 95 %. None
        keeps all there are, the lesser of the numbers of rows and columns; "mle" as many as are the most likely to be no noise (Minka),
        for which there have to be as many rows as columns.
    whiten : bool, default=False
        Divide components by their standard deviations, so that all vary alike and the covariance is the identity.
    svd_solver : {"auto", "full", "covariance_eigh", "arpack", "randomized"}, default="auto"
        "randomized" finds about the components, from the images of a few random directions, and tells in ``error_`` how good they are.
        With all others the way is chosen by the shape of the table, and the answer is exact.
    iterated_power : int or "auto", default="auto"
        How often images of the random directions are taken again: 7 times where few are wanted, else 4.
    n_oversamples : int, default=10
        How many random directions there are beyond those wanted.
    random_state : None, int or NumPy generator
        Draws the random directions.

    Attributes
    ----------
    components_ : ndarray of shape (k, p)
        The directions, of length one, by falling variance; the largest entry of each is positive.
    explained_variance_ : ndarray of shape (k,)
        The variance along them, with the divisor ``W - 1``, W being the weight of all rows.
    explained_variance_ratio_ : ndarray of shape (k,)
        The same as shares of the variance of all columns.
    singular_values_ : ndarray of shape (k,)
        The lengths of the components: roots of the eigenvalues of the scatter.
    mean_ : ndarray of shape (p,)
        The mean of the rows.
    noise_variance_ : float
        The mean variance of the directions left out: that of the noise in the probabilistic view.
    n_components_ : int
        How many components there are.
    error_ : float
        With "randomized": by how much rows are farther from the plane than from the nearest, in squares and at most, relative to all
        variance. It is proven, and there for this solver alone.
    n_samples_ : int
        The number of rows.
    certificate_ : Certificate
        The proof: directions are orthonormal, eigenvectors, and no plane is nearer to the rows.
    statistic_ : Moments or KeptRows
        What the model remembers of its rows.

    Notes
    -----
    Units matter: a column in millimetres varies a million times as much as in metres. Scale columns that are not alike first, with
    :class:`qed.StandardScaler`. scikit-learn keeps all components by default.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> model = qed.PCA(n_components=1).fit(X)
    >>> model.components_, model.singular_values_**2, model.explained_variance_ratio_
    (array([[1., 0.]]), array([8.]), array([0.8]))
    >>> model.transform(X).ravel(), round(model.reconstruction_error(X), 12)
    (array([ 2., -2.,  0.,  0.]), 2.0)
    >>> bool(model.certificate_)
    True
    """

    problem_kind = SpreadProblem
    attributes: ClassVar = {
        "components_": floats("outputs", "features"),
        "explained_variance_": floats("outputs", low=0),
        "explained_variance_ratio_": floats("outputs", low=0),
        "singular_values_": floats("outputs", low=0),
        "mean_": floats("features"),
        "noise_variance_": floats(low=0),
        "n_components_": size("outputs"),
        "n_samples_": size("rows"),
        "error_": maybe(floats(low=0)),
    }
    sparse: ClassVar[bool] = True
    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    least_weight: ClassVar[float] = 1.0
    parameters: ClassVar = {
        "n_components": integer(1, kind="model") | number(0, 1, above=True) | choice(None, "mle"),
        "whiten": boolean(),
        "svd_solver": choice("auto", "full", "covariance_eigh", "arpack", "randomized"),
        "iterated_power": integer(0) | choice("auto"),
        "n_oversamples": integer(1),
        "random_state": random_state(),
    }

    def __init__(
        self,
        n_components: float | str | None = 0.95,
        *,
        whiten: bool = False,
        svd_solver: str = "auto",
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        random_state: Seed = None,
    ) -> None:
        self.n_components = n_components
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.random_state = random_state

    def _statistic(self, block: Block) -> Moments | KeptRows:
        return keep_features(block)

    def _most(self, problem: SpreadProblem) -> int:
        return min(problem.statistic.count, problem.spread.width)

    def _solve(self, problem: SpreadProblem) -> None:
        seen, spread, asked = problem.statistic, problem.spread, self.n_components
        most, counted = self._most(problem), self._is_counted
        if counted and not isinstance(asked, str | None) and asked > most:
            raise ParameterError(
                f"PCA: n_components={asked} must be between 1 and min(n_samples, n_features)={most}. Ask for fewer, or for None."
            )
        values, vectors = self._leading(spread, int(asked) if counted and asked is not None else most)
        kept = len(values) if counted else self._enough(problem, values)
        self.components_, self.n_components_, self.n_samples_ = vectors[:kept], kept, int(seen.count)
        self.mean_ = np.array(seen.x_mean)
        self.explained_variance_ = values[:kept] / (seen.weight - 1)
        self._follow(problem)
        if self._is_sketched:
            self.error_ = Plane(spread, self.components_, values[:kept]).excess()

    @property
    def _is_counted(self) -> bool:
        """Whether components are asked for by number, or all of them."""
        asked = self.n_components
        return asked is None or (not isinstance(asked, str) and asked >= 1)

    def _enough(self, problem: SpreadProblem, values: np.ndarray) -> int:
        """Say how many components are to be kept of all there are, by their share of the variance or by what is likely."""
        seen, asked = problem.statistic, self.n_components
        if not isinstance(asked, str):
            return enough_for(values, problem.spread.total, float(asked or 0.0))
        if seen.count < len(seen.x_mean):
            raise ParameterError(
                f"PCA: n_components='mle' is only supported if n_samples >= n_features, not with {seen.count} rows. Give a number."
            )
        return most_likely(values / (seen.weight - 1), seen.weight)

    @property
    def _is_sketched(self) -> bool:
        return self.svd_solver == "randomized" and self.n_components is not None

    def _leading(self, spread: Spread, wanted: int) -> tuple[np.ndarray, np.ndarray]:
        """Give eigenvalues and directions, all digits of them or about."""
        if not self._is_sketched:
            return spread.leading(wanted)
        if not self._is_counted:
            raise ParameterError(
                f"PCA: n_components={self.n_components!r} is no number, and to choose one all components are needed. "
                "Give a number of them, or svd_solver='auto'."
            )
        rounds = self.iterated_power
        if not isinstance(rounds, int | np.integer):
            rounds = OFTEN if wanted < FEW * min(spread.width, len(spread.matrix)) else SELDOM
        return spread.sketched(wanted, self.n_oversamples, int(rounds), seed_of(self.random_state))

    def _follow(self, problem: SpreadProblem) -> None:
        """Set what follows from the variances."""
        found = self._following(problem)
        self.explained_variance_ratio_, self.singular_values_, self.noise_variance_ = found

    def _following(self, problem: SpreadProblem) -> tuple[np.ndarray, np.ndarray, float]:
        """Give shares, lengths, and the mean variance of what is left out."""
        total, freedom = problem.spread.total, problem.statistic.weight - 1
        values = self.explained_variance_ * freedom
        left = self._most(problem) - len(values)
        noise = max(total - float(values.sum()), 0.0) / (left * freedom) if left > 0 else 0.0
        return values / (total or 1.0), np.sqrt(values), noise

    def _width(self) -> int:
        return int(self.n_components_)

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _scales(self) -> np.ndarray:
        """Give what components are divided by."""
        if not self.whiten:
            return np.ones(self.n_components_)
        varies = self.explained_variance_ > len(self.mean_) * EPS * self.explained_variance_.max(initial=0.0)
        if not varies.all():
            fewer = f"n_components={int(varies.sum())}, or " if varies.any() else ""
            raise DegenerateError(
                f"PCA can not whiten {self.n_components_} components: rows vary along {int(varies.sum())} of them only. "
                f"Give {fewer}whiten=False."
            )
        return np.sqrt(self.explained_variance_)

    def _fill(self, X: np.ndarray, out: np.ndarray) -> bool:
        out[:] = self._scores(X)
        return bool(np.isfinite(out).all())

    def _scores(self, X: Any) -> np.ndarray:
        """Give the components of some rows in double precision."""
        turn, X = (self.components_ / self._scales()[:, None]).T, self._features_of(X)
        if is_sparse(X):
            return np.asarray(X @ turn - self.mean_ @ turn)
        return np.asarray((X - self.mean_) @ turn)

    def _change(self, block: Block) -> Any:
        return self._scores(block.X).astype(block.X.dtype) if is_sparse(block.X) else super()._change(block)

    def inverse_transform(self, X: object) -> np.ndarray:
        """Give the points of the plane that have such components.

        Parameters
        ----------
        X : array-like of shape (n, k)
            Components of rows.
        """
        self._check_fitted()
        scores = np.asarray(X)
        if scores.ndim != 2 or scores.shape[1] != self.n_components_:
            raise InputError(f"Expected {self.n_components_} components for each row, got the shape {scores.shape}.")
        found = (scores * self._scales()) @ self.components_ + self.mean_
        return found.astype(scores.dtype if scores.dtype in (np.float32, np.float64) else np.float64, copy=False)

    def reconstruction_error(self, X: object, sample_weight: object = None) -> float:
        """Give the sum of the squared distances of rows from the plane; of the rows of the fit, the least there can be.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        sample_weight : array-like of shape (n,), optional
            Their weights.
        """
        self._check_fitted()
        rows = complete(self._open(X, None, sample_weight, reset=False), self, once=True)
        return float(rows.fold(self._distances))

    def _distances(self, block: Block) -> np.ndarray:
        """Add up the squared distances of rows from the plane."""
        X = self._features_of(block.X)
        away = as_dense(X) - self.mean_
        away = away - (away @ self.components_.T) @ self.components_
        return np.asarray(block.weights @ (away**2).sum(axis=1))

    def storage(self, n_rows: int | None = None) -> tuple[int, int]:
        """Count the numbers that rows are made of, and those that their mean, the components and their scores are made of.

        Parameters
        ----------
        n_rows : int, optional
            The number of rows; by default those of the fit.

        Returns
        -------
        before, after : int
            Keeping components pays where the second is less.
        """
        self._check_fitted()
        n, p, k = self.n_samples_ if n_rows is None else int(n_rows), len(self.mean_), int(self.n_components_)
        return stored(n, p), stored(n, p, k) + p

    def _prove(self, problem: SpreadProblem) -> list[Claim]:
        V, spread, freedom = self.components_, problem.spread, problem.statistic.weight - 1
        values = np.atleast_1d(self.explained_variance_) * freedom
        if damage := whole(len(V), self.n_components_, V, values, self.mean_):
            return damage
        plane = Plane(spread, V, values)
        if self._is_sketched:
            return self._claims_of_sketch(plane)
        claims = plane.claims()
        if len(V) < self._most(problem):
            claims.append(plane.claim_of_least())
        return claims

    def _claims_of_sketch(self, plane: Plane) -> list[Claim]:
        """Claim what is true of directions that are about right: their variances, and how far they are from the best."""
        V, size = self.components_, plane.largest
        inner = V @ plane.spread.applied(V).T
        off = float(np.abs(inner - np.diag(plane.values)).max(initial=0.0)) / size
        rounding = 2 * plane.allowed
        return [
            plane.claim_of_angles("components", TOLERANCE + 4 * V.shape[1] * EPS),
            Claim("components are uncorrelated, with these variances (off, relative)", off, TOLERANCE + rounding),
            Claim(
                "reconstruction error above the least possible, at most, but for error_ (relative to all variance)",
                abs(plane.excess() - float(self.error_)),
                TOLERANCE * max(float(self.error_), len(V) * TOLERANCE) + rounding,
            ),
        ]

    def _restate(self, problem: SpreadProblem) -> list[Claim]:
        seen, spread = problem.statistic, problem.spread
        shares, lengths, noise = self._following(problem)
        asked, kept = self.n_components, len(self.components_)
        spread_of_each = np.sqrt(np.maximum(spread.total / seen.weight, 0.0))
        if self._is_counted:
            wanted = self._most(problem) if asked is None else int(asked)
        else:
            wanted = self._enough(problem, spread.leading(None)[0])
        hidden = noise + spread.noise / TOLERANCE / max(seen.weight - 1, 1.0)
        return [
            restated("mean_", self.mean_, seen.x_mean, scale=np.abs(seen.x_mean) + spread_of_each),
            restated("explained_variance_ratio_", self.explained_variance_ratio_, shares),
            restated("singular_values_", self.singular_values_, lengths),
            restated("noise_variance_", self.noise_variance_, noise, scale=hidden),
            restated("n_samples_", self.n_samples_, int(seen.count)),
            restated("n_components_", self.n_components_, kept),
            claim_of_signs(self.components_, "components_"),
            Claim("components kept, but for those asked for", float(abs(kept - wanted)), 0.0),
        ]

    def _disagreement(self) -> str:
        kept = {len(self.components_), len(self.explained_variance_), self.n_components_}
        return "" if len(kept) == 1 else "components_ and explained_variance_ differ in number"
