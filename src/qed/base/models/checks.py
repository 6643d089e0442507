"""The one boundary where data are looked at: whatever enters a model passes here.

Every source is opened by :func:`qed.base.sources.open.rows`, whether it comes as it is or as rows; what is left to do is to compare
the rows with what the model needs and knows, in words that scikit-learn's checks understand. Missing and infinite features are not
searched for here: that would cost a pass. Models meet them in their statistics, which then are not finite, and call `refuse_missing`,
which finds the column and the row.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags

from qed.base.errors import InputError, KindError, level_of_user
from qed.base.models.checked import Checked, checked
from qed.base.numbers import all_finite
from qed.base.sources.block import Block, is_sparse
from qed.base.sources.facts import FLOATS
from qed.base.sources.frames import complex_error, too_large
from qed.base.sources.layout import floats_of
from qed.base.sources.open import rows
from qed.base.sources.rows import ArrayRows, Rows

# So few values are looked at sooner by BLAS.
FEW_VALUES = 1 << 12
PLAIN = {str, bytes, bool, int, float, type(None)}


def check_rows(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
) -> Rows:
    """Turn what the user gave into rows of numbers, or say clearly why that can not be done.

    With `reset`, as in ``fit``, the model gets ``n_features_in_`` and ``feature_names_in_``; else the rows are compared
    with them. `target` says what ``y`` has to be: "number" or "label", or None for whatever there is.
    """
    source = _opened(X, y, sample_weight, target).numbers()
    _check_columns(model, source, reset=reset)
    if source.is_sparse and not get_tags(model).input_tags.sparse:
        advice = getattr(model, "sparse_advice", "give it a dense array, such as X.toarray()")
        raise InputError(f"{_name(model)} does not take sparse input: {advice}.")
    return _checked(model, source, target, reset=reset)


def check_table(
    model: Any, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
) -> Rows:
    """Turn what the user gave into rows of a mixed table, for encoders; the parameters are those of `check_rows`."""
    source = _opened(X, y, sample_weight, target).table()
    _check_columns(model, source, reset=reset)
    return _checked(model, source, target, reset=reset)


def _opened(X: Any, y: Any, sample_weight: Any, target: str | None) -> Rows:
    # A target that nobody wants is left alone, unless it is the name of a column, which then is no feature.
    wanted = target is not None or isinstance(y, str) or isinstance(X, Rows)
    return rows(X, y if wanted else None, sample_weight=sample_weight)


def _name(model: object) -> str:
    return model if isinstance(model, str) else type(model).__name__


def _check_columns(model: Any, source: Rows, *, reset: bool) -> None:
    """Tell the model its columns, or compare them with those it knows."""
    names, known = source.feature_names, getattr(model, "feature_names_in_", None)
    if reset:
        model.n_features_in_ = source.n_features
        if names is not None:
            model.feature_names_in_ = np.asarray(names, dtype=object)
        elif known is not None:
            del model.feature_names_in_
        return
    if names is not None and known is not None:
        if list(known) != list(names):
            raise InputError(_other_names(list(known), list(names)))
    elif names is not None:
        _warn(f"X has feature names, but {_name(model)} was fitted without feature names")
    elif known is not None:
        _warn(f"X does not have valid feature names, but {_name(model)} was fitted with feature names")
    if source.n_features != model.n_features_in_:
        raise InputError(
            f"X has {source.n_features} features, but {_name(model)} is expecting {model.n_features_in_} features as input."
        )


def _checked(model: object, source: Rows, target: str | None, *, reset: bool) -> Rows:
    """Look at target and weights: now where they are in memory, else whenever they are read."""
    if target is None and not source.has_weight:
        return source
    wanted = Wanted.by(model, target, source)
    wanted.refuse_from(source)
    if not reset and target is not None:
        _check_outputs(model, source)
    facts: dict[str, object] = {} if target is None or wanted.several else {"target_shape": ()}
    if target == "number" and source.target_dtype not in FLOATS:
        facts["target_dtype"] = FLOATS[0]
    return checked(source, wanted, **facts)


def _check_outputs(model: object, source: Rows) -> None:
    """Compare the columns of the target with those that a fitted model predicts."""
    known: tuple[int, ...] = getattr(model, "_predicted_shape", tuple)()
    given = source.target_shape
    if (known or (1,)) != (given or (1,)) and _takes_several(model):
        words = " and ".join(f"{shape[0] if shape else 1}" for shape in (known, given))
        raise InputError(
            f"{_name(model)} was fitted to another number of target columns than y has: {words}. Give y as in fit."
        )


def _takes_several(model: object) -> bool:
    """Say whether a model predicts several numbers, or tells several labels."""
    tags = get_tags(model)
    several = tags.target_tags.multi_output or tags.target_tags.two_d_labels
    return bool(several or (tags.classifier_tags is not None and tags.classifier_tags.multi_label))


def complete(source: Rows, model: object, *, once: bool = False) -> Rows:
    """Give the same rows, and refuse missing and infinite features by name; where missing ones are let through, infinite ones only.

    They are looked for in memory at once, else, and for rows that are read `once`, whenever they are read.
    """
    if not isinstance(source, Rows):  # a world, out of which no column comes
        return source
    if source.is_table or (get_tags(model).input_tags.allow_nan and not getattr(model, "missing", False)):
        return source
    if isinstance(source, Checked):
        return source.before(partial(finite, model=model))
    if once or not isinstance(source, ArrayRows):
        return finite(source, model)
    if not all(source.each(_has_finite)):
        refuse_missing(source, model)
    return source


def _has_finite(block: Block) -> bool:
    return is_finite(block.X)


def _warn(message: str, kind: type[Warning] = UserWarning) -> None:
    warnings.warn(message, kind, stacklevel=level_of_user())


def _other_names(known: list[str], names: list[str]) -> str:
    """Say how the names of columns differ from those of the fit, in scikit-learn's words."""
    words = "The feature names should match those that were passed during fit.\n"
    new, lost = sorted(set(names) - set(known)), sorted(set(known) - set(names))
    for title, found in (("unseen at fit time", new), ("seen at fit time, yet now missing", lost)):
        if found:
            words += f"Feature names {title}:\n" + "".join(f"- {name}\n" for name in found[:5])
            words += "- ...\n" if len(found) > 5 else ""
    return words if new or lost else words + "Feature names must be in the same order as they were in fit.\n"


