"""Every public number that a fitted model holds, and what a forger could put in its place."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from qed.base.models.estimator import Estimator

# What no theory can check, each with its reason. All else that is a number has to be noticed when it is changed.
UNCHECKED = {
    "certificate_": "it is what certify computes anew, and never reads",
    "ending_": "how a fit came to its end, which its result does not tell",
    "n_iter_": "how many steps were made, which their result does not tell",
    "loss_curve_": "the losses on the way, which the end of it does not tell",
    "validation_scores_": "the scores on the way, which the end of it does not tell",
    "t_": "how many rows were visited, which the weights do not tell",
    "n_visited_": "how many subsets were looked at, which the best ones do not tell",
    "rest": "what rounding cut off a mean: less than the last digit of it",
    "rounds_": "scores of fits that only another search could tell",
    "refit_time_": "a time",
    "mean_fit_time": "a time",
    "std_fit_time": "a time",
    "mean_score_time": "a time",
    "std_score_time": "a time",
    "scorer_": "what was asked for, not what was learned",
}
# Changes that leave a number as true as it was. What bounds the rounding grows with all that was added and taken away, which the rows that
# are left do not tell, so a little more is a bound, too; and a triangular factor is one with either sign.
AS_TRUE = {
    "bulk": "a thousandth more",
    "heft": "a thousandth more",
    "taken": "a thousandth more",
    "roundings": "a thousandth more",
    "drift": "a thousandth more",
    "doubt": "a thousandth more",
    "slip": "a thousandth more",
    "lost": "a thousandth more",
    "R": "other sign",
}
# A number below this is zero but for rounding: to change it by a share of itself, or its sign, changes nothing.
NOTHING = 1e-12

Path = tuple[Any, ...]


def numbers_of(model: Estimator) -> Iterator[tuple[Path, Any]]:
    """Give the way to each number or array of numbers that a fitted model holds in public, and its value."""
    for name, value in model._attributes().items():
        yield from _inside(value, (name,))


def _inside(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if path[-1] in UNCHECKED:
        return
    if isinstance(value, np.ndarray):
        if value.size and value.dtype.kind in "fiub":
            yield path, value
    elif isinstance(value, (bool, int, float, np.number)):
        yield path, value
    elif isinstance(value, Estimator):
        for name, own in value._attributes().items():
            yield from _inside(own, (*path, name))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from _inside(getattr(value, field.name), (*path, field.name))
    elif isinstance(value, dict):
        for key, own in value.items():
            yield from _inside(own, (*path, key))
    elif isinstance(value, list):
        for place, own in enumerate(value):
            yield from _inside(own, (*path, place))


def put(model: Estimator, path: Path, value: Any) -> None:
    """Set what is found along a way, whether it is meant to be set or not."""
    owner: Any = model
    for step in path[:-1]:
        owner = owner[step] if isinstance(owner, (list, dict)) else getattr(owner, step)
    if isinstance(owner, (list, dict)):
        owner[path[-1]] = value
    else:
        object.__setattr__(owner, path[-1], value)


def changed(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Give other values for a number or an array that has a name, each with what was done."""
    array = np.array(value)
    for what, other in _others(array):
        if name not in AS_TRUE or not what.startswith(AS_TRUE[name]):
            yield what, (other if array.ndim else other.item())


def some(changes: list[tuple[str, Any]], turn: int) -> list[tuple[str, Any]]:
    """Choose two of the changes of a number, others at every turn: one of a little, and one of those that are not so small."""
    little = [change for change in changes if " at " in change[0]]
    others = [change for change in changes if " at " not in change[0]]
    return [kind[turn % len(kind)] for kind in (little, others) if kind]


def reshaped(value: Any) -> Iterator[tuple[str, Any]]:
    """Give arrays of another shape for an array."""
    if isinstance(value, np.ndarray):
        yield "shorter", value[:-1]
        yield "longer", np.concatenate([value, value])
        yield "one axis more", value[None]
        yield "one number", value.flat[0]


def _others(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    places = sorted({0, array.size // 2, array.size - 1})
    if array.dtype.kind == "b":
        yield from ((f"other at {k}", _with(array, k, ~array.flat[k])) for k in places)
    elif array.dtype.kind in "iu":
        yield from ((f"one more at {k}", _with(array, k, array.flat[k] + 1)) for k in places)
        if array.dtype.kind == "i":
            yield "below zero", _with(array, 0, -1 - array.flat[0])
        yield "far outside", _with(array, array.size - 1, min(10**6, np.iinfo(array.dtype).max))
    else:
        size = float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
        step = 1e-3 * size if size > NOTHING else 1.0
        # What is infinite is not moved by a step.
        movable = [k for k in places if np.isfinite(array.flat[k])]
        yield from ((f"a thousandth more at {k}", _with(array, k, array.flat[k] + step)) for k in movable)
        if size > NOTHING:
            yield "other sign", -array
        yield "NaN", _with(array, array.size - 1, np.nan)
        yield "infinite", _with(array, 0, np.inf)


def _with(array: np.ndarray, place: int, value: Any) -> np.ndarray:
    other = array.copy()
    other.flat[place] = value
    return other
