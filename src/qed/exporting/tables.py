"""The columns of a mixed table as ONNX operations: numbers with their holes filled, and levels as zeros and ones or as numbers.

Each raw column is an input of its own, of shape (rows, 1) and under its name: a number in double precision, NaN where it is missing, or
text, empty where it is missing. Dates and free text have no counterpart.
"""

from __future__ import annotations

import numpy as np

from qed.base.errors import NotAvailableError
from qed.exporting.graph import Graph, onnx
from qed.features.tables.columns import Column, LevelColumn, NumberColumn
from qed.features.tables.encoder import ColumnEncoder
from qed.features.tables.levels import is_missing, kind_of_levels


def add_columns(graph: Graph, encoder: ColumnEncoder) -> str:
    """Take the columns of a table, and give the name of the matrix that the encoder makes of them."""
    known = getattr(encoder, "feature_names_in_", None)
    made = []
    for column in encoder.columns_:
        name = f"column {column.place}" if known is None else str(known[column.place])
        made.append(_column(graph, column, name))
    return graph.add("Concat", *made, axis=1) if len(made) > 1 else made[0]


def _column(graph: Graph, column: Column, name: str) -> str:
    if isinstance(column, NumberColumn):
        return _number(graph, column, graph.take(name, "DOUBLE"))
    if isinstance(column, LevelColumn) and column.unknown != "error":
        kind = kind_of_levels(column.levels)
        if kind in ("number", "text"):
            given = graph.take(name, "DOUBLE" if kind == "number" else "STRING")
            return _levels(graph, column, given, is_text=kind == "text")
    what = {"DateColumn": "dates", "TextColumn": "free text"}.get(type(column).__name__, "levels of that kind")
    raise NotAvailableError(
        f"Column {name!r}: {what} have no counterpart in ONNX. Leave the column out (drop=[{name!r}] of ColumnEncoder, or "
        f"--drop {name} of qed compare), or serve the saved model with qed serve."
    )


def _number(graph: Graph, column: NumberColumn, x: str) -> str:
    hole, parts = graph.add("IsNaN", x), []
    if column.kept:
        filled = x if column.fill is None else graph.add("Where", hole, _double(graph, column.fill), x)
        centred = graph.add("Sub", filled, _double(graph, column.shift))
        parts.append(graph.add("Div", centred, _double(graph, column.scale)))
    if column.marked:
        parts.append(_as_double(graph, hole))
    return graph.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def _levels(graph: Graph, column: LevelColumn, x: str, *, is_text: bool) -> str:
    slots, values = column.slots(), column.levels.tolist()
    gone = [is_missing(level) for level in values]
    there = [(level, int(place)) for level, place, lost in zip(values, slots.places, gone) if not lost]
    lost_place = next((int(place) for place, lost in zip(slots.places, gone) if lost), slots.unknown)
    lost_place = -1 if column.holes else lost_place
    names = np.array([level for level, _ in there], dtype=object if is_text else np.float64).reshape(1, -1)
    same = _as_double(graph, graph.add("Equal", x, graph.constant(names.astype(str) if is_text else names)))
    # A row has the slot of its level, above that of a level that is not known; a missing value has a slot of its own.
    places = np.array([[place - slots.unknown] for _, place in there], dtype=np.float64)
    slot = graph.add("Add", graph.add("MatMul", same, graph.constant(places)), _double(graph, slots.unknown))
    hole = graph.add("Equal", x, graph.constant(np.array([[""]]))) if is_text else graph.add("IsNaN", x)
    if not (is_text and any(level == "" for level, _ in there)):
        slot = graph.add("Where", hole, _double(graph, lost_place), slot)
    if not column.coded:
        return _as_double(
            graph, graph.add("Equal", slot, graph.constant(np.arange(len(slots), dtype=np.float64)[None]))
        )
    none = graph.add("Less", slot, _double(graph, 0.0))
    return graph.add("Where", none, _double(graph, np.nan if column.holes else len(slots)), slot)


def _double(graph: Graph, value: float) -> str:
    return graph.constant(np.array(value, dtype=np.float64))


def _as_double(graph: Graph, x: str) -> str:
    return graph.add("Cast", x, to=onnx().TensorProto.DOUBLE)