@dataclass(frozen=True)
class Wanted:
    """What a model wants of its target.

    Attributes
    ----------
    model : str
        Who asks.
    kind : {"number", "label", None}
        What the target has to be; None where it is not looked at.
    several : bool
        Whether there may be more than one column.
    """

    model: str
    kind: str | None
    several: bool = False

    @classmethod
    def by(cls, model: object, kind: str | None, source: Rows) -> Wanted:
        """Say what a model wants of the target of these rows."""
        # A single column of labels says which class a row has, not whether it has a label.
        fitting = kind is not None and source.target_ndim == 2 and (kind == "number" or source.n_targets > 1)
        return cls(_name(model), kind, fitting and _takes_several(model))

    def refuse_from(self, source: Rows) -> None:
        """Refuse what can be told from the facts of rows, before the first of them is read."""
        if self.kind is None:
            return
        if not source.has_target:
            raise InputError(
                f"{self.model} requires y to be passed, but the target y is None. "
                "Give it as the second argument of fit: an array, or the name of its column."
            )
        if source.target_ndim == 2 and not self.several:
            if source.n_targets != 1:
                raise InputError(
                    f"{self.model} predicts one column, but y has {source.n_targets}: "
                    f"bad input shape (n, {source.n_targets})."
                )
            words = "A column-vector y was passed when a 1d array was expected. Please change the shape of y to"
            _warn(f"{words} (n_samples,), for example using ravel().", DataConversionWarning)
        kind = "" if source.target_dtype is None else source.target_dtype.kind
        if self.kind == "number" and kind not in "biufO":
            raise complex_error() if kind == "c" else self._no_numbers()

    def __call__(self, block: Block) -> Block:
        """Give a block whose target is what is wanted, or say which row of it is not."""
        if self.kind is None:
            return block
        y = np.asarray(block.y)
        y = y.ravel() if y.ndim == 2 and not self.several else y
        y = self._numbers(y, block) if self.kind == "number" else self._labels(y, block)
        return block if y is block.y else replace(block, y=y)

    def _numbers(self, y: np.ndarray, block: Block) -> np.ndarray:
        if y.dtype not in FLOATS:
            if y.dtype.kind == "c":
                raise complex_error()
            try:
                y = floats_of(y)
            except OverflowError:
                raise too_large("in the target") from None
            except (TypeError, ValueError):
                raise self._no_numbers() from None
        return self._finite(y, block)

    def _no_numbers(self) -> InputError:
        return InputError(
            f"The target of {self.model} must be numbers, but it holds text or other values that are none: "
            "take a classifier for labels, or convert them."
        )

    def _finite(self, y: np.ndarray, block: Block) -> np.ndarray:
        """Refuse a target that is missing or infinite; what it is in a row of weight zero does not matter."""
        if is_finite(y):
            return y
        found = _first_bad(Block(np.empty((len(y), 0)), y, block.weight, block.start))
        if found is not None:
            raise _bad_value(self.model, None, *found)
        return np.where(np.isfinite(y), y, y.dtype.type(0))

    def _labels(self, y: np.ndarray, block: Block) -> np.ndarray:
        """Refuse labels that are missing, amounts, or neither words nor numbers."""
        if y.dtype.kind == "c":
            raise complex_error()
        if y.dtype.kind == "O":
            self._kinds(y.ravel().tolist(), block)
        if y.dtype.kind == "f":
            whole = self._finite(y, block)
            if (whole != np.floor(whole)).any():
                refuse_amounts(self.model, whole if block.weight is None else whole[block.weight > 0])
        return y

    def _kinds(self, labels: list[object], block: Block) -> None:
        """Refuse labels that are missing, or neither words nor numbers; there are few types among many labels."""
        kinds = {type(label) for label in labels}
        strange = {kind for kind in kinds - PLAIN if not issubclass(kind, (str, int, float, np.generic))}
        strange |= {kind for kind in kinds if issubclass(kind, (complex, np.datetime64, np.timedelta64))}
        if strange:
            name = min(kind.__name__ for kind in strange)
            raise KindError(f"Unknown label type: {name}. The labels of {self.model} must be words or numbers.")
        if int in kinds and any(type(label) is int and not -(2**63) <= label < 2**64 for label in labels):
            raise too_large("in the target")
        if not kinds <= {str, int, bool}:
            lost = np.array([label is None or label != label for label in labels])
            if (lost if block.weight is None else lost & (block.weight > 0)).any():
                raise InputError(f"The target of {self.model} has missing labels: drop those rows.")
        if len(kinds) > 1 and len({isinstance(one, str) for one in labels if one is not None and one == one}) > 1:
            raise KindError(
                f"The target of {self.model} holds words and numbers: give labels of one kind, for example with y.astype(str)."
            )


