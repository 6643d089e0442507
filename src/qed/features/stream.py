"""Rows with other columns: what a transformer makes of each block, made when the block is read.

``changed(transformer, rows)`` is the lazy twin of ``transformer.transform(X)``. Nothing is computed until a model folds
over it, and then block by block, so an encoder and the model behind it together read a file that is larger than memory,
or the partitions of a cluster.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qed.base.models.checks import complete
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows


def with_columns(
    source: Rows,
    make: Callable[[Block], Any],
    names: Sequence[Any] | None = None,
    *,
    count: int | None = None,
    dtype: Any = None,
    sparse: bool = False,
) -> Rows:
    """Give rows with the target and weights of `source`, and features made by a function of each block.

    The new columns have names, or there is only a `count` of them; their dtype is that of the source where it is not
    given.

    >>> import numpy as np
    >>> import qed
    >>> with_columns(qed.rows(np.eye(2)), lambda block: block.X + 1, ["a", "b"]).array().X.tolist()
    [[2.0, 1.0], [1.0, 2.0]]
    """
    number = source.n_features if count is None else count
    kind = source.dtype if dtype is None else np.dtype(dtype)
    facts: dict[str, Any] = {"n_features": number, "feature_names": names, "dtype": kind, "is_sparse": sparse}
    return source.through(_with_features, make, **facts)


def _with_features(block: Block, make: Callable[[Block], Any]) -> Block:
    return replace(block, X=make(block))


def changed(transformer: Any, X: Any) -> Rows:
    """Give the rows of `X` as a fitted transformer changes them, without making them all at once.

    A target and weights that they know stay with them.

    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> squares = qed.PolynomialFeatures(2, include_bias=False).fit(X)
    >>> data = changed(squares, qed.rows(X, [1.0, 4.0, 9.0]))
    >>> data.feature_names, data.array().X[-1].tolist()
    (('x0', 'x0^2'), [3.0, 9.0])
    """
    transformer._check_fitted()
    source = complete(transformer._open(X, reset=False), transformer, once=True)
    sparse = transformer._makes_sparse(source)
    dtype = getattr(transformer, "dtype", None)
    return with_columns(source, transformer._change, transformer.get_feature_names_out(), dtype=dtype, sparse=sparse)


def first_block(rows: Rows) -> Block:
    """Give the first block, without reading many more."""
    blocks = rows.blocks()
    found = next(iter(blocks))
    blocks.close()  # type: ignore[attr-defined]
    return found
