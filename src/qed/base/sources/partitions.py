"""Dask collections cut into partitions, and what a worker makes of one of them.

Features, target and weights have to be cut alike. In a frame they are columns: a target that is a collection of its own is
put beside the features first, by position. In arrays they are chunks, cut again where needed. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.errors import InputError
from qed.base.sources.block import is_sparse
from qed.base.sources.facts import Facts
from qed.base.sources.frames import (
    arrow_of,
    check_lengths,
    frame_of,
    length_error,
    read_target,
    read_weight,
    refuse_kind,
)
from qed.base.sources.layout import Layout, kind_of, plan, refuse_twice
from qed.base.sources.rows import ArrayRows
from qed.base.sources.tables import as_matrix

TARGET, WEIGHT = "__qed_target_{}__", "__qed_weight__"
Part = tuple[Any, Any, Any]


@dataclass(frozen=True)
class Decode:
    """How a worker turns a partition into rows."""

    layout: Layout | None  # what the columns of a frame are for; None for an array
    dtype: np.dtype[Any]  # what the blocks hold
    names: tuple[str, ...] | None  # the names of the features
    size: int | None  # rows per block
    numbers: bool = True  # whether the features are wanted as numbers or as a table

    def rows(self, part: Any, y: Any, weight: Any, start: int) -> ArrayRows:
        """Give the rows of a partition, the first of which has the number `start`."""
        if isinstance(part, ArrayRows):
            found = part.numbered_from(start)
            found.X, found.y, found.weight = _settled(part.X), _settled(part.y), _settled(part.weight)
            return found
        if self.layout is None:
            matrix = as_matrix(part)
            target = None if y is None else read_target(y)[0]
            weights = None if weight is None else read_weight(weight, start)
            check_lengths(matrix.shape[0], target, weights)
            arrays = _settled(matrix.astype(self.dtype, copy=False)), _settled(target), _settled(weights)
            return ArrayRows(*arrays, None, self.size, first=start)
        table = arrow_of(frame_of(part), self.layout.schema.names)
        self._check(table.schema)
        block = self.layout.block(table, start, numbers=self.numbers)
        return ArrayRows(block.X, block.y, block.weight, self.names, self.size, first=start)

    def _check(self, found: pa.Schema) -> None:
        assert self.layout is not None
        for name in self.layout.features if self.numbers else ():
            if kind_of(found.field(name).type) != "number":
                kinds = f"{self.layout.schema.field(name).type} was promised, but {found.field(name).type} came"
                raise InputError(f"Column {name!r} differs between partitions: {kinds}. Convert it with astype.")


def _settled(values: Any) -> Any:
    """Give an array as it is after a journey between processes: row by row, without gaps, where the processor likes it.

    Not every partition makes that journey, nor in every run, and BLAS and NumPy add in another order in another layout.
    """
    return np.require(values, requirements=["C", "A"]) if isinstance(values, np.ndarray) else values


@dataclass(frozen=True)
class Partitions:
    """The pieces of a collection, and what is known of them."""

    parts: list[Part]  # each a delayed piece, or None
    decode: Decode  # how to read them
    facts: Facts  # what is known of the rows
    lengths: list[int] | None  # rows per partition, where they are known


def cut_array(X: Any, y: Any, weight: Any, size: int | None) -> Partitions:
    """Cut an array, with its target and weights, into partitions."""
    if X.dtype.kind not in "biuf":
        raise InputError(f"A Dask array of {X.dtype} holds no numbers: give floats or integers.")
    if X.shape[0] == 0 or X.shape[1] == 0:
        raise InputError(f"Found 0 sample(s) or 0 feature(s) (shape={X.shape}) while a minimum of 1 is required.")
    for values, what in ((y, "target"), (weight, "weight")):
        if hasattr(values, "dtype"):
            refuse_kind(values.dtype, what)
    X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
    dtype = np.dtype(np.float32 if X.dtype.kind == "f" and X.dtype.itemsize <= 4 else np.float64)
    parts = [X.to_delayed().ravel().tolist(), _aligned(X, y, "y"), _aligned(X, weight, "sample_weight")]
    decode = Decode(None, dtype, None, None if size is None else plan(size, X.shape[1]))
    known = None if np.isnan(X.shape[0]) else list(X.chunks[0])
    facts = Facts(
        n_features=int(X.shape[1]),
        dtype=dtype,
        is_sparse=is_sparse(X._meta),
        target_dtype=None if y is None else y.dtype,
        target_shape=() if y is None else tuple(y.shape[1:]),
        has_weight=weight is not None,
    )
    return Partitions(list(zip(*parts)), decode, facts, known)


def _aligned(X: Any, values: Any, name: str) -> list[Any]:
    """Cut a target or weights as `X` is cut."""
    if values is None:
        return [None] * len(X.chunks[0])
    if not hasattr(values, "chunks"):
        raise InputError(f"{name} is no Dask array: make it one, dask.array.from_array({name}, chunks=X.chunks[0]).")
    if values.ndim not in (1, 2):
        raise InputError(f"{name} must be a vector or a matrix, not of shape {values.shape}.")
    if not (np.isnan(X.shape[0]) or np.isnan(values.shape[0])):
        if values.shape[0] != X.shape[0]:
            raise length_error(X.shape[0], name, values.shape[0])
        values = values.rechunk({0: X.chunks[0]})
    if values.ndim == 2:
        values = values.rechunk({1: -1})
    found = values.to_delayed().ravel().tolist()
    if len(found) != len(X.chunks[0]):
        raise InputError(f"X has {len(X.chunks[0])} chunks of rows but {name} has {len(found)}: cut both alike.")
    return found


def cut_frame(
    X: Any, y: Any, target: str | Sequence[str] | None, weight: Any, columns: Sequence[str] | None, size: int | None
) -> Partitions:
    """Cut a frame, with its target and weights, into partitions."""
    named = all(isinstance(name, str) for name in X.columns)
    X = X if named else X.rename(columns={name: str(name) for name in X.columns})
    refuse_twice(list(X.columns))
    own = list(X.columns)
    names: tuple[str, ...] | None = None
    if y is not None:
        X, target, names = _with_target(X, y)
    if weight is not None and not isinstance(weight, str):
        X, weight = _with_columns(X, {WEIGHT: weight}, "sample_weight"), WEIGHT
    if columns is None:
        taken = {weight, *([target] if isinstance(target, str) else target or [])}
        columns = [name for name in own if name not in taken]
    layout = Layout.of(_schema_of(X._meta), target=target, weight=weight, columns=columns)
    decode = Decode(layout, layout.dtype, layout.features if named else None, plan(size, len(layout.features)))
    parts = [(part, None, None) for part in X[layout.schema.names].to_delayed()]
    names = layout.targets if names is None else names
    facts = Facts(
        n_features=len(layout.features),
        dtype=layout.dtype,
        feature_names=decode.names,
        schema=layout.feature_schema,
        target_names=names,
        target_dtype=layout.target_dtype,
        target_shape=layout.target_shape,
        has_weight=weight is not None,
    )
    return Partitions(parts, decode, facts, None)


def _with_target(X: Any, y: Any) -> tuple[Any, list[str], tuple[str, ...]]:
    """Put a target that is a collection of its own beside the features, so that both are cut alike."""
    if getattr(y, "ndim", 0) == 2 and hasattr(y, "columns"):
        names = tuple(str(name) for name in y.columns)
        added = {TARGET.format(j): y[name] for j, name in enumerate(y.columns)}
    else:
        name = getattr(y, "name", None)
        names = () if name is None else (str(name),)
        added = {TARGET.format(0): y}
    return _with_columns(X, added, "y"), list(added), names


def _with_columns(X: Any, added: dict[str, Any], name: str) -> Any:
    """Put columns beside a frame, partition by partition and row by row: Dask would go by the index instead."""
    if not all(hasattr(values, "map_partitions") and hasattr(values, "npartitions") for values in added.values()):
        raise InputError(f"{name} is no Dask collection: give it as one, cut like X, or as the name of a column.")
    for values in added.values():
        if values.npartitions != X.npartitions:
            raise InputError(f"X has {X.npartitions} partitions but {name} has {values.npartitions}: cut both alike.")
    metas = [values._meta for values in added.values()]
    meta = _beside(X._meta, *metas, names=list(added), what=name)
    given = {"names": list(added), "what": name, "meta": meta, "align_dataframes": False}
    return X.map_partitions(_beside, *added.values(), **given)


def _beside(frame: Any, *columns: Any, names: list[str], what: str) -> Any:
    for column in columns:
        if len(column) != len(frame):
            where = f"a partition of X has {len(frame)} rows but that of {what} has {len(column)}"
            raise InputError(f"X and {what} are not cut alike: {where}. Cut both alike.")
    return frame.assign(**{name: column.array for name, column in zip(names, columns)})


def _schema_of(meta: Any) -> pa.Schema:
    """Give the types that the empty frame promises; pandas objects can be anything, and mostly are text."""
    found = pa.Schema.from_pandas(meta, preserve_index=False)
    objects = {name for name, kind in zip(meta.columns, meta.dtypes) if kind == np.dtype(object)}
    return pa.schema([(field.name, pa.string() if field.name in objects else field.type) for field in found])
