"""Rows with other columns: what a transformer makes of each block, made when the block is read.

``changed(transformer, rows)`` is the lazy twin of ``transformer.transform(X)``. Nothing is computed until a model folds
over it, and then block by block, so an encoder and the model behind it together read a file that is larger than memory,
or the partitions of a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from qed.base.models.checks import NotFinite, checked, refuse_missing
from qed.base.sources.rows import ArrayRows, Block, Rows
from qed.base.sources.views import View


class ChangedRows(View):
    """The rows of a source, with features made by a function of each block.

    Parameters
    ----------
    source : Rows
        Where the blocks come from; target and weights stay as they are.
    change : callable
        Takes a `Block` and gives the new features of its rows.
    feature_names : sequence of str
        The names of the new columns.
    dtype : dtype, optional
        What the new features are.
    refusing : estimator, optional
        Who takes no missing values: a hole in the source is then refused in its name.
    """

    def __init__(
        self,
        source: Rows,
        change: Callable[[Block], Any],
        feature_names: Any,
        dtype: Any = None,
        refusing: Any = None,
    ) -> None:
        super().__init__(source)
        self.change = change if refusing is None else partial(checked, function=change)
        self.feature_names = tuple(str(name) for name in feature_names)
        self.n_features = len(self.feature_names)
        self.dtype = np.dtype(source.dtype if dtype is None else dtype)
        self.refusing = refusing

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        return self.source.tasks(_after, self.change, function, *args)

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return self.source.fold(_after, self.change, function, *args)
        except NotFinite:
            refuse_missing(self.source, self.refusing)
            raise

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        try:
            yield from self.source.each(_after, self.change, function, *args)
        except NotFinite:
            refuse_missing(self.source, self.refusing)
            raise

    def cached(self) -> Rows:
        """Make the new columns once, where the source is in memory; a file's are made anew in every pass."""
        if not self.in_memory:
            return self
        whole = self.array()
        found = ArrayRows(whole.X, whole.y, whole.weight, self.feature_names)
        found.target_names, found.target_is_number = self.target_names, self.target_is_number
        return found


def _after(block: Block, change: Callable[[Block], Any], function: Callable[..., Any], *args: Any) -> Any:
    return function(replace(block, X=change(block)), *args)


def changed(transformer: Any, X: Any) -> Rows:
    """Give the rows of `X` as a fitted transformer changes them, without making them all at once.

    Parameters
    ----------
    transformer : fitted transformer of qed
        What makes the new columns.
    X : array-like, frame, path, Dask collection or Rows
        The rows; a target and weights that they know stay with them.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X = np.array([[1.0], [2.0], [3.0]])
    >>> squares = qed.PolynomialFeatures(2, include_bias=False).fit(X)
    >>> data = changed(squares, qed.rows(X, [1.0, 4.0, 9.0]))
    >>> data.feature_names, data.array().X[-1].tolist()
    (('x0', 'x0^2'), [3.0, 9.0])
    """
    transformer._check_fitted()
    holes = transformer.__sklearn_tags__().input_tags.allow_nan
    return ChangedRows(
        transformer._open(X, reset=False),
        transformer._change,
        transformer.get_feature_names_out(),
        getattr(transformer, "dtype", None),
        refusing=None if holes else transformer,
    )
