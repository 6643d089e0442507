"""How a file of separated values is written: its letters, what separates its columns, and its decimal mark.

All three are found by looking, and said where they are not the usual ones (UTF-8, commas, points); whoever knows better says so. What is
not UTF-8 is taken for Windows' Western letters (cp1252), which hold those of Latin-1.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from qed.base.errors import InputError, ParameterError

HEAD, MOST_SCANNED, PIECE = 1 << 20, 1 << 28, 1 << 22
SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars", " ": "blanks"}
# The mark of UTF-32 begins like that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
WORDS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " ", "blank": " ", "bar": "|", "pipe": "|"}
QUOTED = re.compile(r'"(?:[^"]|"")*"')
# A cell of columns that are separated by blanks.
CELL = re.compile(r'"(?:[^"]|"")*"|\S+')
COMMA, POINT = re.compile(r"^\s*[-+]?\d+,\d+\s*$"), re.compile(r"^\s*[-+]?\d+\.\d+\s*$")


@dataclass(frozen=True)
class Dialect:
    """How a file is written; nothing stands for what is to be found out."""

    encoding: str | None = None
    sep: str | None = None
    decimal: str | None = None

    @classmethod
    def of(cls, encoding: str | None = None, sep: str | None = None, decimal: str | None = None) -> Dialect:
        """Take what a user says, in marks or in words.

        >>> Dialect.of(sep="tab", decimal="comma")
        Dialect(encoding=None, sep='\\t', decimal=',')
        """
        if encoding is not None:
            try:
                encoding = codecs.lookup(encoding).name
            except LookupError:
                raise ParameterError(
                    f"There is no encoding {encoding!r}: try utf-8, latin-1, cp1252 or utf-16."
                ) from None
        sep = None if sep is None else WORDS.get(sep.lower(), sep)
        decimal = None if decimal is None else {"comma": ",", "point": "."}.get(decimal.lower(), decimal)
        if sep is not None and (len(sep) != 1 or sep in '"\r\n'):
            raise ParameterError(
                f"Columns are separated by a single letter, neither a quote nor a line break, not by {sep!r}."
            )
        if decimal not in (None, ",", "."):
            raise ParameterError(f"The decimal mark is a point or a comma, not {decimal!r}.")
        if sep is not None and sep == decimal:
            raise ParameterError(f"{sep!r} can not both separate columns and be the decimal mark.")
        return cls("utf8" if encoding == "utf-8" else encoding, sep, decimal)

    def found(self, path: str) -> Dialect:
        """Look into a file for what was not said."""
        encoding = self.encoding or find_encoding(path)
        with pa.input_stream(path) as stream:
            head = stream.read(HEAD)
        try:
            text = head.decode("utf-8" if encoding == "utf8" else encoding, errors="replace").lstrip("\ufeff")
        except LookupError:
            raise ParameterError(f"There is no encoding {encoding!r}.") from None
        lines = [line for line in text.splitlines()[:200] if line.strip()]
        if len(head) == HEAD:
            lines = lines[:-1] or lines
        sep = self.sep or ("\t" if ".tsv" in path.lower() else _separator(lines))
        decimal = self.decimal or _decimal(lines, sep)
        return Dialect(encoding, sep, decimal)

    def says(self, asked: Dialect) -> list[str]:
        """Say what was found that is not usual and was not asked for."""
        found = []
        if asked.encoding is None and self.encoding != "utf8":
            found.append(f"it is not UTF-8, and read as {self.encoding}")
        if asked.sep is None and self.sep in (";", "|", " "):
            found.append(f"columns are separated by {SEPARATORS[self.sep]}")
        if asked.decimal is None and self.decimal == ",":
            found.append("numbers have decimal commas")
        return found


def find_encoding(path: str) -> str:
    """Say in what letters a file is written."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with pa.input_stream(path) as stream:
        piece = stream.read(PIECE)
        for mark, name in MARKS:
            if piece.startswith(mark):
                return name
        few = piece[:4096]
        if few.count(0) > len(few) // 4:
            return "utf-16-le" if few[1::2].count(0) > few[0::2].count(0) else "utf-16-be"
        seen, every = 0, piece
        while piece and seen < MOST_SCANNED:
            try:
                decoder.decode(piece)
            except UnicodeDecodeError:
                return _western(every if seen == 0 else piece)
            seen += len(piece)
            piece = stream.read(PIECE)
    return "utf8"


def _western(piece: bytes) -> str:
    try:
        piece.decode("cp1252")
    except UnicodeDecodeError:
        return "latin-1"
    return "cp1252"


def _separator(lines: list[str]) -> str:
    """Choose what the first line has most often, outside of quotes; a blank only where there is nothing else."""
    if not lines:
        return ","
    bare = [QUOTED.sub("", line) for line in lines[:20]]
    counts = {mark: bare[0].count(mark) for mark in ",;\t|"}
    best = max(counts, key=lambda mark: (counts[mark], sum(line.count(mark) == counts[mark] for line in bare)))
    if counts[best]:
        return best
    head, *below = [len(CELL.findall(line)) for line in lines[:20]]
    # The names of rows may have none above them, as R writes them; they differ.
    names = {CELL.findall(line)[0] for line in lines[1:20]}
    fits = len(set(below)) == 1 and (below[0] == head or (below[0] == head + 1 and len(names) == len(below)))
    return " " if head > 1 and fits else ","


def _decimal(lines: list[str], sep: str) -> str:
    """Say whether numbers have commas or points in them: a comma, where some have one and none has a point."""
    if sep == ",":
        return "."
    cells = [cell.strip('"') for line in lines[1:] for cell in line.split(sep)]
    commas = sum(bool(COMMA.match(cell)) for cell in cells)
    return "," if commas and not any(POINT.match(cell) for cell in cells) else "."


def blanks_as_tabs(path: str, encoding: str) -> Any:
    """Open a file of columns that are separated by runs of blanks, as one with tabs between them."""
    with pa.input_stream(path) as stream:
        text = stream.read().decode("utf-8" if encoding == "utf8" else encoding, errors="replace").lstrip("\ufeff")
    lines = ["\t".join(CELL.findall(line)) for line in text.splitlines() if line.strip()]
    if not lines:
        raise InputError(f"{path!r} is empty: the first line names its columns.")
    return pa.BufferReader("\n".join(lines).encode())
