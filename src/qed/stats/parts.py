"""Some of the rows of a source.

A training set is a part of the rows, and a model that is fitted on it should not notice: `Part` is that, and streams from
files and clusters as its source does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qed.base.engine import add_pairwise
from qed.base.errors import InputError
from qed.base.sources.rows import Block, Rows
from qed.base.sources.views import View
from qed.stats.grouped import cut


class Part(View):
    """Some of the rows of a source.

    Parameters
    ----------
    source : Rows
        All rows.
    chosen : ndarray of bool of shape (n,)
        Which of them.

    Examples
    --------
    >>> from qed.base.sources.rows import rows
    >>> data = rows(np.arange(6.0).reshape(6, 1), block_size=2)
    >>> Part(data, np.array([True, False, True, True, False, False])).array().X.ravel()
    array([0., 2., 3.])
    """

    def __init__(self, source: Rows, chosen: np.ndarray) -> None:
        super().__init__(source)
        self.chosen = np.asarray(chosen, dtype=bool)
        if not self.chosen.any():
            raise InputError("None of the rows are chosen: there is nothing to learn from.")

    def count(self) -> int:
        return int(np.count_nonzero(self.chosen))

    def tasks(self, function: Callable[..., Any], *args: Any) -> Iterator[Callable[[], Any]]:
        return self.source.tasks(_on_chosen, self.chosen, function, *args)

    def each(self, function: Callable[..., Any], *args: Any) -> Iterator[Any]:
        found = self.source.each(_on_chosen, self.chosen, function, *args)
        return (result for result in found if result is not None)

    def fold(self, function: Callable[..., Any], *args: Any) -> Any:
        return add_pairwise(self.each(function, *args))

    def cached(self) -> Rows:
        return Part(self.source.cached(), self.chosen)

    def numbers(self) -> Rows:
        return Part(self.source.numbers(), self.chosen)

    def table(self) -> Rows:
        return Part(self.source.table(), self.chosen)


def _on_chosen(block: Block, chosen: np.ndarray, function: Callable[..., Any], *args: Any) -> Any:
    """Apply a function to the chosen rows of a block; give None where there are none."""
    here = np.flatnonzero(chosen[block.start : block.start + len(block)])
    if len(here) == 0:
        return None
    start = int(np.count_nonzero(chosen[: block.start]))
    first, last = int(here[0]), int(here[-1])
    part = cut(block, first, last + 1) if last - first + 1 == len(here) else block.take(here)
    return function(Block(part.X, part.y, part.weight, start), *args)
