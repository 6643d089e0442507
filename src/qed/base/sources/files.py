"""Files as `Rows`: streamed, never all in memory.

The batches that a reader gives are cut anew into blocks of a fixed number of rows, across row groups and files, so
that the block plan, and with it every rounding, is that of the same table in memory. The generator of tasks reads; a
task, on a thread of the fold, turns its slice into a matrix and works on it. As the engine keeps few tasks in flight,
reading runs ahead of them by a few blocks and no more.

Methods that make many passes ask for ``cached()``: one pass writes the matrix to a temporary ``.npy`` file, which is
then memory-mapped. It goes to the directory ``QED_CACHE_DIR``, or else to that for temporary files.
"""

from __future__ import annotations

import copy
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.engine import work
from qed.base.errors import InputError, QedError, SourceError
from qed.base.sources.frames import check_lengths, read_target
from qed.base.sources.layout import Layout, did_you_mean, plan, refuse_twice, weight_of
from qed.base.sources.paths import find_files, suffix_of
from qed.base.sources.readers import ArrowReader, CsvReader, ParquetReader, Reader
from qed.base.sources.rows import ArrayRows, Block, Rows

BATCH_BLOCKS = 4
READERS: dict[str, type[Reader]] = {
    ".parquet": ParquetReader,
    ".pq": ParquetReader,
    ".csv": CsvReader,
    ".tsv": CsvReader,
    ".feather": ArrowReader,
    ".arrow": ArrowReader,
}


def open_files(
    paths: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
) -> Rows:
    """Make `Rows` of files; see :func:`qed.base.sources.rows.rows`.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "houses.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("area,price\\n50,1.5\\n80,2.5\\n")
    ...     open_files(path, target="price").fold(lambda block: block.X.sum())
    np.float64(130.0)
    """
    if y is not None and target is not None:
        raise InputError("The target was given twice, as y and as target=: give one of them.")
    found = find_files(paths, {*READERS, ".npy"})
    if suffix_of(found[0]) == ".npy":
        from qed.base.sources.npy import open_npy

        if target is not None or columns is not None:
            raise InputError("target= and columns= name columns, but those of a .npy file have no names: give y=.")
        return open_npy(found, y, weight, size)
    if isinstance(y, (str, os.PathLike)):
        raise InputError(f"y={str(y)!r} is a string: to name the target's column, write target={str(y)!r}.")
    name = weight if isinstance(weight, str) else None
    wanted = None if columns is None else [*columns, *([target] if isinstance(target, str) else target or []), name]
    readers = [READERS[suffix_of(path)](path) for path in found]
    layout = Layout.of(agreed_schema(readers, wanted), target=target, weight=name, columns=columns)
    rows = FileRows(readers, layout, size=plan(size, len(layout.features)))
    if y is not None:
        rows.y, rows.target_names = read_target(y)
        rows.target_is_number = rows.y.dtype.kind in "biuf"
    if weight is not None and name is None:
        rows.weight = weight_of(read_target(weight)[0])
    if rows.y is not None or rows.weight is not None:
        check_lengths(rows.count(), rows.y, rows.weight)
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
        raise InputError(
            f"Column {name!r} is {known} in {first.path!r} but {found} in {reader.path!r}: the files must agree."
        ) from None


