"""Rows that are looked at as they are read, so that a file or a cluster is refused in the words in which an array is.

A target in memory is looked at once. That of streamed rows is looked at block by block, in whichever pass comes first, and costs none of
its own. Weights that are all zero leave no rows at all; that shows at the end of a pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.sources.block import Block, Function
from qed.base.sources.rows import ArrayRows, Rows, Through

Change = Callable[[Block], Block]
# Squares of weights below this, and what they are multiplied by, vanish.
LIGHTEST = 1e-100


def checked(source: Rows, look: Change, **facts: object) -> Rows:
    """Give rows whose every block went through `look`, and of which at least one has a weight.

    Parameters
    ----------
    source : Rows
        The rows.
    look : callable
        Gives a block with the target as it should be, or raises; it can be sent to another process.
    **facts
        What it changes, as in :meth:`Rows.through`.
    """
    if isinstance(source, Checked) and source.given["change"] == look:
        return source
    if not isinstance(source, ArrayRows) or not isinstance(source.y, (np.ndarray, type(None))):
        return Checked(source, look, (), facts)
    if source.weight is not None and not weighs(source.weight):
        raise no_weight()
    y = look(Block(source.X, source.y, source.weight, source.first)).y
    return source if y is source.y else source.with_target(y)


def weighs(weight: np.ndarray) -> bool:
    """Say whether some row has a weight; what sums of so small weights are multiplied by vanishes."""
    return bool((weight > LIGHTEST).any())


def no_weight() -> InputError:
    """Give the error for weights that are all zero, or as good as that."""
    return InputError(
        "All weights are zero, which leaves no rows at all: give at least one row a positive weight "
        f"(none above {LIGHTEST:g} counts as none: divide them by the largest)."
    )


class Checked(Through):
    """Streamed rows that are looked at as they are read; the parameters are those of `Through`."""

    def __init__(self, source: Rows, change: Change, args: tuple[object, ...], facts: dict[str, object]) -> None:
        super().__init__(source, change, args, {"schema": source.facts.schema, **facts}, target_only=True)

    def _over(self, source: Rows) -> Rows:
        """Look at other rows in the same way."""
        kept = {name: value for name, value in self.given["facts"].items() if name != "schema"}
        return checked(source, self.given["change"], **kept)

    def numbers(self) -> Rows:
        return self._over(self.source.numbers())

    def table(self) -> Rows:
        return self._over(self.source.table())

    def _changed_once(self) -> Rows:
        return self._over(self.source.cached() if self._there is None else self._there.cached())

    def before(self, view: Callable[[Rows], Rows]) -> Rows:
        """Give the same look at a view of the source."""
        return self._over(view(self.source))

    def array(self) -> Block:
        block = super().array()
        if block.weight is not None and not weighs(block.weight):
            raise no_weight()
        return block

    def fold(self, function: Function, *args: object) -> object:
        if not self.has_weight:
            return super().fold(function, *args)
        found: Weighed = super().fold(Weighed.of, function, *args)
        if not found.counts:
            raise no_weight()
        return found.value

    def each(self, function: Function, *args: object) -> Iterator[object]:
        if not self.has_weight:
            yield from super().each(function, *args)
            return
        counts = False
        for found in super().each(Weighed.of, function, *args):
            counts = counts or found.counts
            yield found.value
        if not counts:
            raise no_weight()


class Weighed:
    """What was made of some rows, and whether one of them has a weight."""

    def __init__(self, value: Any, counts: bool) -> None:
        self.value, self.counts = value, counts

    @classmethod
    def of(cls, block: Block, function: Function, *args: object) -> Weighed:
        return cls(function(block, *args), weighs(block.weight))

    def __add__(self, other: Weighed) -> Weighed:
        return Weighed(self.value + other.value, self.counts or other.counts)
