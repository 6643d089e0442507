"""The first line of a file of separated values: what its columns are called.

Blanks around a name belong to nobody, and a column without a name is called by its place. R writes the names of rows without a name above
them, not even an empty one.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from qed.base.sources.formats.dialect import CELL, Dialect

RAGGED = re.compile(r"Row #2: Expected (\d+) columns, got (\d+)")


def called(written: Sequence[str]) -> list[str]:
    """Give columns their names; blanks around them stay where names would be the same without.

    >>> called(["", " age", "town ", ""]), called(["a", " a"])
    (['unnamed 1', 'age', 'town', 'unnamed 4'], ['a', ' a'])
    """
    plain = [name.strip() for name in written]
    named = [name or f"unnamed {place}" for place, name in enumerate(plain, start=1)]
    bare = [name for name in plain if name]
    return named if len(set(bare)) == len(bare) else [name or f"unnamed {k}" for k, name in enumerate(written, start=1)]


def lacks_one(path: str, dialect: Dialect, words: str) -> list[str]:
    """Give the names in the first line, with an empty one before them, where an error says that rows have one value more; else nothing."""
    from pyarrow import csv

    found = RAGGED.search(words)
    if found is None or int(found.group(2)) != int(found.group(1)) + 1:
        return []
    with pa.input_stream(path) as stream:
        text = stream.read(1 << 16).decode("utf-8" if dialect.encoding == "utf8" else str(dialect.encoding), "replace")
    line = text.lstrip("\ufeff").splitlines()[0]
    # Blanks are read as tabs.
    line, sep = ("\t".join(CELL.findall(line)), "\t") if dialect.sep == " " else (line, dialect.sep)
    one = csv.read_csv(
        pa.BufferReader(f"{line}\n".encode()),
        csv.ReadOptions(autogenerate_column_names=True),
        csv.ParseOptions(delimiter=sep),
    )
    return ["", *(str(column[0]) for column in one.columns)]


def numbers_rows(first: pa.RecordBatch | None) -> bool:
    """Say whether the first column numbers the rows, in any order, with gaps or without: by whole numbers that all differ."""
    if first is None or not pa.types.is_integer(first.schema.field(0).type) or first.column(0).null_count:
        return False
    values = first.column(0).to_numpy()
    return bool(len(values) > 0 and values.min() >= 0 and len(np.unique(values)) == len(values))
