"""Files as `Rows`: streamed, never all in memory.

The batches that a reader gives are cut anew into blocks of a fixed number of rows, across row groups and files, so
that the block plan, and with it every rounding, is that of the same table in memory; a large CSV file has a plan of its own, because
its rows are not counted before they are read. The generator of tasks reads; a
task, on a thread of the fold, turns its slice into a matrix and works on it. As the engine keeps few tasks in flight,
reading runs ahead of them by a few blocks and no more.

Methods that make many passes ask for ``cached()``: one pass writes the matrix to a file that is then memory-mapped
(:mod:`qed.base.sources.spill`), or the table, for encoders, to one of Arrow's own format, which needs no decoding.
"""

from __future__ import annotations

import copy
import os
import shutil
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.errors import InputError
from qed.base.sources.block import Block, Piece
from qed.base.sources.facts import Facts
from qed.base.sources.formats.dialect import Dialect
from qed.base.sources.formats.whole import WHOLE
from qed.base.sources.frames import check_lengths, read_target, read_weight
from qed.base.sources.layout import Layout, did_you_mean, plan, refuse_twice
from qed.base.sources.npy import open_npy
from qed.base.sources.paths import find_files, suffix_of
from qed.base.sources.readers import ArrowReader, CsvReader, ParquetReader, Reader, UnlikeBeginningError, WholeReader
from qed.base.sources.rows import Rows, kept
from qed.base.sources.spill import cache_folder

BATCH_BLOCKS = 4
READERS: dict[str, type[Reader]] = {
    ".parquet": ParquetReader,
    ".pq": ParquetReader,
    ".csv": CsvReader,
    ".tsv": CsvReader,
    ".feather": ArrowReader,
    ".arrow": ArrowReader,
    ".txt": CsvReader,
    **dict.fromkeys(WHOLE, WholeReader),
}


def open_files(
    paths: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
    dialect: Dialect | None = None,
    texts: Sequence[str] = (),
) -> Rows:
    """Make `Rows` of files; see :func:`qed.base.sources.open.rows`.

    The dialect says how files of separated values are written, as far as that is not to be found out; the columns named in `texts` are read
    as text, whatever they look like.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "houses.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("area,price\\n50,1.5\\n80,2.5\\n")
    ...     open_files(path, target="price").fold(lambda block: block.X.sum())
    np.float64(130.0)
    """
    found = find_files(paths, {*READERS, ".npy"})
    if suffix_of(found[0]) == ".npy":
        if target is not None or columns is not None:
            raise InputError("target= and columns= name columns, but those of a .npy file have no names: give y=.")
        return open_npy(found, y, weight, size)
    if isinstance(y, os.PathLike):
        raise InputError(f"y={os.fspath(y)!r} is a path: give the name of the target's column, or an array.")
    if isinstance(y, str):
        target, y = y, None
    name = weight if isinstance(weight, str) else None
    wanted = None if columns is None else [*columns, *([target] if isinstance(target, str) else target or []), name]
    readers = [READERS[suffix_of(path)](path, dialect, texts) for path in found]
    layout = Layout.of(agreed_schema(readers, wanted), target=target, weight=name, columns=columns)
    names = layout.targets
    if y is not None:
        y, names = read_target(y)
    if weight is not None and name is None:
        weight = read_weight(weight)
    asked = None if size is None else plan(size, len(layout.features))
    rows = FileRows(readers, layout, asked, y, None if name else weight, names)
    if y is not None or rows.weight is not None:
        check_lengths(rows.count(), y, rows.weight)
    return rows


def agreed_schema(readers: Sequence[Reader], wanted: Sequence[str | None] | None) -> pa.Schema:
    """Give the columns that all files have, each in a type that holds the values of all of them."""
    first = readers[0]
    for reader in readers:
        refuse_twice(reader.schema.names, reader.path)
    agreed = {field.name: field.type for field in first.schema}
    for reader in readers[1:]:
        names = reader.schema.names
        for name in agreed if wanted is None else (name for name in wanted if name in agreed):
            if name not in names:
                hint = did_you_mean(str(name), names)
                raise InputError(f"{reader.path!r} has no column {name!r}, which {first.path!r} has. {hint}")
            agreed[str(name)] = _common_type(str(name), agreed[str(name)], reader, first)
        extra = [name for name in names if name not in agreed]
        if wanted is None and extra:
            raise InputError(
                f"{reader.path!r} has a column {extra[0]!r} that {first.path!r} has not: "
                "choose the columns that all files have with columns=[...]."
            )
    return pa.schema(list(agreed.items()))


