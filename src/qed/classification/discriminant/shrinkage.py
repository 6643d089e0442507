r"""Covariances of few rows, drawn towards a multiple of the identity.

.. math:: \Sigma_s = (1 - s)\,\Sigma + s\,\frac{\operatorname{tr}\Sigma}{p}\, I .

A sample covariance of few rows has eigenvalues that are too large and too small, and none of use where there are fewer rows than
columns. Ledoit and Wolf (2004) estimate the share :math:`s` with the least expected squared error,

.. math:: s = \min\Bigl(1, \frac{\beta}{\delta}\Bigr), \qquad
          \beta = \frac1{np} \Bigl( \frac1n \sum_i \|z_i\|^4 - \|\Sigma\|_F^2 \Bigr), \qquad
          \delta = \frac1p \Bigl\| \Sigma - \frac{\operatorname{tr}\Sigma}{p} I \Bigr\|_F^2,

for columns :math:`z` of mean zero, here also of variance one so that units do not matter. It needs one pass more, for the fourth powers.

Ledoit and Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices.
"""

from __future__ import annotations

import numpy as np

from qed.base.sources.block import Block


def shrunk(covariance: np.ndarray, share: float) -> np.ndarray:
    """Draw a covariance towards a multiple of the identity.

    >>> shrunk(np.diag([1.0, 3.0]), 0.5)
    array([[1.5, 0. ],
           [0. , 2.5]])
    """
    found = (1 - share) * covariance
    found.flat[:: len(covariance) + 1] += share * float(covariance.trace()) / max(len(covariance), 1)
    return found


def fourth_powers(block: Block, classes: np.ndarray, means: np.ndarray, scales: np.ndarray) -> np.ndarray:
    """Add up the fourth powers of the rows' lengths, class by class, in units of each class's columns; of shape (n_classes,).

    The target of the block holds labels; means and scales are of shape (n_classes, p).
    """
    found = np.zeros(len(classes))
    labels = np.asarray(block.y)
    for k, label in enumerate(classes.tolist()):
        mine = block.take(labels == label)
        z = (np.asarray(mine.X, dtype=np.float64) - means[k]) / scales[k]
        found[k] = mine.weights @ (z**2).sum(axis=1) ** 2
    return found


def best_share(correlation: np.ndarray, quartic: float, weight: float) -> float:
    """Estimate the share with the least squared error, from the covariance of standardised columns and the sum of fourth powers."""
    p = len(correlation)
    level = float(np.trace(correlation)) / p
    far = float(((correlation - level * np.eye(p)) ** 2).sum()) / p
    blur = (quartic / weight - float((correlation**2).sum())) / (weight * p)
    return float(np.clip(blur / far, 0.0, 1.0)) if far > 0 else 0.0
