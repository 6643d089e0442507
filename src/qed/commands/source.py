"""The data of a command: a file, or the name of a bundled data set, as one Arrow table with its target.

Whatever is wrong with a name is said here: a file that is not there, a data set that does not exist, a column that is called otherwise.
"""

import atexit
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.errors import InputError, SourceError
from qed.base.sources.files import open_files
from qed.base.sources.formats.dialect import Dialect
from qed.base.sources.layout import check_target_types, did_you_mean, kind_of, target_of
from qed.base.sources.readers import UnlikeBeginningError
from qed.base.sources.rows import Rows
from qed.base.sources.spill import cache_folder
from qed.data.bundled import load, names
from qed.data.catalogue import CATALOGUE
from qed.features.tables.writing import example_of, how_written, is_nothing, numbers_in, way_of
from qed.report.data import Data
from qed.selection.comparing.task import MOST_CLASSES

# Files of more bytes than these are not held in memory.
LARGE = 1 << 28


def read(
    data: str | Sequence[str], target: str | None = None, drop: Sequence[str] = (), dialect: Dialect | None = None
) -> Data:
    """Read files or a bundled data set, once.

    Columns to `drop` are only checked: a comparison leaves them out and says so.

    >>> penguins = read("penguins", target="sex", drop=["year"])
    >>> penguins.table.shape, penguins.n_lost
    ((333, 7), 11)
    """
    given = [data] if isinstance(data, str) else list(data)
    found = [find(one) for one in given]
    known = found[0][1] if len(found) == 1 else None
    table, says, gone, is_whole = _whole([path for path, _ in found], dialect or Dialect(), target)
    called = given[0] if len(given) == 1 else f"{given[0]} and {len(given) - 1} more"
    for name in (*drop, *([] if target is None else [target])):
        if name not in table.column_names:
            raise InputError(f"{called!r} has no column {name!r}. {did_you_mean(name, table.column_names)}")
    if target in drop:
        raise InputError(f"{target!r} can not be both the target and dropped.")
    if not [name for name in table.column_names if name not in drop and name != target]:
        what = "is left to learn from: drop fewer" if drop else f"but the target {target!r} is there to learn from"
        raise InputError(f"No column of {called!r} {what}.")
    if table.num_rows == 0 and not gone:
        raise InputError(f"{called!r} has no rows.")
    name = known or ("standard input" if called == "-" else os.path.basename(os.fspath(called)))
    if target is None:
        meant = CATALOGUE[known].targets[0] if known else None
        return Data(name, table, None, None, 0, meant, tuple(says), mapped=gone is not None)
    read = _with_target(name, table, target, called, says)
    if gone is not None:
        read = replace(read, n_lost=read.n_lost + gone, mapped=read.n_lost == 0)
    is_text = kind_of(table.schema.field(target).type) == "text"
    reread = (
        not is_whole
        or dialect not in (None, Dialect())
        or (is_text and read.y is not None and read.y.dtype.kind == "f")
    )
    return replace(read, given=() if "-" in given else tuple(given), known=known is not None, is_reread=reread)


def _whole(paths: list[Any], dialect: Dialect, target: str | None) -> tuple[pa.Table, list[str], int | None, bool]:
    """Read all rows, in one pass; a column that is no longer of one kind after its beginning is read again, as text.

    Gives the table, what is to be said of it, and whether it was read at once. Large files are written to the cache on disk without
    the rows that lack a target, and mapped from there; how many these are is told.
    """
    texts: list[str] = []
    while True:
        gone = None
        try:
            opened = open_files(paths if len(paths) > 1 else paths[0], dialect=dialect, texts=texts)
            readers = getattr(opened, "readers", [])
            if sum(_size(reader.path) for reader in readers) > LARGE:
                table, gone = spilled(opened.table(), target)
            else:
                table = opened.table().array().X
        except UnlikeBeginningError as error:
            if error.column in texts:
                raise
            texts.append(error.column)
            continue
        # What reading took beside the table itself is free for others.
        pa.default_memory_pool().release_unused()
        return table, list(dict.fromkeys(words for reader in readers for words in reader.says())), gone, not texts


def _size(path: str) -> int:
    """Give about how many bytes a file takes when it is read."""
    return os.path.getsize(path) * (4 if path.endswith((".gz", ".parquet", ".pq", ".xlsx")) else 1)


