"""Blocks written to disk once, to be read many times: a cache that the system maps into memory.

Dense features become one ``.npy`` file into which all threads write at once, each block at the place of its rows; sparse ones become the
three arrays of a CSR matrix, appended block after block. Targets are numbers, or labels that are written as numbers with a
dictionary. Nothing but the blocks at work is held in memory. The files go to the directory ``QED_CACHE_DIR``, or else to that for
temporary files, and whoever asked for them removes the folder.
"""

from __future__ import annotations

import mmap
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from io import BufferedWriter, BytesIO, FileIO
from typing import Any

import numpy as np

from qed.base.errors import QedError, SourceError
from qed.base.sources.block import Block, Sliced
from qed.base.sources.facts import Facts

# Gives the results of a function of every block, in order, worked out in this process.
Visit = Callable[..., Iterable[Any]]
# The most bytes of mapped files that are left in memory after they were read.
MOST_PAGES = 1 << 26
# A row that is read by itself brings its neighbours along.
WITH_NEIGHBOURS = 4
NOWHERE = (1 << 62, 0)


class InParts:
    """What is made of several arrays."""

    parts: tuple[np.ndarray, ...]


class Pages:
    """The pages of mapped files that reading has brought into memory: given back as it goes on, so that a pass leaves few of them behind.

    What is given back is read again where it is needed again, most often from the memory that the system has to spare; no number changes.
    """

    def __init__(self, maps: Iterable[tuple[mmap.mmap, int, int]] = (), row_bytes: float = 0.0) -> None:
        self.maps, self.row_bytes = tuple(maps), row_bytes
        self._lock = threading.Lock()
        # Rows that were noted before the last time may have been read by other threads after it.
        self.noted, self.before, self.count = NOWHERE, NOWHERE, 0

    @classmethod
    def of(cls, *parts: Any) -> Pages:
        """Give the pages of arrays with one row for each row; none where nothing is mapped, or so little that it may stay."""
        count = parts[0].shape[0]
        arrays = [array for part in parts for array in (part.parts if isinstance(part, InParts) else (part,))]
        maps = [found for array in arrays if (found := _map_of(array, count)) is not None]
        total = sum(len(one) for one, _, _ in maps)
        return cls(maps, total / max(1, count)) if total > MOST_PAGES else cls()

    def read(self, start: int, stop: int) -> None:
        """Note that rows `start` to `stop` are read."""
        if self.maps:
            self._note(start, stop, stop - start)

    def taken(self, rows: np.ndarray) -> np.ndarray:
        """Note that rows of some numbers are read, those of a part of the table at a time; give their numbers."""
        if self.maps and len(rows):
            self._note(int(rows.min()), int(rows.max()) + 1, WITH_NEIGHBOURS * len(rows))
        return rows

    def _note(self, start: int, stop: int, count: int) -> None:
        with self._lock:
            full = self.count * self.row_bytes >= MOST_PAGES
            low, high = _both(self.noted, self.before)
            if full:
                self.noted, self.before, self.count = NOWHERE, self.noted, 0
            self.noted, self.count = _both(self.noted, (start, stop)), self.count + count
        for one, offset, stride in self.maps if full else ():
            first = (offset + low * stride) // mmap.PAGESIZE * mmap.PAGESIZE if stride else 0
            last = offset + high * stride if stride else len(one)
            one.madvise(mmap.MADV_DONTNEED, first, last - first)

    def __reduce__(self) -> tuple[object, ...]:
        return Pages, ()


