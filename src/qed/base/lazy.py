"""Doors that open when someone knocks: rooms whose public names, and files whose names, are imported on first use.

``import qed`` has to be fast, and a user of ridge regression should not wait for the code of trees. A room's ``__init__``
lists its files and their public names, one line each, and that list is the registry of everything: the top of the
package, the documentation and ``qed compare`` read it. Where a file needs another only now and then, and that one a compiler or
a reader of tables, it takes it `later`, at its head like any other: no import hides inside a function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any, TypeVar

Role = TypeVar("Role")

# The rooms whose public names stand at the top of the package.
ROOMS = (
    "regression",
    "classification",
    "neighbors",
    "trees",
    "ensembles",
    "clustering",
    "reduction",
    "reinforcement",
    "association",
    "neural",
    "features",
    "selection",
)


class _Room(ModuleType):
    """A package in which a public name stays what it is, also where a file is called the same.

    Importing the file ``cross_validate`` would otherwise put the module in the place of the function of that name.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (isinstance(value, ModuleType) and name in self.__dict__.get("__all__", ())):
            super().__setattr__(name, value)


def room(
    package: str, files: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make ``__getattr__``, ``__dir__`` and ``__all__`` of a package from its list of files and names.

    For each file (a module of the package such as ``ridge`` or ``linear.ridge``, or one elsewhere by its full name) its
    public names are listed. A file without any is itself what is public.
    """
    place = {
        name: file if file.startswith("qed.") else f"{package}.{file}"
        for file, names in files.items()
        for name in names or [file]
    }
    modules = {file for file, names in files.items() if not names}
    if package in sys.modules:
        sys.modules[package].__class__ = _Room

    def get(name: str) -> Any:
        if name in place:
            module = import_module(place[name])
            return module if name in modules else getattr(module, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted(place)

    return get, names, sorted(place)


class _Later(ModuleType):
    """A module of the house that is imported when something in it is first asked for."""

    def __getattr__(self, name: str) -> object:
        return getattr(import_module(self.__name__), name)


def later(module: str) -> ModuleType:
    """Stand for a module of the house until something in it is asked for.

    Examples
    --------
    >>> numbers = later("qed.base.numbers")
    >>> numbers.EPS
    2.220446049250313e-16
    """
    return _Later(module)


def public_classes(role: type[Role]) -> Iterator[type[Role]]:
    """Give every public class that has a role, whatever room it lives in: room after room, in alphabetical order."""
    for name in ROOMS:
        package = import_module(f"qed.{name}")
        for kind in (getattr(package, public) for public in package.__all__):
            if isinstance(kind, type) and issubclass(kind, role):
                yield kind
