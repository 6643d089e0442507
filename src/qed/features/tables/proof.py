"""What a fitted `ColumnEncoder` claims, computed from its columns and the data."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from qed.base.certificate import Claim
from qed.base.numbers import EPS, largest_share
from qed.base.sources.block import Block, as_dense
from qed.base.sources.rows import Rows
from qed.base.summary import Summary
from qed.features.proof import worst_of
from qed.features.stream import with_columns
from qed.features.tables.columns import Column, DateColumn, LevelColumn, NumberColumn, TextColumn
from qed.features.tables.inspection import Reading
from qed.features.tables.levels import column_of
from qed.features.tables.plan import Decider
from qed.features.tables.slots import keys
from qed.features.tables.values import PARTS, dates_of, numbers_of

# Two passes over the same rows in another order, or rows that were added and taken away again, agree at least so well.
ALIKE = 1e-6


def learned_amounts(columns: list[Column], reading: Reading) -> tuple[np.ndarray, np.ndarray]:
    """Give the places of the numbers and parts of dates that are kept, among all of them, and what their holes are filled with."""
    places: list[int] = []
    fill: list[float] = []
    for column in columns:
        if isinstance(column, (LevelColumn, TextColumn)) or column.fill is None:
            continue
        if isinstance(column, NumberColumn):
            places.append(reading.first_amount(column.place))
            fill.append(column.fill)
        else:
            first = reading.first_amount(column.place)
            places += [first + PARTS.index(part) for part in column.parts]
            fill += [
                value + column.origin * (part == "days") for part, value in zip(column.parts, column.fill.tolist())
            ]
    return np.array(places, dtype=np.int64), np.array(fill)


def only(evidence: Any, places: np.ndarray) -> Any:
    """Give the evidence about some of the columns."""
    arrays = {field.name: getattr(evidence, field.name) for field in fields(evidence)}
    return replace(evidence, **{name: value[places] for name, value in arrays.items() if isinstance(value, np.ndarray)})


def level_claim(columns: list[Column], decider: Decider) -> Claim:
    """Claim that the levels are those of the data, and those with a column of their own the common ones."""
    wrong = 0
    for column in columns:
        if isinstance(column, LevelColumn):
            again, _ = decider.decide_levels(column.place, "")
            levels, rare = (set(), set()) if again is None else (set(keys(again.levels)), set(keys(again.rare)))
            wrong += len(levels ^ set(keys(column.levels))) + len(rare ^ set(keys(column.rare)))
    return Claim("levels, common and rare ones, are those of the data", float(wrong), 0.0)


def text_claim(columns: list[Column], decider: Decider) -> list[Claim]:
    """Claim that the words of free text, and what they weigh, are those of the data; nothing where there is no such column."""
    wrong, off, some = 0, 0.0, False
    for column in columns:
        if isinstance(column, TextColumn):
            again, some = decider.decide_text(column.place)[0], True
            if again is None or not np.array_equal(again.terms, column.terms):
                wrong += 1
            else:
                off = max(off, largest_share(column.rarity, again.rarity, 0.0))
    return [
        Claim("columns of free text whose words are not those of the data", float(wrong), 0.0),
        Claim("words weigh what their rarity says (difference, relative)", off, ALIKE),
    ] * some


def decision_claim(columns: list[Column], again: list[Column]) -> Claim:
    """Claim that the data, looked at again, are encoded in the same way: by the largest relative difference of any number."""
    says = "columns_ are what the data ask for (difference, relative)"
    if [type(column) for column in columns] != [type(column) for column in again]:
        return Claim(says, np.inf, ALIKE)
    off = 0.0
    for column, other in zip(columns, again):
        size = np.abs(other.shift) + np.abs(other.scale) if isinstance(other, (NumberColumn, DateColumn)) else 0.0
        for field in fields(column):
            then, now = getattr(column, field.name), getattr(other, field.name)
            if (then is None) != (now is None):
                off = np.inf
            elif now is not None and field.name in ("fill", "shift", "scale", "origin"):
                off = max(off, largest_share(then, now, size))
            elif not isinstance(now, np.ndarray):
                off = max(off, 0.0 if type(then) is type(now) and then == now else np.inf)
    return Claim(says, off, ALIKE)


def matrix_claims(encoder: Any, rows: Rows) -> list[Claim]:
    """Encode the rows and look at the matrix: are its holes those that stay, its ones where they belong, is it scaled."""
    widths = [len(column.labels("")) for column in encoder.columns_]
    starts = np.cumsum([0, *widths])
    facts = {"count": int(starts[-1]), "dtype": np.float64, "sparse": encoder.sparse_output_}
    made = with_columns(rows, _Matrix(encoder), **facts).fold(Summary.of)
    spoilt, wrong = rows.fold(_wrong_values, encoder, starts).tolist()
    spoilt += int((~np.isfinite(made.low + made.high)).sum())
    whole = encoder.impute is not None
    claims = [
        Claim(f"nothing in the matrix is {'missing' if whole else 'missing that was there,'} or infinite", spoilt, 0.0),
        Claim("every row has a single 1, or the number of a level, for each categorical column", float(wrong), 0.0),
    ]
    if encoder.scale:
        scaled = np.concatenate([_scaled(column, start) for column, start in zip(encoder.columns_, starts)]).astype(int)
        offset = np.concatenate([_offset(column) for column in encoder.columns_])
        slack = EPS * (64 + np.log2(max(made.count, 2))) * (1 + offset)
        claims.append(worst_of("scaled columns have mean 0", np.abs(made.mean[scaled]), slack))
        claims.append(
            worst_of("scaled columns have variance 1", np.abs(made.variance[scaled] - 1), 2048 * EPS * (1 + offset))
        )
    return claims


class _Matrix:
    """The matrix of a block in double precision, whatever the encoder's type."""

    def __init__(self, encoder: Any) -> None:
        self.encoder = encoder

    def __call__(self, block: Block) -> Any:
        return self.encoder._change(block).astype(np.float64, copy=False)


