"""Dask collections as `Rows`: partitions stay on their workers, only statistics travel.

Every partition is folded where it is, block by block, and the partitions' results are added pairwise in their order by
further tasks, eight at a time. Eight is a power of two, as is the engine's pair, so the additions are those of a fold
over one table whenever each partition holds the same power of two of blocks. The sum never depends on the number of
workers, on which one is first, or on one that dies and whose partitions are read again elsewhere.

The number of a partition's first row needs the lengths of those before it. A Dask array knows them; those of a frame are
counted once, which is a pass of its own.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain, islice
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.engine import add_pairwise, n_threads, threads
from qed.base.errors import InputError, SourceError
from qed.base.sources.block import Function, Piece
from qed.base.sources.facts import Facts
from qed.base.sources.partitions import Decode, Partitions, cut_array, cut_frame
from qed.base.sources.rows import ArrayRows, Rows, kept
from qed.base.threads.interrupts import interruptible

GROUP = 8


def open_dask(
    X: Any,
    y: Any = None,
    *,
    target: str | Sequence[str] | None = None,
    weight: Any = None,
    columns: Sequence[str] | None = None,
    size: int | None = None,
) -> Rows:
    """Make `Rows` of a Dask array or frame; see :func:`qed.base.sources.open.rows`.

    >>> import dask.array
    >>> found = open_dask(dask.array.ones((1000, 3), chunks=(250, 3)))
    >>> found.fold(lambda block: block.X.sum()), found.count()
    (np.float64(3000.0), 1000)
    """
    ndim = getattr(X, "ndim", 0)
    if not isinstance(ndim, int) or ndim != 2:
        raise InputError(f"A Dask {type(X).__name__} is no table: give a Dask frame, or an array of two dimensions.")
    if hasattr(X, "chunks"):
        if target is not None or columns is not None or isinstance(weight, str):
            raise InputError("The columns of a Dask array have no names: give y= and sample_weight= as arrays.")
        return DaskRows(cut_array(X, y, weight, size))
    return DaskRows(cut_frame(X, y, target, weight, columns, size))


class DaskRows(Rows):
    """Rows of a Dask collection."""

    def __init__(self, source: Partitions) -> None:
        self.parts, self.decode, self.facts, self._lengths = source.parts, source.decode, source.facts, source.lengths
        self.views: tuple[Callable[[Rows], Rows], ...] = ()

    def lengths(self) -> list[int]:
        """Give the number of rows of every partition, before any view of it, counting them the first time."""
        from dask.delayed import delayed

        if self._lengths is None:
            self._lengths = list(_compute([delayed(_length)(part) for part, _, _ in self.parts]))
        return self._lengths

    def count(self) -> int:
        return sum(self.each(len)) if self.views else sum(self.lengths())

    def known_count(self) -> int | None:
        return None if self.views or self._lengths is None else sum(self._lengths)

    def numbers(self) -> Rows:
        if self.views:
            return self
        if self.decode.layout is not None:
            self.decode.layout.refuse_text()
        if self.decode.numbers:
            return self
        schema = None if self.decode.layout is None else self.decode.layout.feature_schema
        return self._view(replace(self.decode, numbers=True), self.decode.dtype, schema)

    def table(self) -> Rows:
        if self.decode.layout is None or self.views:
            return super().table()
        # A column of Python objects is promised to hold text, but only its partitions can tell.
        return self._view(replace(self.decode, numbers=False), np.dtype(object), None)

    def _view(self, decode: Decode, dtype: np.dtype[Any], schema: pa.Schema | None) -> DaskRows:
        view = copy.copy(self)
        view.decode, view.facts = decode, replace(self.facts, dtype=dtype, schema=schema)
        return view

    def spread(self, view: Callable[[Rows], Rows], facts: Facts) -> DaskRows:
        found = copy.copy(self)
        found.views, found.facts = (*self.views, view), facts
        return found

    def _on_parts(self, work: Function, *args: Any) -> list[Any]:
        """Give a delayed ``work(rows, *args)`` for every partition that has rows."""
        from dask.delayed import delayed

        if self.decode.numbers and self.decode.layout is not None:
            self.decode.layout.refuse_text()
        lengths = self.lengths()
        starts = accumulate(lengths, initial=0)
        call = delayed(Call(work, args, self.decode, self.views), pure=False, traverse=False)
        task = delayed(_call, pure=False)
        filled = [task(call, *part, start) for part, n, start in zip(self.parts, lengths, starts) if n]
        if not filled:
            raise InputError("Found 0 sample(s) while a minimum of 1 is required: all partitions are empty.")
        return filled

    def fold(self, function: Function, *args: Any) -> Any:
        from dask.delayed import delayed

        found = self._on_parts(_fold, function, args)
        while len(found) > 1:
            add = delayed(_add, pure=False)
            found = [add(found[i : i + GROUP]) for i in range(0, len(found), GROUP)]
        return add_pairwise(_compute(found)[0])

    def each(self, function: Function, *args: Any) -> Iterator[Any]:
        for results in _stream(self._on_parts(_each, function, args)):
            yield from results

    def pieces(self) -> Iterator[Piece]:
        for block in self.each(_itself):
            yield Piece(block.start, len(block), partial(_itself, block))

    def cached(self) -> Rows:
        """Give rows whose decoded partitions stay in the memory of the workers, if there is a cluster that has them."""
        from dask.base import persist

        if self.is_table or _client() is None:
            return self
        with _cluster_errors():
            parts = persist(*self._on_parts(_held))
        found = copy.copy(self)
        found.parts, found.views, found._lengths = [(part, None, None) for part in parts], (), None
        found.decode = replace(self.decode, layout=None, numbers=True)
        if not self.views:
            found._lengths = [n for n in self.lengths() if n]
        return found


@dataclass(frozen=True)
class Call:
    """What is to be done with every partition; sent to a worker once, not with each task."""

    work: Function
    args: tuple[Any, ...]
    decode: Decode
    views: tuple[Callable[[Rows], Rows], ...]


def _call(call: Call, part: Any, y: Any, weight: Any, start: int) -> Any:
    with threads(1):
        rows: Rows = call.decode.rows(part, y, weight, start)
        for view in call.views:
            rows = view(rows)
        return call.work(rows, *call.args)


def _fold(rows: Rows, function: Function, args: tuple[Any, ...]) -> list[Any]:
    """Give the sum over a partition; nothing, where a view leaves none of its rows."""
    found = rows.each(function, *args)
    return [add_pairwise(chain([first], found)) for first in islice(found, 1)]


def _add(sums: Sequence[list[Any]]) -> list[Any]:
    there = [total for part in sums for total in part]
    return [add_pairwise(there)] if there else []


def _each(rows: Rows, function: Function, args: tuple[Any, ...]) -> list[Any]:
    return list(rows.each(function, *args))


def _held(rows: Rows) -> ArrayRows | None:
    """Give the rows of a partition as arrays; None where a view leaves none of them."""
    if not any(True for _ in rows.pieces()):
        return None
    return kept(rows.cached())


def _length(part: Any) -> int:
    return 0 if part is None else part.count() if isinstance(part, ArrayRows) else len(part)


def _itself(value: Any) -> Any:
    return value


def _client() -> Any:
    """Give the client of the cluster that Dask would use, or None when it would use this process."""
    from dask.base import get_scheduler

    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    from dask.base import compute

    with _cluster_errors(), interruptible():
        found: tuple[Any, ...] = compute(*tasks, num_workers=n_threads())
        return found


def _stream(tasks: Sequence[Any]) -> Iterator[Any]:
    """Give the results of tasks in order, without having all of them in this process at a time."""
    client = _client()
    if client is None:
        step = 2 * n_threads()
        for i in range(0, len(tasks), step):
            yield from _compute(tasks[i : i + step])
        return
    with _cluster_errors():
        futures = deque(client.compute(list(tasks)))
        while futures:
            with interruptible():
                found = futures.popleft().result()
            yield found


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Turn the cluster's own errors into ours; those of the work pass as they are."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] != "distributed":
            raise
        raise SourceError(f"The cluster could not finish the work ({type(error).__name__}: {error}).") from error
