r"""Bias and variance of a learning method: what it gets wrong on average, and how much it depends on the training set.

For a training set :math:`\mathcal D` drawn at random and a test value :math:`Y = f(x) + Z` that is independent of it,

.. math:: \mathbb E\bigl[(h(x; \mathcal D) - Y)^2\bigr] =
   \underbrace{(\mathbb E h - f(x))^2}_{\text{bias}^2} + \underbrace{\operatorname{Var} h}_{\text{variance}} +
   \underbrace{\operatorname{Var} Z}_{\text{irreducible}}.

Where the truth :math:`f` is known, the method is fitted to many drawn training sets and the first two terms are measured at
given points; the identity :math:`\frac1T\sum_t (h_t - f)^2 = (\bar h - f)^2 + \operatorname{var}(h_t)` then holds exactly, and
is certified. On real data neither term can be known: training sets are drawn from the rows with replacement instead, and what is
called bias then contains the noise of the test values. T repetitions cost T fits, which run on all threads and do not depend on
their number.

Geman, Bienenstock and Doursat (1992), Neural networks and the bias/variance dilemma.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.certificate import Certificate, Claim
from qed.base.engine import work
from qed.base.errors import InputError
from qed.base.models.parameters import integer, number
from qed.base.numbers import TINY
from qed.base.random import Seed, generator, seed_of
from qed.base.visible import ShownAsText
from qed.plots.bias_variance import hypotheses
from qed.selection.searching.candidates import fresh

Draw = Callable[[np.random.Generator], tuple[Any, Any]]


@dataclass(frozen=True, eq=False, repr=False)
class BiasVariance(ShownAsText):
    """The decomposition of a method's squared error at given points.

    Attributes
    ----------
    predictions : ndarray of shape (T, m)
        What each of T fitted models said at the m points.
    truth : ndarray of shape (m,)
        The values without noise; the noisy test values where the truth is not known.
    noise_variance : float
        The variance of test values about the truth; zero where it is part of the bias.
    X : array-like
        The points.
    truth_known : bool
        Whether `truth` is free of noise.
    """

    predictions: np.ndarray
    truth: np.ndarray
    noise_variance: float
    X: Any
    truth_known: bool = True

    @property
    def mean_prediction(self) -> np.ndarray:
        """The average hypothesis, at each point."""
        return np.asarray(self.predictions.mean(axis=0))

    @property
    def bias_squared(self) -> np.ndarray:
        """The squared distance of the average hypothesis from the truth, at each point."""
        return np.asarray((self.mean_prediction - self.truth) ** 2)

    @property
    def variance(self) -> np.ndarray:
        """The variance of the hypotheses (divided by T), at each point."""
        return np.asarray(self.predictions.var(axis=0))

    @property
    def error(self) -> np.ndarray:
        """The expected squared error against fresh test values, at each point: the sum of the three terms."""
        return self.bias_squared + self.variance + self.noise_variance

    @property
    def standard_error(self) -> np.ndarray:
        """The Monte-Carlo standard error of the squared distance from the truth, at each point."""
        squared = (self.predictions - self.truth) ** 2
        return np.asarray(squared.std(axis=0) / np.sqrt(max(len(squared) - 1, 1)))

    @property
    def certificate(self) -> Certificate:
        """The proof that the measured squared distance from the truth is bias squared plus variance."""
        distance = ((self.predictions - self.truth) ** 2).mean(axis=0)
        scale = np.maximum((self.predictions**2).mean(axis=0) + self.truth**2, TINY)
        lost = np.abs(distance - self.bias_squared - self.variance) / scale
        return Certificate([Claim("squared distance from the truth = bias² + variance (relative)", lost.max(), 1e-12)])

    def summary(self) -> dict[str, float]:
        """Give the terms averaged over the points."""
        terms = {"bias_squared": self.bias_squared, "variance": self.variance, "error": self.error}
        return {name: float(values.mean()) for name, values in terms.items()} | {"noise": self.noise_variance}

    def plot(self, ax: Any = None) -> Any:
        """Draw the hypotheses, their average and the truth; only for points with one feature."""
        return hypotheses(self, ax)

    def __str__(self) -> str:
        means = self.summary()
        of = "" if self.truth_known else " and noise"
        noise = f" + noise {means['noise']:.4g}" if self.truth_known else ""
        return f"bias²{of} {means['bias_squared']:.4g} + variance {means['variance']:.4g}{noise} = {means['error']:.4g}"


def bias_variance(
    model: Any,
    draw: Draw,
    X: Any,
    truth: ArrayLike | Callable[[Any], ArrayLike],
    *,
    noise_variance: float = 0.0,
    repetitions: int = 200,
    random_state: Seed = 0,
) -> BiasVariance:
    """Decompose the error of a method on training sets that are drawn from a known truth.

    Parameters
    ----------
    model : estimator
        The method; it is not changed.
    draw : callable
        Takes a NumPy generator, gives a training set ``(X, y)``.
    X : array-like of shape (m, p)
        The points at which to measure.
    truth : array-like of shape (m,), or callable
        The values without noise at these points, or the function of X that gives them.
    noise_variance : float, default=0.0
        The variance of test values about the truth. It changes the third term and nothing else.
    repetitions : int, default=200
        How many training sets to draw.
    random_state : None, int or numpy generator, default=0
        The seed. Training set t depends on the seed and on t alone.

    Returns
    -------
    BiasVariance
        Bias, variance and their certificate.

    Examples
    --------
    >>> import qed
    >>> from qed.data.synthetic import line
    >>> grid = np.linspace(-1, 1, 21)[:, None]
    >>> found = bias_variance(
    ...     qed.LinearRegression(),
    ...     lambda random: line(10, random_state=random),
    ...     grid,
    ...     lambda X: 2 * X[:, 0] + 1,
    ...     noise_variance=0.25,
    ... )
    >>> bool(found.certificate), bool(found.summary()["bias_squared"] < 0.01 < found.summary()["variance"])
    (True, True)
    """
    values = np.asarray(truth(X) if callable(truth) else truth, dtype=np.float64)
    learn = partial(_hypothesis, model, draw, X)
    variance = float(number(0).checked("noise_variance", noise_variance))
    return BiasVariance(repeated(learn, values, repetitions, random_state), values, variance, X)


def bootstrap_bias_variance(
    model: Any, X: Any, y: Any, X_test: Any, y_test: Any, *, repetitions: int = 200, random_state: Seed = 0
) -> BiasVariance:
    """Decompose the error of a method on real data, with training sets drawn from the rows with replacement.

    The truth is not known, so the noise of `y_test` can not be told from the bias: their sum is what is called bias here. The
    variance is that of resampling, which stands for that of new training sets.

    Parameters
    ----------
    model : estimator
        The method; it is not changed.
    X, y : array-like of shape (n, p) and (n,)
        The rows to draw training sets from.
    X_test, y_test : array-like of shape (m, p) and (m,)
        Rows that were not used in fitting.
    repetitions : int, default=200
        How many training sets to draw.
    random_state : None, int or numpy generator, default=0
        The seed. Training set t depends on the seed and on t alone.

    Returns
    -------
    BiasVariance
        With ``truth_known`` False.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> found = bootstrap_bias_variance(qed.Ridge(), X[:300], y[:300], X[300:], y[300:], repetitions=20)
    >>> bool(found.summary()["variance"] < found.summary()["bias_squared"])
    True
    """
    X, y = np.asarray(X), np.asarray(y)
    if len(X) != len(y):
        raise InputError(f"X has {len(X)} rows, but y has {len(y)} values.")

    def draw(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chosen = random.integers(len(y), size=len(y))
        return X[chosen], y[chosen]

    values, learn = np.asarray(y_test, dtype=np.float64), partial(_hypothesis, model, draw, X_test)
    found = repeated(learn, values, repetitions, random_state, purpose="bootstrap")
    return BiasVariance(found, values, 0.0, X_test, truth_known=False)


def repeated(
    learn: Callable[[np.random.Generator], np.ndarray],
    truth: np.ndarray,
    repetitions: int,
    random_state: Seed,
    purpose: str = "bias-variance",
) -> np.ndarray:
    """Learn from many drawn training sets, and give what each hypothesis says at the points: shape (T, m).

    `learn` takes a generator that draws the training set, and gives the predictions at all points. The purpose keeps
    the draws apart from others of the same seed.
    """
    integer(2).checked("repetitions", repetitions)
    seed = seed_of(random_state)
    found = list(work(partial(learn, generator(seed, purpose, t)) for t in range(repetitions)))
    if found[0].shape != truth.shape or truth.ndim != 1:
        raise InputError(
            f"There are {truth.shape} true values, but the model gives predictions of shape {found[0].shape}: "
            "bias and variance are measured for one output, at points with one true value each."
        )
    return np.stack(found)


def _hypothesis(model: Any, draw: Draw, X: Any, random: np.random.Generator) -> np.ndarray:
    """Fit the method to one training set and ask it about all points."""
    return np.asarray(fresh(model).fit(*draw(random)).predict(X), dtype=np.float64)
