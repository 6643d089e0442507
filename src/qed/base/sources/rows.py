"""Any source of data as blocks of rows.

Models see `Rows` only, and touch them by :meth:`Rows.fold`: the same model code runs on arrays, files and clusters. A view, such as
:meth:`Rows.through`, changes the blocks of another source as they are read. What rows are like is stated (:mod:`qed.base.sources.facts`).

The *block plan*, the way in which rows are cut into blocks, depends on the data alone, never on the machine. Together with the
fixed order of addition in :mod:`qed.base.engine` that makes results independent of the number of threads.
"""

from __future__ import annotations

import copy
import shutil
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain, islice
from operator import attrgetter
from typing import Any, Self

import numpy as np
import pyarrow as pa

from qed.base.engine import add_pairwise, one_blas_thread, work
from qed.base.errors import InputError
from qed.base.numbers import room
from qed.base.sources.block import Block, Function, Piece, Sliced, block_rows, is_sparse, join, join_blocks
from qed.base.sources.facts import Facts, Stated
from qed.base.sources.layout import numbers_of, table_of
from qed.base.sources.order import orders
from qed.base.sources.spill import Pages, spill
from qed.base.threads.interrupts import deferred, moment


class Rows(Stated, ABC):
    """A table of numbers (or, for encoders, of mixed columns) that is read block by block.

    Attributes
    ----------
    facts : Facts
        What is known of the rows. Each of them is an attribute of the rows as well: ``rows.is_sparse``, ``rows.dtype`` and so on.
    """

    @abstractmethod
    def pieces(self) -> Iterator[Piece]:
        """Give one piece per block, in order; it is read in this process."""

    @abstractmethod
    def count(self) -> int:
        """Count the rows; for some sources that takes a pass."""

    def known_count(self) -> int | None:
        """Give the number of rows where it is known without a pass."""
        return self.count()

    def tasks(self, function: Function, *args: Any) -> Iterator[Callable[[], Any]]:
        """Give one task per block, in order; a task reads its block and applies ``function(block, *args)``."""
        return (piece.task(function, args) for piece in self.pieces())

    def fold(self, function: Function, *args: Any) -> Any:
        """Add up ``function(block, *args)`` over all blocks.

        Parameters
        ----------
        function, *args : callable and what it takes
            Takes a `Block` first; what it returns must know ``+``.

        Examples
        --------
        >>> import numpy as np
        >>> ArrayRows(np.ones((1000, 3))).fold(lambda block: block.X.sum())
        np.float64(3000.0)
        """
        with deferred(), one_blas_thread:
            only = self.only()
            return add_pairwise(work(self.tasks(function, *args))) if only is None else function(only, *args)

    def each(self, function: Function, *args: Any) -> Iterator[Any]:
        """Give ``function(block, *args)`` of block after block, worked out in parallel."""
        return work(self.tasks(function, *args))

    def map(self, function: Function, *args: Any) -> Any:
        """Join the arrays ``function(block, *args)``, one row for each row of the source, in their order."""
        with deferred(), one_blas_thread:
            only = self.only()
            return join(list(self.each(function, *args))) if only is None else function(only, *args)

    def only(self) -> Block | None:
        """Give the one block that there is, where it is in memory: there is nobody to share it with. None for all other rows."""
        return None

    def blocks(self) -> Iterator[Block]:
        """Give the blocks one after another."""
        return self.each(_same)

    def through(self, change: Callable[..., Block], *args: Any, target_only: bool = False, **facts: Any) -> Rows:
        """Give the rows as a function changes them, block by block, whenever they are read.

        Parameters
        ----------
        change, *args : callable and what it takes
            ``change(block, *args)`` gives another block of as many rows.
        target_only : bool
            Whether the features stay what they are; then caching the rows does not copy them.
        **facts
            What is to be stated otherwise than of these rows: ``n_features``, ``feature_names``, ``dtype``, ``is_sparse`` ...

        Examples
        --------
        >>> import numpy as np
        >>> doubled = ArrayRows(np.ones((4, 1))).through(lambda block: replace(block, X=2 * block.X))
        >>> doubled.fold(lambda block: block.X.sum())
        np.float64(8.0)
        """
        return Through(self, change, args, facts, target_only)

    def numbers(self) -> Rows:
        """Give the rows as numbers, for models; what holds text or dates is refused by name."""
        return self

    def table(self) -> Rows:
        """Give the rows as a table of mixed columns, for encoders."""
        if self.is_sparse:
            raise InputError("A sparse matrix can not be read as a table: make it dense first.")
        return self if self.is_table else self.through(_as_table, self.feature_names, dtype=np.dtype(object))

    def cached(self) -> Rows:
        """Give rows that are cheap to read many times: the rows themselves, unless reading means decoding."""
        return self

    def stream(self, seed: int, epoch: int, batch: int) -> Iterator[Block]:
        """Give all rows once, in mini-batches and in a random order that depends on (seed, epoch) and nothing else.

        The order is that of :mod:`qed.base.sources.order`, the same for an array, a file and a cluster. Where the rows are not in memory
        they are written to a cache on disk first; call :meth:`cached` before the first epoch, so that this happens once.

        Parameters
        ----------
        seed, epoch : int
            Whole numbers that say which order.
        batch : int
            Rows in a batch, whose ``start`` counts those that came before; the last may have fewer.

        Examples
        --------
        >>> import numpy as np
        >>> [part.y.tolist() for part in ArrayRows(np.ones((5, 1)), np.arange(5)).stream(0, 1, 2)]
        [[1, 0], [3, 2], [4]]
        """
        return kept(self.cached()).stream(seed, epoch, batch)

    def array(self) -> Block:
        """Give all rows as a single block, for methods that work in memory."""
        count = None if self.is_sparse or self.is_table else self.known_count()
        if count is None:
            return join_blocks(list(self.blocks()))
        X, first, pieces = room((count, self.n_features), self.dtype), 0, self.pieces()
        for piece in islice(pieces, 1):
            first, pieces = piece.start, chain([piece], pieces)
        parts = list(work(piece.task(_write_into, (X, first)) for piece in pieces))
        return replace(join_blocks(parts), X=X)

    def spread(self, view: Callable[[Rows], Rows], facts: Facts) -> Rows | None:
        """Give a view of these rows that is folded where their partitions are; None where all rows are read here."""
        return None

    def name_of(self, column: int) -> str:
        """Name a column for messages: ``'price'``, or ``number 3`` where there are no names."""
        return repr(self.feature_names[column]) if self.feature_names else f"number {column}"


