"""Tables to files, batch by batch, so that what is written never has to be in memory at once.

A file is written beside its place and put there when it is complete: whoever stops half-way leaves what was there before.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from glob import glob
from itertools import count
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from qed.base.errors import InputError, SourceError
from qed.base.saving.replacing import replacing

# What a spreadsheet takes for a formula, and what is only a number.
FORMULA, NUMBER = r"^[=+\-@\t\r]", r"^[+-]?[0-9.]+([eE][+-]?[0-9]+)?$"
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


def check_not_read(output: str, *inputs: str) -> None:
    """Refuse to write over a file that is read from."""
    for one in inputs:
        names = [one] if os.path.exists(one) else glob(one)
        if os.path.exists(output) and any(os.path.samefile(output, name) for name in names):
            raise InputError(f"{output!r} is read from, and can not be written as well: give another --output.")


def defused(table: pa.Table) -> pa.Table:
    """Put an apostrophe before text that a spreadsheet would take for a formula; numbers, also those written as text, stay as they are.

    Examples
    --------
    >>> defused(pa.table({"a": ["=1+1", "-2.5", "plain"], "b": [-1, 2, 3]})).to_pydict()
    {'a': ["'=1+1", '-2.5', 'plain'], 'b': [-1, 2, 3]}
    """
    import pyarrow.compute as pc

    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            formula = pc.and_(
                pc.match_substring_regex(column, FORMULA), pc.invert(pc.match_substring_regex(column, NUMBER))
            )
            column = pc.if_else(formula, pc.binary_join_element_wise("'", column, ""), column)
        columns.append(column)
    names = [
        f"'{name}" if re.match(FORMULA, name) and not re.match(NUMBER, name) else name for name in table.column_names
    ]
    return pa.table(columns, names=names)


def free(path: str | None) -> str | None:
    """Give a path at which nothing is yet, by a number before the ending where needed.

    >>> free("there/is/no/such/report.html")
    'there/is/no/such/report.html'
    """
    if path is None or not os.path.exists(path):
        return path
    stem, ending = os.path.splitext(path)
    return next(f"{stem}-{k}{ending}" for k in count(2) if not os.path.exists(f"{stem}-{k}{ending}"))


@contextmanager
def table_writer(path: str, schema: pa.Schema) -> Iterator[Any]:
    """Give a function that writes tables of a schema to a file, one after another.

    The ending says the format: csv, tsv, parquet or feather.
    """
    ending = check_ending(path)
    plain = ending in (".csv", ".tsv")
    with replacing(path) as file:
        try:
            with _writer(file, ending, defused(schema.empty_table()).schema if plain else schema) as writer:
                yield partial(_write_defused, writer.write_table) if plain else writer.write_table
        except pa.ArrowException as error:
            raise SourceError(f"Could not write {path}: {error}") from error


@contextmanager
def csv_printer(stream: Any, schema: pa.Schema) -> Iterator[Any]:
    """Give a function that writes tables of a schema to a binary stream, as csv."""
    from pyarrow import csv

    kept = defused(schema.empty_table()).schema
    with csv.CSVWriter(stream, kept, write_options=csv.WriteOptions(quoting_style="needed")) as writer:
        yield partial(_write_defused, writer.write_table)


def _write_defused(write: Callable[[pa.Table], None], table: pa.Table) -> None:
    write(defused(table))


def _writer(file: IO[bytes], ending: str, schema: pa.Schema) -> Any:
    if ending in (".parquet", ".pq"):
        from pyarrow.parquet import ParquetWriter

        return ParquetWriter(file, schema)
    if ending in (".feather", ".arrow"):
        return pa.ipc.new_file(file, schema)
    from pyarrow import csv

    options = csv.WriteOptions(delimiter="\t" if ending == ".tsv" else ",", quoting_style="needed")
    return csv.CSVWriter(file, schema, write_options=options)
