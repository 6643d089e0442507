"""How each kind of file is read: its columns, its number of rows, and its rows as a stream of Arrow batches.

A reader opens its file anew for every pass and holds no more than a few batches of it. Whatever goes wrong inside Arrow
comes out as one of our errors with the path in it.

Parquet is read page by page through a small buffer for each column: Arrow's default fetches whole row groups ahead, and
its datasets several of them, which for a file of one row group means all of it. The types of a ``.csv`` are those of
its first megabytes. If the file goes on after them, whole numbers are read as floats, since a later row may have a
fraction; a value that fits even less is an error. An index, as pandas and R write it, a first column without a name that
numbers the rows, is left out, which is said.
"""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow import types

from qed.base.errors import InputError, SourceError
from qed.base.sources.formats.dialect import Dialect, blanks_as_tabs
from qed.base.sources.formats.header import called, lacks_one, numbers_rows
from qed.base.sources.formats.whole import WHOLE
from qed.base.sources.paths import suffix_of

MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "Null", "None", "?", "#N/A", "<NA>"]
MISSING += [
    "-",
    "--",
    ".",
    "..",
    "n.a.",
    "N.A.",
    "NaT",
    "-nan",
    "-NaN",
    "1.#QNAN",
    "#DIV/0!",
    "#VALUE!",
    "#REF!",
    "#NAME?",
    "#NUM!",
]
SAMPLE_BYTES = 4 << 20
PIECE_BYTES = 4 << 20
BUFFER_BYTES = 1 << 20


class UnlikeBeginningError(InputError):
    """A value of a ``.csv`` file that is of another kind than the column was at the beginning; it knows which `column`."""

    def __init__(self, words: str, column: str) -> None:
        super().__init__(words)
        self.column = column