def _same(block: Block) -> Block:
    return block


def _as_table(block: Block, names: tuple[str, ...] | None) -> Block:
    return replace(block, X=table_of(block.X, names))


def _write_into(block: Block, X: np.ndarray, first: int) -> Block:
    """Put the features where they belong, and give the rest."""
    X[block.start - first : block.start - first + len(block)] = block.X
    return replace(block, X=X[:0])


class View(Rows):
    """The rows of a source, unchanged; subclasses change what they are about."""

    def __init__(self, source: Rows, facts: Facts | None = None) -> None:
        self.source, self.facts = source, source.facts if facts is None else facts

    @property
    def again(self) -> Callable[[Rows], Rows]:
        """What makes the same view of other rows; it can be sent to another process."""
        return View

    def pieces(self) -> Iterator[Piece]:
        return self.source.pieces()

    def count(self) -> int:
        return self.source.count()

    def known_count(self) -> int | None:
        return self.source.known_count()

    @cached_property
    def _there(self) -> Rows | None:
        """These rows where their partitions are, if the source is spread over a cluster."""
        return self.source.spread(self.again, self.facts)

    def spread(self, view: Callable[[Rows], Rows], facts: Facts) -> Rows | None:
        return self.source.spread(partial(_both, first=self.again, second=view), facts)

    def fold(self, function: Function, *args: Any) -> Any:
        return super().fold(function, *args) if self._there is None else self._there.fold(function, *args)

    def each(self, function: Function, *args: Any) -> Iterator[Any]:
        return super().each(function, *args) if self._there is None else self._there.each(function, *args)


def _both(rows: Rows, first: Callable[[Rows], Rows], second: Callable[[Rows], Rows]) -> Rows:
    """Give a view of a view."""
    return second(first(rows))


class Through(View):
    """Rows as a function of each block makes them; the parameters are those of :meth:`Rows.through`."""

    def __init__(
        self,
        source: Rows,
        change: Callable[..., Block],
        args: tuple[Any, ...] = (),
        facts: dict[str, Any] | None = None,
        target_only: bool = False,
    ) -> None:
        stated = {"schema": None, **(facts or {})}
        if stated.get("feature_names") is not None:
            stated["feature_names"] = tuple(str(name) for name in stated["feature_names"])
            stated["n_features"] = len(stated["feature_names"])
        super().__init__(source, replace(source.facts, **stated))
        self.given: dict[str, Any] = {"change": change, "args": args, "facts": facts, "target_only": target_only}
        self._cached: Rows | None = None

    @property
    def again(self) -> Callable[[Rows], Rows]:
        return partial(Through, **self.given)

    def pieces(self) -> Iterator[Piece]:
        change, args = self.given["change"], self.given["args"]
        for piece in self.source.pieces():
            yield Piece(piece.start, piece.count, piece.task(change, args))

    def only(self) -> Block | None:
        found = self.source.only()
        return None if found is None else self.given["change"](found, *self.given["args"])

    def cached(self) -> Rows:
        """Change the blocks once: kept in memory where the source is, else on disk, or by the workers of a cluster."""
        if self._cached is None:
            self._cached = self._changed_once()
        return self._cached

    def _changed_once(self) -> Rows:
        if self._there is not None:
            return self._there.cached()
        if self.is_table:
            return self
        if not self.given["target_only"]:
            return kept(self)
        held = self.source.cached()
        return held.with_target(_kept_target(self.again(held))) if isinstance(held, ArrayRows) else self


