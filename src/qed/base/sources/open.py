"""``qed.rows``: any source of data as `Rows`, the one door through which data come in.

Arrays, sparse matrices and frames are taken without copying where their type allows it; files are streamed; the partitions of a Dask
collection stay where they are. ``fit(X, y)`` comes through this door as well, so a source gives the same model, or the same refusal,
whether it is opened by hand or by a model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.sources.cluster import open_dask
from qed.base.sources.files import open_files
from qed.base.sources.formats.dialect import Dialect
from qed.base.sources.rows import Rows
from qed.base.sources.tables import open_table


def rows(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    sample_weight: Any = None,
    columns: Sequence[str] | None = None,
    block_size: int | None = None,
    encoding: str | None = None,
    sep: str | None = None,
    decimal: str | None = None,
) -> Rows:
    """Make `Rows` of any source of data.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path, or Dask collection
        An ndarray, a SciPy sparse matrix, a pandas or polars frame, an Arrow table or anything that streams Arrow; the path of
        ``.csv``, ``.tsv``, ``.txt``, ``.parquet``, ``.feather``, ``.jsonl``, ``.xlsx`` or ``.npy`` files (``*`` is allowed, as is a list of
        paths); a Dask array or frame.
    y : array-like or str, optional
        The target, when it is not a column of `X`; or the name of its column.
    target : str or list of str, optional
        The name of the target's column in `X`.
    sample_weight : array-like or str, optional
        Weights, or the name of their column in `X`.
    columns : list of str, optional
        The columns to use as features; the default is all the others.
    block_size : int, optional
        Rows per block. Models do not depend on it but for rounding.
    encoding, sep, decimal : str, optional
        How ``.csv`` and ``.txt`` files are written, such as "latin-1", ";" and ","; found by looking when not given.

    Returns
    -------
    Rows
        What every model's ``fit`` accepts in the place of ``X``.

    Examples
    --------
    >>> import numpy as np
    >>> data = rows(np.arange(6.0).reshape(3, 2), [0, 1, 1])
    >>> data.count(), data.n_features
    (3, 2)
    """
    if isinstance(X, Rows):
        if y is None and sample_weight is None and target is None and columns is None:
            return X
        raise InputError("These are rows already: give the target and the weights where they are first made.")
    if y is not None and target is not None:
        raise InputError("The target was given twice, as y and as target=: give one of them.")
    opener: Callable[..., Rows] = open_table
    if type(X) is not np.ndarray:
        opener = open_files if is_path(X) else open_dask if is_dask(X) else open_table
    if isinstance(y, str) and opener is not open_files:
        target, y = y, None
    given = {"target": target, "weight": sample_weight, "columns": columns, "size": block_size}
    written = Dialect.of(encoding, sep, decimal)
    if opener is open_files:
        return open_files(X, y, **given, dialect=written)
    if written != Dialect():
        raise InputError("encoding=, sep= and decimal= say how a file is written: give the path of one.")
    return opener(X, y, **given)


def is_path(X: object) -> bool:
    """Say whether something names files.

    >>> is_path("sales-*.parquet"), is_path([1, 2])
    (True, False)
    """
    if isinstance(X, (list, tuple)) and X:
        return all(isinstance(item, (str, Path)) for item in X)
    return isinstance(X, (str, os.PathLike))


def is_dask(X: object) -> bool:
    """Say whether something is a collection of Dask."""
    return hasattr(X, "__dask_graph__") or type(X).__module__.split(".")[0] in {"dask", "dask_expr"}