class Reader(ABC):
    """One file.

    It `knows_count` where the rows are counted without reading them.
    """

    knows_count = True

    def __init__(self, path: str, dialect: Dialect | None = None, texts: Sequence[str] = ()) -> None:
        self.path, self._asked, self._texts = path, dialect or Dialect(), frozenset(texts)
        with reading(path):
            self.stamp = self._stamp()
        if self.stamp[0] == 0:
            raise SourceError(f"{path!r} is empty: it has 0 bytes.")

    @cached_property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""

    @abstractmethod
    def count(self) -> int:
        """Count the rows."""

    def says(self) -> list[str]:
        """Say what was found about the way in which the file is written, if that is not the usual one."""
        return []

    @abstractmethod
    def _batches(self, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        """Give the columns of `schema` in batches of about `size` rows."""

    def batches(self, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        """Give the columns of `schema`, with its types, in batches of about `size` rows; the last ends the file."""
        with reading(self.path):
            if self._stamp() != self.stamp:
                raise SourceError(f"{self.path!r} was changed while it was in use: make the rows anew.")
            for batch in self._batches(schema, size):
                yield batch if batch.schema.equals(schema) else batch.select(schema.names).cast(schema)

    def _stamp(self) -> tuple[int, int]:
        found = os.stat(self.path)
        return found.st_size, found.st_mtime_ns


class ParquetReader(Reader):
    """A ``.parquet`` file."""

    @cached_property
    def schema(self) -> pa.Schema:
        with reading(self.path), self._open() as file:
            return _without_index(file.schema_arrow)

    def count(self) -> int:
        with reading(self.path), self._open() as file:
            return int(file.metadata.num_rows)

    def _batches(self, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        with self._open() as file:
            yield from file.iter_batches(size, columns=schema.names, use_threads=True)

    def _open(self) -> Any:
        from pyarrow.parquet import ParquetFile

        return ParquetFile(self.path, buffer_size=BUFFER_BYTES, pre_buffer=False, page_checksum_verification=True)


class ArrowReader(Reader):
    """A ``.feather`` or ``.arrow`` file: Arrow's own format, memory-mapped."""

    @cached_property
    def schema(self) -> pa.Schema:
        with reading(self.path), self._open() as reader:
            return _without_index(reader.schema)

    def count(self) -> int:
        with reading(self.path):
            first = pa.schema([self.schema.field(0)]) if len(self.schema) else self.schema
            return sum(batch.num_rows for batch in self._batches(first, 0))

    def _batches(self, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        with self._open([self.schema.get_field_index(name) for name in schema.names]) as reader:
            if isinstance(reader, pa.ipc.RecordBatchFileReader):
                yield from (reader.get_batch(i) for i in range(reader.num_record_batches))
            else:
                yield from reader

    def _open(self, fields: Sequence[int] = ()) -> Any:
        import pyarrow.ipc

        options = pyarrow.ipc.IpcReadOptions(included_fields=list(fields))
        with open(self.path, "rb") as file:
            is_stream = file.read(6) != b"ARROW1"
        opened = pyarrow.ipc.open_stream if is_stream else pyarrow.ipc.open_file
        return opened(pa.memory_map(self.path), options=options)


class Beginning(NamedTuple):
    """What the first megabytes of a file show."""

    schema: pa.Schema
    is_whole: bool  # whether there is no more
    header: list[str] | None  # what the columns are called, where that is not what the first line has
    is_index: bool  # whether the first column has no name and numbers the rows


class CsvReader(Reader):
    """A ``.csv`` or ``.tsv`` file, possibly compressed, with the names of the columns in its first line."""

    knows_count = False

    @cached_property
    def _sample(self) -> Beginning:
        """The columns as they look in the first megabytes."""
        with reading(self.path):
            try:
                found = self._open({}, SAMPLE_BYTES)
                written = [str(name) for name in found.schema.names]  # may be no text at all
                names = called(written)
            except pa.ArrowInvalid as error:
                written, names = [], called(lacks_one(self.path, self.dialect, str(error)))
                if not names:
                    raise
            if names != written:
                found = self._open({}, SAMPLE_BYTES, header=names)
            kinds = pa.schema([(str(field.name), field.type) for field in found.schema])
            first, goes_on = _beginning(found)
            is_index = not (written and written[0].strip()) and numbers_rows(first)
            return Beginning(kinds, not goes_on, None if names == written else names, is_index)

    @cached_property
    def dialect(self) -> Dialect:
        """How the file is written."""
        with reading(self.path):
            return self._asked.found(self.path)

    def says(self) -> list[str]:
        index = ["the first column has no name and numbers the rows: it is left out"] if self._sample.is_index else []
        return [*self.dialect.says(self._asked), *index]

    @cached_property
    def schema(self) -> pa.Schema:
        found = self._sample
        fields = list(found.schema)[found.is_index :]
        kinds = [
            pa.string() if field.name in self._texts else _settled(field, found.is_whole, self.path) for field in fields
        ]
        return pa.schema([pa.field(field.name, kind) for field, kind in zip(fields, kinds)])

    def count(self) -> int:
        name = self.schema.names[0]
        header = self._sample.header
        with reading(self.path, self._sample.schema.names):
            return sum(batch.num_rows for batch in self._open({name: pa.string()}, PIECE_BYTES, [name], header))

    def _batches(self, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        kinds = {field.name: field.type for field in schema}
        with reading(self.path, self._sample.schema.names):
            yield from self._open(kinds, PIECE_BYTES, schema.names, self._sample.header)

    def _open(
        self,
        kinds: dict[str, pa.DataType],
        size: int,
        names: Sequence[str] = (),
        header: Sequence[str] | None = None,
    ) -> Any:
        """Open the file; a `header` is read in the place of its first line."""
        from pyarrow import csv

        called = {} if header is None else {"column_names": list(header), "skip_rows_after_names": 1}

        how = self.dialect
        blanks = how.sep == " "
        encoding = "utf8" if blanks or how.encoding is None else how.encoding
        return csv.open_csv(
            blanks_as_tabs(self.path, str(how.encoding)) if blanks else self.path,
            csv.ReadOptions(use_threads=False, block_size=size, encoding=encoding, **called),
            csv.ParseOptions(delimiter="\t" if blanks else how.sep, newlines_in_values=True),
            csv.ConvertOptions(
                column_types=kinds,
                include_columns=list(names),
                null_values=MISSING,
                strings_can_be_null=True,
                decimal_point=how.decimal or ".",
            ),
        )


class WholeReader(Reader):
    """A file of a format that is read at once: JSON, Excel. It is held in memory."""

    @cached_property
    def _table(self) -> pa.Table:
        with reading(self.path):
            return WHOLE[suffix_of(self.path)](self.path)

    @cached_property
    def schema(self) -> pa.Schema:
        return self._table.schema.remove_metadata()

    def count(self) -> int:
        return int(self._table.num_rows)

    def _batches(self, schema: pa.Schema, size: int) -> Iterator[pa.RecordBatch]:
        yield from self._table.select(schema.names).replace_schema_metadata().to_batches(max_chunksize=size)


def _beginning(batches: pa.RecordBatchReader) -> tuple[pa.RecordBatch | None, bool]:
    """Give the first batch, and say whether there are more; what is in them may not fit the types of the first, which is settled later."""
    first = next(iter(batches), None)
    try:
        return first, next(iter(batches), None) is not None
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error):
            raise
        return first, True


def _without_index(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field for field in schema if not field.name.startswith("__index_level_")])


def _settled(field: pa.Field, whole: bool, path: str) -> pa.DataType:
    """Give the type in which a column that was inferred from the beginning of a file is to be read."""
    if types.is_binary(field.type):
        raise InputError(f"{path!r}: column {field.name!r} is not UTF-8 text: save the file in UTF-8.")
    if types.is_date(field.type):
        return pa.timestamp("us")
    if types.is_timestamp(field.type):
        return pa.timestamp("ns" if field.type.unit == "ns" else "us", field.type.tz)
    if not whole and (types.is_integer(field.type) or types.is_null(field.type)):
        return pa.float64()
    return field.type


@contextmanager
def reading(path: str, names: Sequence[str] = ()) -> Iterator[None]:
    """Turn what Arrow and the system raise while `path` is read into our errors."""
    try:
        yield
    except (SourceError, InputError):
        raise
    except FileNotFoundError:
        raise SourceError(f"There is no file {path!r} (any more).") from None
    except PermissionError:
        raise SourceError(f"{path!r} can not be opened: permission denied.") from None
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise _translated(path, names, str(error)) from error


def _translated(path: str, names: Sequence[str], words: str) -> SourceError | InputError:
    words = words.splitlines()[0][:300] if words else "unknown error"
    row = re.search(r"Row #(\d+)", words)
    where = f", line {row.group(1)}" if row else ""
    column = re.search(r"In CSV column #(\d+): (?:Row #\d+: )?CSV conversion error to (.+?): (.*)", words)
    if column and int(column.group(1)) < len(names):
        return UnlikeBeginningError(
            f"{path!r}{where}: column {names[int(column.group(1))]!r} is {column.group(2)} at the beginning of the "
            f"file, but later has an {column.group(3)}. Correct the value, leave it empty, or leave the column out.",
            names[int(column.group(1))],
        )
    ragged = re.search(r"Expected (\d+) columns, got (\d+)", words)
    if ragged:
        return InputError(
            f"{path!r}{where}: the row has {ragged.group(2)} values for {ragged.group(1)} columns. "
            "Correct the row, or quote values that hold the delimiter."
        )
    if "codec can't decode" in words:
        return InputError(f"{path!r} is written in other letters: say which, such as encoding='cp1252'.")
    if "straddling object" in words:
        return InputError(f"{path!r}: a row is longer than {PIECE_BYTES >> 20} MiB. Is a closing quote missing?")
    if "Empty CSV" in words:
        return SourceError(f"{path!r} is empty: the first line of a .csv file names its columns.")
    return SourceError(f"{path!r} can not be read: it is damaged, cut short or of another format ({words}).")
