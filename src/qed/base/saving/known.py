"""The classes that may occur in a model file: a closed set.

They are the public names of the rooms and of the parts that models are made of, what was marked with `savable`, and
scikit-learn's ``Pipeline``. A file names a class by its bare name, which is looked up in this set and nowhere else: no
module is ever imported because a file asks for it.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar

from qed.base.errors import SavingError
from qed.base.lazy import ROOMS

PARTS = ("stats", "optim", "kernels")

_marked: dict[str, type] = {}
Class = TypeVar("Class", bound=type)


def savable(cls: Class) -> Class:
    """Let objects of a class be part of saved models.

    A dataclass, a named tuple, an enumeration or a model (any estimator) needs nothing more; other classes have
    ``to_dict`` and ``from_dict``. What a constructor is given may come from a stranger's file, so it must not do more
    than keep it.

    >>> from dataclasses import dataclass
    >>> @savable
    ... @dataclass(frozen=True)
    ... class Interval:
    ...     low: float
    ...     high: float
    >>> find_class("Interval") is Interval
    True
    """
    other = _marked.setdefault(cls.__name__, cls)
    if other is not cls and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
        raise SavingError(f"Two savable classes are called {cls.__name__}: in {other.__module__} and {cls.__module__}.")
    _marked[cls.__name__] = cls
    return cls


def find_class(name: str) -> type | None:
    """Give the known class of that name, or None. A public name is always what qed means by it."""
    for package in _house():
        if name in getattr(package, "__all__", ()):
            found = getattr(package, name)
            return found if isinstance(found, type) else None
    if name == "Pipeline":
        return import_module("sklearn.pipeline").Pipeline
    return _marked.get(name)


def _house() -> list[Any]:
    return [import_module(f"qed.{name}") for name in (*ROOMS, *PARTS)]


def known_class(name: Any) -> type:
    """Give the class that a file names; the rooms are opened when it is one that they define inside."""
    found = find_class(name) if isinstance(name, str) else None
    if found is None:
        for package in _house():
            for public in getattr(package, "__all__", ()):
                with suppress(ImportError):
                    getattr(package, public)
        found = _marked.get(name) if isinstance(name, str) else None
    if found is None:
        raise SavingError(
            f"it holds an object of the class {name!r}, which this qed does not know. It was written by another version, "
            "or with a class of your own: import the module that defines it (marked with qed.base.saving.known.savable) first."
        )
    return found
