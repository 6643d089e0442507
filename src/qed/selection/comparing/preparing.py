"""A table before it is learned from: its columns looked at, its rows cut into folds, and what is left out taken away."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from qed.base.errors import InputError
from qed.base.sources.layout import kind_of
from qed.base.sources.rows import ArrayRows
from qed.features.tables.levels import column_of
from qed.features.tables.values import dates_of, is_date, numbers_of
from qed.features.tables.writing import DATES, how_written, way_of
from qed.features.understanding.findings import Understanding
from qed.features.understanding.rules import check_names, understand
from qed.selection.comparing.folding import Folds, folds_of
from qed.selection.comparing.leaderboard import Entry


class Asked(NamedTuple):
    """What was asked of single columns."""

    use: Sequence[str]
    drop: Sequence[str]
    treat: Mapping[str, str]
    time: str | None
    group: str | None


def prepared(
    table: ArrayRows, y: np.ndarray | None, task: str, cv: int, seed: int, asked: Asked
) -> tuple[ArrayRows, Folds, Understanding]:
    """Look at the columns, cut the rows into folds, and keep what is learned from."""
    X = table.X
    special = [name for name in (asked.time, asked.group) if name is not None]
    check_names(special, X.column_names)
    if len(special) == 2:
        raise InputError("Rows can be judged in the order of time, or group by group, not both: give one of them.")
    order, group = (None if name is None else ordered(column_of(X, name), name) for name in (asked.time, asked.group))
    folds = folds_of(task, cv, seed, X.num_rows, y, order, group)
    drop = [*asked.drop, *([asked.group] if asked.group and asked.group not in asked.drop else [])]
    goal = table.target_names[0] if table.target_names else "the target"
    asks: dict[str, Any] = {"use": asked.use, "drop": drop, "treat": asked.treat, "time": asked.time}
    seen = understand(X, y, goal, is_number=task == "regression", **asks)
    if not seen.names:
        raise InputError(f"No column is left to learn from. {'; '.join(one.words() for one in seen.left_out)}.")
    names, mapped = list(seen.names), table.facts.is_mapped
    _refuse_endless(X.select(names))
    kept = ArrayRows(X.select(names), y, None, names, target_names=table.target_names, mapped=mapped)
    return kept, folds, seen


def _refuse_endless(X: pa.Table) -> None:
    """Refuse infinite values before rows are cut into folds, where their numbers are those of the table."""
    for name in X.column_names:
        column = X.column(name)
        if pa.types.is_floating(column.type) and pc.any(pc.is_inf(column)).as_py():
            row = pc.index(pc.is_inf(column), True).as_py()
            raise InputError(f"Column {name!r} holds infinity in row {row} (counted from 0): correct or drop the row.")


def ordered(column: Any, name: str) -> np.ndarray:
    """Give numbers that put rows in the order of a column of numbers or dates, or tell apart those of other columns."""
    if column.null_count:
        raise InputError(f"Column {name!r} has {column.null_count} missing values: every row needs one.")
    way = way_of(how_written(column)) if kind_of(column.type) == "text" else ""
    if way in DATES or is_date(column.type):
        return dates_of(column, repr(name), 0, written=way)[:, -1]
    if way or kind_of(column.type) == "number":
        return numbers_of(column, repr(name), 0, written=way)
    return np.asarray(column.to_numpy(zero_copy_only=False)).astype(str)


def reading_of(seen: Understanding) -> dict[str, tuple[Any, ...]]:
    """Say what encoders are told of single columns."""
    lists = {"number": "numeric", "category": "categorical", "date": "dates", "text": "text"}
    found: dict[str, tuple[Any, ...]] = {}
    for name, kind in seen.treated.items():
        if name in seen.names and kind == "ordered":
            found["ordered"] = (*found.get("ordered", ()), (name, seen.orders[name]))
        elif name in seen.names:
            found[lists[kind]] = (*found.get(lists[kind], ()), name)
    return found


def decided(seen: Understanding, entries: list[Entry]) -> Understanding:
    """Add what the encoder of a model of numbers made of the columns."""
    fitted = [one for one in entries if one.model is not None and hasattr(one.model, "changes_")]
    usual = [one for one in fitted if one.contender.encoder.impute is not None] or fitted
    return seen.with_decisions(usual[0].model.changes_[0].decisions_) if usual else seen