def _wrong_values(block: Block, encoder: Any, starts: np.ndarray) -> np.ndarray:
    """Count what is missing in the matrix and not so in the table, or the other way round; and levels without their single place."""
    block = block.present
    matrix, spoilt, wrong = encoder._change(block), 0, 0
    for column, start, stop in zip(encoder.columns_, starts, starts[1:]):
        part = _dense(matrix, start, stop)
        spoilt += int((np.isnan(part) != _holes(column, block, encoder)[:, None]).sum())
        if isinstance(column, LevelColumn) and column.coded:
            code = part[~np.isnan(part)]
            wrong += int(((code < 0) | (code > len(column.slots())) | (code != np.floor(code))).sum())
        elif isinstance(column, LevelColumn):
            ones = part.sum(axis=1)
            wrong += int((ones > 1).sum() if column.first_left_out else (ones != 1).sum())
    return np.array([spoilt, wrong])


def _holes(column: Column, block: Block, encoder: Any) -> np.ndarray:
    """Say in which rows a column has holes that stay."""
    values, name = column_of(block.X, column.place), encoder._named(column.place)
    if isinstance(column, LevelColumn) and column.holes:
        return np.asarray(values.is_null())
    if isinstance(column, NumberColumn) and column.fill is None and column.kept:
        return np.isnan(numbers_of(values, name, block.start, written=column.written))
    if isinstance(column, DateColumn) and column.fill is None:
        return np.isnan(dates_of(values, name, block.start, written=column.written)[:, -1])
    return np.zeros(len(block), dtype=bool)


def _dense(matrix: Any, start: int, stop: int) -> np.ndarray:
    part = matrix[:, start:stop]
    return as_dense(part)


def _scaled(column: Column, start: int) -> np.ndarray:
    """Give the places of a part's numbers in the matrix."""
    count = len(_offset(column))
    return start + np.arange(count)


def _offset(column: Column) -> np.ndarray:
    """Say how far from zero the numbers are, in units of their spread: so many digits the shift may cost."""
    if isinstance(column, (LevelColumn, TextColumn)) or (isinstance(column, NumberColumn) and not column.kept):
        return np.zeros(0)
    return np.atleast_1d(np.abs(column.shift) / column.scale)
