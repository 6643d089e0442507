"""How the models of a comparison share its time: who may take part, on how many rows, how long a fit may take, and who is left out.

See :mod:`qed.selection.comparing.budget` for what is counted and what is measured.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from qed.base.sources.rows import ArrayRows
from qed.selection.comparing.budget import PLANNED, Forecast, drawn, rows_for
from qed.selection.comparing.contenders import Contender, is_baseline
from qed.selection.comparing.folding import Folds
from qed.selection.comparing.judging import Judging
from qed.selection.comparing.running import Running

# A fit to a fold may take so many times as long as was foreseen, or an equal part of the time that is left.
TOO_LONG = 4.0
# A table of more rows and cells is encoded once; of the encoded rows, what is held in memory has no more cells than that.
MANY_ROWS, MANY_CELLS, HELD_CELLS = 50_000, 1_000_000, 4_000_000
# So many rows show what kind of columns a large table has.
SHOWN_ROWS = 20_000
# Encodings of the folds may take this part of the time that is left; else there is one for all.
MOST_ENCODING = 0.5
HOLDING = ("in memory", "as codes")


@dataclass(kw_only=True)
class Sharing(Running):
    """What a comparison knows of time, kept while it runs."""

    task: str
    table: ArrayRows
    y: np.ndarray
    folds: Folds
    judged: Judging
    seed: int = 0
    prefers_bags: bool = False
    bagged: set[str] = field(default_factory=set)
    # Rows, columns and classes that each model sees, and which of them were left out for want of time.
    shapes: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    forecast: Forecast = field(default_factory=lambda: Forecast(1))
    # How long the fits of each of the models that are still to come take, by their counted work.
    later: tuple[float, ...] = ()
    # How long the last encoding of the table took, for a fold or for all rows.
    encoding: float = 0.0
    # Whether the time would go by with encodings, were there one for each fold.
    is_hurried: bool = False
    # Which rows a model learns from and is judged by, where these are not all.
    samples: dict[str, np.ndarray] = field(default_factory=dict)

    @property
    def once(self) -> bool:
        """Whether the table is encoded once, and not for each fold."""
        return self.is_large or self.is_hurried

    @property
    def is_large(self) -> bool:
        """Whether one fold more or less changes little in what all rows say of the columns."""
        rows, columns = self.table.X.shape
        return bool(rows > MANY_ROWS and rows * columns > MANY_CELLS)

    def _full(self, one: Contender) -> float:
        """Count how long all fits of a model take, if to all rows."""
        return (one.n_fits * self.folds.count + 1) * one.model._seconds_on(*self.shapes[one.name])

    def _share_time(self, found: list[Contender]) -> None:
        """Give each model its part of the time, the cheapest first: no more than an equal one of what is left, or as much as it needs."""
        expected = {one.name: self._full(one) for one in found}
        self.forecast = Forecast(self.folds.count, expected)
        left = max(PLANNED * self.clock.left, 0.0)
        for place, one in enumerate(sorted(found, key=lambda one: expected[one.name])):
            self._make_room(one, left / (len(found) - place))
            left -= expected[one.name] if one.name not in self.failures else 0.0

    def _make_room(self, one: Contender, part: float) -> None:
        """Leave out a model that can not be judged, or whose fits would take too long; one that needs no folds is judged without."""
        expected, shape = self.forecast.expected, self.shapes[one.name]
        (n, columns, n_classes), fits, seconds = shape, one.n_fits * self.folds.count + 1, self._full(one)
        expected[one.name] = seconds
        self.samples.pop(one.name, None)
        has_bags = hasattr(one.model, "_search_out_of_bag") and not self.folds.forward and not self.once
        if has_bags and (self.prefers_bags or seconds > part >= seconds * (one.n_fits + 1) / fits):
            self.bagged.add(one.name)
            expected[one.name] = seconds * (one.n_fits + 1) / fits
            return
        if self.judged.scorer.asks(one.model) is None:
            words = f"left out: {self.judged.name} judges {self.judged.scorer.response}, which it does not have"
            self.failures[one.name] = words
            return
        rows = rows_for(one.model, shape, fits, part)
        if self.is_large and one.model.passes in HOLDING:
            rows = min(rows, max(SHOWN_ROWS, HELD_CELLS // columns))
        if rows == 0:
            work = (
                f"{fits} fits to {n:,} rows, {columns:,} columns and {n_classes:,} classes could take {_long(seconds)}"
            )
            self.failures[one.name] = f"left out: {work}, and few rows too long for {self.clock.words}"
            self.late.add(one.name)
        elif rows < n:
            self.samples[one.name] = drawn(
                rows, self.folds.number, self.y if self.task == "classification" else None, self.seed
            )
            expected[one.name] = fits * one.model._seconds_on(rows, columns, n_classes)

    @contextmanager
    def _timed(self, one: Contender, group: list[Contender]) -> Iterator[None]:
        """Do as `caught` does, for as long as what takes less time can still be done, and note how long it took."""
        known, others = self.forecast, self._still(group)
        own = known.ahead(one.name)
        rest = sum(known.ahead(other.name) for other in others if other is not one and known.ahead(other.name) <= own)
        # What takes far longer than was counted is not to take the time of what was counted to take more.
        most = max(TOO_LONG * own / (known.folds + 1), self._left_for(own) / max(len(others), 1))
        began = perf_counter()
        end = min(self.end_for(one), began + min(self._left_for(own) - rest, most)) if one in others else np.inf
        with self.caught(one.name, end):
            yield
        known.note(one.name, perf_counter() - began)

    def _left_for(self, needed: float) -> float:
        """Say how much time is left for the models that see the same columns, of which the dearest needs so much.

        What is kept for models still to come is kept for those that need no more: they have no right to the time of cheaper ones.
        """
        left = self.clock.left
        kept = sum(seconds for seconds in self.later if seconds <= needed)
        return left - min(kept, left / 2) if left < np.inf else np.inf

    def _still(self, group: list[Contender]) -> list[Contender]:
        """Give the models that are still to be fitted to folds, but for those that guess; what is judged out of bag has none."""
        gone = {*self.failures, *self.bagged}
        return [one for one in group if one.name not in gone and not is_baseline(type(one.model))]

    def _leave_out_what_takes_too_long(self, group: list[Contender], done: int, ahead: int | None = None) -> None:
        """Leave out the dearest models, until the fits that are left can end in time, with so many encodings ahead of them."""
        encodings = self.encoding * (self.folds.count + 1 - done if ahead is None else ahead)
        still = self._still(group)
        while still:
            needed = {one.name: self.forecast.ahead(one.name) for one in still}
            dear = max(still, key=lambda one: needed[one.name])
            if sum(needed.values()) + encodings <= self._left_for(needed[dear.name]):
                return
            still.remove(dear)
            first = f" after {done} of {self.folds.count} folds" if done else ""
            words = f"left out{first}: {_long(needed[dear.name])} more do not fit into {self.clock.words}"
            self.failures[dear.name] = words
            self.late.add(dear.name)

    def _further(self, further: dict[str, tuple[str, Contender, Contender]]) -> Forecast:
        """Say how long further settings take, by what those took that were tried."""
        found = Forecast(self.folds.count)
        for name, (_, part, longer) in further.items():
            tried = len(longer.candidates) - len(part.candidates)
            found.expected[name] = sum(self.forecast.spent.get(name, [])) * len(part.candidates) / max(tried, 1)
        return found

    def _cheapest_first(self, group: list[Contender]) -> list[Contender]:
        return sorted(group, key=lambda one: self.forecast.ahead(one.name))


def _long(seconds: float) -> str:
    if seconds < 1:
        return "parts of a second"
    return f"{seconds / 60:,.0f} minutes" if seconds >= 90 else f"{seconds:,.0f} seconds"
