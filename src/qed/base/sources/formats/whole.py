"""Formats that are read as a whole, and held in memory as an Arrow table: lines of JSON, a list of JSON, a sheet of Excel."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from qed.base.errors import InputError, SourceError


def read_json(path: str) -> pa.Table:
    """Read lines of JSON, each an object with the values of a row, or one list of such objects.

    An object in a row has columns of its own: ``{"home": {"town": "Graz"}}`` has a column ``home.town``.
    """
    from pyarrow import json as arrow_json

    with pa.input_stream(path) as stream:
        first = stream.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first != b"[":
        with pa.input_stream(path) as stream, suppress(pa.ArrowException):
            return _flat(arrow_json.read_json(stream))
    with pa.input_stream(path) as stream:
        text = stream.read()
    try:
        # What Arrow does not read may have values of several kinds in a column.
        found = json.loads(text) if first == b"[" else [json.loads(line) for line in text.splitlines() if line.strip()]
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{path!r} is no JSON: {error}.") from None
    if not found or not all(isinstance(row, dict) for row in found):
        raise InputError(f"{path!r} must hold a list of objects, one for each row, or one object in each line.")
    names = list(dict.fromkeys(name for row in found for name in row))
    return _flat(_table({name: [row.get(name) for row in found] for name in names}, path))


def _flat(table: pa.Table) -> pa.Table:
    while any(pa.types.is_struct(field.type) for field in table.schema):
        table = table.flatten()
    return table


def _table(columns: Mapping[str, Any], path: str) -> pa.Table:
    """Make a table of columns; one of mixed cells, such as numbers with notes between them, becomes text."""
    found = {}
    for name, values in columns.items():
        try:
            found[name] = pa.array(values, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):
            found[name] = pa.array([None if value is None or value != value else str(value) for value in values])
    if not found:
        raise InputError(f"{path!r} has no columns.")
    return pa.table(found)


def read_excel(path: str) -> pa.Table:
    """Read the first sheet of an Excel file, by whichever reader is installed."""
    engines = {"calamine": "python_calamine", "openpyxl": "openpyxl", "xlrd": "xlrd"}
    known = [engine for engine, package in engines.items() if find_spec(package) is not None]
    if path.lower().endswith(".xls"):
        known = [engine for engine in known if engine != "openpyxl"]
    if not known or find_spec("pandas") is None:
        raise SourceError(
            f"{path!r} needs a reader of Excel files: pip install pandas openpyxl, or save the sheet as .csv."
        )
    import pandas as pd

    reader: Any = pd.read_excel
    try:
        frame = reader(path, engine=known[0])
    except Exception as error:
        # Every reader has errors of its own for files that are damaged.
        raise SourceError(f"{path!r} can not be read: {' '.join(str(error).split())}.") from None
    return _table({str(name): frame[name] for name in frame.columns}, path)


WHOLE: dict[str, Callable[[str], pa.Table]] = {
    ".json": read_json,
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".xlsx": read_excel,
    ".xls": read_excel,
}
