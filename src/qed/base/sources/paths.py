"""From what a user writes to the files that are meant: paths, patterns such as ``sales-*.parquet``, folders, lists.

The files of a pattern or a folder come in the order of their names, those of a list in the order of the list: rows have
an order, and a target given as an array has to match it.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from qed.base.errors import InputError, SourceError

PACKED = {".gz", ".bz2", ".zst"}


def suffix_of(path: str) -> str:
    """Give the ending that tells the format, whether the file is compressed or not.

    >>> suffix_of("sales.CSV.gz"), suffix_of("sales.parquet")
    ('.csv', '.parquet')
    """
    endings = [ending.lower() for ending in Path(path).suffixes]
    if (
        len(endings) > 1
        and endings[-1] in PACKED
        and endings[-2] in {".csv", ".tsv", ".txt", ".json", ".jsonl", ".ndjson"}
    ):
        return endings[-2]
    return endings[-1] if endings else ""


def find_files(paths: Any, known: Iterable[str]) -> list[str]:
    """List the files that are meant, all of one known format, or say what is missing.

    The paths are names of files or folders, or patterns with ``*``; `known` are the endings of files that can be read.
    """
    known = sorted(known)
    given = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = [path for item in given for path in _expanded(os.path.expanduser(os.fspath(item)), known)]
    for path in found:
        if suffix_of(path) not in known:
            raise InputError(
                f"{path!r} is of no format that can be read ({', '.join(known)}; .csv and .tsv also with .gz): "
                "convert it, or read it yourself and give the table."
            )
    kinds = {suffix_of(path) for path in found}
    alike = ({".parquet", ".pq"}, {".feather", ".arrow"}, {".csv", ".tsv", ".txt"}, {".json", ".jsonl", ".ndjson"})
    if len(kinds) > 1 and not any(kinds <= some for some in alike):
        raise InputError(f"The files are of several formats ({', '.join(sorted(kinds))}): give those of one format.")
    return found


def _expanded(path: str, known: list[str]) -> list[str]:
    if os.path.isdir(path):
        inside = sorted(name for name in os.listdir(path) if not name.startswith((".", "_")))
        found = [os.path.join(path, name) for name in inside if suffix_of(name) in known]
        if not found:
            raise SourceError(f"The folder {path!r} holds no files that can be read ({', '.join(known)}).")
        return found
    if os.path.exists(path) or not glob.has_magic(path):
        if not os.path.exists(path):
            raise SourceError(f"There is no file {path!r}.{_neighbour(path)}")
        return [path]
    found = sorted(name for name in glob.glob(path, recursive=True) if os.path.isfile(name))
    if not found:
        raise SourceError(f"No file matches {path!r} (from the folder {os.getcwd()!r}).")
    return found


def _neighbour(path: str) -> str:
    """Suggest a file of nearly the same name."""
    folder, name = os.path.split(path)
    try:
        near = get_close_matches(name, os.listdir(folder or "."), n=1)
    except OSError:
        return f" There is no folder {folder!r} either."
    return f" Did you mean {os.path.join(folder, near[0])!r}?" if near else ""
