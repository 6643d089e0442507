r"""The best approximation of a matrix by one of low rank.

.. math:: A = \sum_i \sigma_i u_i v_i^\top, \qquad A_k = \sum_{i \le k} \sigma_i u_i v_i^\top, \qquad
   \|A - A_k\|_F^2 = \sum_{i > k} \sigma_i^2, \qquad \|A - A_k\|_2 = \sigma_{k+1}.

No matrix of rank k or less is nearer to A, in the Frobenius norm or in any other that rotations do not change. One singular value
decomposition, :math:`O(nm \min(n, m))`.

Eckart and Young (1936), The approximation of one matrix by another of lower rank; Mirsky (1960) for the other norms.
"""

from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import integer


def low_rank(A: Any, rank: int) -> np.ndarray:
    """Give the matrix of at most this rank that is nearest to `A`.

    Parameters
    ----------
    A : array-like of shape (n, m)
        The matrix.
    rank : int
        The rank that is allowed; zero gives zeros, and more than the rank of `A` gives `A`.

    Returns
    -------
    ndarray of shape (n, m)
        The nearest matrix; where two singular values are equal it is not the only one.

    Examples
    --------
    >>> low_rank([[3.0, 0.0], [0.0, 1.0]], 1)
    array([[3., 0.],
           [0., 0.]])
    """
    values = np.asarray(A, dtype=np.float64)
    if values.ndim != 2 or not np.isfinite(values).all():
        raise InputError(f"low_rank needs a matrix of finite numbers; this has shape {values.shape} or holds others.")
    integer(0).checked("rank", rank)
    left, size, right = np.linalg.svd(values, full_matrices=False)
    return (left[:, :rank] * size[:rank]) @ right[:rank]