def _both(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    return min(one[0], other[0]), max(one[1], other[1])


def _map_of(array: Any, count: int) -> tuple[mmap.mmap, int, int] | None:
    """Give the map that an array lies in, where in it the first of `count` rows begins, and how far it is from row to row.

    That is zero where rows do not follow one another. None where there is no map, or one in which what was written would be lost.
    """
    if not isinstance(array, np.ndarray) or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    base: Any = array
    shared = False
    while isinstance(base, np.ndarray):
        shared = isinstance(base, np.memmap) and base.mode in ("r", "r+", "w+")
        base = base.base
    if not isinstance(base, mmap.mmap) or not shared:
        return None
    offset = array.ctypes.data - np.frombuffer(base, np.uint8).ctypes.data
    return base, offset, array.strides[0] if array.flags.c_contiguous and len(array) == count else 0


class MappedMatrix(Sliced, InParts):
    """A CSR matrix whose three arrays are mapped from files; only the rows that are asked for become a matrix.

    >>> parts = np.array([1.0, 2.0]), np.array([0, 1], np.int32), np.array([0, 1, 1, 2])
    >>> MappedMatrix(*parts, n_features=2)[1:3].toarray()
    array([[0., 0.],
           [0., 2.]])
    """

    format = "csr"
    in_memory = True

    def __init__(self, data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, n_features: int) -> None:
        self.data, self.indices, self.indptr = data, indices, indptr
        self.parts = data, indices, indptr
        self.shape, self.dtype, self.nnz = (len(indptr) - 1, n_features), data.dtype, len(data)

    def __getitem__(self, rows: slice | np.ndarray) -> Any:
        from scipy import sparse

        if isinstance(rows, slice):
            start, stop, _ = rows.indices(self.shape[0])
            places: Any = slice(int(self.indptr[start]), int(self.indptr[stop]))
            indptr = self.indptr[start : stop + 1] - self.indptr[start]
        else:
            length = self.indptr[rows + 1] - self.indptr[rows]
            indptr = np.concatenate([[0], np.cumsum(length)])
            places = np.arange(indptr[-1]) + np.repeat(self.indptr[rows] - indptr[:-1], length)
        shape = (len(indptr) - 1, self.shape[1])
        return sparse.csr_array((self.data[places], self.indices[places], indptr), shape)

    def tocsr(self) -> Any:
        """Give the whole matrix."""
        return self[:]


class ReadMatrix(Sliced):
    """A dense matrix in a file, of which only the rows that are asked for are read: nothing of it stays in memory, as mapped pages do."""

    in_memory = True

    def __init__(self, path: str, offset: int, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        self.shape, self.dtype, self.offset = shape, dtype, offset
        self.file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self.file)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        if not isinstance(rows, slice):
            first = int(rows.min(initial=self.shape[0]))
            return self[first : int(rows.max(initial=-1)) + 1][rows - first]
        start, stop, step = rows.indices(self.shape[0])
        found = np.empty((max(0, stop - start), self.shape[1]), self.dtype)
        place, left = self.offset + start * self.shape[1] * self.dtype.itemsize, _bytes(found)
        while left:
            count = os.preadv(self.file, [left], place)
            if count == 0:
                raise SourceError("A cache on disk was cut short while it was read.")
            place, left = place + count, left[count:]
        return found[::step]


class MappedLabels(InParts):
    """Labels as numbers mapped from a file, with the dictionary that gives them back.

    >>> MappedLabels(np.array([1, 0, 1]), np.array(["no", "yes"], dtype=object))[:2]
    array(['yes', 'no'], dtype=object)
    """

    def __init__(self, codes: np.ndarray, values: np.ndarray) -> None:
        self.codes, self.values, self.parts = codes, values, (codes,)
        self.shape, self.ndim, self.dtype = codes.shape, codes.ndim, values.dtype

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: Any) -> np.ndarray:
        return np.asarray(self.values[self.codes[rows]])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)


