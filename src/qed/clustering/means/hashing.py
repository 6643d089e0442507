"""A hash of each row's values: an order of the rows that does not depend on where they stand.

The hash is the sum, over the values that are not zero, of the mixed bits of value and column, mixed once more with a salt. Values are
rounded to single precision first. So a sparse row has the hash of the dense one, and a copy in float32 has the same order.
"""

from typing import Any

import numpy as np

from qed.base.compile import kernel
from qed.base.sources.block import is_sparse
from qed.clustering.means.distances import FEW, stored

HALF_A_UNIT, IN_SINGLE = np.uint64(1 << 28), np.uint64(0xFFFFFFFFE0000000)
FIRST, SECOND, STEP = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB), np.uint64(0x9E3779B97F4A7C15)


def hashes(X: Any, salt: np.uint64) -> np.ndarray:
    """Give a hash of each row, which zeros do not enter: a sparse row has the hash of the dense one.

    Values are rounded to single precision, so a copy in float32 is drawn from alike.
    """
    keys = np.zeros(X.shape[0], dtype=np.uint64)
    if is_sparse(X):
        data, indices, indptr = stored(X)
        hash_sparse(data.astype(np.float64), indices, indptr, salt, keys)
    elif X.size <= FEW:
        bits = (np.ascontiguousarray(X, np.float64) + 0.0).view(np.uint64) + HALF_A_UNIT & IN_SINGLE
        columns = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * STEP
        mixed = (bits ^ columns) * FIRST
        mixed = (mixed ^ (mixed >> np.uint64(31))) * SECOND
        keys[:] = np.where(bits == 0, np.uint64(0), mixed ^ (mixed >> np.uint64(29))).sum(axis=1, dtype=np.uint64)
        keys = (keys ^ salt) * FIRST
        keys = (keys ^ (keys >> np.uint64(31))) * SECOND
        keys ^= keys >> np.uint64(29)
    else:
        row = np.empty(X.shape[1])
        hash_dense(np.ascontiguousarray(X), salt, row, row.view(np.uint64), keys)
    return keys


@kernel
def mixed(bits: np.uint64) -> np.uint64:
    """Mix the bits of a number, by multiplying and folding (SplitMix64)."""
    bits *= FIRST
    bits = (bits ^ (bits >> np.uint64(31))) * SECOND
    return bits ^ (bits >> np.uint64(29))


@kernel
def hash_dense(X: np.ndarray, salt: np.uint64, row: np.ndarray, bits: np.ndarray, keys: np.ndarray) -> None:
    """Set the hash of each dense row: the sum over its values of the mixed bits of value and column.

    `row` is room for one, of which `bits` are the bits: no array is made here, since that would have to be compiled too.
    """
    for i in range(len(X)):
        for j in range(len(row)):
            row[j] = X[i, j] + 0.0
        key = np.uint64(0)
        for j in range(len(row)):
            single = (bits[j] + HALF_A_UNIT) & IN_SINGLE
            if single != 0:
                key += mixed(single ^ (np.uint64(j + 1) * STEP))
        keys[i] = mixed(key ^ salt)


@kernel
def hash_sparse(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, salt: np.uint64, keys: np.ndarray) -> None:
    """Set the hash of each sparse row."""
    bits = data.view(np.uint64)
    for i in range(len(keys)):
        key = np.uint64(0)
        for place in range(indptr[i], indptr[i + 1]):
            if data[place] != 0.0:
                single = (bits[place] + HALF_A_UNIT) & IN_SINGLE
                if single != 0:
                    key += mixed(single ^ (np.uint64(indices[place] + 1) * STEP))
        keys[i] = mixed(key ^ salt)
