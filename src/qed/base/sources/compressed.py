"""Sparse matrices as they come in: checked, and in the one form that kernels read.

SciPy trusts the index arrays that a matrix is made of, and so do compiled loops: a column that does not exist is read from, or written to,
memory that belongs to others. So the indices are looked at before anything is done with them, which takes a fraction of one product.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from qed.base.errors import InputError


def sound(X: Any) -> Any:
    """Give a sparse matrix of two axes as CSR, every place stored once; or say that its indices make no sense.

    Examples
    --------
    >>> from scipy import sparse
    >>> twice = sparse.csr_array((np.ones(2), np.array([1, 1]), np.array([0, 2])), shape=(1, 2))
    >>> sound(twice).data
    array([2.])
    """
    given = getattr(X, "format", "")
    if given in ("csr", "csc", "bsr"):
        _check_compressed(X)
    elif given == "coo":
        for axis, places in enumerate((X.row, X.col)):
            _check_range(places, X.shape[axis], len(X.data) == len(places))
    packed = X if given == "csr" else X.tocsr()
    if given not in ("csr", "csc", "bsr", "coo"):
        _check_compressed(packed)
    if _is_canonical(packed.indices, packed.indptr):
        return packed
    # Flags of the matrix itself may be older than its arrays.
    single = type(packed)((packed.data, packed.indices, packed.indptr), shape=packed.shape, copy=True)
    single.sum_duplicates()
    return single


def _is_canonical(indices: np.ndarray, starts: np.ndarray) -> bool:
    """Say whether the columns of every row rise, so that none is stored twice."""
    rising = indices[1:] > indices[:-1]
    first = starts[1:-1] - 1
    rising[first[(first >= 0) & (first < len(rising))]] = True
    return bool(rising.all())


def _check_compressed(X: Any) -> None:
    height, width = (X.shape[0], X.shape[1]) if X.format != "csc" else (X.shape[1], X.shape[0])
    if X.format == "bsr":
        height, width = height // X.blocksize[0], width // X.blocksize[1]
    starts = X.indptr
    ordered = len(starts) == height + 1 and starts[0] == 0 and bool((starts[1:] >= starts[:-1]).all())
    _check_range(X.indices, width, ordered and starts[-1] == len(X.indices) == len(X.data))


def _check_range(places: np.ndarray, size: int, fits: bool) -> None:
    # Without a sign, what is negative is very large.
    if not fits or (len(places) and int(places.view(f"u{places.dtype.itemsize}").max()) >= size):
        raise InputError(
            "The sparse matrix is damaged: its index arrays do not fit its shape. Make it anew from rows, columns and values."
        )