class ArrayRows(Rows):
    """Rows of arrays in memory (or memory-mapped): blocks are views, nothing is copied.

    The features may also be a CSR array, an Arrow table (`mapped` if in a file), or what gives slices of rows of such a matrix.
    """

    def __init__(
        self,
        X: Any,
        y: Any = None,
        weight: np.ndarray | None = None,
        feature_names: Sequence[str] | None = None,
        size: int | None = None,
        *,
        target_names: Sequence[str] = (),
        first: int = 0,
        mapped: bool = False,
    ) -> None:
        self.X = X.tocsr() if is_sparse(X) and X.format != "csr" else X
        self.y, self.weight, self.first = y, weight, first
        # What encoders see: the same values in the type in which they were given, such as whole numbers.
        self.given = self.X
        self.facts = Facts(
            n_features=int(X.shape[1]),
            dtype=np.dtype(X.dtype) if hasattr(X, "dtype") else np.dtype(object),
            feature_names=None if feature_names is None else tuple(feature_names),
            is_sparse=is_sparse(X),
            schema=X.schema if isinstance(X, pa.Table) else None,
            target_names=tuple(target_names),
            target_dtype=None if y is None else y.dtype,
            target_shape=() if y is None else tuple(y.shape[1:]),
            has_weight=weight is not None,
            in_memory=X.in_memory if isinstance(X, Sliced) else True,
            is_mapped=mapped or isinstance(X, (np.memmap, Sliced)),
        )
        self.size = size if size is not None else block_rows(self.n_features, self.count(), self._width())
        self.pages = Pages.of(X, y, weight)

    def _width(self) -> int | None:
        """Give the stored values per row of a sparse matrix, which are few."""
        return max(1, -(-int(self.X.nnz) // max(1, self.count()))) if self.is_sparse else None

    def with_target(self, y: Any) -> Self:
        """Give the same rows with another target."""
        found = copy.copy(self)
        found.y, found.pages = y, Pages.of(self.X, y, self.weight)
        found.facts = replace(self.facts, target_dtype=y.dtype, target_shape=tuple(y.shape[1:]))
        return found

    def numbered_from(self, first: int) -> Self:
        """Give the same rows, with the number `first` for the first of them."""
        found = copy.copy(self)
        found.first = first
        return found

    def count(self) -> int:
        return int(self.X.shape[0])

    def pieces(self) -> Iterator[Piece]:
        n = self.count()
        for start in range(0, max(n, 1), self.size):
            stop = min(start + self.size, n)
            yield Piece(self.first + start, stop - start, partial(self.block, start, stop))

    def only(self) -> Block | None:
        moment()
        n = self.count()
        return self.block(0, n) if n <= self.size else None

    def block(self, start: int, stop: int) -> Block:
        """Give rows `start` to `stop` as a view; what is whole and plain already is not cut."""
        self.pages.read(start, stop)
        whole = Block(self.X, self.y, self.weight, self.first)
        return whole if type(self.X) is np.ndarray and stop - start == self.count() else whole.between(start, stop)

    def stream(self, seed: int, epoch: int, batch: int) -> Iterator[Block]:
        whole = Block(self.X, self.y, self.weight)
        numbers = orders(self.count(), self.n_features, seed, epoch, batch, sparse=self.is_sparse)
        return (replace(whole.take(self.pages.taken(rows)), start=k * batch) for k, rows in enumerate(numbers))

    def array(self) -> Block:
        X = self.X[:] if isinstance(self.X, Sliced) else self.X
        return Block(X, None if self.y is None else np.asarray(self.y), self.weight, self.first)

    def numbers(self) -> Rows:
        return self._with_features(numbers_of(self.X)) if self.is_table else self

    def table(self) -> Rows:
        if self.is_sparse or self.is_table:
            return super().table()
        return self._with_features(table_of(self.given[:], self.feature_names))

    def _with_features(self, X: Any) -> ArrayRows:
        given = (self.y, self.weight, self.feature_names, self.size)
        return ArrayRows(X, *given, target_names=self.target_names, first=self.first)


def kept(rows: Rows, size: int | None = None, *, on_disk: bool = False) -> ArrayRows:
    """Read rows once and keep them: in memory where they come from there, else (or `on_disk`) in files that go when the rows do."""
    if isinstance(rows, ArrayRows) and size is None and not on_disk:
        return rows
    facts, folder = rows.facts, None
    if facts.in_memory and not facts.is_mapped and not on_disk:
        whole = rows.array()
    else:
        whole, folder = spill(partial(_visit, rows), facts, rows.known_count(), read=on_disk)
    found = ArrayRows(whole.X, whole.y, whole.weight, facts.feature_names, size, target_names=facts.target_names)
    if folder is not None:
        weakref.finalize(found, shutil.rmtree, folder, ignore_errors=True)
    return found


def _kept_target(rows: Rows) -> Any:
    """Read the target of rows once and keep it, in memory or in a file."""
    if not rows.facts.is_mapped:
        return rows.map(attrgetter("y"))
    facts = replace(rows.facts, has_weight=False)
    found, folder = spill(partial(_visit, rows), facts, rows.known_count(), features=False)
    weakref.finalize(found.y, shutil.rmtree, folder, ignore_errors=True)
    return found.y


def _visit(rows: Rows, function: Function, *args: Any) -> Iterator[Any]:
    return work(rows.tasks(function, *args))
