"""Clusters as clouds of points, seen from the direction in which the rows differ most.

The rows are projected on the two directions of largest variance, the leading eigenvectors of their covariance, and coloured by cluster.
"""

from typing import Any

import numpy as np

from qed.plots import given
from qed.plots.given import numbers
from qed.plots.style import HUES, INK, Axes, axes, plain, some


def clusters(X: Any, labels: Any, centers: Any = None, ax: Axes | None = None) -> Axes:
    """Draw rows on their first two principal directions, coloured by cluster.

    Parameters
    ----------
    X : array-like of shape (n, p)
        The rows.
    labels : array-like of shape (n,)
        The cluster of each row.
    centers : array-like of shape (k, p), optional
        The centres, drawn as crosses.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> ax = clusters([[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]], [0, 0, 1, 1])
    >>> ax.get_xlabel()
    'first direction (96 % of the variance)'
    """
    X = numbers(X, "Rows", ndim=2)
    labels = given.labels(labels, len(X))
    ax = axes(ax)
    middle = X.mean(axis=0)
    value, vector = np.linalg.eigh((X - middle).T @ (X - middle))
    plane = vector[:, ::-1][:, :2] * np.where(vector[:, ::-1][:, :2].sum(axis=0) < 0, -1.0, 1.0)
    share = value[::-1][:2] / max(float(value.sum()), 1e-300)
    chosen = some(len(X))
    place = (X[chosen] - middle) @ plane
    place = np.column_stack([place, np.zeros(len(place))])[:, :2]
    for number, label in enumerate(np.unique(labels)):
        mine = labels[chosen] == label
        color = HUES[number % len(HUES)]
        ax.plot(*place[mine].T, "o", color=color, alpha=0.55, markersize=4, markeredgewidth=0, label=plain(label))
    if centers is not None and plane.shape[1] == 2:
        ax.plot(*((np.asarray(centers, dtype=float) - middle) @ plane).T, "x", color=INK, markersize=8)
    ax.set_xlabel(f"first direction ({100 * share[0]:.0f} % of the variance)")
    if len(share) > 1:
        ax.set_ylabel(f"second direction ({100 * share[1]:.0f} %)")
    ax.set_title("Clusters", loc="left")
    ax.legend(loc="best", fontsize=9, title="cluster")
    return ax