class _Column:
    """One array in a file, appended to part by part; `files` closes it."""

    def __init__(self, path: str, files: ExitStack) -> None:
        self.path, self.files = path, files
        self.file: BufferedWriter[FileIO] | None = None
        self.dtype: np.dtype[Any] = np.dtype(np.float64)
        self.shape: tuple[int, ...] = (0,)

    def append(self, values: np.ndarray) -> None:
        """Write more rows, in a type that holds those before as well."""
        if self.file is None:
            self.file = self.files.enter_context(BufferedWriter(FileIO(self.path, "wb")))
            self.dtype, self.shape = values.dtype, (0, *values.shape[1:])
        elif values.dtype != self.dtype:
            self._promote(np.promote_types(values.dtype, self.dtype))
        self.file.write(_bytes(np.ascontiguousarray(values, self.dtype)))
        self.shape = (self.shape[0] + len(values), *self.shape[1:])

    def _promote(self, dtype: np.dtype[Any]) -> None:
        """Write all anew in another type: once, when the first hole is found in a column of whole numbers."""
        known, wider = self.mapped(), _Column(self.path + ".wider", self.files)
        for start in range(0, max(1, len(known)), 1 << 20):
            wider.append(known[start : start + (1 << 20)].astype(dtype))
        os.replace(wider.path, self.path)
        self.file, self.dtype = wider.file, dtype

    def mapped(self) -> np.ndarray:
        """Give the array as it is in the file."""
        if self.file is None or 0 in self.shape:
            return np.zeros(self.shape, self.dtype)
        self.file.flush()
        return np.memmap(self.path, self.dtype, "r", shape=self.shape)


def _bytes(values: np.ndarray) -> memoryview:
    return memoryview(values.ravel().view(np.uint8))  # type: ignore[arg-type]


class _Labels:
    """Labels that become numbers in the order in which they are met."""

    def __init__(self, path: str, files: ExitStack) -> None:
        self.column = _Column(path, files)
        self.codes: dict[tuple[type, Any], int] = {}
        self.values: list[Any] = []

    def append(self, values: np.ndarray) -> None:
        codes = np.fromiter((self._code(label) for label in values.ravel().tolist()), np.int32, values.size)
        self.column.append(codes.reshape(values.shape))

    def _code(self, label: Any) -> int:
        # True and 1 are equal, and NaN is not equal to itself.
        key = type(label), label if label == label else "nan"
        code = self.codes.get(key)
        if code is None:
            code = self.codes[key] = len(self.values)
            self.values.append(label)
        return code

    def mapped(self) -> MappedLabels:
        values = np.empty(len(self.values), dtype=object)
        values[:] = self.values
        return MappedLabels(self.column.mapped(), values)