def refuse_amounts(model: object, labels: Iterable[object]) -> None:
    """Refuse labels that are numbers but not whole ones: they are amounts to be predicted, not classes to be told apart."""
    for label in labels:
        if isinstance(label, (float, np.floating)) and label % 1 != 0:
            raise InputError(
                f"Unknown label type: continuous. {_name(model)} tells classes apart, but the target holds amounts such "
                f"as {label:g}: take a regression, or give labels."
            )


def is_finite(values: Any) -> bool:
    """Say whether all values are finite: one sum, and a close look only where the sum is not."""
    data = values.data if is_sparse(values) else values
    if data.size <= FEW_VALUES:
        return all_finite(data)
    with np.errstate(invalid="ignore", over="ignore"):
        return math.isfinite(data.sum(dtype=np.float64)) or bool(np.isfinite(data).all())


def finite(source: Rows, model: object) -> Rows:
    """Give the same rows, of which none is handed on that holds a feature the model does not take: it is refused by its name."""
    return source.through(_finite, source.feature_names, _name(model), getattr(model, "missing", False))


def _finite(block: Block, names: tuple[str, ...] | None, model: str, missing: bool) -> Block:
    if not is_finite(block.X):
        found = _first_bad(replace(block, y=None), missing)
        if found is not None:
            raise _bad_value(model, names, *found)
    return block


def refuse_missing(source: Rows, model: object) -> None:
    """Raise an `InputError` that names the first missing or infinite value, its column and its row.

    A model that lets missing values through (``missing``) refuses infinite ones only.
    """
    for found in source.each(_first_bad, getattr(model, "missing", False)):
        if found is not None:
            raise _bad_value(model, source.feature_names, *found)


def _bad_value(model: object, names: tuple[str, ...] | None, what: str, column: int | None, row: int) -> InputError:
    """Give the error for a value that is missing or infinite; `model` is who refuses it, or the name."""
    who = _name(model)
    if column is None:
        return InputError(f"The target of {who} contains {what}: row {row} (counted from 0). Drop the row.")
    where = repr(names[column]) if names else f"number {column}"
    repair = "Drop the rows, or fill the holes with qed.SimpleImputer." if what == "NaN" else "Correct or drop the row."
    return InputError(f"Input X of {who} contains {what}: column {where}, row {row} (counted from 0). {repair}")


def _first_bad(block: Block, missing: bool = False) -> tuple[str, int | None, int] | None:
    X, is_bad = block.X, np.isinf if missing else _not_finite
    used = block.weights > 0
    if is_sparse(X):
        bad = np.flatnonzero(is_bad(X.data))
        places = np.column_stack([np.searchsorted(X.indptr, bad, side="right") - 1, X.indices[bad]])
        places = places[used[places[:, 0]]] if len(places) else places
    else:
        places = np.argwhere(is_bad(X) & used[:, None])
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


def _not_finite(values: np.ndarray) -> np.ndarray:
    return ~np.isfinite(values)


def overflowed(model: object) -> InputError:
    """Give the error for finite data whose squares can not be held."""
    return InputError(
        f"The values given to {_name(model)} are so large that their squares overflow, or so small that they vanish: scale the "
        "columns, for example with qed.MinMaxScaler."
    )
