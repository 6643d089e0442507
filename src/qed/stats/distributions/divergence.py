r"""Entropy, cross-entropy and the divergence of Kullback and Leibler.

.. math:: H(P) = -\sum_v P_v \ln P_v, \qquad H(P, Q) = -\sum_v P_v \ln Q_v, \qquad
          D(P \,\|\, Q) = \sum_v P_v \ln \frac{P_v}{Q_v} = H(P, Q) - H(P) \ge 0,

with :math:`0 \ln 0 = 0`. The divergence is zero only where both are the same, it is not symmetric, and it is no distance: it breaks the
triangle inequality. What a classifier pays in cross-entropy beyond the entropy of the labels is its divergence from the truth.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import rel_entr, xlogy

from qed.base.errors import InputError


def entropy(p: ArrayLike) -> np.ndarray:
    """Give the entropy of distributions, in nats.

    Parameters
    ----------
    p : array-like of shape (..., k)
        Probabilities that sum to one along the last axis.

    Examples
    --------
    >>> float(entropy([0.5, 0.5]).round(6))
    0.693147
    """
    p = _distribution("p", p)
    return np.asarray(-xlogy(p, p).sum(axis=-1))


def cross_entropy(p: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Give the cross-entropy of distributions, in nats; infinite where q rules out what p does not.

    Parameters
    ----------
    p, q : array-like of shape (..., k)
        Probabilities that sum to one along the last axis.

    Examples
    --------
    >>> float(cross_entropy([0.5, 0.5], [0.9, 0.1]).round(6))
    1.203973
    """
    p, q = _distribution("p", p), _distribution("q", q)
    with np.errstate(divide="ignore"):
        return np.asarray(-xlogy(p, q).sum(axis=-1))


def kl_divergence(p: ArrayLike, q: ArrayLike) -> np.ndarray:
    """Give the divergence of q from p, in nats; infinite where q rules out what p does not.

    Parameters
    ----------
    p, q : array-like of shape (..., k)
        Probabilities that sum to one along the last axis.

    Examples
    --------
    >>> float(kl_divergence([0.5, 0.5], [0.9, 0.1]).round(10))
    0.5108256238
    """
    p, q = _distribution("p", p), _distribution("q", q)
    return np.asarray(np.maximum(rel_entr(p, q).sum(axis=-1), 0.0))


def _distribution(name: str, p: ArrayLike) -> np.ndarray:
    p = np.asarray(p, dtype=np.float64)
    if p.ndim == 0 or not (p >= 0).all() or not (np.abs(p.sum(axis=-1) - 1) <= 1e-9).all():
        raise InputError(f"{name} must hold probabilities that sum to one along the last axis.")
    return p
