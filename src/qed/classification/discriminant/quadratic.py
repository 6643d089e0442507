r"""Quadratic discriminant analysis: Gaussian classes with a covariance each, and boundaries that are quadrics.

.. math:: Q_k(x) = \ln P(k) - \tfrac12 \|W_k^\top (x - \mu_k)\|^2 - \tfrac12 \ln |\Sigma_k|, \qquad W_k^\top \Sigma_k W_k = I .

The price of the freedom is :math:`p(p + 1)/2` numbers for each class: where a class has few rows they are known badly, or not at all, and
``reg_param`` or ``shrinkage`` draw its covariance towards the identity. One pass of :math:`O(np^2)`, then :math:`O(Kp^3)`; a prediction
costs :math:`O(Kp^2)`.

Friedman (1989), Regularized discriminant analysis.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import booleans, floats
from qed.base.certificate import Claim
from qed.base.errors import DegenerateError, DegenerateWarning, level_of_user
from qed.base.models.no_effect import no_effect, one_of, takes
from qed.base.models.parameters import Parameter, boolean, number
from qed.base.models.problem import StatisticProblem
from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.classification.discriminant.gaussian_classes import (
    ESTIMATOR,
    PRIORS,
    SHRINKAGE,
    GaussianClasses,
)
from qed.classification.discriminant.spread import Spread
from qed.classification.generative import MOST_ERROR, beyond

# How much of the variances of all classes is mixed into a singular covariance.
LITTLE = 0.01


@takes(
    solver=one_of("svd", "eigen"),
    store_covariance=no_effect(boolean(), False),
    tol=no_effect(number(0), 1e-4, "columns that depend on each other are told by what rounding can do"),
)
class QuadraticDiscriminantAnalysis(GaussianClasses):
    """Classes by Gaussians with a covariance each.

    Parameters
    ----------
    shrinkage : None, float or "auto", default=None
        How far covariances are drawn towards a multiple of the identity, from 0 to 1; "auto" is the estimate of Ledoit and Wolf.
    priors : array-like of shape (n_classes,), optional
        The probability of each class before anything is seen; by default its share of the rows.
    reg_param : float, default=0.0
        How far covariances are drawn towards the identity itself, from 0 to 1, after the shrinkage; it depends on the units of the columns.
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
    covariance_ : ndarray of shape (n_classes, p, p)
        Their covariances, shrunk; each divides by the number of rows of its class.
    whitening_ : ndarray of shape (n_classes, p, p)
        Coordinates in which each class has covariance one: ``(x - means_[k]) @ whitening_[k]``.
    log_determinant_ : ndarray of shape (n_classes,)
        The logarithms of the determinants of the covariances.
    strengthened_ : ndarray of shape (n_classes,)
        Which classes had a singular covariance, and so no density: a hundredth of the variances of all classes was mixed into theirs.
    statistic_ : ByClass
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    LinearDiscriminantAnalysis : One covariance for all classes.

    Examples
    --------
    Two classes about zero, of variances 1 and 4: the near points belong to the first.

    >>> import numpy as np
    >>> import qed
    >>> model = qed.QuadraticDiscriminantAnalysis().fit([[-1.0], [1.0], [-2.0], [2.0]], ["near", "near", "far", "far"])
    >>> edge = np.sqrt(8 * np.log(2) / 3)
    >>> model.predict([[edge - 0.001], [edge + 0.001]])
    array(['near', 'far'], dtype='<U4')
    """

    attributes: ClassVar = {
        "covariance_": floats("classes", "features", "features"),
        "whitening_": floats("classes", "features", "features"),
        "log_determinant_": floats("classes"),
        "strengthened_": booleans("classes"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "shrinkage": SHRINKAGE,
        "priors": PRIORS,
        "reg_param": number(0, 1, kind="model"),
        "covariance_estimator": ESTIMATOR,
    }
    compare_encoder: ClassVar[Mapping[str, bool]] = {"full_rank": True}
    compare_grid: ClassVar[Mapping[str, Any]] = {"shrinkage": [0.001, 0.01, 0.1, 0.5]}

    covariance_: np.ndarray
    whitening_: np.ndarray
    log_determinant_: np.ndarray
    strengthened_: np.ndarray

    def __init__(
        self, shrinkage: Any = None, priors: Any = None, reg_param: float = 0.0, covariance_estimator: Any = None
    ) -> None:
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.covariance_estimator = covariance_estimator

    def _covariances(self, problem: StatisticProblem) -> list[np.ndarray]:
        unit = self.reg_param * np.eye(self.n_features_in_)
        return [(1 - self.reg_param) * covariance + unit for covariance in super()._covariances(problem)]

    def _settle_spread(self, problem: StatisticProblem, covariances: list[np.ndarray]) -> None:
        noises = self._noises(problem.statistic)
        spreads = [Spread.of(one, noise) for one, noise in zip(covariances, noises)]
        self.strengthened_ = np.array([spread.root is None for spread in spreads])
        if self.strengthened_.any():
            self._say_what_is_singular(problem, spreads)
            covariances = self._strengthened(covariances)
            spreads = [Spread.of(one, noise) for one, noise in zip(covariances, noises)]
            if any(spread.root is None for spread in spreads):
                raise DegenerateError(
                    "QuadraticDiscriminantAnalysis: of the covariance of a class nothing but rounding is left, because rows "
                    "were forgotten that are much larger than those that remain. Fit the rows that remain."
                )
        self.covariance_ = np.array(covariances)
        self.whitening_ = np.array([spread.whitening for spread in spreads])
        self.log_determinant_ = np.array([spread.log_determinant for spread in spreads])

    def _strengthened(self, covariances: list[np.ndarray]) -> list[np.ndarray]:
        """Give classes that have no density a little of the variances of all classes, in every column."""
        pooled = np.tensordot(self.priors_, covariances, axes=1).diagonal()
        variance = np.diag(np.where(pooled > 0, pooled, 1.0))
        pairs = zip(covariances, self.strengthened_)
        return [(1 - LITTLE) * one + LITTLE * variance if singular else one for one, singular in pairs]

    def _say_what_is_singular(self, problem: StatisticProblem, spreads: list[Spread]) -> None:
        k = int(self.strengthened_.argmax())
        count, p = list(problem.statistic)[k].count, self.n_features_in_
        why = f"its {count} rows are too few" if count <= p else "its columns depend on each other"
        others = int(self.strengthened_.sum()) - 1
        warnings.warn(
            f"QuadraticDiscriminantAnalysis: the covariance of class {self.classes_.tolist()[k]!r} is singular, because {why} (it varies "
            f"in {spreads[k].rank} of {p} directions){f', and so are {others} others' if others else ''}. {LITTLE:.0%} of the variances "
            "of all classes was mixed in. Choose the amount by shrinkage, e.g. shrinkage=0.1.",
            DegenerateWarning,
            stacklevel=level_of_user(),
        )

    def _joint(self, block: Block) -> np.ndarray:
        return self._scores(block, self.whitening_, self.log_determinant_)

    @property
    def rotations_(self) -> list[np.ndarray]:
        """The principal axes of every class, in columns."""
        self._check_fitted()
        return [np.linalg.eigh(covariance)[1][:, ::-1] for covariance in self.covariance_]

    @property
    def scalings_(self) -> list[np.ndarray]:
        """The variances of every class along its principal axes."""
        self._check_fitted()
        return [np.linalg.eigvalsh(covariance)[::-1] for covariance in self.covariance_]

    def _each_covariance(self) -> list[np.ndarray]:
        return list(self.covariance_)

    def _n_covariances(self) -> int:
        return len(self.classes_)

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        claims = self._common_claims(problem)
        if len(claims) < 2:  # other classes
            return claims
        seen, eye = problem.statistic, np.eye(self.n_features_in_)
        plain, noises = self._covariances(problem), self._noises(seen)
        found = self._strengthened(plain)
        spreads = [self._spread_beside(*three) for three in zip(self.covariance_, found, noises)]
        off = max(
            beyond(one - two, 2 * np.multiply.outer(noise, noise) + 8 * EPS * (np.abs(one) + np.abs(two)))
            for one, two, noise in zip(self.covariance_, found, self._all_noises(seen))
        )
        # Sums from which rows were taken away may take a class for singular that is not.
        doubtful = [Spread.of(*two) for two, weak in zip(zip(plain, noises), self.strengthened_) if weak]
        if any(spread.root is not None and spread.off <= MOST_ERROR for spread in doubtful):
            off = np.inf
        rounding = max(64 * (len(eye) + 8) * EPS + spread.off for spread in spreads)
        white = max(float(np.abs(W.T @ S @ W - eye).max()) for W, S in zip(self.whitening_, self.covariance_))
        turned = int(
            (np.diagonal(self.whitening_, axis1=1, axis2=2) <= 0).sum()
        )  # coordinates are known but for a sign
        level = max(abs(float(found) - spread.log_determinant) for found, spread in zip(self.log_determinant_, spreads))
        return [
            *claims,
            Claim("covariances are those of the classes, but for rounding", off, 0.0),
            Claim.within("classes have covariance one in their coordinates", white + turned, 1e-9, rounding),
            Claim.within("logarithms of determinants are those of the covariances", level, 1e-9, len(eye) * rounding),
            Claim("relative error of squared distances, at most", max(s.off for s in spreads), MOST_ERROR),
        ]
