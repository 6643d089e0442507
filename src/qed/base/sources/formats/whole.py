"""Formats that are read as a whole, and held in memory as an Arrow table: lines of JSON, a list of JSON, a sheet of Excel."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from qed.base.errors import InputError, SourceError


def read_json(path: str) -> pa.Table:
    """Read lines of JSON, each an object with the values of a row, or one list of such objects."""
    from pyarrow import json as arrow_json

    with pa.input_stream(path) as stream:
        first = stream.read(1 << 16).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first == b"[":
        with pa.input_stream(path) as stream:
            try:
                found = json.loads(stream.read())
            except ValueError as error:
                raise SourceError(f"{path!r} is no JSON: {error}.") from None
        if not found or not all(isinstance(row, dict) for row in found):
            raise InputError(f"{path!r} must hold a list of objects, one for each row, or one object in each line.")
        return pa.Table.from_pylist(found)
    with pa.input_stream(path) as stream:
        return arrow_json.read_json(stream)


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
    return _from_pandas(frame, path)


def _from_pandas(frame: Any, path: str) -> pa.Table:
    """Give a frame as a table; a column of mixed cells, such as numbers with notes between them, as text."""
    columns = {}
    for name in frame.columns:
        try:
            columns[str(name)] = pa.array(frame[name], from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError):
            columns[str(name)] = pa.array(
                [None if value != value or value is None else str(value) for value in frame[name]]
            )
    if not columns:
        raise InputError(f"{path!r} has no columns in its first sheet.")
    return pa.table(columns)


WHOLE: dict[str, Callable[[str], pa.Table]] = {
    ".json": read_json,
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".xlsx": read_excel,
    ".xls": read_excel,
}
