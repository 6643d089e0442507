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
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from dask.base import compute, get_scheduler, persist
from dask.delayed import Delayed, delayed

from qed.base.engine import add_pairwise, n_threads, threads
from qed.base.errors import InputError, SourceError
from qed.base.sources.partitions import Decode, Partitions, cut_array, cut_frame
from qed.base.sources.rows import Block, Rows

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
    """Make `Rows` of a Dask array or frame; see :func:`qed.base.sources.rows.rows`.

    Examples
    --------
    >>> import dask.array
    >>> found = open_dask(dask.array.ones((1000, 3), chunks=(250, 3)))
    >>> found.fold(lambda block: block.X.sum()), found.count()
    (np.float64(3000.0), 1000)
    """
    if y is not None and target is not None:
        raise InputError("The target was given twice, as y and as target=: give one of them.")
    if isinstance(X, Delayed) or getattr(X, "ndim", 0) != 2:
        raise InputError(f"A Dask {type(X).__name__} is no table: give a Dask frame, or an array of two dimensions.")
    if hasattr(X, "chunks"):
        if target is not None or columns is not None or isinstance(weight, str):
            raise InputError("The columns of a Dask array have no names: give y= and sample_weight= as arrays.")
        return DaskRows(cut_array(X, y, weight, size))
    return DaskRows(cut_frame(X, y, target, weight, columns, size))


class DaskRows(Rows):
    """Rows of a Dask collection.

    Parameters
    ----------
    source : Partitions
        The pieces, and how to read them.
    """

    def __init__(self, source: Partitions) -> None:
        self.parts, self.decode, self._lengths = source.parts, source.decode, source.lengths
        self.n_features, self.dtype, self.feature_names = source.n_features, self.decode.dtype, self.decode.names
        self.target_names, self.target_is_number = source.target_names, source.target_is_number
        self._has_weight = source.has_weight

    @property
    def has_target(self) -> bool:
        return bool(self.target_names)

    @property
    def has_weight(self) -> bool:
        return self._has_weight

    def lengths(self) -> list[int]:
        """Give the number of rows of every partition, counting them the first time."""
        if self._lengths is None:
            self._lengths = list(_compute([delayed(len)(part) for part, _, _ in self.parts]))
        return self._lengths

    def count(self) -> int:
        return sum(self.lengths())

    def numbers(self) -> Rows:
        if self.decode.layout is not None:
            self.decode.layout.refuse_text()
        return self if self.decode.numbers else self._view(replace(self.decode, numbers=True), self.decode.dtype)

    def table(self) -> Rows:
        if self.decode.layout is None:
            raise InputError("A Dask array can not be read as a table: give a Dask frame.")
        return self._view(replace(self.decode, numbers=False), np.dtype(object))

    def _view(self, decode: Decode, dtype: np.dtype[Any]) -> DaskRows:
        view = copy.copy(self)
        view.decode, view.dtype = decode, dtype
        return view

    def _on_parts(self, work: Callable[..., Any], *args: Any) -> list[Any]:
        """Give a delayed ``work(rows, start, *args)`` for every partition that has rows."""
        if self.decode.numbers and self.decode.layout is not None:
            self.decode.layout.refuse_text()
        lengths = self.lengths()
        starts = accumulate(lengths, initial=0)
        call = delayed(Call(work, args, self.decode), pure=False, traverse=False)
        task = delayed(_call, pure=False)
        filled = [task(call, *part, start) for part, n, start in zip(self.parts, lengths, starts) if n]
        if not filled:
            raise InputError("Found 0 sample(s) while a minimum of 1 is required: all partitions are empty.")
        return filled

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        found = self._on_parts(_fold, function, args)
        while len(found) > 1:
            add = delayed(add_pairwise, pure=False)
            found = [add(found[i : i + GROUP]) for i in range(0, len(found), GROUP)]
        return _compute(found)[0]

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        for results in _stream(self._on_parts(_each, function, args)):
            yield from results

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        for result in self.each(function, *args):
            yield partial(_given, result)

    def array(self) -> Block:
        if self.decode.numbers:
            return super().array()
        blocks = list(self.blocks())
        y = np.concatenate([block.y for block in blocks]) if self.has_target else None
        weight = np.concatenate([block.weight for block in blocks]) if self.has_weight else None
        return Block(pa.concat_tables([block.X for block in blocks], promote_options="permissive"), y, weight)

    def cached(self) -> Rows:
        """Give rows whose decoded partitions stay in the memory of the workers, if there is a cluster that has them."""
        if not self.decode.numbers or _client() is None:
            return self
        with _cluster_errors():
            parts = persist(*self._on_parts(_itself))
        kept = copy.copy(self)
        kept.parts = [(part, None, None) for part in parts]
        kept._lengths = [n for n in self.lengths() if n]
        return kept


@dataclass(frozen=True)
class Call:
    """What is to be done with every partition; sent to a worker once, not with each task."""

    work: Callable[..., Any]
    args: tuple[Any, ...]
    decode: Decode


def _call(call: Call, part: Any, y: Any, weight: Any, start: int) -> Any:
    with threads(1):
        return call.work(call.decode.rows(part, y, weight, start), start, *call.args)


def _fold(rows: Rows, start: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    return rows.fold(_shifted, start, function, args)


def _each(rows: Rows, start: int, function: Callable[..., Any], args: tuple[Any, ...]) -> list[Any]:
    return list(rows.each(_shifted, start, function, args))


def _itself(rows: Rows, start: int) -> Rows:
    return rows


def _shifted(block: Block, start: int, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """Apply `function` to a block of a partition, with its row numbers counted over all partitions."""
    return function(replace(block, start=start + block.start), *args)


def _given(result: Any) -> Any:
    return result


def _client() -> Any:
    """Give the client of the cluster that Dask would use, or None when it would use this process."""
    client = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scheduler_info") else None


def _compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    with _cluster_errors():
        return compute(*tasks, num_workers=n_threads())


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
            yield futures.popleft().result()


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Turn the cluster's own errors into ours; those of the work pass as they are."""
    try:
        yield
    except Exception as error:
        if type(error).__module__.split(".")[0] != "distributed":
            raise
        raise SourceError(f"The cluster could not finish the work ({type(error).__name__}: {error}).") from error
