"""Model files: a zip of one ``model.json`` and of arrays as ``.npy``, written whole or not at all, read with suspicion.

Members are stored, not compressed: a file can then never be larger inside than it is outside, so a small file can not
fill the memory (no zip bombs), arrays are read at the speed of the disk, and equal models give equal bytes. Every size is
compared with the declared one before anything is read, arrays are read without pickle, checksums are verified, and
whatever is wrong with a file ends in a `SavingError`.
"""

from __future__ import annotations

import json
import math
import os
import platform
import stat
import zipfile
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

import numpy as np

from qed.base.errors import InputError, NoMemoryError, SavingError, SourceError, enough_memory
from qed.base.saving.format import Unpacker
from qed.base.saving.replacing import replacing
from qed.base.threads.interrupts import deferred

FORMAT = 1
TREE = "model.json"
# What reading a tree takes at most, in bytes, counted from its text before it is read.
TREE_LIMIT = 192 << 20
ROOM = 32 << 20
TREE_COSTS = {b"[": 160, b"{": 160, b":": 200, b",": 40}


def check_path(path: Any) -> Path:
    """Give a path as such, or say that it is none."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"The path of a model file must be a string or a Path, not {path!r}.")
    return Path(path)


def write_archive(path: Path, kind: str, tree: Any, arrays: list[np.ndarray]) -> None:
    """Write a tree and its arrays to `path`, which afterwards holds either all of it or what it held before."""
    text = json.dumps(_header(kind, tree), allow_nan=False, separators=(",", ":")).encode()
    if (cost := tree_cost(text)) > TREE_LIMIT:
        raise SavingError(
            f"The model's lists and strings would take up to {cost >> 20} megabytes, more than the {TREE_LIMIT >> 20} "
            "that are read again. Keep large data in NumPy arrays of numbers."
        )
    with deferred(moments=False), replacing(path) as file:
        _write_members(file, text, arrays)


def _write_members(file: IO[bytes], text: bytes, arrays: list[np.ndarray]) -> None:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
    try:
        with archive.open(_member(TREE), "w") as stream:
            stream.write(text)
        for number, array in enumerate(arrays):
            large = array.nbytes > 1 << 30
            with archive.open(_member(_array_name(number)), "w", force_zip64=large) as stream:
                np.lib.format.write_array(stream, np.asarray(array), version=(1, 0), allow_pickle=False)
        archive.close()
    except BaseException:
        # Nothing is completed any more, which would only hide what happened: the file is thrown away.
        archive.fp = None
        raise


def tree_cost(text: bytes) -> int:
    """Bound the memory that JSON takes when it is read and made into values: lists are larger than the two brackets of an empty one.

    Examples
    --------
    >>> tree_cost(b'{"a":[]}')
    552
    """
    # A character outside of the first plane makes the whole text four bytes wide.
    return 4 * len(text) + sum(cost * text.count(mark) for mark, cost in TREE_COSTS.items())


def _header(kind: str, tree: Any) -> dict[str, Any]:
    return {"format": "qed", "version": FORMAT, "kind": kind, "made_by": _versions(), "content": tree}


@cache
def _versions() -> dict[str, str]:
    packages = {name: version(name) for name in ("qed-learn", "numpy", "scipy", "scikit-learn")}
    return {"python": platform.python_version(), **packages}


def _array_name(number: int) -> str:
    return f"arrays/{number}.npy"


def _member(name: str) -> zipfile.ZipInfo:
    """Describe a member by its name alone: no clock and no user get into the file."""
    member = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    member.create_system = 3
    member.external_attr = 0o644 << 16
    return member


def read_archive(path: Path, kind: str) -> Any:
    """Read the content of a file of the given kind, "model" or "checkpoint"."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode)
        file = path.open("rb") if regular else None
    except OSError as error:
        raise SourceError(f"Could not read {path}: {error.strerror or error}. Check the path.") from error
    if file is None:
        raise SourceError(f"Could not read {path}: it is not a file. Check the path.")
    with file:
        try:
            with enough_memory():
                return _Reader(file).content(kind)
        except SavingError as error:
            raise SavingError(f"Could not load {path}: {error}") from error
        except NoMemoryError:
            raise
        # What a damaged or hostile file can raise inside zipfile, json and NumPy is an open list.
        except Exception as error:
            detail = f"{type(error).__name__}: {error}".rstrip(": ")
            raise SavingError(
                f"Could not load {path}: it is damaged or not a file of qed ({detail[:200]}). "
                "Get it again from where it was saved."
            ) from error


