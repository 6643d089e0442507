"""Labels drawn from the models that logistic and softmax regression suppose."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from qed.base.random import Seed
from qed.data.synthetic.designs import correlated, informative
from qed.data.synthetic.parameters import array, generator, number, whole


def logistic(
    n: int,
    p: int,
    *,
    coef: Any = None,
    intercept: float = 0.0,
    signal: float = 2.0,
    rho: float = 0.0,
    n_informative: int | None = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw two classes from a logistic model: P(y = 1 | x) = 1 / (1 + exp(-x'w - intercept)).

    Rows of X are N(0, S) with S_ij = rho^|i-j|. By default w has `n_informative` entries, at random
    columns, that are N(0, signal² / n_informative), so that x'w has a standard deviation of about `signal`.

    Parameters
    ----------
    n, p : int
        Numbers of rows and columns.
    coef : array_like of shape (p,), optional
        The w to use instead.
    intercept : float, default=0.0
        Shifts the balance of the classes.
    signal : float, default=2.0
        How sure the labels are; 0 makes them a coin toss.
    rho : float, default=0.0
        Correlation of neighbouring columns.
    n_informative : int, optional
        How many columns matter; all by default.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef``, ``intercept`` and ``probability``, that of class 1 for each row.

    Returns
    -------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,), int64
        And the truth when asked for.

    Examples
    --------
    >>> X, y, truth = logistic(1000, 3, random_state=0, return_truth=True)
    >>> bool(abs(y.mean() - truth["probability"].mean()) < 0.05)
    True
    """
    random = generator(random_state)
    X = correlated(n, p, rho, random)
    weights = _weights(1, p, signal, n_informative, random)[0] if coef is None else array("coef", coef, (p,))
    probability = expit(X @ weights + number("intercept", intercept))
    y = (random.random(n) < probability).astype(np.int64)
    truth = {"coef": weights, "intercept": float(intercept), "probability": probability}
    return (X, y, truth) if return_truth else (X, y)


def softmax_classes(
    n: int,
    p: int,
    *,
    n_classes: int = 3,
    coef: Any = None,
    intercept: Any = None,
    signal: float = 2.0,
    rho: float = 0.0,
    n_informative: int | None = None,
    random_state: Seed = None,
    return_truth: bool = False,
) -> tuple[Any, ...]:
    """Draw classes from a softmax model: P(y = k | x) proportional to exp(x'w_k + intercept_k).

    Rows of X are N(0, S) with S_ij = rho^|i-j|. By default each w_k has `n_informative` entries, at the same random columns for all
    classes, that are N(0, signal² / n_informative).

    Parameters
    ----------
    n, p : int
        Numbers of rows and columns.
    n_classes : int, default=3
        Number of classes.
    coef : array_like of shape (n_classes, p), optional
        The w_k to use instead.
    intercept : array_like of shape (n_classes,), optional
        Zero by default.
    signal : float, default=2.0
        How sure the labels are; 0 makes them a coin toss.
    rho : float, default=0.0
        Correlation of neighbouring columns.
    n_informative : int, optional
        How many columns matter; all by default.
    random_state : int, Generator or None
        Seed.
    return_truth : bool, default=False
        Also give ``coef``, ``intercept`` and ``probability``, a row of class probabilities for each row.

    Returns
    -------
    X : ndarray of shape (n, p)
    y : ndarray of shape (n,), int64
        And the truth when asked for.

    Examples
    --------
    >>> X, y, truth = softmax_classes(500, 4, n_classes=3, random_state=0, return_truth=True)
    >>> truth["coef"].shape, truth["probability"].shape
    ((3, 4), (500, 3))
    """
    random, n_classes = generator(random_state), whole("n_classes", n_classes, least=2)
    X = correlated(n, p, rho, random)
    if coef is None:
        weights = _weights(n_classes, p, signal, n_informative, random)
    else:
        weights = array("coef", coef, (n_classes, p))
    shifts = np.zeros(n_classes) if intercept is None else array("intercept", intercept, (n_classes,))
    scores = X @ weights.T + shifts
    # the largest of scores with Gumbel noise is class k with its softmax probability
    y = (scores + random.gumbel(size=scores.shape)).argmax(axis=1)
    truth = {"coef": weights, "intercept": shifts, "probability": softmax(scores, axis=1)}
    return (X, y, truth) if return_truth else (X, y)


def _weights(
    n_classes: int, p: int, signal: float, n_informative: int | None, random: np.random.Generator
) -> np.ndarray:
    chosen = informative(p, n_informative, random)
    scale = number("signal", signal, least=0) / np.sqrt(max(chosen.sum(), 1.0))
    return random.normal(0.0, scale, (n_classes, p)) * chosen
