r"""Gaussian naive Bayes: within each class every column is a Gaussian of its own.

.. math:: \ln P(k)\,p_k(x) = \ln P(k) - \tfrac12 \sum_j \Bigl( \ln 2\pi\sigma_{kj}^2 + \frac{(x_j - \mu_{kj})^2}{\sigma_{kj}^2} \Bigr),

which is quadratic discriminant analysis with diagonal covariances. Means and variances are those of maximum likelihood; to every variance a
share of the largest one of all rows is added (``var_smoothing``), so that a column that does not vary in a class does no harm.
One pass of :math:`O(np)`.

Hand and Yu (2001), Idiot's Bayes - not so stupid after all?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import floats, of
from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, choice, number, numbers
from qed.base.models.problem import StatisticProblem
from qed.base.numbers import EPS, TINY
from qed.base.sources.block import Block
from qed.classification.generative import MOST_ERROR, Generative, beyond, log_priors
from qed.stats.by_class import ByClass
from qed.stats.classes.columns import summary_by_class


class GaussianNB(Generative):
    """Classes by a Gaussian for every column.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), optional
        The probability of each class before anything is seen; by default its share of the rows.
    var_smoothing : float, default=1e-9
        The share of the largest variance of a column that is added to all variances.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    class_prior_, class_count_ : ndarray of shape (n_classes,)
        Their probabilities, and the weight of their rows.
    theta_, var_ : ndarray of shape (n_classes, p)
        Mean and variance of each column in each class.
    epsilon_ : float
        What was added to the variances.
    statistic_ : ByClass
        What the model remembers of its rows; ``partial_fit`` adds to it, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    QuadraticDiscriminantAnalysis : Gaussians whose columns depend on each other.

    Examples
    --------
    >>> import qed
    >>> model = qed.GaussianNB().fit([[-1.0], [1.0], [3.0], [5.0]], ["a", "a", "b", "b"])
    >>> model.theta_, model.predict([[1.9], [2.1]])
    (array([[0.],
           [4.]]), array(['a', 'b'], dtype='<U1'))
    """

    statistic_parameters: ClassVar[tuple[str, ...]] = ()
    attributes: ClassVar = {
        "statistic_": of(ByClass),
        "class_prior_": floats("classes", low=0, high=1),
        "class_count_": floats("classes", low=0),
        "theta_": floats("classes", "features"),
        "var_": floats("classes", "features", low=0),
        "epsilon_": floats(low=0),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "priors": numbers("model") | choice(None),
        "var_smoothing": number(0, kind="model"),
    }
    compare_grid: ClassVar[Mapping[str, list[float]]] = {"var_smoothing": [1e-9, 1e-3, 1e-1]}
    # With more, there is more of the smoothing in a variance than of the data.
    compare_limits: ClassVar[Mapping[str, tuple[float, float]]] = {"var_smoothing": (0.0, 1.0)}
    compare_name: ClassVar[str] = "Gaussian naive Bayes"

    class_prior_: np.ndarray
    class_count_: np.ndarray
    theta_: np.ndarray
    var_: np.ndarray
    epsilon_: float

    def __init__(self, priors: ArrayLike | None = None, *, var_smoothing: float = 1e-9) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing

    def _statistic(self, block: Block) -> ByClass:
        return summary_by_class(block)

    def _solve(self, problem: StatisticProblem) -> None:
        seen = problem.statistic
        self._learn_classes(seen, least=1)
        self.class_prior_, self.class_count_ = self._shares(seen, self.priors), seen.weights.copy()
        self.theta_, variance, self.epsilon_ = self._estimates(seen)
        self.var_ = variance + self.epsilon_

    def _estimates(self, seen: ByClass) -> tuple[np.ndarray, np.ndarray, float]:
        """Give means, variances, and what is to be added to these: one where nothing varies at all."""
        mean, variance = np.array([part.mean for part in seen]), np.array([part.variance for part in seen])
        more = self.var_smoothing * float(seen.total.variance.max(initial=0.0))
        return mean, variance, more if (variance + more > 0).all() else more + 1.0

    def _joint(self, block: Block) -> np.ndarray:
        return self._of_all([self], block)[0]

    def _joints(self, models: Sequence[Self]) -> Callable[[Block], np.ndarray]:
        return partial(self._of_all, models)

    def _of_all(self, models: Sequence[Self], block: Block) -> np.ndarray:
        X = np.asarray(block.X, dtype=np.float64)
        prior = np.array([log_priors(one.class_prior_) for one in models])
        joint = np.empty((len(models), len(X), prior.shape[1]))
        for k, mean in enumerate(self.theta_):  # the means of all models
            variance = np.array([one.var_[k] for one in models])
            away = X - mean
            level = prior[:, k] - np.log(2 * np.pi * variance).sum(axis=1) / 2
            joint[:, :, k] = ((away * away) @ (-0.5 / variance).T + level).T
        return joint

    def _statistic_numbers(self, p: int, k: int) -> int:
        return 2 * k * p

    def _prove(self, problem: StatisticProblem) -> list[Claim]:
        seen = problem.statistic
        if not self._same_classes(problem):
            return [Claim("the classes are those of the rows", np.inf, 0.0)]
        mean, variance, more = self._estimates(seen)
        size = np.abs(mean) + np.sqrt(variance)
        # Means of columns are added mean by mean; a thousand additions are allowed for.
        rounding = 4096 * EPS
        spread = np.sqrt(self.var_) + rounding / MOST_ERROR * size
        blur = rounding * (variance + rounding * size**2 + np.sqrt(variance) * size + more)
        slip, lost = self._doubt(seen)
        far = np.abs(self.theta_ - mean), np.abs(self.var_ - (variance + more))
        error = max(((far[0] + slip) / spread).max(), ((far[1] + lost) / spread**2).max())
        # What the sums of the fit had lost by then, if it is little, is no fault of the numbers that were made of them.
        slip, lost = np.minimum(self._doubt(self.statistic_), MOST_ERROR * np.array([spread, spread**2]))
        off = np.abs(self.class_prior_ - self._shares(seen, self.priors)).max()
        count = np.abs(self.class_count_ - seen.weights) / seen.weights
        return [
            Claim("class_prior_ are the shares of the classes, or those given", float(off), 64 * EPS),
            Claim("class_count_ is the weight of the classes (relative)", float(count.max()), rounding),
            Claim("theta_ are the means, but for rounding", beyond(far[0], rounding * size + slip), 0.0),
            Claim("var_ are the variances and epsilon_, but for rounding", beyond(far[1], blur + lost), 0.0),
            Claim(
                "epsilon_ is the share of the largest variance",
                (abs(self.epsilon_ - more) + self._lost_of_all(seen)) / max(more, TINY),
                rounding + min(self._lost_of_all(self.statistic_) / max(more, TINY), MOST_ERROR),
            ),
            Claim("error of means and variances, relative to the spread, at most", float(error), MOST_ERROR),
        ]

    def _doubt(self, seen: ByClass) -> tuple[np.ndarray, np.ndarray]:
        """Bound what rounding did to means and to ``var_``, each of shape (n_classes, p): much, where large rows were forgotten."""
        lost = np.array([part.lost / part.weight for part in seen])
        return np.array([part.slip for part in seen]), lost + self._lost_of_all(seen)

    def _lost_of_all(self, seen: ByClass) -> float:
        """Bound what rounding did to ``epsilon_``."""
        return self.var_smoothing * float((seen.total.lost / seen.total.weight).max(initial=0.0))
