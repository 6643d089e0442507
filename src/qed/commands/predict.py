"""``qed predict``: the predictions of a saved model for the rows of a file, batch by batch.

Neither the file nor what is made of it is ever in memory as a whole. The columns are found by their names, in whatever order the
file has them, and columns that the model does not know are not read.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from qed.base.errors import InputError
from qed.base.saving.models import load
from qed.base.sources.layout import did_you_mean
from qed.base.sources.open import rows
from qed.commands.files import check_ending, check_not_read, csv_printer, free, table_writer
from qed.commands.source import find
from qed.commands.using.strange import Strange

BATCH_ROWS = 1 << 17
CLUSTER = "cluster"


class Predicted(NamedTuple):
    """What was written: how many rows, which columns, and where; and what in them is unlike the rows of the fit."""

    rows: int
    columns: list[str]
    strange: Strange | None = None
    output: str | None = None


def predict(
    model_path: str,
    data: str,
    output: str | None = None,
    *,
    proba: bool = False,
    interval: float | None = None,
    fill: bool = False,
    keep: Sequence[str] = (),
    force: bool = False,
    stream: Any = None,
) -> Predicted:
    """Predict the rows of a file, and write the predictions: beside a file that is there already, unless by `force` over it.

    Columns to `keep`, such as one that tells the rows apart, are copied to the output; `stream` takes csv when there is
    no output. With an `interval`, a level such as 0.9, the ends of intervals or the classes in sets are written beside the predictions.
    With `fill`, columns that the file lacks are taken as missing.
    """
    if output is not None:
        check_ending(output)
        check_not_read(output, model_path, data)
        output = output if force else free(output)
    model = load(model_path)
    strange = Strange()
    batches = predictions(model, data, proba=proba, interval=interval, fill=fill, keep=keep, strange=strange)
    first = next(batches)
    count = 0
    with table_writer(output, first.schema) if output else csv_printer(stream, first.schema) as write:
        for table in chain([first], batches):
            write(table.cast(first.schema))
            count += table.num_rows
    return Predicted(count, first.column_names, strange, output)


def predictions(
    model: Any,
    data: str,
    *,
    proba: bool = False,
    interval: float | None = None,
    fill: bool = False,
    keep: Sequence[str] = (),
    strange: Strange | None = None,
) -> Iterator[pa.Table]:
    """Give the predictions for a file as tables, one after another; see `predict`."""
    strange = Strange() if strange is None else strange
    check_asked(model, proba=proba, interval=interval)
    if not hasattr(model, "predict"):
        raise InputError(f"{_name(model)} predicts nothing.")
    path, _ = find(data)
    present = rows(path).feature_names or ()
    lacking = _lacking(model, present) if fill else []
    strange.filled += lacking
    wanted = columns_of(model, [*present, *lacking], data)
    for name in keep:
        if name not in present:
            raise InputError(f"{data!r} has no column {name!r} to keep. {did_you_mean(name, present)}")
    read = [name for name in dict.fromkeys([*wanted, *keep]) if name not in lacking]
    for block in rows(path, columns=read, block_size=BATCH_ROWS).table().blocks():
        table = block.X
        for name in lacking:
            table = table.append_column(name, pa.nulls(table.num_rows))
        strange.add_rows(model, table.select(wanted))
        yield answered(model, table, wanted, proba=proba, interval=interval, keep=keep)


def check_asked(model: Any, *, proba: bool, interval: float | None) -> None:
    """Refuse to be asked for what a model does not have."""
    if interval is not None and not (hasattr(model, "predict_interval") or hasattr(model, "predict_set")):
        raise InputError(
            f"{_name(model)} has not been calibrated, so it has no intervals: `qed calibrate` with the data of its fit, or others, does it."
        )
    if proba and not hasattr(model, "predict_proba"):
        raise InputError(f"{_name(model)} gives no probabilities: leave --proba out.")


def _lacking(model: Any, present: Sequence[str]) -> list[str]:
    """Name the columns that a table lacks; where all are lacking it is another table, and nothing is filled."""
    known = [str(name) for name in getattr(model, "feature_names_in_", ())]
    lost = [name for name in known if name not in present]
    return [] if len(lost) == len(known) else lost


def columns_of(model: Any, present: Sequence[str], data: str) -> list[str]:
    """Say which columns of a table a model needs; a missing one is named, with the nearest that is there."""
    known = getattr(model, "feature_names_in_", None)
    if known is None:
        if model.n_features_in_ != len(present):
            raise InputError(
                f"The model was fitted on {model.n_features_in_} columns without names, but {data!r} has {len(present)}: "
                "give a file with just those columns, in that order."
            )
        return list(present)
    lost = [str(name) for name in known if name not in present]
    if lost:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        hint = did_you_mean(lost[0], present)
        raise InputError(f"{data!r} lacks the column {lost[0]!r}{more}, which the model was fitted on. {hint}")
    return [str(name) for name in known]


def answered(
    model: Any, table: pa.Table, wanted: list[str], *, proba: bool, interval: float | None, keep: Sequence[str]
) -> pa.Table:
    """Give the predictions for some rows as a table, beside the columns to keep."""
    source = rows(table.select(wanted))
    columns = {name: table.column(name) for name in keep}
    found = np.asarray(model.predict(source))
    name = _column_name(model)
    names = [name] if found.ndim == 1 else [f"{name}_{j}" for j in range(found.shape[1])]
    columns |= dict(zip(names, [found] if found.ndim == 1 else list(found.T)))
    if interval is not None:
        columns |= _promised(model, source, interval, name)
    if name == CLUSTER:
        columns |= _strangeness(model, source)
    if proba:
        chances = np.asarray(model.predict_proba(source))
        labels = range(chances.shape[1]) if name == CLUSTER else model.classes_
        columns |= {f"probability_{label}": chance for label, chance in zip(labels, chances.T)}
    return pa.table(columns)


def _promised(model: Any, source: Any, level: float, name: str) -> dict[str, Any]:
    """Give the ends of intervals, or the classes of sets, that hold the truth as often as was asked for."""
    if hasattr(model, "predict_interval"):
        low, high = np.asarray(model.predict_interval(source, level)).T
        return {f"{name}_low": low, f"{name}_high": high}
    sets = np.asarray(model.predict_set(source, level))
    words = [" | ".join(str(label) for label in model.classes_[line]) for line in sets]
    return {f"{name}_set": words}


def _strangeness(model: Any, source: Any) -> dict[str, np.ndarray]:
    """Say how far a row is from the clusters: its distance from the nearest centre, or its log-density; nothing, where neither is known.

    Far from all centres, or of a density much lower than that of other rows, is a row that belongs to none.
    """
    inner = getattr(model, "model_", model)
    seen = model.encoded(source) if hasattr(model, "encoded") else source
    if hasattr(inner, "score_samples"):
        return {"log_density": np.asarray(inner.score_samples(seen))}
    if hasattr(inner, "cluster_centers_") and hasattr(inner, "transform"):
        return {"distance": np.asarray(inner.transform(seen)).min(axis=1)}
    return {}


def _column_name(model: Any) -> str:
    if getattr(model, "target", None) is None:
        return CLUSTER
    target = getattr(getattr(model, "estimator_", model), "target_name_", None)
    return "prediction" if target is None else f"predicted_{target}"


def _name(model: Any) -> str:
    return type(getattr(model, "model_", model)).__name__
