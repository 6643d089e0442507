"""What a hole in a column is filled with: the mean, the median, the most frequent value, or a constant.

Each way of filling learns one value per column by folding, and can prove it: it gathers evidence from the data (in one
pass) and makes its claims from that. NaN stands for "missing" in rows of numbers, null in tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from qed.base.certificate import Claim
from qed.base.counts import Counts
from qed.base.errors import InputError
from qed.base.numbers import EPS, halfway
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.proof import worst_of
from qed.features.tables.levels import Levels
from qed.stats.medians import medians

MOST_VALUES = 1 << 20


class Mean:
    """Fill with the weighted mean, which leaves the column's mean as it is."""

    def learn(self, rows: Rows) -> tuple[np.ndarray, Summary]:
        found = self.evidence(rows, None)
        return np.where(found.weight > 0, found.mean, np.nan), found

    def evidence(self, rows: Rows, values: Any) -> Summary:
        return rows.fold(Summary.of)

    def claims(self, values: np.ndarray, found: Summary) -> list[Claim]:
        there = found.weight > 0
        spread = np.abs(found.mean) + np.sqrt(found.variance)
        bound = EPS * (16 + np.log2(max(found.count, 2))) * spread
        return [worst_of("holes are filled with the mean", np.abs(values - found.mean)[there], bound[there])]


class Median:
    """Fill with the weighted median: as much weight lies below as above it, so outliers do not move it."""

    def learn(self, rows: Rows) -> tuple[np.ndarray, Halves]:
        values = medians(rows)
        return values, self.evidence(rows, values)

    def evidence(self, rows: Rows, values: np.ndarray) -> Halves:
        return rows.fold(Halves.of, values)

    def claims(self, values: np.ndarray, found: Halves) -> list[Claim]:
        there = found.total > 0
        excess = np.maximum(found.below, found.above) - found.total / 2
        middle = halfway(found.nearest_below, found.nearest_above)
        off = np.abs(values - middle)
        return [
            worst_of("at most half of the weight lies on each side", excess[there], 64 * EPS * found.total[there]),
            worst_of("holes are filled with the middle of the nearest values", off[there], EPS * np.abs(middle)[there]),
        ]


@dataclass(frozen=True)
class Halves:
    """How much weight lies below and above given values, and which values are nearest to them from either side."""

    total: np.ndarray
    below: np.ndarray
    above: np.ndarray
    nearest_below: np.ndarray
    nearest_above: np.ndarray

    @classmethod
    def of(cls, block: Block, values: np.ndarray) -> Halves:
        weight = block.weights
        X = np.asarray(block.X, dtype=np.float64)
        X, weight = X[weight > 0], weight[weight > 0]
        low, high = np.where(values >= X, X, -np.inf), np.where(values <= X, X, np.inf)
        return cls(
            weight @ ~np.isnan(X),
            weight @ (values > X),
            weight @ (values < X),
            low.max(axis=0, initial=-np.inf),
            high.min(axis=0, initial=np.inf),
        )

    def __add__(self, other: Halves) -> Halves:
        return Halves(
            self.total + other.total,
            self.below + other.below,
            self.above + other.above,
            np.maximum(self.nearest_below, other.nearest_below),
            np.minimum(self.nearest_above, other.nearest_above),
        )


class MostFrequent:
    """Fill with the value that has the largest weight; of several, with the smallest one. The only way for text but a constant."""

    def learn(self, rows: Rows) -> tuple[np.ndarray, Levels]:
        found = self.evidence(rows, None)
        values = np.empty(rows.n_features, dtype=object)
        for j in range(rows.n_features):
            if j in found.full:
                raise InputError(
                    f"Column {rows.name_of(j)} has more than {MOST_VALUES} different values, too many to count: use another strategy, "
                    "such as 'median'."
                )
            best = _best(found, j)
            values[j] = np.nan if best is None else best
        return values, found

    def evidence(self, rows: Rows, values: Any) -> Levels:
        return rows.fold(_levels)

    def claims(self, values: np.ndarray, found: Levels) -> list[Claim]:
        wrong = sum(_best(found, j) not in (None, value) for j, value in enumerate(values.tolist()))
        return [Claim("holes are filled with the most frequent value", float(wrong), 0.0)]


def _levels(block: Block) -> Levels:
    if hasattr(block.X, "num_rows"):
        return Levels.of(block, range(block.X.num_columns), MOST_VALUES)
    columns = [pa.array(np.ascontiguousarray(x), from_pandas=True) for x in (np.asarray(block.X) + 0.0).T]
    return Levels.within(Counts.of_columns(columns, block.weight), MOST_VALUES)


def _best(levels: Levels, column: int) -> Any:
    """Give the most frequent value that is there; None where there is none."""
    pairs = [pair for pair in zip(levels.values(column), levels.weights(column).tolist()) if pair[0] is not None]
    most = max((weight for _, weight in pairs), default=0.0)
    return next((value for value, weight in pairs if weight == most), None)


WAYS: dict[str, Any] = {"mean": Mean(), "median": Median(), "most_frequent": MostFrequent()}
