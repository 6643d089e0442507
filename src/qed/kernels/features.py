"""Rows as the explicit features of a kernel that has some, made block by block and never all at once."""

from dataclasses import replace

import numpy as np

from qed.base.sources.block import Block, is_sparse
from qed.base.sources.rows import Rows
from qed.kernels.inputs import as_csr, as_double
from qed.kernels.kernel import Kernel


def feature_rows(source: Rows, kernel: Kernel) -> Rows:
    """Give rows whose columns are the explicit features of a kernel.

    >>> from qed.base.sources.open import rows
    >>> from qed.kernels import Polynomial
    >>> feature_rows(rows(np.array([[2.0]])), Polynomial(2)).array().X.round(4)
    array([[1.    , 2.8284, 4.    ]])
    """
    one = np.ones((1, source.n_features))
    made = kernel.features(as_csr(one) if source.is_sparse else one)
    return source.through(
        features_of,
        kernel,
        n_features=made.shape[1],
        feature_names=None,
        dtype=np.dtype(np.float64),
        is_sparse=is_sparse(made),
    )


def features_of(block: Block, kernel: Kernel) -> Block:
    """Make the features of a block. Rows of weight zero may hold anything, so another row stands in for them."""
    present, X = block.weights > 0, block.X
    if not present.any():
        X = as_csr(np.ones(X.shape)) if is_sparse(X) else np.ones(X.shape)
    elif not present.all():
        X = X[np.where(present, np.arange(len(block)), present.argmax())]
    return replace(block, X=kernel.features(as_double(X)))