def spilled(rows: Rows, target: str | None) -> tuple[pa.Table, int]:
    """Write a table to the cache on disk block by block, and map it; rows without a target are left out, and counted."""
    lost = 0
    with cache_folder(None) as folder, ExitStack() as files:
        path, writer = os.path.join(folder, "table.arrow"), None
        file = files.enter_context(pa.OSFile(path, "wb"))
        for block in rows.blocks():
            part = block.X
            if target in part.column_names:
                there = _there(part.column(target))
                part = part.filter(there)
                lost += len(there) - part.num_rows
            writer = writer or files.enter_context(pa.ipc.new_stream(file, part.schema))
            writer.write_table(part)
        files.close()
        found = pa.ipc.open_stream(pa.memory_map(path)).read_all()
    # What is mapped stays readable without its name.
    shutil.rmtree(folder, ignore_errors=True)
    return found, lost


def _there(column: Any) -> Any:
    """Say which values are there; NaN is none."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return pc.is_valid(column)


def _with_target(name: str, table: pa.Table, target: str, called: str, says: list[str]) -> Data:
    check_target_types(table.schema, [target])
    column = table.column(target)
    if kind_of(column.type) == "text":
        column, notes = _target_as_numbers(column, target)
        says = [*says, *notes]
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    there = _there(column)
    kept = pc.sum(there).as_py() or 0
    if kept == 0:
        raise InputError(f"The target {target!r} is missing in all rows of {called!r}.")
    features = table.drop_columns([target])
    n_lost = table.num_rows - kept
    if n_lost:
        features, column = features.filter(there), column.filter(there)
    y = target_of(pa.table({target: column}), [target])
    if y.dtype.kind == "f" and np.isinf(y).any():
        row = int(np.isinf(y).argmax())
        raise InputError(
            f"The target {target!r} is infinite in row {row} (counted from 0): correct or leave out the row."
        )
    return Data(name, features, target, y, n_lost, None, tuple(says))


def _target_as_numbers(column: Any, target: str) -> tuple[Any, list[str]]:
    """Read a target that is written as text as the numbers it stands for, where these are more than a few."""
    texts = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    way = way_of(how_written(texts), ("point", "comma"))
    if not way or len(texts.unique()) <= MOST_CLASSES:
        return column, []
    values = numbers_in(texts, way)
    odd = int((np.isnan(values) & ~is_nothing(texts)).sum())
    note = f"{target} is written as text like {example_of(way)}, and read as numbers"
    note += f"; {odd} values that are none are missing" if odd else ""
    return pa.array(values, mask=np.isnan(values)), [note]


def find(data: str) -> tuple[Any, str | None]:
    """Give the path of what is meant, and its name if that is a bundled data set; "-" is the standard input."""
    if data == "-":
        return spooled(sys.stdin.buffer), None
    if os.path.exists(data) or not _is_bare(data):
        return data, None
    if data in names():
        return load(data).path, data
    near = get_close_matches(data.lower().replace("-", "_"), names(), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else " 'qed datasets' lists the bundled ones."
    raise SourceError(f"There is neither a file nor a bundled data set {data!r}.{hint}")


def spooled(stream: IO[bytes]) -> str:
    """Write a stream to a file that is gone with the process, with the ending of the format that it turns out to be of."""
    first = stream.read(1 << 16)
    if not first:
        raise SourceError("The standard input is empty: it has 0 bytes.")
    begins = {
        b"PAR1": ".parquet",
        b"ARROW1": ".feather",
        b"\x1f\x8b": ".csv.gz",
        b"PK\x03\x04": ".xlsx",
        b"{": ".jsonl",
        b"[": ".json",
    }
    ending = next((ending for mark, ending in begins.items() if first.lstrip().startswith(mark)), ".csv")
    handle, path = tempfile.mkstemp(prefix="qed-input-", suffix=ending)
    atexit.register(_remove, path)
    with os.fdopen(handle, "wb") as file:
        file.write(first)
        shutil.copyfileobj(stream, file)
    return path


def _remove(path: str) -> None:
    with suppress(OSError):
        os.remove(path)


def _is_bare(data: str) -> bool:
    """Say whether this can be a name, rather than a path or a pattern."""
    return not any(letter in data for letter in "./\\*?[")


def missing(y: Any) -> np.ndarray:
    """Say which values of a target are missing.

    >>> missing(np.array(["a", None], dtype=object)), missing(np.array([1.0, np.nan]))
    (array([False,  True]), array([False,  True]))
    """
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return np.asarray(np.isnan(y))
    return np.array([value is None or value != value for value in y.tolist()], dtype=bool)