def _common_type(name: str, known: pa.DataType, reader: Reader, first: Reader) -> pa.DataType:
    found = reader.schema.field(name).type
    try:
        both = [pa.schema([(name, known)]), pa.schema([(name, found)])]
        return pa.unify_schemas(both, promote_options="permissive").field(name).type
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        words = f"Column {name!r} is {known} in {first.path!r} but {found} in {reader.path!r}: the files must agree."
        # What is written as text in all of them can be read as text.
        is_written = isinstance(reader, CsvReader) and isinstance(first, CsvReader)
        raise (UnlikeBeginningError(words, name) if is_written else InputError(words)) from None


def cut(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Cut a stream of batches into tables of `size` rows (the last may be shorter), without copying.

    >>> batches = pa.table({"a": range(10)}).to_batches(max_chunksize=3)
    >>> [table.num_rows for table in cut(batches, 4)]
    [4, 4, 2]
    """
    held: list[pa.RecordBatch] = []
    lacking = size
    for batch in batches:
        while batch.num_rows >= lacking:
            yield pa.Table.from_batches([*held, batch.slice(0, lacking)])
            batch = batch.slice(lacking)
            held, lacking = [], size
        if batch.num_rows:
            held.append(batch)
            lacking -= batch.num_rows
    if held:
        yield pa.Table.from_batches(held)


class FileRows(Rows):
    """Rows that are read from files at every pass.

    Files are in the order of their rows; target and weights of all rows are given where they are no columns. Blocks are
    those of the same table in memory, unless a size is given or the rows would have to be read to count them.
    """

    def __init__(
        self,
        readers: Sequence[Reader],
        layout: Layout,
        size: int | None = None,
        y: np.ndarray | None = None,
        weight: np.ndarray | None = None,
        target_names: tuple[str, ...] = (),
    ) -> None:
        self.readers, self.layout, self.y, self.weight, self._asked = readers, layout, y, weight, size
        self.facts = Facts(
            n_features=len(layout.features),
            dtype=layout.dtype,
            feature_names=layout.features,
            schema=layout.feature_schema,
            target_names=target_names,
            target_dtype=layout.target_dtype if y is None else y.dtype,
            target_shape=layout.target_shape if y is None else y.shape[1:],
            has_weight=weight is not None or layout.weight is not None,
        )
        self._count: int | None = None
        self._cached: Rows | None = None
        self._table: FileRows | None = None

    @cached_property
    def size(self) -> int:
        """Rows per block: never dependent on whether the rows happen to have been counted."""
        known = all(reader.knows_count for reader in self.readers)
        return plan(self._asked, self.n_features, self.count() if known else None)

    def count(self) -> int:
        if self._count is None:
            self._count = sum(reader.count() for reader in self.readers)
        return self._count

    def known_count(self) -> int | None:
        return self.count() if all(reader.knows_count for reader in self.readers) else self._count

    def numbers(self) -> Rows:
        self.layout.refuse_text()
        return self._view(self.layout.dtype) if self.is_table else self

    def table(self) -> Rows:
        if self.is_table:
            return self
        if self._table is None:
            self._table = self._view(np.dtype(object))
        return self._table

    def _view(self, dtype: np.dtype[Any]) -> FileRows:
        view = copy.copy(self)
        view.facts, view._cached, view._table = replace(self.facts, dtype=dtype), None, None
        return view

    def pieces(self) -> Iterator[Piece]:
        if not self.is_table:
            self.layout.refuse_text()
        start = 0
        for table in cut(self._batches(), self.size):
            yield Piece(start, table.num_rows, partial(self._decoded, table, start))
            start += table.num_rows
        if start == 0:
            raise InputError(
                f"Found 0 sample(s) while a minimum of 1 is required: {self.readers[0].path!r} has no rows."
            )
        self._count = start

    def _batches(self) -> Iterator[pa.RecordBatch]:
        for reader in self.readers:
            yield from reader.batches(self.layout.schema, BATCH_BLOCKS * self.size)

    def _decoded(self, table: pa.Table, start: int) -> Block:
        block = self.layout.block(table, start, numbers=not self.is_table)
        stop = start + table.num_rows
        if self.y is not None:
            block = replace(block, y=self.y[start:stop])
        if self.weight is not None:
            block = replace(block, weight=self.weight[start:stop])
        return block

    def cached(self) -> Rows:
        if self._cached is None:
            self._cached = self._kept_table() if self.is_table else kept(self, self.size)
        return self._cached

    def _kept_table(self) -> FileRows:
        """Write the columns to a file of Arrow's own format, and read them from there."""
        if all(isinstance(reader, ArrowReader) for reader in self.readers):
            return self
        with cache_folder(None) as folder:
            path = os.path.join(folder, "table.arrow")
            with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, self.layout.schema) as writer:
                for batch in self._batches():
                    writer.write_batch(batch)
            found = self._view(self.dtype)
            found.readers = [ArrowReader(path)]
        weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
        return found
