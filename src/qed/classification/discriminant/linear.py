r"""Linear discriminant analysis: Gaussian classes that share one covariance, and boundaries that are planes.

.. math:: \Sigma = \sum_k P(k)\,\Sigma_k, \qquad Q_k(x) - Q_j(x) = w^\top x + b, \qquad w = \Sigma^{-1} (\mu_k - \mu_j), \qquad
          b = \ln\frac{P(k)}{P(j)} - \tfrac12 (\mu_k + \mu_j)^\top w .

The posterior of two classes is the logistic function of :math:`w^\top x + b`: the form of logistic regression, with weights from the
Gaussians' likelihood. In coordinates in which :math:`\Sigma` is the identity the nearest mean wins (but for the priors), and all that
matters happens in the at most :math:`K - 1` directions that the means span: ``transform`` gives these, those in which the
classes lie farthest apart first. One pass of :math:`O(np^2)`, then :math:`O(p^3)`.

Fisher (1936), The use of multiple measurements in taxonomic problems; Rao (1948), The utilization of multiple measurements.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import ALIKE, Claim
from qed.base.errors import DegenerateWarning, ParameterError, level_of_user
from qed.base.models.labels import encode
from qed.base.models.no_effect import no_effect, one_of, takes
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.models.problem import StatisticProblem
from qed.base.models.roles import Transformer
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.classification.discriminant.gaussian_classes import (
    ESTIMATOR,
    PRIORS,
    SHRINKAGE,
    GaussianClasses,
    mean_blur,
)
from qed.classification.discriminant.spread import Spread
from qed.classification.generative import MOST_ERROR, beyond, log_priors
from qed.classification.planes import planes_disagree
from qed.classification.together import planes_of
from qed.stats.by_class import ByClass


@takes(
    solver=one_of("svd", "lsqr", "eigen"),
    store_covariance=no_effect(boolean(), False),
    tol=no_effect(number(0), 1e-4, "directions in which nothing varies are told by what rounding can do"),
)
class LinearDiscriminantAnalysis(GaussianClasses, Transformer):
    """Classes by Gaussians of one covariance; also a projection in which they lie far apart.

    Parameters
    ----------
    shrinkage : None, float or "auto", default=None
        How far covariances are drawn towards a multiple of the identity, from 0 to 1; "auto" is the estimate of Ledoit and Wolf. It helps
        where rows are few, and is needed where columns depend on each other.
    priors : array-like of shape (n_classes,), optional
        The probability of each class before anything is seen; by default its share of the rows.
    n_components : int, optional
        How many directions ``transform`` gives; by default all there are, one less than classes at the most.
    covariance_estimator : object, optional
        What finds the covariance of each class in the place of its sums: an estimator, such as scikit-learn's ``OAS()``, whose ``fit`` is
        shown the rows of one class and sets ``covariance_``. It needs the rows in memory, and goes with neither shrinkage nor weights.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    priors_ : ndarray of shape (n_classes,)
        Their probabilities.
    means_ : ndarray of shape (n_classes, p)
        Their means.
    covariance_ : ndarray of shape (p, p)
        The covariance within classes, shrunk; it divides by the number of rows.
    xbar_ : ndarray of shape (p,)
        The mean of the classes' means, by prior.
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        Coefficients of the scores: of the second of two classes against the first, or of each of more.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Their constants.
    scalings_ : ndarray of shape (p, n_directions)
        The directions of ``transform``, in which the classes have covariance one.
    explained_variance_ratio_ : ndarray of shape (n_directions,)
        The share of each in the variance between the classes.
    statistic_ : ByClass
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    QuadraticDiscriminantAnalysis : A covariance for each class.
    LogisticRegression : The same form of the posterior, without the Gaussians.

    Notes
    -----
    The covariance is that of maximum likelihood, as in scikit-learn's solvers "lsqr" and "eigen"; its "svd" divides by the number of
    rows less that of classes.

    Examples
    --------
    >>> import qed
    >>> X, y = [[-2.0], [0.0], [1.0], [3.0]], ["a", "a", "b", "b"]
    >>> model = qed.LinearDiscriminantAnalysis().fit(X, y)
    >>> model.coef_, model.intercept_, model.covariance_
    (array([[3.]]), array([-1.5]), array([[1.]]))
    >>> model.predict([[0.4], [0.6]])
    array(['a', 'b'], dtype='<U1')
    """

    attributes: ClassVar = {
        "covariance_": floats("features", "features"),
        "xbar_": floats("features"),
        "coef_": floats("planes", "features"),
        "intercept_": floats("planes"),
        "scalings_": floats("features", "directions"),
        "explained_variance_ratio_": floats("directions", low=0, high=1 + 64 * EPS),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "shrinkage": SHRINKAGE,
        "priors": PRIORS,
        "n_components": integer(1, kind="model") | choice(None),
        "covariance_estimator": ESTIMATOR,
    }
    compare_encoder: ClassVar[Mapping[str, bool]] = {"full_rank": True}
    compare_grid: ClassVar[Mapping[str, Any]] = {"shrinkage": [None, 0.01, 0.1, 0.5]}

    covariance_: np.ndarray
    xbar_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray
    scalings_: np.ndarray
    explained_variance_ratio_: np.ndarray

    def __init__(
        self,
        shrinkage: Any = None,
        priors: Any = None,
        n_components: int | None = None,
        covariance_estimator: Any = None,
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.covariance_estimator = covariance_estimator

    def _settle_spread(self, problem: StatisticProblem, covariances: list[np.ndarray]) -> None:
        seen, p = problem.statistic, self.n_features_in_
        most = min(len(self.classes_) - 1, p)
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"LinearDiscriminantAnalysis: n_components={self.n_components} is more than the {most} directions that "
                f"{len(self.classes_)} classes and {p} columns have."
            )
        self.covariance_ = np.tensordot(self.priors_, covariances, axes=1)
        self.xbar_ = self.priors_ @ self.means_
        spread = Spread.of(self.covariance_, self._noise(self._noises(seen)))
        self._say_what_is_left_out(spread)
        differences = self._differences(seen)
        self._set_planes(spread.solve(differences).T)
        self._set_directions(spread, seen)

    def _noise(self, noises: np.ndarray) -> np.ndarray:
        return np.asarray(np.sqrt(self.priors_ @ noises**2))

    def _differences(self, seen: ByClass) -> np.ndarray:
        """Give what the planes are perpendicular to, in whitened space: of shape (p, n_planes)."""
        means = np.array([(part.mean - self.xbar_) + part.rest for part in seen]).T
        return means[:, 1:] - means[:, :1] if len(self.classes_) == 2 else means

    def _set_planes(self, coef: np.ndarray) -> None:
        self.coef_ = coef
        self.intercept_ = self._levels(coef)

    def _levels(self, coef: np.ndarray) -> np.ndarray:
        """Give the constants that belong to coefficients."""
        prior = log_priors(self.priors_)
        if len(self.classes_) == 2:
            middle = (self.means_[0] + self.means_[1]) / 2
            return np.array([prior[1] - prior[0] - middle @ coef[0]])
        middle = (self.means_ + self.xbar_) / 2
        return np.asarray(prior - (middle * coef).sum(axis=1))

    def _set_directions(self, spread: Spread, seen: ByClass) -> None:
        means = np.array([(part.mean - self.xbar_) + part.rest for part in seen])
        inner = spread.whitening.T @ (np.sqrt(self.priors_)[:, None] * means).T
        most = min(len(self.classes_) - 1, spread.rank)
        vector, value, _ = np.linalg.svd(inner, full_matrices=False)
        variance = value[:most] ** 2
        scalings = spread.whitening @ vector[:, :most]
        self.scalings_ = scalings * _side(scalings)
        self.explained_variance_ratio_ = variance / max(float(variance.sum()), np.finfo(float).tiny)

    def _say_what_is_left_out(self, spread: Spread) -> None:
        missing = self.n_features_in_ - spread.rank
        if not missing:
            return
        constant = np.flatnonzero(~(self.covariance_.diagonal() > 0))
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        what = f"columns depend on each other within the classes: {missing} of {self.n_features_in_} directions do not vary"
        if len(constant) == missing:
            what = f"nothing varies within the classes in {', '.join(repr(str(names[j])) for j in constant[:5])}"
        warnings.warn(
            f"LinearDiscriminantAnalysis: {what}, and what does not vary is left out, however far apart the classes are in it. "
            "Use shrinkage, e.g. shrinkage=0.1, or drop columns.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )

    def _disagreement(self) -> str:
        return planes_disagree(self.coef_, self.classes_)

    def _joint(self, block: Block) -> np.ndarray:
        return np.asarray(self._of_all([self], block)[0])

    def _joints(self, models: Sequence[Self]) -> Callable[[Block], np.ndarray]:
        return partial(self._of_all, models)

    def _of_all(self, models: Sequence[Self], block: Block) -> np.ndarray:
        # All measure from the same place, whatever the middle of their own priors: far from the origin digits would be lost.
        away = np.asarray(block.X, dtype=np.float64) - self.xbar_
        level = np.array([one.intercept_ + one.coef_ @ self.xbar_ for one in models])
        scores = planes_of(away, np.array([one.coef_ for one in models]).T, level)
        return scores if len(self.classes_) > 2 else np.concatenate([np.zeros_like(scores), scores], axis=2)

    def _change(self, block: Block) -> np.ndarray:
        away = np.asarray(block.X, dtype=np.float64) - self.xbar_
        return np.asarray(away @ self.scalings_[:, : self.n_components]).astype(block.X.dtype, copy=False)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns that ``transform`` gives.

        Parameters
        ----------
        input_features : ignored
            Present for scikit-learn's sake.
        """
        self._check_fitted()
        count = self.scalings_[:, : self.n_components].shape[1]
        return np.array([f"lineardiscriminantanalysis{j}" for j in range(count)], dtype=object)

    def _each_covariance(self) -> list[np.ndarray]:
        return [self.covariance_] * len(self.classes_)

    def _n_covariances(self) -> int:
        return 1

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        seen = problem.statistic
        claims = self._common_claims(problem)
        if len(claims) < 2:  # other classes
            return claims
        covariance = np.tensordot(self.priors_, self._covariances(problem), axes=1)
        spread = self._spread_beside(self.covariance_, covariance, self._noise(self._noises(seen)))
        allowed = self._noise(self._all_noises(seen))
        blur = np.multiply.outer(allowed, allowed) + 8 * EPS * np.abs(covariance)
        means = mean_blur(seen)
        middle = np.abs(self.priors_ @ np.array([part.mean for part in seen]) - self.xbar_) + self.priors_ @ means
        away = (means[1:] + means[:1] if len(self.classes_) == 2 else means + middle).T
        level, left_out = self._levels(self.coef_), self._dependence_claims(problem, spread)
        size = (
            np.abs(self.coef_) @ np.abs(self.means_).max(axis=0)
            + np.abs(level)
            + np.abs(log_priors(self.priors_)).max()
        )
        return [
            *claims,
            Claim(
                "covariance is that within the classes, but for rounding",
                beyond(self.covariance_ - covariance, 2 * blur),
                0.0,
            ),
            Claim(
                f"relative error of coefficients, at most{ALIKE if left_out else ''}",
                spread.error(self._differences(seen), away, self.coef_.T),
                MOST_ERROR,
            ),
            Claim(
                "constants belong to coefficients, means and priors",
                beyond(self.intercept_ - level, 4 * (self.n_features_in_ + 4) * EPS * size),
                0.0,
            ),
            *self._direction_claims(spread, seen),
            *left_out,
        ]

    def _dependence_claims(self, problem: StatisticProblem, spread: Spread) -> list[Claim]:
        """Claim that what was left out does not vary: squares and products can not tell it from what varies a little, but the rows can."""
        missing = self.n_features_in_ - spread.rank
        if missing == int((~(self.covariance_.diagonal() > 0)).sum()):
            return []
        says, bound = "directions that are left out do not vary, but for rounding", 64 * self.n_features_in_ * EPS
        if problem.rows is None:
            return [Claim(says, np.inf, bound)]
        kept = np.linalg.qr(spread.whitening * spread.length[:, None], mode="complete")[0]
        out = kept[:, spread.rank :] / spread.length[:, None]
        level, weight = problem.rows.fold(_levels_along, self.classes_, out)
        level = np.divide(level, weight, out=np.zeros_like(level), where=weight > 0)
        share = np.sqrt(problem.rows.fold(_along, self.classes_, out, level) / problem.statistic.weights.sum())
        return [Claim(says, float(share.max(initial=0.0)), bound)]

    def _direction_claims(self, spread: Spread, seen: ByClass) -> list[Claim]:
        """Claim that in the directions of ``transform`` the classes have covariance one, and that the means differ in nothing else."""
        count, turned = self.scalings_.shape[1], int((_side(self.scalings_) < 0).sum())
        inside = self.scalings_.T @ self.covariance_ @ self.scalings_
        means = np.array([(part.mean - self.xbar_) + part.rest for part in seen])
        centred = np.sqrt(self.priors_)[:, None] * means
        between = (centred @ self.scalings_).T @ (centred @ self.scalings_)
        variance = between.diagonal()
        total = float(((centred @ spread.whitening) ** 2).sum())
        share = variance / max(total, np.finfo(float).tiny)
        rounding = 64 * (self.n_features_in_ + 8) * EPS + spread.off
        mixed = float(np.abs(between - np.diag(variance)).max(initial=0.0)) / max(total, np.finfo(float).tiny)
        off = float(np.abs(share - self.explained_variance_ratio_).max(initial=0.0))
        # What means are off by may be all that they differ by: then they do not, and any direction is one of these.
        blur = mean_blur(seen)
        hidden = np.linalg.norm(
            np.sqrt(self.priors_)[:, None] * (blur + self.priors_ @ blur) @ np.abs(spread.whitening)
        )
        apart = 0.0 if total <= 4 * hidden**2 else max(off, mixed)
        return [
            Claim.within(
                "classes have covariance one in all directions",
                float(np.abs(inside - np.eye(count)).max(initial=0.0)) + turned,
                1e-9,
                rounding,
            ),
            Claim.within("means differ in these directions only, one by one", apart, 1e-9, rounding),
        ]


