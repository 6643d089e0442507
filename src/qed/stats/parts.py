"""Some of the rows of a source.

A training set is a part of the rows, and a model that is fitted on it should not notice: `Part` is that, and streams from
files and clusters as its source does.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from qed.base.errors import InputError
from qed.base.sources.block import Block, Piece
from qed.base.sources.rows import Rows, View


class Part(View):
    """Some of the rows of a source.

    >>> from qed.base.sources.open import rows
    >>> data = rows(np.arange(6.0).reshape(6, 1), block_size=2)
    >>> Part(data, np.array([True, False, True, True, False, False])).array().X.ravel()
    array([0., 2., 3.])
    """

    def __init__(self, source: Rows, chosen: np.ndarray) -> None:
        super().__init__(source)
        self.chosen = np.asarray(chosen, dtype=bool)
        if not self.chosen.any():
            raise InputError("None of the rows are chosen: there is nothing to learn from.")

    @property
    def again(self) -> Callable[[Rows], Rows]:
        return partial(Part, chosen=self.chosen)

    def count(self) -> int:
        if self.source.known_count() in (None, len(self.chosen)):
            return int(np.count_nonzero(self.chosen))
        # The source is a partition of the rows that were chosen from.
        return sum(piece.count for piece in self.pieces())

    def known_count(self) -> int:
        return self.count()

    def pieces(self) -> Iterator[Piece]:
        """Give the blocks of the source that have chosen rows, cut down to these and numbered anew."""
        before: int | None = None
        for piece in self.source.pieces():
            before = int(np.count_nonzero(self.chosen[: piece.start])) if before is None else before
            here = np.flatnonzero(self.chosen[piece.start : piece.start + piece.count])
            if len(here):
                yield Piece(before, len(here), partial(_chosen_of, piece.read, here, before))
                before += len(here)

    def cached(self) -> Rows:
        return Part(self.source.cached(), self.chosen)

    def numbers(self) -> Rows:
        return Part(self.source.numbers(), self.chosen)

    def table(self) -> Rows:
        return Part(self.source.table(), self.chosen)


def _chosen_of(read: Callable[[], Block], here: np.ndarray, start: int) -> Block:
    """Give some rows of a block, as a view where they are consecutive."""
    block, first, last = read(), int(here[0]), int(here[-1])
    part = block.between(first, last + 1) if last - first + 1 == len(here) else block.take(here)
    return replace(part, start=start)
