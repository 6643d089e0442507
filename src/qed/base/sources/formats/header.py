"""The first line of a file of separated values: what its columns are called.

Blanks around a name belong to nobody, and a column without a name is called by its place. R writes the names of rows without a name above
them, not even an empty one.
"""

import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa

from qed.base.sources.formats.dialect import CELL, HEAD, Dialect

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


def first_line(path: str, dialect: Dialect) -> tuple[int, list[str]]:
    """Give how many empty lines a file begins with, and the cells of the first that is not empty."""
    with pa.input_stream(path) as stream:
        text = stream.read(HEAD).decode("utf-8" if dialect.encoding == "utf8" else str(dialect.encoding), "replace")
    text, sep = text.lstrip("\ufeff"), dialect.sep or ","
    if sep == " ":
        # Blanks are read as tabs, and empty lines not at all.
        text, sep = "\t".join(CELL.findall(next(line for line in text.splitlines() if line.strip()))), "\t"
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    with suppress(csv.Error):  # a quote that never ends
        return next(((empty, cells) for empty, cells in enumerate(lines) if cells), (0, []))
    return 0, []


def lacks_one(written: Sequence[str], words: str) -> list[str]:
    """Give the names in the first line, with an empty one before them, where an error says that rows have one value more; else nothing."""
    found = RAGGED.search(words)
    return ["", *written] if found and int(found.group(2)) == int(found.group(1)) + 1 == len(written) + 1 else []


def numbers_rows(first: pa.RecordBatch | None) -> bool:
    """Say whether the first column numbers the rows, in any order, with gaps or without: by whole numbers that all differ."""
    if first is None or not pa.types.is_integer(first.schema.field(0).type) or first.column(0).null_count:
        return False
    values = first.column(0).to_numpy()
    return bool(len(values) > 0 and values.min() >= 0 and len(np.unique(values)) == len(values))
