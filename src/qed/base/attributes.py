"""What a fitted model holds, said once per model, as `parameters` says what it is given.

A class lists what it keeps in `attributes`: what each thing is, its shape in terms of a few sizes, and the range of its numbers. A size
is bound by the first attribute that mentions it, and all others must agree; ``"outputs?"`` is an axis that is there for several
outputs only. Here are the words for it; :mod:`qed.base.fitted` compares models with what they say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from typing import TypeAlias

import numpy as np
from sklearn.base import BaseEstimator

Sizes: TypeAlias = dict[str, int]
Axis: TypeAlias = int | str
Attributes: TypeAlias = Mapping[str, "Attribute"]
KINDS = {"f": "numbers", "iu": "whole numbers", "b": "True or False", "OUS": "words"}


@dataclass(frozen=True)
class Attribute:
    """What one thing has to be.

    Parameters
    ----------
    says : str
        In words, such as ``"numbers of shape (features,)"``.
    fault : callable
        Takes the value and the sizes known so far, to which it adds, and says what is wrong, or nothing.
    needed : bool
        Whether a fitted model must have it.
    """

    says: str
    fault: Callable[[object, Sizes], str]
    needed: bool = True

    def __or__(self, other: Attribute) -> Attribute:
        """Accept what either accepts."""

        def fault(value: object, sizes: Sizes) -> str:
            for one in (self, other):
                known = sizes.copy()
                if not one.fault(value, known):
                    if len(known) > len(sizes):
                        sizes.update(known)
                    return ""
            return self.fault(value, dict(sizes))

        return Attribute(f"{self.says} or {other.says}", fault, self.needed)


def floats(
    *shape: Axis,
    low: float = -math.inf,
    above: float = -math.inf,
    high: float = math.inf,
    finite: bool = True,
    missing: bool = False,
) -> Attribute:
    """Accept an array of floating-point numbers, or a single one where no shape is given.

    Parameters
    ----------
    *shape : int or str
        Its axes: sizes such as ``"features"``, sums such as ``"features+1"``, ``"_"`` for any, and one perhaps like ``"outputs?"``.
    low, above, high : float
        The range: at least `low`, more than `above`, at most `high`.
    finite : bool
        Whether NaN and infinity are refused.
    missing : bool
        Whether NaN is let through, and infinity alone refused.

    Examples
    --------
    >>> coef, sizes = floats("outputs?", "features"), {"features": 2}
    >>> coef.fault(np.zeros((3, 2)), sizes), sizes["outputs"], coef.fault(np.zeros(2), {"features": 3})
    ('', 3, 'has the shape (2,), not (outputs?, features) with features=3')
    """

    def fault(value: object, sizes: Sizes) -> str:
        if isinstance(value, float) or (isinstance(value, int) and type(value) is int and abs(value) < 1 << 62):
            # A trace has very many of these, for which arrays would take a hundred times as long.
            outside = value < low or value > high or (value <= above and above > -math.inf)
            if not shape and not outside and (not finite or math.isfinite(value)):
                return ""
        wrong = _kind_fault(value, "f") or _shape_fault(value, shape, sizes)
        if wrong:
            return wrong
        numbers = _numbers(value)
        if finite and not (np.isfinite(numbers) | (missing & np.isnan(numbers))).all():
            return "is not finite"
        with np.errstate(invalid="ignore"):
            inside = ~((numbers < low) | ((numbers <= above) & (above > -math.inf)) | (numbers > high))
        return "" if inside.all() else f"must be {_range(low, above, high)}"

    return Attribute(_words("f", shape), fault)


def integers(*shape: Axis, low: int = 0, below: Axis | None = None) -> Attribute:
    """Accept whole numbers of at least `low`, and below a size or number, such as the numbers of columns.

    Examples
    --------
    >>> integers("rows", below="clusters").fault(np.array([0, 3]), {"clusters": 3})
    'must be below 3'
    """

    def fault(value: object, sizes: Sizes) -> str:
        if type(value) is int and not shape and below is None and value >= low:
            return ""
        wrong = _kind_fault(value, "iu") or _shape_fault(value, shape, sizes)
        if wrong or np.size(np.asarray(value)) == 0:
            return wrong
        numbers = np.asarray(value)
        if numbers.min() < low:
            return f"must be at least {low}"
        most = None if below is None else _size(below, sizes)
        return "" if most is None or numbers.max() < most else f"must be below {most}"

    return Attribute(_words("iu", shape), fault)


def booleans(*shape: Axis) -> Attribute:
    """Accept True and False."""
    return Attribute(
        _words("b", shape), lambda value, sizes: _kind_fault(value, "b") or _shape_fault(value, shape, sizes)
    )


def size(name: str, low: int = 0) -> Attribute:
    """Accept a whole number, which is a size.

    Examples
    --------
    >>> size("features").fault(3, {"features": 4})
    'is 3, but features=4'
    """

    def fault(value: object, sizes: Sizes) -> str:
        wrong = integers(low=low).fault(value, sizes)
        return wrong or _bind(name, int(np.asarray(value)), sizes)

    return Attribute(f"the number of {name}", fault)


def labels(*shape: Axis, missing: bool = False, mixed: bool = False, dtypes: str = "biufUSO") -> Attribute:
    """Accept words or numbers, or `mixed` both: an array of what can be a label, perhaps with missing ones."""
    kinds = (str, bytes, int, float, date, np.generic, *([type(None)] if missing else []))

    def fault(value: object, sizes: Sizes) -> str:
        if not isinstance(value, np.ndarray) or value.dtype.kind not in dtypes:
            return f"must be an array of labels, not {_named(value)}"
        if value.dtype == object and not all(isinstance(one, kinds) for one in value.flat):
            return "holds what is no label"
        words = {isinstance(one, str) for one in value.flat if one is not None} if value.dtype == object else set()
        if len(words) > 1 and not mixed:
            return "holds words and numbers"
        if value.dtype.kind == "f" and not missing and not np.isfinite(value).all():
            return "is not finite"
        return _shape_fault(value, shape, sizes)

    return Attribute(_words("OUS", shape), fault)


def names(*shape: Axis) -> Attribute:
    """Accept an array of words."""

    def fault(value: object, sizes: Sizes) -> str:
        if not isinstance(value, np.ndarray) or not all(isinstance(one, str) for one in value.flat):
            return f"must be an array of words, not {_named(value)}"
        return _shape_fault(value, shape, sizes)

    return Attribute(_words("OUS", shape), fault)


def of(*classes: type, **sizes_of: str) -> Attribute:
    """Accept a value of one of these classes, whose own sizes are those named: ``of(Moments, n_features="features")``."""
    title = " or ".join(cls.__name__ for cls in classes)

    def fault(value: object, sizes: Sizes) -> str:
        if type(value) not in classes and not isinstance(value, classes):
            return f"must be a {title}, not {_named(value)}"
        held = {name: getattr(value, attribute, 0) for attribute, name in sizes_of.items()}
        found = (_bind(name, len(one) if hasattr(one, "__len__") else one, sizes) for name, one in held.items())
        return next((wrong for wrong in found if wrong), "")

    return Attribute(f"a {title}", fault)


def model(*methods: str) -> Attribute:
    """Accept a model that has these methods."""

    def fault(value: object, sizes: Sizes) -> str:
        if not isinstance(value, BaseEstimator) or isinstance(value, type):
            return f"must be a model, not {_named(value)}"
        lost = [name for name in methods if not hasattr(value, name)]
        return f"is a {type(value).__name__}, which has no {lost[0]}" if lost else ""

    return Attribute("a model", fault)


def having(*members: str) -> Attribute:
    """Accept an object with these members, such as a statistic."""

    def fault(value: object, sizes: Sizes) -> str:
        lost = [name for name in members if not hasattr(value, name)]
        return f"is {_named(value)}, which has no {lost[0]}" if lost else ""

    return Attribute(f"an object with {', '.join(members)}", fault)


def function() -> Attribute:
    """Accept what can be called."""
    return having("__call__")


def text() -> Attribute:
    """Accept a sentence."""
    return of(str)


def one_of(*words: str) -> Attribute:
    """Accept one of some words."""
    says = " or ".join(map(repr, words))
    return Attribute(says, lambda value, sizes: "" if isinstance(value, str) and value in words else f"must be {says}")


def nothing() -> Attribute:
    """Accept None."""
    return Attribute("None", lambda value, sizes: "" if value is None else f"must be None, not {_named(value)}")


def each(item: Attribute, length: Axis | None = None) -> Attribute:
    """Accept a list, a tuple, a frozen set or an array of objects in which all are such an `item`."""

    def fault(value: object, sizes: Sizes) -> str:
        if not (isinstance(value, (list, tuple, frozenset)) or (isinstance(value, np.ndarray) and value.ndim == 1)):
            return f"must be a list, not {_named(value)}"
        wrong = "" if length is None else _axis_fault(length, len(value), sizes)
        if wrong:
            return f"has {len(value)} items, but {wrong}"
        found = ((place, item.fault(one, sizes)) for place, one in enumerate(value))
        return next((f"{fault} in item {place}" for place, fault in found if fault), "")

    return Attribute(f"a list of {item.says}", fault)


def table(value_of: Attribute | None = None, key: type = str) -> Attribute:
    """Accept a dict whose keys are of one type, such as words, and whose values are all such a thing."""

    def fault(value: object, sizes: Sizes) -> str:
        if not isinstance(value, Mapping) or not all(isinstance(name, key) for name in value):
            return f"must be a dict with keys of the type {key.__name__}, not {_named(value)}"
        if value_of is None:
            return ""
        for name, one in value.items():
            if wrong := value_of.fault(one, sizes):
                return f"{wrong} at {name!r}"
        return ""

    return Attribute("a dict", fault)


def maybe(attribute: Attribute) -> Attribute:
    """Let the attribute be missing: some fits have no use for it."""
    return replace(attribute, needed=False)


def usual_fault(value: object) -> str:
    """Say what is wrong with a thing of which nothing was said: an array has to be of numbers or words, and finite."""
    data = getattr(value, "data", None) if hasattr(value, "indptr") else value
    if not isinstance(data, np.ndarray):
        return ""
    if data.dtype.kind == "V":
        return f"must be an array of numbers or words, not of {data.dtype}"
    return "" if data.dtype.kind not in "fc" or np.isfinite(data).all() else "is not finite"


def _numbers(value: object) -> np.ndarray:
    """Give the numbers of an array, sparse or not, or a number by itself."""
    return np.asarray(getattr(value, "data", value) if hasattr(value, "indptr") else value)


def _shape(value: object) -> tuple[int, ...]:
    return getattr(value, "shape", ())


def _kind_fault(value: object, kinds: str) -> str:
    if isinstance(value, (np.ndarray, np.generic)) or hasattr(value, "indptr"):
        dtype = _numbers(value).dtype
        right = dtype.kind in kinds and not isinstance(value, np.ma.MaskedArray)
        # Kernels know numbers of single and of double precision.
        right = right and (dtype.kind != "f" or dtype.itemsize in (4, 8))
    elif kinds == "b" or isinstance(value, bool):
        right = kinds == "b" and isinstance(value, bool)
    else:
        right = isinstance(value, int) or (kinds == "f" and isinstance(value, float))
    return "" if right else f"must be {KINDS[kinds]}, not {_named(value)}"


def _shape_fault(value: object, shape: Iterable[Axis], sizes: Sizes) -> str:
    """Compare a shape with the declared one, binding the sizes that are not known yet."""
    axes, found = list(shape), _shape(value)
    written = f"({', '.join(map(str, axes))}{',' if len(axes) == 1 else ''})"
    known, wrong = dict(sizes), False
    for place, axis in enumerate(axes):
        if str(axis).endswith("?"):
            there = len(found) == len(axes)
            # Whether the axis is there is itself a size, on which all have to agree.
            wrong = bool(_bind(str(axis), int(there), known) or (not there and _bind(str(axis)[:-1], 1, known)))
            axes[place : place + 1] = [str(axis)[:-1]] if there else []
            break
    wrong = wrong or len(found) != len(axes)
    wrong = wrong or any(_axis_fault(axis, length, known) for axis, length in zip(axes, found))
    if not wrong:
        sizes.update(known)
        return ""
    sized = [f"{name}={one}" for name, one in sizes.items() if not name.endswith("?") and name in written]
    return f"has the shape {_shape(value)}, not {written}" + (f" with {', '.join(sized)}" if sized else "")


def _axis_fault(axis: Axis, length: int, sizes: Sizes) -> str:
    if axis == "_":
        return ""
    wanted = _size(axis, sizes)
    if wanted is None:
        return _bind(str(axis), length, sizes) if str(axis).isidentifier() else ""
    return "" if wanted == length else f"{axis}={wanted}"


def _size(axis: Axis, sizes: Sizes) -> int | None:
    """Give a size or a sum of them, or None where one is not known."""
    if isinstance(axis, int):
        return axis
    parts = [int(part) if part.isdigit() else sizes.get(part) for part in axis.split("+")]
    return None if None in parts else sum(part for part in parts if part is not None)


def _bind(name: str, length: int, sizes: Sizes) -> str:
    known = sizes.setdefault(name, length)
    return "" if known == length else f"is {length}, but {name}={known}"


def _range(low: float, above: float, high: float) -> str:
    limits = [f"at least {low:g}" if low > -math.inf else "", f"above {above:g}" if above > -math.inf else ""]
    return " and ".join(one for one in (*limits, f"at most {high:g}" if high < math.inf else "") if one)


def _words(kinds: str, shape: tuple[Axis, ...]) -> str:
    return f"{KINDS[kinds]} of shape ({', '.join(map(str, shape))})" if shape else KINDS[kinds]


def _named(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype}"
    return "None" if value is None else value.name if isinstance(value, Enum) else f"a {type(value).__name__}"
