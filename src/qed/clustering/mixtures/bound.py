r"""The bound behind EM: Jensen's inequality for the likelihood of what is only partly seen.

For a convex function :math:`f` the tangent at the mean lies below it, so :math:`f(\mathbb E X) \le \mathbb E f(X)`. With the logarithm,
which is concave, and any probabilities :math:`q_i(z)` of what is not seen,

.. math:: \ell(\theta) = \sum_i \log \sum_z q_i(z) \frac{p(x_i, z; \theta)}{q_i(z)}
          \ \ge\ F(q, \theta) = \sum_i \Bigl[ \sum_z q_i(z) \log p(x_i, z; \theta) + H(q_i) \Bigr], \qquad
          \ell(\theta) - F(q, \theta) = \sum_i D\bigl(q_i \,\|\, p(z \mid x_i; \theta)\bigr) \ge 0,

with equality where :math:`q_i` is the posterior. The first term of F is the *expected log-likelihood* of rows with labels: with
probabilities of zero and one it is that of the labels they stand for. Here `log_joint` has the logarithms of :math:`p(x_i, z; \theta)`, one
row for each row and a column for each value of z.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import xlogy

from qed.base.errors import InputError


def _table(name: str, values: Any) -> np.ndarray:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 2 or found.shape[1] == 0:
        raise InputError(
            f"{name} must have one row for each row and a column for each hidden value, not {found.shape}."
        )
    return found


def _weights(given: Any, n: int) -> np.ndarray:
    return np.ones(n) if given is None else np.asarray(given, dtype=np.float64)


def _distributions(q: Any, shape: tuple[int, ...]) -> np.ndarray:
    found = _table("q", q)
    if found.shape != shape:
        raise InputError(f"q has the shape {found.shape}, but log_joint has {shape}.")
    if not (found >= 0).all() or not np.allclose(found.sum(axis=1), 1.0, rtol=0, atol=1e-9):
        raise InputError("The rows of q must be probabilities: none below zero, and one in all.")
    return found


def log_likelihood(log_joint: Any, sample_weight: Any = None) -> float:
    """Give the log-likelihood of rows whose hidden values are summed over.

    Parameters
    ----------
    log_joint : array-like of shape (n, k)
        The logarithms of the joint densities.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Examples
    --------
    >>> round(log_likelihood(np.log([[0.1, 0.4], [0.25, 0.25]])), 6)
    -1.386294
    """
    logs = _table("log_joint", log_joint)
    top = logs.max(axis=1)
    with np.errstate(divide="ignore"):
        found = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return float((_weights(sample_weight, len(logs)) * found).sum())


def posterior(log_joint: Any) -> np.ndarray:
    """Give the probabilities of the hidden values of each row, of shape (n, k): the E step.

    Parameters
    ----------
    log_joint : array-like of shape (n, k)
        The logarithms of the joint densities.
    """
    logs = _table("log_joint", log_joint)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def expected_log_likelihood(log_joint: Any, q: Any, sample_weight: Any = None) -> float:
    """Give the expected log-likelihood of rows with labels, whose probabilities are `q`; 0 times the logarithm of 0 is 0.

    Parameters
    ----------
    log_joint : array-like of shape (n, k)
        The logarithms of the joint densities.
    q : array-like of shape (n, k)
        Probabilities of the hidden values of each row.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.
    """
    logs = _table("log_joint", log_joint)
    q = _distributions(q, logs.shape)
    with np.errstate(invalid="ignore"):
        each = np.where(q > 0, q * logs, 0.0).sum(axis=1)
    return float((_weights(sample_weight, len(logs)) * each).sum())


def lower_bound(log_joint: Any, q: Any, sample_weight: Any = None) -> float:
    """Give the bound F(q, theta) of the log-likelihood: the expected log-likelihood plus the entropies of `q`.

    Parameters
    ----------
    log_joint : array-like of shape (n, k)
        The logarithms of the joint densities.
    q : array-like of shape (n, k)
        Probabilities of the hidden values of each row.
    sample_weight : array-like of shape (n,), optional
        Weights of the rows.

    Examples
    --------
    >>> logs = np.log([[0.1, 0.4], [0.25, 0.25]])
    >>> round(log_likelihood(logs) - lower_bound(logs, posterior(logs)), 12)
    0.0
    >>> lower_bound(logs, [[1.0, 0.0], [0.5, 0.5]]) < log_likelihood(logs)
    True
    """
    logs = _table("log_joint", log_joint)
    q = _distributions(q, logs.shape)
    entropy = -xlogy(q, q).sum(axis=1)
    return expected_log_likelihood(logs, q, sample_weight) + float((_weights(sample_weight, len(q)) * entropy).sum())


def jensen_gap(function: Callable[[np.ndarray], Any], values: Any, probabilities: Any) -> float:
    """Give by how much the mean of a function exceeds the function of the mean: at least zero where it is convex.

    Parameters
    ----------
    function : callable
        Takes an array of numbers, gives as many.
    values : array-like of shape (k,)
        What a random number can be.
    probabilities : array-like of shape (k,)
        How likely that is.

    Examples
    --------
    >>> jensen_gap(np.square, [0.0, 2.0], [0.5, 0.5])
    1.0
    """
    numbers = np.asarray(values, dtype=np.float64)
    chances = _distributions(np.asarray(probabilities, dtype=np.float64)[None], (1, len(numbers)))[0]
    mean = float(chances @ numbers)
    at_mean = float(np.asarray(function(np.array([mean])))[0])
    return float(chances @ np.asarray(function(numbers), dtype=np.float64)) - at_mean
