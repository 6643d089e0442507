"""Whether a fitted model is what its class says it is.

Classes inherit the lists of attributes (:mod:`qed.base.attributes`) of their bases. Models and the savable values inside them are held to
their lists whenever a file is loaded, so that nothing out of a file can reach code that trusts a shape; whoever wants to know asks
`check_fitted`. What is declared nowhere only has to be finite.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import BaseEstimator

from qed.base.attributes import Attribute, Sizes, usual_fault

# What wrong values of fitted attributes can raise, here and in the libraries below.
FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)


def declared(cls: type) -> dict[str, Attribute]:
    """Give the attributes that a class and its bases declare, the nearest declaration of each."""
    found: dict[str, Attribute] = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get("attributes") or {})
    return found


def faults(value: object) -> list[str]:
    """Say what is wrong with a fitted model, or with one of the values it is made of, by the list of its class alone.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from qed.base.attributes import floats
    >>> @dataclass
    ... class Interval:
    ...     attributes = {"low": floats("ends"), "high": floats("ends")}
    ...     low: np.ndarray
    ...     high: np.ndarray
    >>> faults(Interval(np.zeros(2), np.ones(3)))
    ['high has the shape (3,), not (ends,) with ends=2']
    """
    try:
        found = _faults_of(type(value), _held(value))
        if not found and (further := getattr(value, "_disagreement", None)) is not None and _held(value):
            found = [wrong] if (wrong := further()) else []
    except FAULTS as error:  # a value inside is not what it should be, and has no size to compare
        return [f"can not be compared with what it holds ({error})"]
    return found


def state_faults(cls: type, state: Mapping[str, object]) -> list[str]:
    """Say what is wrong with values that an object of a class is about to be made of."""
    return _faults_of(cls, {name: one for name, one in state.items() if name in declared(cls)})


def _faults_of(cls: type, held: Mapping[str, object]) -> list[str]:
    listed = declared(cls) if held else {}
    sizes: Sizes = {}
    seen = {name: (one.fault(held[name], sizes), len(sizes)) for name, one in listed.items() if name in held}
    found = [f"{name} is missing" for name, one in listed.items() if one.needed and name not in held]
    for name, item in held.items():
        # What was looked at before all sizes were known is looked at again.
        wrong, known = seen.get(name, ("", 0)) if name in listed else (usual_fault(item), len(sizes))
        wrong = wrong if known == len(sizes) else listed[name].fault(item, sizes)
        found += [f"{name} {wrong}"] if wrong else []
    return found


def check_fitted(model: object) -> list[str]:
    """Say what is wrong with what a fitted model holds, and with the values and models inside it; nothing where all is well.

    Shapes, types and ranges are compared with what the classes declare. Whether the numbers are right is another matter, for
    `qed.certify`.

    Parameters
    ----------
    model : estimator
        A model of qed, fitted or not; or any value that is part of one.

    Returns
    -------
    list of str
        One sentence for each fault.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> ridge = qed.Ridge().fit(X, y)
    >>> check_fitted(ridge)
    []
    >>> ridge.coef_ = ridge.coef_[:3]
    >>> check_fitted(ridge)
    ['Ridge: coef_ has the shape (3,), not (outputs?, features) with features=10, outputs=1.']
    """
    found: list[str] = []
    seen: set[int] = set()
    waiting = [model]
    while waiting:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, Mapping):
            waiting += value.values()
        elif isinstance(value, (list, tuple, set)):
            waiting += value
        elif isinstance(value, BaseEstimator) or (hasattr(type(value), "attributes") and not isinstance(value, type)):
            found += [f"{type(value).__name__}: {wrong}." for wrong in faults(value)]
            waiting += _held(value).values()
    return found


def fitted_attributes(model: object) -> dict[str, Any]:
    """Give what a model has learned: what ends in an underscore, as scikit-learn has it."""
    return {name: value for name, value in vars(model).items() if name[-1] == "_" != name[0]}


def _held(value: object) -> dict[str, object]:
    """Give what a model has learned, or what is declared of another value and is there."""
    if isinstance(value, BaseEstimator):
        return fitted_attributes(value)
    return {name: getattr(value, name) for name in declared(type(value)) if hasattr(value, name)}