class _Dense:
    """Dense rows in a ``.npy`` file, whose header is written again when their number is known."""

    def __init__(self, folder: str, facts: Facts, files: ExitStack) -> None:
        self.path, self.facts, self.rows = os.path.join(folder, "X.npy"), facts, 0
        self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        # Closed with the object only: after an error, threads that are still at work hold it, and no other file gets the number.
        weakref.finalize(self, os.close, self.file)
        self.offset = self._write_header()

    def _write_header(self) -> int:
        header = BytesIO()
        shape = (self.rows, self.facts.n_features)
        described = {"descr": self.facts.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(header, described)
        return self._write_at(0, memoryview(header.getvalue()))

    def _write_at(self, place: int, left: memoryview) -> int:
        """Write by a system call: on a full disk that is an error, where a write to mapped memory kills the process."""
        while left:
            written = os.pwrite(self.file, left, place)
            place, left = place + written, left[written:]
        return place

    def write(self, block: Block) -> int:
        """Write a block at the place of its rows, from any thread."""
        matrix = np.ascontiguousarray(block.X, self.facts.dtype)
        place = self.offset + block.start * matrix.shape[1] * matrix.itemsize
        self._write_at(place, _bytes(matrix))
        return len(matrix)

    def append(self, rows: int) -> None:
        self.rows += rows

    def mapped(self) -> np.ndarray:
        # NumPy leaves room in a header for more rows, so that it can grow without moving what follows.
        assert self._write_header() == self.offset
        return np.load(self.path, mmap_mode="r")

    def read(self) -> ReadMatrix:
        """Give the matrix as one of which rows are read when they are asked for."""
        assert self._write_header() == self.offset
        return ReadMatrix(self.path, self.offset, (self.rows, self.facts.n_features), self.facts.dtype)


class _Sparse:
    """Sparse rows as the three arrays of a CSR matrix."""

    def __init__(self, folder: str, facts: Facts, files: ExitStack) -> None:
        self.facts = facts
        self.data, self.indices, self.indptr = (
            _Column(os.path.join(folder, f"{name}.bin"), files) for name in ("data", "indices", "indptr")
        )
        self.data.append(np.empty(0, facts.dtype))
        self.indices.append(np.empty(0, np.int32 if facts.n_features < 2**31 else np.int64))
        self.indptr.append(np.zeros(1, np.int64))

    def write(self, block: Block) -> Any:
        """Leave the writing to `append`: where a block begins, only those before it tell."""
        return block.X.tocsr()

    def append(self, matrix: Any) -> None:
        before = self.data.shape[0]
        self.data.append(matrix.data.astype(self.facts.dtype, copy=False))
        self.indices.append(matrix.indices.astype(self.indices.dtype, copy=False))
        self.indptr.append(before + matrix.indptr[1:].astype(np.int64))

    def mapped(self) -> MappedMatrix:
        return MappedMatrix(self.data.mapped(), self.indices.mapped(), self.indptr.mapped(), self.facts.n_features)


def spill(
    visit: Visit, facts: Facts, count: int | None, *, features: bool = True, read: bool = False
) -> tuple[Block, str]:
    """Write rows to disk, and give them as one block of mapped arrays and the folder that they are in.

    ``visit(function, *args)`` gives ``function(block, *args)`` of all blocks, in order. Without `features`, only target
    and weights are written. Dense features that are to be `read` are not mapped.
    """
    needed = None if count is None or facts.is_sparse else count * facts.n_features * facts.dtype.itemsize
    with cache_folder(needed) as folder, ExitStack() as files:
        X = (_Sparse if facts.is_sparse else _Dense)(folder, facts, files) if features else None
        labels = facts.target_dtype is not None and facts.target_dtype.kind in "OUST"
        y = (_Labels if labels else _Column)(os.path.join(folder, "y.bin"), files)
        weight = _Column(os.path.join(folder, "weight.bin"), files)
        for written, target, weights in visit(_write, X):
            if X is not None:
                X.append(written)
            if facts.has_target:
                y.append(np.asarray(target))
            if facts.has_weight:
                weight.append(np.asarray(weights))
        return (
            Block(
                None if X is None else X.read() if read and isinstance(X, _Dense) else X.mapped(),
                y.mapped() if facts.has_target else None,
                weight.mapped() if facts.has_weight else None,
            ),
            folder,
        )


def _write(block: Block, X: _Dense | _Sparse | None) -> tuple[Any, Any, Any]:
    """Write what can be written by any thread, and give what has to be written in order."""
    return None if X is None else X.write(block), block.y, block.weight


@contextmanager
def cache_folder(needed: int | None) -> Iterator[str]:
    """Make a directory for `needed` bytes; whatever goes wrong inside removes it, and a full disk is said to be one."""
    asked = os.environ.get("QED_CACHE_DIR") or None
    try:
        if asked is not None:
            os.makedirs(asked, exist_ok=True)
        folder = tempfile.mkdtemp(prefix="qed-", dir=asked)
    except OSError as error:
        raise _no_room(asked or tempfile.gettempdir(), needed, str(error.strerror)) from error
    try:
        free = shutil.disk_usage(folder).free
        if needed is not None and free < needed:
            raise _no_room(folder, needed, f"{free / 2**20:,.1f} MiB are free")
        yield folder
    except BaseException as error:
        shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError) and not isinstance(error, QedError):
            raise _no_room(folder, needed, str(error.strerror)) from error
        raise


def _no_room(folder: str, needed: int | None, why: str) -> SourceError:
    amount = "more room" if needed is None else f"{needed / 2**20:,.1f} MiB"
    return SourceError(
        f"The decoded rows need {amount} in {folder!r}, which can not be had ({why}): "
        "set the environment variable QED_CACHE_DIR to a directory with more room."
    )