def _levels_along(block: Block, classes: np.ndarray, directions: np.ndarray) -> np.ndarray:
    """Add up, class by class, where the rows lie along directions, and weights: rows count by what rounding can do to them."""
    X, code = np.asarray(block.X, dtype=np.float64), encode(block.y, classes, block.weight)
    trust = np.minimum(1 / np.maximum(np.abs(X) @ np.abs(directions), 1e-150), 1e150) ** 2 * block.weights[:, None]
    sums = np.zeros((2, len(classes), directions.shape[1]))
    np.add.at(sums[0], code, trust * (X @ directions))
    np.add.at(sums[1], code, trust)
    return sums


def _along(block: Block, classes: np.ndarray, directions: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Add up the squares of what rows differ by from the level of their class, each as a share of what it is a difference of."""
    X, level = np.asarray(block.X, dtype=np.float64), levels[encode(block.y, classes, block.weight)]
    size = np.abs(X) @ np.abs(directions) + np.abs(level)
    share = np.divide(X @ directions - level, size, out=np.zeros(level.shape), where=size > 0)
    return np.asarray(block.weights @ share**2)


def _side(directions: np.ndarray) -> np.ndarray:
    """Say for each column, a direction that is known but for its sign, whether its largest entry is positive (1) or negative (-1)."""
    largest = np.abs(directions).argmax(axis=0)
    return np.where(directions[largest, np.arange(directions.shape[1])] < 0, -1.0, 1.0)
