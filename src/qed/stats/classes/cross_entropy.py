r"""The cross-entropy of rows of scores, :math:`\ell = \log \sum_k e^{s_k} - s_y`, and what follows from the chances of a row.

The chances are :math:`p_k = e^{s_k} / \sum_j e^{s_j}`, the slope :math:`p - e_y`, and the Hessian in the scores
:math:`\operatorname{diag}(p) - p p^\top`.
"""

import numpy as np
from scipy.special import rel_entr


def cross_entropy(scores: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give loss, probabilities and residuals (probabilities less one for the class seen) of rows of scores.

    Nothing overflows, and what is small keeps its digits: the loss and the residual of a row that is nearly certain are sums
    over the other classes, not differences from one.

    >>> loss, probability, residual = cross_entropy(np.array([[0.0, 0.0], [0.0, 1000.0]]), np.array([1, 0]))
    >>> loss / [np.log(2), 1000]
    array([1., 1.])
    >>> residual
    array([[ 0.5, -0.5],
           [-1. ,  1. ]])
    """
    rows = np.arange(len(scores))
    above = scores - scores[rows, codes][:, None]
    top = above.max(axis=1)
    share = np.exp(above - top[:, None])
    own = share[rows, codes]
    share[rows, codes] = 0.0
    others = share.sum(axis=1)
    loss = top + np.log1p(others + np.expm1(-top))
    residual = share / (others + own)[:, None]
    probability = residual.copy()
    probability[rows, codes] = own / (others + own)
    residual[rows, codes] = -others / (others + own)
    return loss, probability, residual


def others(chance: np.ndarray) -> np.ndarray:
    """Give the chance of all other classes, for each class of each row; no digits are lost where one is nearly certain.

    Examples
    --------
    >>> others(np.array([[1.0, 1e-30]]))
    array([[1.e-30, 1.e+00]])
    """
    found = 1.0 - chance
    top, rows = chance.argmax(axis=1), np.arange(len(chance))
    rest = chance.copy()
    rest[rows, top] = 0.0
    found[rows, top] = rest.sum(axis=1)
    return np.asarray(found)


def moved(chance: np.ndarray, change: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Give the weighted product of each row's Hessian in the scores with a change of the scores."""
    found = change - np.einsum("ij,ij->i", chance, change)[:, None]
    found *= chance
    found *= weight[:, None]
    return np.asarray(found)


def flattest(chance: np.ndarray) -> np.ndarray:
    """Bound the least eigenvalue of each row's Hessian, but for that of adding the same to all scores."""
    return np.asarray(chance.prod(axis=1) if chance.shape[1] == 2 else chance.min(axis=1))


def leads(scores: np.ndarray, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give the lead of each row's own class over the best and over the worst of the others."""
    rows = np.arange(len(scores))
    lead = scores[rows, codes][:, None] - scores
    most = lead.max(axis=1)
    lead[rows, codes] = np.inf
    return lead.min(axis=1), most


def divergence(chance: np.ndarray, change: np.ndarray) -> np.ndarray:
    """Give the terms of the Kullback-Leibler divergence of chances that were changed from the chances as they were.

    Examples
    --------
    >>> float(divergence(np.array([[0.5, 0.5]]), np.array([[0.5, -0.5]])).sum() / np.log(2))
    1.0
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        # Small changes would be lost in a difference of logarithms.
        part = np.where(chance > 0, change / chance, np.inf)
        near = np.where(np.abs(part) < 1e-3, chance * (part**2 / 2 - part**3 / 6 + part**4 / 12), 0.0)
        far = rel_entr(np.maximum(chance + change, 0.0), chance) - change
    return np.asarray(np.where(np.abs(part) < 1e-3, near, np.where(change == 0, 0.0, far)))