def cut(batches: Iterable[pa.RecordBatch], size: int) -> Iterator[pa.Table]:
    """Cut a stream of batches into tables of `size` rows (the last may be shorter), without copying.

    Examples
    --------
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

    Parameters
    ----------
    readers : sequence of Reader
        The files, in the order of their rows.
    layout : Layout
        What their columns are for.
    size : int
        Rows per block.
    """

    def __init__(self, readers: Sequence[Reader], layout: Layout, size: int) -> None:
        self.readers, self.layout, self.size = readers, layout, size
        self.n_features, self.dtype, self.feature_names = len(layout.features), layout.dtype, layout.features
        self.target_names, self.target_is_number = layout.targets, layout.target_is_number
        self.y: np.ndarray | None = None
        self.weight: np.ndarray | None = None
        self._as_numbers = True
        self._count: int | None = None
        self._cached: ArrayRows | None = None

    @property
    def has_target(self) -> bool:
        return self.y is not None or bool(self.layout.targets)

    @property
    def has_weight(self) -> bool:
        return self.weight is not None or self.layout.weight is not None

    def count(self) -> int:
        if self._count is None:
            self._count = sum(reader.count() for reader in self.readers)
        return self._count

    def numbers(self) -> Rows:
        self.layout.refuse_text()
        return self if self._as_numbers else self._view(True, self.layout.dtype)

    def table(self) -> Rows:
        return self._view(False, np.dtype(object)) if self._as_numbers else self

    def _view(self, as_numbers: bool, dtype: np.dtype[Any]) -> FileRows:
        view = copy.copy(self)
        view._as_numbers, view.dtype, view._cached = as_numbers, dtype, None
        return view

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        if self._as_numbers:
            self.layout.refuse_text()
        start = 0
        schema = self.layout.schema
        batches = (batch for reader in self.readers for batch in reader.batches(schema, BATCH_BLOCKS * self.size))
        for table in cut(batches, self.size):
            yield partial(self._task, function, args, table, start)
            start += table.num_rows
        if start == 0:
            raise InputError(
                f"Found 0 sample(s) while a minimum of 1 is required: {self.readers[0].path!r} has no rows."
            )
        self._count = start

    def _task(self, function: Callable[..., Any], args: tuple[Any, ...], table: pa.Table, start: int) -> Any:
        block = self.layout.block(table, start, numbers=self._as_numbers)
        stop = start + table.num_rows
        if self.y is not None:
            block = replace(block, y=self.y[start:stop])
        if self.weight is not None:
            block = replace(block, weight=self.weight[start:stop])
        return function(block, *args)

    def array(self) -> Block:
        if self._as_numbers:
            X = np.empty((self.count(), self.n_features), self.dtype)
            return Block(X, *self._gather(_keep, X))
        blocks = list(self.blocks())
        y = np.concatenate([block.y for block in blocks]) if self.has_target else None
        weight = np.concatenate([block.weight for block in blocks]) if self.has_weight else None
        return Block(pa.concat_tables([block.X for block in blocks]), y, weight)

    def _gather(self, store: Callable[..., None], *args: Any) -> tuple[np.ndarray | None, np.ndarray | None]:
        """Hand every block to `store`, and give target and weights of all rows."""
        parts = list(work(self.tasks(_store, store, args)))
        y = np.concatenate([part[0] for part in parts]) if self.has_target else None
        weight = np.concatenate([part[1] for part in parts]) if self.has_weight else None
        return y, weight

    def cached(self) -> Rows:
        if not self._as_numbers:
            return self
        if self._cached is None:
            self._cached = self._spilled()
        return self._cached

    def _spilled(self) -> ArrayRows:
        self.layout.refuse_text()
        shape = (self.count(), self.n_features)
        needed = shape[0] * shape[1] * self.dtype.itemsize
        folder = _temporary_folder(needed)
        try:
            path = os.path.join(folder, "X.npy")
            with open(path, "wb") as file:
                header = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                file.flush()
                y, weight = self._gather(_write, file.fileno(), file.tell())
            found = ArrayRows(np.load(path, mmap_mode="r"), y, weight, self.feature_names, self.size)
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError) and not isinstance(error, QedError):
                raise _no_room(folder, needed, str(error.strerror)) from error
            raise
        weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
        found.target_names = self.target_names
        return found


def _store(block: Block, store: Callable[..., None], args: tuple[Any, ...]) -> tuple[Any, Any]:
    store(block, *args)
    return block.y, block.weight


def _keep(block: Block, X: np.ndarray) -> None:
    X[block.start : block.start + len(block)] = block.X


def _write(block: Block, file: int, offset: int) -> None:
    """Write by a system call: on a full disk that is an error, where a write to mapped memory kills the process."""
    place = offset + block.start * block.X.shape[1] * block.X.itemsize
    bytes_left = memoryview(block.X).cast("B")
    while bytes_left:
        written = os.pwrite(file, bytes_left, place)
        place, bytes_left = place + written, bytes_left[written:]


def _temporary_folder(needed: int) -> str:
    """Make a directory for `needed` bytes, or say that there is no room for them."""
    asked = os.environ.get("QED_CACHE_DIR") or None
    try:
        if asked is not None:
            os.makedirs(asked, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="qed-", dir=asked)
    except OSError as error:
        where = asked or tempfile.gettempdir()
        raise _no_room(where, needed, str(error.strerror)) from error
    free = shutil.disk_usage(folder).free
    if free < needed:
        shutil.rmtree(folder, ignore_errors=True)
        raise _no_room(folder, needed, f"{free / 2**20:,.1f} MiB are free")
    return folder


def _no_room(folder: str, needed: int, why: str) -> SourceError:
    return SourceError(
        f"The decoded rows need {needed / 2**20:,.1f} MiB in {folder!r}, which can not be had ({why}): "
        "set the environment variable QED_CACHE_DIR to a directory with more room."
    )
