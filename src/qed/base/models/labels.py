"""Labels as class numbers: which classes there are, what they weigh, and blocks that hold numbers in the place of labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from qed.base.counts import Counts
from qed.base.errors import InputError, ParameterError
from qed.base.models.checks import refuse_amounts
from qed.base.numbers import any_of
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows


def learn_classes(rows: Rows, name: str, least: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Give the classes of the rows' target, `least` so many, in order, and the weight of each; a class without weight is none.

    >>> from qed.base.sources.open import rows
    >>> learn_classes(rows([[0.0], [1.0], [2.0]], ["no", "yes", "no"]), "Model")
    (array(['no', 'yes'], dtype='<U3'), array([2., 1.]))
    """
    classes, counts = count_labels(rows, name)
    if least > 1:
        refuse_one_class(name, classes)
    return classes, counts.weights()


def count_labels(rows: Rows, name: str) -> tuple[np.ndarray, Counts]:
    """Give the classes of the rows' target, in order, of which there may be a single one, and how often each occurs."""
    counts = rows.fold(Counts.of)
    return named_classes(counts, rows.target_dtype, name), counts


def named_classes(counts: Counts, dtype: Any, name: str) -> np.ndarray:
    """Give the labels that were counted, in order and of their type; refuse missing ones, and amounts in the place of labels."""
    labels = counts.values()
    if None in labels:
        raise InputError(f"The target of {name} has missing labels: drop those rows.")
    refuse_amounts(name, labels)
    return np.array(labels, dtype=dtype)


def refuse_one_class(name: str, classes: np.ndarray) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise InputError(
            f"{name} needs at least two classes, but the target has only one class, {classes.tolist()[0]!r}: "
            "give rows of another class too."
        )


def encode(y: Any, classes: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Give the number of each label's class; labels of rows without weight need not be known.

    >>> encode(np.array(["b", "a", "b"]), np.array(["a", "b"]))
    array([1, 0, 1])
    """
    y = np.asarray(y)
    if y.dtype == object or classes.dtype == object:
        numbers = {label: number for number, label in enumerate(classes.tolist())}
        codes = np.fromiter((numbers.get(label, -1) for label in y.tolist()), np.intp, len(y))
    elif y.dtype == classes.dtype and y.dtype.kind in "iu" and len(classes) and (np.diff(classes) == 1).all():
        # Whole numbers without a gap: a difference is the number of the class.
        codes = y.astype(np.intp) - classes[0].astype(np.intp)
        codes[(codes < 0) | (codes >= len(classes))] = -1
    elif not len(classes):  # rows of which none has a weight, such as those that a search holds out nowhere
        codes = np.full(len(y), -1)
    else:
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        codes[classes[codes] != y] = -1
    lost = codes < 0
    if any_of(lost):
        if weight is None or weight[lost].any():
            unknown = y[lost if weight is None else lost & (weight > 0)].tolist()[0]
            raise InputError(f"The label {unknown!r} is not among the classes that were learned: {classes.tolist()}.")
        codes[lost] = 0
    return codes


def coded(rows: Rows, classes: np.ndarray) -> Rows:
    """Give rows in whose blocks ``y`` holds class numbers; labels that can be kept are turned into them once.

    >>> from qed.base.sources.open import rows
    >>> coded(rows([[0.0], [1.0]], ["no", "yes"]), np.array(["no", "yes"])).array().y
    array([0, 1])
    """
    return rows.through(with_codes, classes, target_only=True, target_dtype=np.dtype(np.intp)).cached()


def with_codes(block: Block, classes: np.ndarray) -> Block:
    """Give a block with class numbers in the place of labels."""
    return replace(block, y=encode(block.y, classes, block.weight))


def has_label(block: Block, name: str) -> np.ndarray:
    """Say of each row which labels it has, from zeros and ones in several columns; rows without weight may hold anything.

    >>> has_label(Block(np.zeros((2, 1)), np.array([[1, 0], [1, 1]])), "Model")
    array([[ True, False],
           [ True,  True]])
    """
    y = np.asarray(block.y)
    strange = (y != 0) & (y != 1)
    if block.weight is not None:
        strange &= block.weight[:, None] > 0
    if strange.any():
        raise InputError(
            f"{name} takes labels in several columns as zeros and ones (has a row the label or not), "
            f"but y holds {y[strange].tolist()[0]!r}."
        )
    return np.asarray(y == 1)


def marked(rows: Rows, name: str, dtype: Any) -> Rows:
    """Give rows whose target, several columns of zeros and ones, was looked at and holds numbers of a type."""
    return rows.through(_with_marks, name, dtype, target_only=True, target_dtype=np.dtype(dtype)).cached()


def _with_marks(block: Block, name: str, dtype: Any) -> Block:
    return replace(block, y=has_label(block, name).astype(dtype))


def class_factors(class_weight: Any, classes: np.ndarray, weight: np.ndarray, *, every: bool = True) -> np.ndarray:
    """Give the factor by which each class weighs more: from None, "balanced" or a mapping of labels to factors.

    A mapping may name other classes, and leave out any, where these are not `every` class there is.

    >>> class_factors("balanced", np.array([0, 1]), np.array([30.0, 10.0]))
    array([0.66666667, 2.        ])
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        return np.asarray(weight.sum() / (len(classes) * weight))
    if not isinstance(class_weight, Mapping):
        raise ParameterError(f"class_weight must be None, 'balanced' or a dict, not {class_weight!r}.")
    labels = classes.tolist()
    lost = [label for label in class_weight if label not in labels]
    if lost and every:
        raise ParameterError(f"class_weight names the class {lost[0]!r}, but there are only: {labels}.")
    factors = np.array([class_weight.get(label, 1.0) for label in labels], dtype=np.float64)
    if not (np.isfinite(factors).all() and (factors >= 0).all() and ((factors > 0).sum() >= 2 or not every)):
        raise ParameterError(
            f"class_weight must be finite numbers >= 0, at least two of them positive: {class_weight!r}."
        )
    return factors
