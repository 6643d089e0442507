"""Tables to files, batch by batch, so that what is written never has to be in memory at once.

A file is written beside its place and put there when it is complete: whoever stops half-way leaves what was there before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa

from qed.base.errors import InputError, SourceError

ENDINGS = (".csv", ".tsv", ".parquet", ".pq", ".feather", ".arrow")


def write_table(table: pa.Table, path: str) -> None:
    """Write a whole table; see `table_writer`."""
    with table_writer(path, table.schema) as write:
        write(table)


def check_ending(path: str) -> str:
    """Give the ending of a file that is to be written, or say which there may be."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InputError(f"{path!r} can not be written: the name must end in one of {', '.join(ENDINGS)}.")
    return ending


@contextmanager
def table_writer(path: str, schema: pa.Schema) -> Iterator[Any]:
    """Give a function that writes tables of a schema to a file, one after another.

    The ending says the format: csv, tsv, parquet or feather.
    """
    ending = check_ending(path)
    place = Path(path)
    beside = place.with_name(f".{place.name}.{os.getpid()}.part")
    try:
        with _writer(beside, ending, schema) as writer:
            yield writer.write_table
        os.replace(beside, place)
    except (OSError, pa.ArrowException) as error:
        if isinstance(error, SourceError):
            raise
        raise SourceError(f"{path!r} can not be written: {_reason(error, place)}.") from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


@contextmanager
def csv_printer(stream: Any, schema: pa.Schema) -> Iterator[Any]:
    """Give a function that writes tables of a schema to a binary stream, as csv.

    >>> import io
    >>> table = pa.table({"a": [1, 2]})
    >>> with csv_printer(stream := io.BytesIO(), table.schema) as write:
    ...     write(table)
    >>> stream.getvalue()
    b'"a"\\n1\\n2\\n'
    """
    from pyarrow import csv

    with csv.CSVWriter(stream, schema, write_options=csv.WriteOptions(quoting_style="needed")) as writer:
        yield writer.write_table


def _writer(path: Path, ending: str, schema: pa.Schema) -> Any:
    if ending in (".parquet", ".pq"):
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(path, schema)
    if ending in (".feather", ".arrow"):
        return pa.ipc.new_file(path, schema)
    from pyarrow import csv

    options = csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",", quoting_style="needed")
    return csv.CSVWriter(path, schema, write_options=options)


def _reason(error: Exception, place: Path) -> str:
    if not place.parent.exists():
        return f"there is no folder {str(place.parent)!r}"
    return str(getattr(error, "strerror", None) or error).splitlines()[0]
