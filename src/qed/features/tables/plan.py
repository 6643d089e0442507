"""Deciding what becomes of each column of a table, and saying so in a line."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.numbers import TINY
from qed.features.tables.columns import Column, DateColumn, LevelColumn, NumberColumn, TextColumn
from qed.features.tables.inspection import FEW_ROWS, MOST_LEVELS, Inspection, Reading
from qed.features.tables.levels import array_of
from qed.features.tables.values import PARTS
from qed.features.tables.writing import ORDER, example_of
from qed.stats.terms import rarity

# Without their zeros, so many words of a column of free text may have a column each.
MOST_TERMS = 20_000


@dataclass(frozen=True)
class Wishes:
    """What the user wants of all columns; see the parameters of `ColumnEncoder`."""

    impute: str | None
    indicator: bool
    scale: bool
    min_frequency: float
    max_levels: int
    unknown: str
    full_rank: bool
    max_terms: int
    coded: bool
    sparse: bool = False  # whether free text has columns for all words that can tell anything, which are not stored where they are zero


@dataclass(frozen=True)
class Decider:
    """Decides about the columns of one table."""

    reading: Reading  # what each column is read as
    inspection: Inspection  # what one pass learned
    fill: np.ndarray  # what holes of each number and of each part of a date are filled with
    wishes: Wishes  # what the user wants

    def decide(self, place: int, name: str) -> tuple[Column | None, str]:
        """Give the part that encodes a column, None if it is left out, and a line that says what and why."""
        kind = self.reading.kinds[place]
        if kind == "drop":
            return None, f"{name}: left out, as asked"
        if kind == "other":
            return None, f"{name}: left out, it holds nested or binary values"
        column: Column | None
        if kind == "levels":
            column, says = self.decide_levels(place, name)
        elif kind == "date":
            column, says = self._date(place)
        elif kind == "text":
            column, says = self.decide_text(place)
        else:
            column, says = self._number(place, kind)
        return column, f"{name}: {says if column is not None else 'left out, ' + says}"

    def _scaling(self, k: int) -> tuple[float, float]:
        """Give mean and standard deviation of a column after its holes are filled, or without them."""
        if not self.wishes.scale:
            return 0.0, 1.0
        seen, fill, total = self.inspection.amounts, float(self.fill[k]), self.inspection.weight
        there, mean = float(seen.weight[k]), float(seen.mean[k])
        if self.wishes.impute is None:
            total, fill = there, mean
        center = mean + (1 - there / total) * (fill - mean)
        square = float(seen.deviation[k]) + there * (mean - center) ** 2 + (total - there) * (fill - center) ** 2
        return center, float(np.sqrt(square / total)) or 1.0

    def _number(self, place: int, kind: str) -> tuple[NumberColumn | None, str]:
        k, summary = self.reading.first_amount(place), self.inspection.amounts
        holes = int(summary.missing[k])
        if holes == self.inspection.count:
            return None, "all values are missing"
        constant, fill = bool(summary.low[k] == summary.high[k]), float(self.fill[k])
        # Holes that stay mark themselves, but not in a column that has nothing else to say.
        marked = bool(holes) and self.wishes.indicator and (constant or self.wishes.impute is not None)
        if constant and not marked:
            return None, f"it is always {summary.low[k]:g}"
        shift, scale = self._scaling(k)
        filling = None if self.wishes.impute is None else fill
        column = NumberColumn(place, filling, marked, not constant, shift, scale, self.reading.way(place))
        if constant:
            return column, f"always {summary.low[k]:g} where it is there; one column says where it is missing"
        says = "yes or no, as 1 and 0" if kind == "flag" else "a number"
        if column.written.startswith(ORDER):
            says = f"ordered categories as numbers, {example_of(column.written)}"
        if column.written in ("point", "comma"):
            says += f", written as text like {example_of(column.written)}"
        return column, says + self._about_holes(holes, f"{self.wishes.impute} {fill:.6g}") + self._about_scale()

    def _about_holes(self, holes: int, fill: str) -> str:
        if not holes:
            return ""
        if self.wishes.impute is None:
            return f"; {holes} missing, which stay so"
        mark = " and marked in a column of its own" if self.wishes.indicator else ""
        return f"; {holes} missing, filled with the {fill}{mark}"

    def _about_scale(self) -> str:
        return "; scaled to mean 0 and variance 1" if self.wishes.scale else ""

    def _date(self, place: int) -> tuple[DateColumn | None, str]:
        first = self.reading.first_amount(place)
        summary, places = self.inspection.amounts, np.arange(first, first + len(PARTS))
        holes = int(summary.missing[first])
        if holes == self.inspection.count:
            return None, "all values are missing"
        varies = places[summary.low[places] < summary.high[places]]
        if not len(varies):
            return None, "it is always the same date"
        origin = float(summary.low[places[-1]])
        fill = self.fill[varies]
        scaling = np.array([self._scaling(int(k)) for k in varies])
        away = np.where(varies == places[-1], origin, 0.0)
        shift = scaling[:, 0] - away if self.wishes.scale else np.zeros(len(varies))
        parts = tuple(PARTS[k - first] for k in varies)
        written = self.reading.way(place)
        filling = None if self.wishes.impute is None else fill - away
        marked = bool(holes) and self.wishes.indicator and filling is not None
        column = DateColumn(place, parts, filling, shift, scaling[:, 1], origin, marked, written)
        start = date(1970, 1, 1) + timedelta(days=int(origin // 1))
        words = ", ".join(f"days since {start}" if part == "days" else part for part in parts)
        how = f", written like {example_of(written)}" if written not in ("", "iso", "number") else ""
        return column, f"a date{how}, as {words}" + self._about_holes(
            holes, str(self.wishes.impute)
        ) + self._about_scale()

    def decide_levels(self, place: int, name: str) -> tuple[LevelColumn | None, str]:
        """Decide about a categorical column."""
        k, asked = self.reading.rank(place), place in self.reading.asked
        if k in self.inspection.levels.full:
            if asked:
                raise InputError(
                    f"Column {name} has more than {MOST_LEVELS} different values, too many for a categorical column: "
                    "leave it out with drop."
                )
            return None, f"it has more than {MOST_LEVELS} levels (an identifier, or free text?)"
        weights = dict(zip(self.inspection.levels.values(k), self.inspection.levels.weights(k).tolist()))
        holes = weights.pop(None, 0.0)
        if not weights:
            return None, "all values are missing"
        if len(weights) + (holes > 0) == 1:
            return None, f"it is always {next(iter(weights))!r}"
        if not asked and len(weights) > max(FEW_ROWS, sum(weights.values()) / 2):
            return None, f"it has {len(weights)} levels in {sum(weights.values()):g} rows (an identifier?)"
        common = self._common(weights, self.wishes.max_levels)
        if not common and not holes:
            return None, f"each of its {len(weights)} levels is rare (an identifier, or free text?)"
        rare = [level for level in weights if level not in common]
        coded = self.wishes.coded
        left = coded and self.wishes.impute is None
        levels = array_of([*weights, *([None] if holes and not left else [])])
        left_out = self.wishes.full_rank and not coded
        column = LevelColumn(place, levels, array_of(rare), left_out, self.wishes.unknown, coded, left)
        missing = "missing values stay so" if left else "missing values as one more"
        return column, _about_levels(len(common), len(rare), missing if holes else "", left_out, coded)

    def decide_text(self, place: int) -> tuple[TextColumn | None, str]:
        """Decide about a column of free text: its words in enough rows, the most frequent where there are too many."""
        k = self.reading.rank(place)
        seen, holes = self.inspection.texts[k], self.inspection.empty[k]
        documents = {term: float(seen.documents[seen.places[term]]) for term in sorted(seen.places)}
        if self.wishes.sparse:
            # A word in one row alone tells nothing of others.
            often = (term for term, rows in documents.items() if rows >= 2)
            chosen = sorted(often, key=lambda term: -documents[term])[: max(MOST_TERMS, self.wishes.max_terms)]
        else:
            chosen = list(self._common(documents, self.wishes.max_terms))
        terms = np.array(sorted(chosen), dtype=object)
        if not len(terms):
            return None, f"each of its {len(documents)} words is rare (an identifier?)"
        marked = bool(holes) and self.wishes.indicator
        column = TextColumn(place, terms, rarity(seen.documents_with(terms), seen.weight), marked)
        says = f"free text, as its {len(terms)} most common words, weighed by how rare they are (tf-idf)"
        return column, says + (f"; {holes:g} missing, marked in a column of its own" if marked else "")

    def fullness(self, columns: list[Column]) -> float:
        """Give about what share of the new columns is not zero."""
        width, full, texts = 0, 0.0, self.reading.places("text")
        for column in columns:
            own = len(column.labels(""))
            width += own
            if isinstance(column, TextColumn):
                seen = self.inspection.texts[texts.index(column.place)]
                full += float(seen.documents_with(column.terms).sum()) / max(seen.weight, TINY)
            else:
                full += 1 if isinstance(column, LevelColumn) else own
        return full / max(width, 1)

    def _common(self, weights: dict[Any, float], most: int) -> set[Any]:
        """Give the levels or words that have a column of their own: frequent enough, and among the most frequent."""
        share = isinstance(self.wishes.min_frequency, (float, np.floating))
        least = self.wishes.min_frequency * self.inspection.weight if share else self.wishes.min_frequency
        enough = [level for level, weight in weights.items() if weight >= least]
        return set(sorted(enough, key=lambda level: -weights[level])[:most])


def _about_levels(common: int, rare: int, missing: str, left_out: bool, coded: bool) -> str:
    parts = [
        f"{common} level{'s' if common != 1 else ''}, " + ("numbered in one column" if coded else "one column each")
    ]
    if rare:
        parts.append(f"{rare} rare one{'s' if rare != 1 else ''} together as 'other'")
    if missing:
        parts.append(missing)
    if left_out:
        parts.append("the first one left out")
    return "; ".join(parts)