class _Reader:
    """The members of one file, each read when it is asked for."""

    def __init__(self, file: IO[bytes]) -> None:
        self._size = os.fstat(file.fileno()).st_size
        self._archive = zipfile.ZipFile(file)
        self._members = {member.filename: member for member in self._archive.infolist()}
        self._arrays: dict[int, np.ndarray] = {}

    def content(self, kind: str) -> Any:
        with self._archive:
            header = self._tree()
            self._check_header(header, kind)
            self._check_members()
            return Unpacker(self._array, ROOM + 8 * self._size).unpack(header["content"])

    def _tree(self) -> Any:
        member = self._members.get(TREE)
        if member is None:
            raise SavingError(f"it holds no {TREE}, so it is not a file of qed.")
        too_large = SavingError(f"its {TREE} is compressed or too large to be one of qed's.")
        if member.file_size > min(TREE_LIMIT // 4, self._size) or member.compress_type != zipfile.ZIP_STORED:
            raise too_large
        text = self._archive.read(member)
        if tree_cost(text) > TREE_LIMIT:
            raise too_large
        return json.loads(text)

    def _check_header(self, header: Any, kind: str) -> None:
        if not isinstance(header, dict) or header.get("format") != "qed" or type(header.get("version")) is not int:
            raise SavingError(f"its {TREE} does not say that it is a file of qed.")
        if header["version"] > FORMAT:
            writer = dict(header.get("made_by") or {}).get("qed-learn", "a newer version")
            raise SavingError(
                f"it has format {header['version']}, written by qed {writer}; this qed reads formats up to {FORMAT}. "
                "Install a newer qed."
            )
        if header["version"] < 1:
            raise SavingError(f"it has the format {header['version']}, which never was.")
        if header.get("kind") != kind:
            advice = {
                "model": "Go on with the fit of a checkpoint with qed.resume(path, X, y).",
                "checkpoint": "Read a saved model with qed.load(path), and give checkpoints another path.",
            }
            raise SavingError(f"it holds a {str(header.get('kind'))[:40]}, not a {kind}. {advice[kind]}")

    def _check_members(self) -> None:
        expected = {TREE, *(_array_name(number) for number in range(len(self._members) - 1))}
        infos = self._archive.infolist()
        if set(self._members) != expected or len(infos) != len(expected):
            strange = sorted(set(self._members) - expected)
            raise SavingError(f"it holds members that qed did not write: {strange[:3] or 'some twice'}.")
        if any(info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size for info in infos):
            raise SavingError("it holds compressed members, which qed does not write.")
        if sum(info.file_size for info in infos) > self._size:
            raise SavingError("it declares more data than it holds.")

    def _array(self, number: Any) -> np.ndarray:
        if type(number) is not int or _array_name(number) not in self._members:
            raise SavingError(f"it refers to the array {number!r}, which is missing.")
        if number not in self._arrays:
            self._arrays[number] = self._read_array(self._members[_array_name(number)])
        return self._arrays[number]

    def _read_array(self, member: zipfile.ZipInfo) -> np.ndarray:
        with self._archive.open(member) as stream:
            if np.lib.format.read_magic(stream) != (1, 0):
                raise SavingError(f"{member.filename} is not an array as qed writes them.")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            if dtype.hasobject or stream.tell() + math.prod(shape) * dtype.itemsize != member.file_size:
                raise SavingError(f"{member.filename} has another size than it declares.")
            # An array without values is small whatever it says of its other axes, but not what is made with them.
            largest = math.prod(axis for axis in shape if axis) * dtype.itemsize
            if dtype.kind not in "biufcUSmM" or largest > max(self._size, 1 << 24):
                raise SavingError(f"{member.filename} is not an array that a model has.")
        with self._archive.open(member) as stream:
            array = np.lib.format.read_array(stream, allow_pickle=False)
            # Reading beyond the last byte makes zipfile compare the checksum.
            if stream.read(1):
                raise SavingError(f"{member.filename} is longer than it declares.")
        return array
