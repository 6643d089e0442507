r"""What linear and quadratic discriminant analysis share: every class is a Gaussian, and Bayes' rule decides.

.. math:: P(k \mid x) = \frac{P(k)\,p_k(x)}{\sum_j P(j)\,p_j(x)}, \qquad
          Q_k(x) = \ln P(k) - \tfrac12 (x - \mu_k)^\top \Sigma_k^{-1} (x - \mu_k) - \tfrac12 \ln |\Sigma_k|,
          \qquad \hat y = \arg\max_k Q_k(x).

All that a class has to tell is its weight, mean and scatter (`Moments`), so one pass over the rows is enough, rows can be added and
forgotten, and cross-validation costs one pass for all folds and all settings. The covariances are those of maximum likelihood: they
divide by the number of rows.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import logsumexp

from qed.base.attributes import floats, of
from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError, ParameterError
from qed.base.models.parameters import Parameter, choice, number, numbers
from qed.base.models.problem import StatisticProblem
from qed.base.numbers import EPS
from qed.base.random import generator, seed_of
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.classification.discriminant.estimated import estimated
from qed.classification.discriminant.shrinkage import best_share, fourth_powers, shrunk
from qed.classification.discriminant.spread import Spread
from qed.classification.generative import Generative, beyond, log_priors
from qed.stats.by_class import ByClass
from qed.stats.moments import Moments

SHRINKAGE = number(0, 1, kind="model") | choice(None, "auto")
PRIORS = numbers("model") | choice(None)
ESTIMATOR = choice(None, kind="model") | Parameter(
    "an estimator with fit, which sets covariance_",
    lambda value: callable(getattr(value, "fit", None)) and not isinstance(value, type),
    "model",
)


class Quadratic(NamedTuple):
    """A boundary: where ``x' matrix x + vector' x + constant`` is zero."""

    matrix: np.ndarray
    vector: np.ndarray
    constant: float


class GaussianClasses(Generative):
    """A classifier whose classes are Gaussians."""

    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    attributes: ClassVar = {
        "statistic_": of(ByClass),
        "means_": floats("classes", "features"),
        "priors_": floats("classes", low=0, high=1),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "priors": PRIORS,
        "shrinkage": SHRINKAGE,
        "covariance_estimator": ESTIMATOR,
    }

    priors: Any
    shrinkage: Any
    covariance_estimator: Any
    means_: np.ndarray
    priors_: np.ndarray

    def _statistic(self, block: Block) -> ByClass:
        return ByClass.of(block, Moments.of_features)

    def _solve(self, problem: StatisticProblem) -> None:
        seen = problem.statistic
        self._learn_classes(seen)
        self.means_ = np.array([part.mean for part in seen])
        self.priors_ = self._shares(seen, self.priors)
        self._settle_spread(problem, self._covariances(problem))

    @abstractmethod
    def _settle_spread(self, problem: StatisticProblem, covariances: list[np.ndarray]) -> None:
        """Set what follows from the covariance of each class."""

    def _covariances(self, problem: StatisticProblem) -> list[np.ndarray]:
        """Give the covariance of each class, drawn towards the identity where that is asked for."""
        seen = problem.statistic
        if self.covariance_estimator is not None:
            return estimated(self, self._rows_of(problem, "covariance_estimator"), seen.classes)
        plain = [part.covariance() for part in seen]
        if self.shrinkage is None:
            return plain
        if self.shrinkage != "auto":
            return [shrunk(covariance, float(self.shrinkage)) for covariance in plain]
        rows = self._rows_of(problem, "shrinkage='auto'")
        scales = np.sqrt([covariance.diagonal() for covariance in plain])
        scales[scales == 0] = 1.0
        means = np.array([part.mean for part in seen])
        quartic = rows.fold(fourth_powers, seen.classes, means, scales)
        found = []
        for covariance, scale, fourth, weight in zip(plain, scales, quartic, seen.weights):
            unit = np.outer(scale, scale)
            correlation = covariance / unit
            found.append(shrunk(correlation, best_share(correlation, float(fourth), float(weight))) * unit)
        return found

    def _rows_of(self, problem: StatisticProblem, what: str) -> Rows:
        """Give the rows, which some covariances are estimated from."""
        if problem.rows is None:
            raise NotAvailableError(
                f"{type(self).__name__}: {what} looks at the rows, which are not at hand when rows are added or forgotten. "
                "Give a shrinkage between 0 and 1, or fit all rows."
            )
        return problem.rows

    def _noises(self, seen: ByClass) -> np.ndarray:
        """Give the h of each class for which an entry of its covariance is off by no more than ``h[j] * h[k]``."""
        return np.array([part.noise / np.sqrt(part.weight) for part in seen])

    def _all_noises(self, seen: ByClass) -> np.ndarray:
        """Give the same for covariances of the model beside those of rows: the sums that the model was made of may have lost more."""
        return np.hypot(self._noises(seen), self._noises(self.statistic_))

    def _spread_beside(self, said: np.ndarray, found: np.ndarray, noise: np.ndarray) -> Spread:
        """Factor a covariance of the model; how far it is off is what it is seen to differ by from that of the rows, and what these hide.

        So a column that is constant since rows were forgotten is known to be, once the rows that are left are looked at.
        """
        length = np.sqrt(np.where(found.diagonal() > 0, found.diagonal(), 1.0))
        differ = np.abs(said - found) / np.multiply.outer(length, length)
        return Spread.of(said, np.hypot(noise, length * np.sqrt(differ.max(axis=0))))

    def log_likelihood(self, X: Any) -> np.ndarray:
        """Give the logarithm of the density of every row, all classes together: low values are outliers.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        self._check_fitted()
        p = self.n_features_in_
        spreads = [Spread.of(covariance, np.zeros(p)) for covariance in self._each_covariance()]
        if any(spread.root is None for spread in spreads):
            raise NotAvailableError("The covariance is singular, so there is no density. Fit with shrinkage for one.")
        whitening = np.array([spread.whitening for spread in spreads])
        level = np.array([spread.log_determinant + p * np.log(2 * np.pi) for spread in spreads])
        return np.asarray(self._apply(self._log_density, X, whitening, level))

    def _log_density(self, block: Block, whitening: np.ndarray, level: np.ndarray) -> np.ndarray:
        return np.asarray(logsumexp(self._scores(block, whitening, level), axis=1)).astype(block.X.dtype, copy=False)

    def _scores(self, block: Block, whitening: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Give the logarithm of the prior, less half the squared distance from the class and its `level`: (n, n_classes)."""
        X = np.asarray(block.X, dtype=np.float64)
        scores = np.empty((len(X), len(self.classes_)))
        for k, mean in enumerate(self.means_):
            z = (X - mean) @ whitening[k]
            scores[:, k] = (np.einsum("ij,ij->i", z, z) + level[k]) / -2
        return scores + log_priors(self.priors_)

    def sample(self, n: int = 1, random_state: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows and their classes from the fitted Gaussians.

        Parameters
        ----------
        n : int, default=1
            How many.
        random_state : None, int or Generator
            The seed.

        Returns
        -------
        X : ndarray of shape (n, p)
            The rows.
        y : ndarray of shape (n,)
            Their classes.
        """
        self._check_fitted()
        draw = generator(seed_of(random_state), "sample")
        number = draw.choice(len(self.classes_), size=n, p=self.priors_)
        X = self.means_[number]
        for k, covariance in enumerate(self._each_covariance()):
            value, vector = np.linalg.eigh(covariance)
            mine = number == k
            noise = draw.standard_normal((int(mine.sum()), len(value))) * np.sqrt(np.maximum(value, 0.0))
            X[mine] += noise @ vector.T
        return X, self.classes_[number]

    @abstractmethod
    def _each_covariance(self) -> list[np.ndarray]:
        """Give the covariance of every class."""

    def boundary(self, first: Any, second: Any) -> Quadratic:
        """Give the quadric on which two classes are equally probable; its matrix is zero where they share a covariance.

        Parameters
        ----------
        first, second : label
            The classes; the form is positive where the first is more probable.

        Returns
        -------
        Quadratic
            With ``matrix``, ``vector`` and ``constant``.
        """
        self._check_fitted()
        known = self.classes_.tolist()
        for label in (first, second):
            if label not in known:
                raise ParameterError(f"There is no class {label!r}, only {known}.")
        (A, a, level), (B, b, other) = (self._form(known.index(label)) for label in (first, second))
        return Quadratic(A - B, a - b, level - other)

    def _form(self, k: int) -> Quadratic:
        spread = Spread.of(self._each_covariance()[k], np.zeros(self.n_features_in_))
        inverse, mean = spread.solve(np.eye(self.n_features_in_)), self.means_[k]
        level = float(np.log(self.priors_[k]) - mean @ inverse @ mean / 2 - spread.log_determinant / 2)
        return Quadratic(-inverse / 2, inverse @ mean, level)

    @property
    def n_parameters_(self) -> int:
        """How many numbers the model has estimated: means, covariances and priors."""
        self._check_fitted()
        p, k = self.n_features_in_, len(self.classes_)
        return k * p + self._n_covariances() * p * (p + 1) // 2 + k - 1

    @abstractmethod
    def _n_covariances(self) -> int:
        """Say how many covariances are estimated."""

    def _common_claims(self, problem: StatisticProblem) -> list[Claim]:
        """Claim what priors and means are; the value is what is more than rounding, in units of it."""
        seen = problem.statistic
        if not self._same_classes(problem):
            return [Claim("the classes are those of the rows", np.inf, 0.0)]
        off = float(np.abs(self.priors_ - self._shares(seen, self.priors)).max())
        mean = beyond(
            self.means_ - np.array([part.mean for part in seen]), mean_blur(seen) + mean_blur(self.statistic_)
        )
        return [
            Claim("priors are the shares of the classes, or those given", off, 64 * EPS),
            Claim("means are those of the classes, but for rounding", mean, 0.0),
        ]


def _mean_blur(part: Moments) -> np.ndarray:
    return np.asarray(2 * (part.slip + EPS * np.abs(part.mean)))


def mean_blur(seen: ByClass) -> np.ndarray:
    """Bound the error of the means, of shape (n_classes, p)."""
    return np.array([_mean_blur(part) for part in seen])
