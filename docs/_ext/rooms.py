"""The reference, written from the registry: a page for every public name and a table for every room.

Whoever adds a model adds one line to its room, and the page is there: the paragraph with the formulas that opens the model's
file, what the model needs from its data, parameters, attributes and methods, and the examples that use it.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import qed
from qed.base.models.no_effect import without_effect

if TYPE_CHECKING:
    from sphinx.application import Sphinx

TITLES = {"selection": "Choosing and comparing"}
RESULTS = [
    "sources.rows.Rows",
    "sources.block.Block",
    "running.watch.Watch",
    "running.watch.Trace",
    "running.steps.Ending",
    "models.fingerprint.Fingerprint",
]
SHELVES = {
    "core": ("The core", "qed", qed._names),
    "results": ("What the core gives back", "qed.base", RESULTS),
    "zoo": ("Known networks", "qed.neural.zoo", None),
    "seeing": ("Seeing into networks", "qed.neural.seeing", None),
    "constructions": ("Networks written down", "qed.neural.constructions", None),
    "kernels": ("Kernels", "qed.kernels", None),
    "optim": ("Optimisation", "qed.optim", None),
    "stats": ("Statistics", "qed.stats", None),
    "plots": ("Pictures", "qed.plots", None),
    "data": ("Data", "qed.data", ["load", "names", "catalogue", "Dataset", "About"]),
    "synthetic": ("Synthetic data", "qed.data.synthetic", None),
    "errors": ("Errors and warnings", "qed.base.errors", None),
}
PASSES = {
    "one": "in one pass",
    "two": "in two passes",
    "as codes": "in passes, kept as codes",
    "each iteration": "once per iteration",
    "stream": "as a stream",
    "in memory": "in memory",
    "trial": "by trial, in a world",
}
FIRST = ["fit", "predict", "predict_proba", "transform", "fit_transform", "fit_predict", "inverse_transform", "score"]
FIRST += ["inference_", "partial_fit", "forget", "resume"]
NOT_SHOWN = ("passes", "target", "sparse", "parameters")


def shelves() -> Iterator[tuple[str, str, str, list[str]]]:
    """Give identifier, title, module and names of every table of the reference."""
    for room in qed._ROOMS:
        names = import_module(f"qed.{room}").__all__
        yield room, TITLES.get(room, room.capitalize()), "qed", sorted(names, key=str.lower)
    for shelf, (title, module, names) in SHELVES.items():
        yield shelf, title, module, list(names) if names is not None else _public(module)


def _public(module: str) -> list[str]:
    """Give the names of a package; second names of a class have no page of their own."""
    package = import_module(module)
    names = getattr(package, "__all__", None) or [name for name in vars(package) if _is_at_home(package, name)]
    return [name for name in names if getattr(getattr(package, name), "__name__", name) == name]


def _is_at_home(package: Any, name: str) -> bool:
    item = getattr(package, name)
    return not name.startswith("_") and inspect.isclass(item) and item.__module__ == package.__name__


def _find(module: str, name: str) -> Any:
    inner, _, last = f"{module}.{name}".rpartition(".")
    return getattr(import_module(inner), last)


def _first_line(item: Any) -> str:
    """Give the first line of a docstring, with its formulas as a table in Markdown wants them."""
    line = (inspect.getdoc(item) or "").split("\n")[0]
    return re.sub(
        ":math:`([^`]*)`", lambda found: f"${found[1]}$".replace(r"\|", r"\Vert ").replace("|", r"\vert "), line
    )


def _is_model(item: Any) -> bool:
    """Say whether this reads data by itself, and not by way of a model it is given."""
    if not (inspect.isclass(item) and hasattr(item, "passes") and hasattr(item, "fit")):
        return False
    return not {"model", "estimator"} & inspect.signature(item).parameters.keys()


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"


def facts(model: Any) -> dict[str, str]:
    """Say what a model needs from its data and what it can do with it."""
    return {
        "reads the data": PASSES.get(model.passes, model.passes),
        "sparse input": _yes(bool(model.sparse)),
        "sample weights": _yes("sample_weight" in inspect.signature(model.fit).parameters),
        "adds rows": _yes(_can(model, "partial_fit")),
        "forgets rows": _yes(_can(model, "forget")),
        "has steps": _yes(_can(model, "resume")),
    }


def _can(model: Any, name: str) -> bool:
    """Say whether a model has a method, and not just to refuse it."""
    method = getattr(model, name, None)
    return method is not None and inspect.signature(method).return_annotation not in (NoReturn, "NoReturn")


def shelf_page(title: str, module: str, names: list[str]) -> str:
    """Write the table of one room: its models with what they need, then the rest."""
    items = [(name, _find(module, name)) for name in names]
    models = [(name, item) for name, item in items if _is_model(item)]
    others = [(name, item) for name, item in items if not _is_model(item)]
    lines = [f"({_anchor(title)})=", f"# {title}", ""]
    if models:
        heads = list(facts(models[0][1]))
        lines += ["| model | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
        lines += [
            f"| {_link(module, name)}<br>{_first_line(item)} | " + " | ".join(facts(item).values()) + " |"
            for name, item in models
        ]
        lines += [""]
    if others:
        lines += ["| name | what it is |", "|---|---|"]
        lines += [
            f"| {_link(module, name)} | {_first_line(item).replace('|', chr(92) + '|')} |" for name, item in others
        ]
        lines += [""]
    pages = "\n".join(f"../generated/{module}.{name}" for name in names)
    return "\n".join([*lines, "```{toctree}", ":hidden:", "", pages, "```", ""])


def _anchor(title: str) -> str:
    return "room-" + title.lower().replace(" ", "-")


def _link(module: str, name: str) -> str:
    return f"[`{name.rpartition('.')[2]}`](../generated/{module}.{name}.rst)"


def item_page(module: str, name: str) -> str:
    """Write the page of one public name."""
    item = _find(module, name)
    full = f"{module}.{name}"
    last = name.rpartition(".")[2]
    lines = [last, "=" * len(last), "", f".. currentmodule:: {full.rpartition('.')[0]}", ""]
    if _is_model(item):
        known = facts(item)
        lines += [
            ".. list-table::",
            "   :class: facts",
            "   :header-rows: 1",
            "",
            *_row(known),
            *_row(known.values()),
            "",
        ]
    if item.__module__ != "qed.base.errors":
        lines += [f".. automodule:: {item.__module__}", "   :no-members:", "   :no-index:", ""]
    if _is_model(item) and (unused := sorted(without_effect(item))):
        words = ", ".join(f"``{name}``" for name in unused)
        lines += [f"Taken because code for scikit-learn gives them, and without effect here: {words}.", ""]
    lines += _described(full, item)
    return "\n".join(
        [*lines, ".. minigallery:: " + full, "   :add-heading: In the gallery", "   :heading-level: -", ""]
    )


def _row(cells: Iterable[str]) -> list[str]:
    return [f"   {' ' if place else '*'} - {cell}" for place, cell in enumerate(cells)]


def _described(full: str, item: Any) -> list[str]:
    if not inspect.isclass(item):
        return [f".. autofunction:: {full}", ""]
    lines = [f".. autoclass:: {full}", ""]
    for name, kind, says in sorted(_members(item), key=_rank):
        if kind == "method" and says:
            lines += [f"   .. py:method:: {name}(X)", "", f"      {says}", ""]
        else:
            lines += [f"   .. auto{kind}:: {full}.{name}", ""]
    return lines


def _rank(member: tuple[str, str, str]) -> int:
    """Put the methods that everyone calls first, the rest in their order."""
    return FIRST.index(member[0]) if member[0] in FIRST else len(FIRST)


def _members(item: type) -> Iterator[tuple[str, str, str]]:
    """Give the public methods and properties that qed itself defines, those of the class before those it inherits."""
    seen = set(NOT_SHOWN)
    for owner in item.__mro__:
        if not owner.__module__.startswith("qed"):
            continue
        for name, member in vars(owner).items():
            if name.startswith(("_", "compare_")) or name.endswith("_request") or name in seen:
                continue
            seen.add(name)
            if isinstance(member, (property, cached_property)):
                yield name, "property", ""
            elif isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
                yield name, "method", ""
            elif hasattr(member, "says"):
                yield name, "method", member.says


def write(app: Sphinx) -> None:
    """Write all pages, touching only those that changed, and remove those of names that are gone."""
    folder = Path(app.srcdir) / "api"
    pages = {}
    for shelf, title, module, names in shelves():
        pages[folder / "rooms" / f"{shelf}.md"] = shelf_page(title, module, names)
        for name in names:
            pages[folder / "generated" / f"{module}.{name}.rst"] = item_page(module, name)
    for place in (folder / "rooms", folder / "generated"):
        place.mkdir(parents=True, exist_ok=True)
        for old in set(place.iterdir()) - pages.keys():
            old.unlink()
    for path, text in pages.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
