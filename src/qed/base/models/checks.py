"""The one boundary where data are looked at: whatever enters a model passes here.

Arrays, frames and sparse matrices are taken over without a copy where their type allows it; rows of files and clusters are asked
for their numbers. Missing and infinite values are not searched for here: that would cost a pass. Models meet them in their
statistics, which then are not finite, and call `refuse_missing`, which finds the column and the row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_feature_names,
    _check_n_features,
    _check_sample_weight,
    _check_y,
    check_array,
    check_consistent_length,
    column_or_1d,
)

from qed.base.errors import InputError
from qed.base.sources.rows import ArrayRows, Block, Rows, _is_dask, _is_path, rows

FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def check_rows(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
) -> Rows:
    """Turn what the user gave into rows of numbers, or say clearly why that can not be done.

    Parameters
    ----------
    model : estimator
        Gets ``n_features_in_`` and ``feature_names_in_`` when `reset`, and is compared with them when not.
    X, y, sample_weight
        As given to ``fit`` or ``predict``; `X` may be `Rows`, a path or a Dask collection.
    reset : bool
        True in ``fit``.
    target : {"number", "label", None}
        What ``y`` has to be.
    """
    if isinstance(X, Rows) or _is_path(X) or _is_dask(X):
        source = rows(X, y, sample_weight=sample_weight).numbers()
        _check_source(model, source, reset=reset, target=target)
        return source
    names = _check_names(model, X, reset=reset)
    matrix = _check_matrix(model, X)
    _check_n_features(model, matrix, reset=reset)
    weight = None
    if target is not None:
        y = check_target(model, y, target)
        check_consistent_length(matrix, y)
    else:
        y = None
    if sample_weight is not None:
        weight = check_weight(sample_weight, matrix)
    return ArrayRows(matrix, y, weight, names)


def check_table(model: Any, X: Any, sample_weight: Any = None, *, reset: bool) -> Rows:
    """Turn what the user gave into rows of a mixed table, for encoders."""
    if isinstance(X, Rows) or _is_path(X) or _is_dask(X):
        source = rows(X, sample_weight=sample_weight).table()
        _check_source(model, source, reset=reset, target=None)
        return source
    names = _check_names(model, X, reset=reset)
    if names is None:
        X = check_array(X, dtype=None, ensure_all_finite=False, accept_sparse=False, estimator=model)
    _check_n_features(model, X, reset=reset)
    if X.shape[0] == 0:
        raise InputError(f"Found array with 0 sample(s) while a minimum of 1 is required by {_name(model)}.")
    weight = None if sample_weight is None else check_weight(sample_weight, X)
    if names is None and X.dtype.kind in "biuf":
        return ArrayRows(X, None, weight).table()
    from qed.base.sources.tables import open_table

    return open_table(X, weight=weight).table()


def _name(model: Any) -> str:
    return type(model).__name__


def _check_names(model: Any, X: Any, *, reset: bool) -> list[str] | None:
    _check_feature_names(model, X, reset=reset)
    if reset:
        names = getattr(model, "feature_names_in_", None)
        return None if names is None else list(names)
    return list(model.feature_names_in_) if hasattr(X, "columns") and hasattr(model, "feature_names_in_") else None


def _check_matrix(model: Any, X: Any) -> Any:
    if type(X) in (np.ndarray, np.memmap) and X.ndim == 2 and X.dtype in FLOATS and X.shape[0] and X.shape[1]:
        return X
    if hasattr(X, "columns"):
        _refuse_text(X)
    sparse = get_tags(model).input_tags.sparse
    return check_array(
        X,
        accept_sparse="csr" if sparse else False,
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        estimator=model,
        input_name="X",
    )


def _refuse_text(frame: Any) -> None:
    """Name the first column of a frame that holds no numbers."""
    import narwhals.stable.v2 as nw

    try:
        schema = nw.from_native(frame, eager_only=True).schema
    except TypeError:
        return
    for name, kind in schema.items():
        if not (kind.is_numeric() or kind in (nw.Boolean, nw.Object, nw.Unknown)):
            raise InputError(
                f"Column {name!r} holds values of type {kind}, not numbers: "
                "encode the table with qed.ColumnEncoder first, or leave the column out."
            )


def check_target(model: Any, y: Any, target: str) -> Any:
    """Check ``y``: finite numbers (one or several columns), or one label per row."""
    if y is None:
        raise InputError(
            f"{_name(model)} requires y to be passed, but the target y is None. "
            "Give it as the second argument of fit, or name its column: qed.rows(X, target='name')."
        )
    if target == "label":
        labels = column_or_1d(y, warn=True)
        check_array(labels, ensure_2d=False, dtype=None, ensure_all_finite=True, input_name="y", estimator=model)
        check_classification_targets(labels)
        return labels
    values = _check_y(y, multi_output=True, y_numeric=True, estimator=model)
    if values.dtype not in FLOATS:
        values = values.astype(np.float64)
    if values.ndim == 2 and values.shape[1] == 1 and not get_tags(model).target_tags.two_d_labels:
        multi = get_tags(model).target_tags.multi_output
        return values if multi else column_or_1d(values, warn=True)
    if values.ndim == 2 and not get_tags(model).target_tags.multi_output:
        raise InputError(
            f"{_name(model)} predicts one column, but y has {values.shape[1]}: bad input shape {values.shape}."
        )
    return values


def check_weight(sample_weight: Any, X: Any) -> np.ndarray:
    """Check weights: finite, not negative, not all zero."""
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not weight.any():
        raise InputError("All weights are zero, which leaves no rows at all: give at least one row a positive weight.")
    return weight


def _check_source(model: Any, source: Rows, *, reset: bool, target: str | None) -> None:
    """Check the columns of a file or cluster against what the model needs and knows."""
    if target is not None and not source.has_target:
        raise InputError(
            f"{_name(model)} requires y to be passed: name the target's column, qed.rows(..., target='name')."
        )
    if target == "number" and not getattr(source, "target_is_number", True):
        raise InputError(f"The target must be numbers for {_name(model)}, but its column holds text.")
    if hasattr(getattr(source, "X", None), "tocsr") and not get_tags(model).input_tags.sparse:
        raise InputError(f"{_name(model)} does not take sparse input: give it a dense array.")
    if reset:
        model.n_features_in_ = source.n_features
        if source.feature_names is not None:
            model.feature_names_in_ = np.asarray(source.feature_names, dtype=object)
        elif hasattr(model, "feature_names_in_"):
            del model.feature_names_in_
        return
    known = getattr(model, "feature_names_in_", None)
    if known is not None and source.feature_names is not None and list(known) != list(source.feature_names):
        lost = [name for name in known if name not in source.feature_names]
        new = [name for name in source.feature_names if name not in known]
        raise InputError(
            f"The columns should be those that {_name(model)} was fitted on, in that order; "
            f"missing: {lost or 'none'}, unexpected: {new or 'none'}."
        )
    if source.n_features != model.n_features_in_:
        raise InputError(
            f"X has {source.n_features} features, but {_name(model)} is expecting {model.n_features_in_} features as input."
        )


def is_finite(values: Any) -> bool:
    """Say whether all values are finite: one sum, and a close look only where the sum is not."""
    data = values.data if hasattr(values, "tocsr") else values
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.isfinite(np.sum(data, dtype=np.float64)) or np.isfinite(data).all())


class NotFinite(InputError):
    """A block holds a value that is missing or infinite; which, only a search of all rows can tell."""


def checked(block: Block, function: Callable[..., Any], *args: Any) -> Any:
    """Apply ``function(block, *args)``, unless a value of the block is not finite."""
    if not is_finite(block.X):
        raise NotFinite(f"A value is missing or infinite in the rows from {block.start} on.")
    return function(block, *args)


def refuse_missing(source: Rows, model: Any) -> None:
    """Raise an `InputError` that names the first missing or infinite value, its column and its row."""
    for found in source.each(_first_bad):
        if found is None:
            continue
        what, column, row = found
        if column is None:
            raise InputError(f"The target of {_name(model)} contains {what}: row {row}. Drop the row.")
        repair = (
            "Drop the rows, or fill the holes with qed.SimpleImputer." if what == "NaN" else "Correct or drop the row."
        )
        raise InputError(
            f"Input X of {_name(model)} contains {what}: column {source.name_of(column)}, row {row} (counted from 0). {repair}"
        )


def _first_bad(block: Block) -> tuple[str, int | None, int] | None:
    X = block.X
    used = np.ones(len(block), dtype=bool) if block.weight is None else block.weight > 0
    if hasattr(X, "tocsr"):
        bad = np.flatnonzero(~np.isfinite(X.data))
        places = np.column_stack([np.searchsorted(X.indptr, bad, side="right") - 1, X.indices[bad]])
        places = places[used[places[:, 0]]] if len(places) else places
    else:
        places = np.argwhere(~np.isfinite(X) & used[:, None])
    if len(places):
        row, column = (int(place) for place in places[0])
        value = X[row, column]
        return "NaN" if np.isnan(value) else "infinity", column, block.start + row
    y = block.y
    if y is not None and np.asarray(y).dtype.kind == "f":
        lost = np.argwhere(~np.isfinite(y) & (used if y.ndim == 1 else used[:, None]))
        if len(lost):
            value = y[tuple(lost[0])]
            return "NaN" if np.isnan(value) else "infinity", None, block.start + int(lost[0][0])
    return None


def overflowed(model: Any) -> InputError:
    """Give the error for finite data whose squares are not."""
    return InputError(
        f"The values given to {_name(model)} are so large that their squares overflow: scale the columns, "
        "for example with qed.StandardScaler."
    )
