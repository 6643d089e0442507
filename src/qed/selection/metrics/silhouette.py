r"""How clearly rows belong to one cluster and to no other, by their distances from the centres.

.. math:: s_i = \frac{b_i - a_i}{\max(a_i, b_i)},

with :math:`a_i` the distance of row :math:`i` from its own centre and :math:`b_i` that from the next nearest: one for a row at its
centre, zero for a row half-way between two. The mean over rows that were held out compares numbers of clusters, which the
objective of k-means can not do, since it falls with every further centre. Cost :math:`O(nkp)`, against :math:`O(n^2p)` for the
silhouette over all pairs of rows, which it approximates.

Hruschka, de Castro and Campello (2004), Evolutionary algorithms for clustering gene-expression data (the simplified silhouette).
"""

from typing import Any

import numpy as np


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
