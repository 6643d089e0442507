"""Rows whose classes have exactly the means and covariances that an example of the course asks for."""

import numpy as np


def with_moments(means, covariances, weights):
    """Give rows, labels "A", "B", ... and weights: a class has 2p rows, its mean plus and minus the columns of a root."""
    X, y, w = [], [], []
    for k, (mean, covariance, weight) in enumerate(zip(means, covariances, weights)):
        p = len(mean)
        root = np.linalg.cholesky(np.asarray(covariance, float)) * np.sqrt(p)
        X += [np.asarray(mean, float) + side * root[:, j] for j in range(p) for side in (1, -1)]
        y += ["ABCDEF"[k]] * (2 * p)
        w += [weight / (2 * p)] * (2 * p)
    return np.array(X), np.array(y), np.array(w)
