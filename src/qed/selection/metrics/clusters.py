r"""How good a grouping of rows is: by itself, and against another one.

The *silhouette* of a row compares its mean distance :math:`a` from the rows of its own cluster with that from the rows of the next
nearest cluster, :math:`b`: :math:`s = (b - a) / \max(a, b)`, zero for a row that is alone in its cluster. It needs all distances, taken
block by block: :math:`O(n^2 p)` time, :math:`O(nk)` memory; :func:`qed.centre_silhouette` is the cheap relative. The *adjusted Rand index*
counts the pairs of rows that two groupings agree on, corrected for chance: one for equal groupings (whatever the clusters are called),
about zero for unrelated ones.

Rousseeuw (1987), Silhouettes; Hubert and Arabie (1985), Comparing partitions.
"""

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError, ParameterError
from qed.base.random import Seed, generator, seed_of
from qed.base.sources.block import as_dense
from qed.selection.inputs import Floats, same_length
from qed.selection.inputs import labels as as_labels

BLOCK_CELLS = 1 << 22


def adjusted_rand_score(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Give the agreement of two groupings over pairs of rows, corrected for chance.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n,)
        The cluster of each row, in two groupings.

    Examples
    --------
    >>> adjusted_rand_score([0, 0, 1, 1], ["b", "b", "a", "a"]), adjusted_rand_score([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, -0.5)
    """
    true, other = as_labels(labels_true, "labels_true"), as_labels(labels_pred, "labels_pred")
    same_length(true, other, "labels_pred")
    rows, columns = (np.unique(one, return_inverse=True)[1] for one in (true, other))
    _, together = np.unique(rows * (int(columns.max()) + 1) + columns, return_counts=True)
    # Whole numbers of Python do not overflow.
    both, first, second = (
        sum(n * (n - 1) // 2 for n in counts.tolist()) for counts in (together, np.bincount(rows), np.bincount(columns))
    )
    pairs = len(true) * (len(true) - 1) // 2
    if first == second == both:
        return 1.0
    return 2 * (both * pairs - first * second) / ((first + second) * pairs - 2 * first * second)


def silhouette_samples(X: object, labels: ArrayLike, *, metric: str = "euclidean") -> Floats:
    """Give the silhouette of every row.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p), or (n, n) for "precomputed"
        The rows, or all their distances.
    labels : array-like of shape (n,)
        The cluster of each row: at least two clusters, and fewer than rows.
    metric : {"euclidean", "precomputed"}
        What distance is.

    Examples
    --------
    >>> silhouette_samples([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]).round(3)
    array([0.905, 0.895, 0.895, 0.905])
    """
    table = _table(X, metric)
    given = as_labels(labels, "labels")
    same_length(given, table, "X")
    known, code = np.unique(given, return_inverse=True)
    if not 2 <= len(known) <= len(given) - 1:
        raise InputError(
            f"Number of labels is {len(known)}. Valid values are 2 to n_samples - 1 (inclusive): a silhouette compares clusters of rows."
        )
    sizes, member = np.bincount(code), np.eye(len(known))[code]
    found, n = np.empty(len(given)), len(given)
    squares = np.einsum("ij,ij->i", table, table)
    height = max(1, BLOCK_CELLS // n)
    for start in range(0, n, height):
        part = slice(start, min(start + height, n))
        distance = table[part] if metric == "precomputed" else _distances(table, squares, part)
        sums = distance @ member
        own, rows = code[part], np.arange(part.stop - start)
        inside = sums[rows, own] / np.maximum(sizes[own] - 1, 1)
        means = sums / sizes
        means[rows, own] = np.inf
        outside = means.min(axis=1)
        larger = np.maximum(inside, outside)
        share = np.divide(outside - inside, larger, out=np.zeros(len(rows)), where=larger > 0)
        found[part] = np.where(sizes[own] == 1, 0.0, share)
    return found


def silhouette_score(
    X: object,
    labels: ArrayLike,
    *,
    metric: str = "euclidean",
    sample_size: int | None = None,
    random_state: Seed = None,
) -> float:
    """Give the mean silhouette of all rows, or of a sample of them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n, p), or (n, n) for "precomputed"
        The rows, or all their distances.
    labels : array-like of shape (n,)
        The cluster of each row: at least two clusters, and fewer than rows.
    metric : {"euclidean", "precomputed"}
        What distance is.
    sample_size : int, optional
        How many rows to draw, and to compare with one another only.
    random_state : None, int or numpy generator
        The seed of the draw.

    Examples
    --------
    >>> round(silhouette_score([[0.0], [1.0], [10.0], [11.0]], [0, 0, 1, 1]), 3)
    0.9
    """
    if sample_size is not None:
        given = as_labels(labels, "labels")
        chosen = generator(seed_of(random_state), "silhouette").permutation(len(given))[:sample_size]
        labels, X = given[chosen], _table(X, metric)[chosen]
        X = X[:, chosen] if metric == "precomputed" else X
    return float(silhouette_samples(X, labels, metric=metric).mean())


def _table(X: object, metric: str) -> Floats:
    """Check rows or distances."""
    given = np.asarray(as_dense(X))
    table = given.astype(np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise InputError(f"X must be a table of finite numbers with a row for each label; its shape is {table.shape}.")
    if metric not in ("euclidean", "precomputed"):
        raise ParameterError(
            f"metric must be 'euclidean' or 'precomputed', not {metric!r}: give the distances themselves."
        )
    if metric == "precomputed":
        far = np.abs(np.diag(table)).max() if table.shape[0] == table.shape[1] else np.inf
        rounding = np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).eps
        if far > 100 * rounding * max(1.0, float(np.abs(table).max())):
            raise InputError(
                "The precomputed distance matrix is not square, or contains non-zero values on the diagonal: "
                "a row is at distance zero from itself."
            )
    # About their mean, so that rows far from the origin keep the digits of their distances.
    return table if metric == "precomputed" else table - table.mean(axis=0)


def _distances(table: Floats, squares: Floats, part: slice) -> Floats:
    """Give the distances of some rows from all, and exactly zero from themselves."""
    square = squares[part, None] - 2 * (table[part] @ table.T) + squares
    square[np.arange(part.stop - part.start), np.arange(part.start, part.stop)] = 0.0
    return np.sqrt(np.maximum(square, 0.0))
