r"""How clearly rows belong to one cluster and to no other, by their distances from the centres.

.. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)},

with :math:`a_i` the distance of row :math:`i` from its own centre and :math:`b_i` that from the next nearest: one for a row at its
centre, zero for a row half-way between two. The mean over rows that were held out compares numbers of clusters, which the
objective of k-means can not do, since it falls with every further centre. Cost :math:`O(nkp)`, against :math:`O(n^2p)` for the
silhouette over all pairs of rows, which it approximates. For clusters without centres there is `new_silhouettes`, which compares rows
that were held out with the rows of the fit.

Hruschka, de Castro and Campello (2004), Evolutionary algorithms for clustering gene-expression data (the simplified silhouette).
"""

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist


def centre_silhouette(model: Any, X: Any, y: Any = None) -> float:
    """Score a fitted clusterer on rows, greater being better: the mean of their simplified silhouettes.

    Parameters
    ----------
    model : fitted clusterer
        With ``transform`` giving the distances from its centres, as `qed.KMeans` has it.
    X : array-like, frame, path or Rows
        The rows.
    y : ignored
        So that this can be used where a scorer is wanted.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> round(centre_silhouette(qed.KMeans(2, random_state=0).fit(X), X), 3)
    0.95
    """
    distance = np.asarray(model.transform(X), dtype=np.float64)
    if distance.shape[1] < 2:
        return 0.0
    nearest, next_nearest = np.partition(distance, 1, axis=1)[:, :2].T
    apart = np.divide(next_nearest - nearest, next_nearest, out=np.zeros(len(distance)), where=next_nearest > 0)
    return float(apart.mean())


def new_silhouettes(X: np.ndarray, labels: np.ndarray, new: np.ndarray, new_labels: np.ndarray) -> np.ndarray:
    """Give the silhouettes of rows that were assigned to clusters of other rows.

    Of each new row :math:`a` is the mean distance from the rows `X` of its own cluster and :math:`b` that from the rows of the next nearest
    one. It is zero where its cluster has no row in `X`, or where there is one cluster only.

    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> new_silhouettes(X, np.array([0, 0, 1, 1]), np.array([[0.5], [8.0]]), np.array([0, 1])).round(3)
    array([0.95 , 0.667])
    """
    known, code = np.unique(labels, return_inverse=True)
    own = np.searchsorted(known, new_labels).clip(max=len(known) - 1)
    there = known[own] == new_labels
    if len(known) < 2:
        return np.zeros(len(new))
    means = cdist(new, X) @ np.eye(len(known))[code] / np.bincount(code)
    rows = np.arange(len(new))
    inside = means[rows, own]
    means[rows, own] = np.inf
    outside = means.min(axis=1)
    larger = np.maximum(inside, outside)
    share = np.divide(outside - inside, larger, out=np.zeros(len(new)), where=larger > 0)
    return np.where(there, share, 0.0)
