"""The house stands: imports point downwards and never in circles, rooms stay small, files and functions short, types real.

An import is counted wherever it stands, also where ``import_module`` or ``later`` is given a constant, and a name taken from a room counts
as an import of the file that the room's list gives for it. What is imported lazily says so at the head of its file; none hides in a
function.
"""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "qed"
ROOMS_OF_MODELS = {
    "regression",
    "classification",
    "neighbors",
    "trees",
    "clustering",
    "reduction",
    "neural",
    "reinforcement",
    "association",
}
FLOORS = [
    {"cli"},
    {"commands", "lab"},
    {"report", "exporting"},
    {"ensembles"},
    {"selection", "plots"},
    ROOMS_OF_MODELS,
    {"features", "kernels", "optim"},
    {"stats"},
    {"data", "linalg"},
    {"base"},
]
FLOOR = {room: height for height, rooms in enumerate(reversed(FLOORS)) for room in rooms}
PLUMBING = ("sklearn.base", "sklearn.utils", "sklearn.callback", "sklearn.exceptions", "sklearn.pipeline")
MODULES = sorted(SOURCE.rglob("*.py"))

# How often `Any` may stand in a thousand lines of a room. These numbers only ever fall; a new room has the last one.
MOST_ANY = {
    "": 14,
    "base": 54,
    "classification": 14,
    "clustering": 26,
    "commands": 34,
    "data": 33,
    "features": 29,
    "kernels": 58,
    "linalg": 6,
    "optim": 30,
    "plots": 32,
    "regression": 23,
    "report": 24,
    "selection": 42,
    "stats": 40,
}
MOST_ANY_IN_A_NEW_ROOM = 20

# Names that say nothing to a stranger, which stood here once: no class, function, variable or file is called so again. A box of rows is no
# data frame, and what was told, seen or looked at has a name of its own: evidence, margins, callbacks, a point, a direction.
VAGUE = {
    "Few",
    "Frame",
    "Glance",
    "Look",
    "Place",
    "Seen",
    "Told",
    "Way",
    "audience",
    "glance",
    "told",
    "_look",
    "_seen",
}


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {module_name(path): path for path in MODULES}


def each_file(test):
    """Ask every file in one test: that there are so many of them is no reason to start as many tests."""

    def ask():
        faults = []
        for path in MODULES:
            try:
                test(path)
            except AssertionError as error:
                faults.append(str(error))
        assert not faults, "\n".join(faults)

    ask.__name__, ask.__doc__ = test.__name__, test.__doc__
    return ask


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def room_of(name: str) -> str:
    """Give the top-level room of a module, or nothing for the door of the house."""
    return name.split(".")[1] if "." in name else ""


def folder_of(name: str) -> str:
    return name if PATHS[name].name == "__init__.py" else name.rpartition(".")[0]


@cache
def listed(package: str) -> dict[str, str]:
    """Give the file of each public name that a room lists."""
    found = {}
    for node in ast.walk(tree(PATHS[package])):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "room":
            files = next((part for part in node.args if isinstance(part, ast.Dict)), ast.Dict([], []))
            for file, names in ast.literal_eval(files).items():
                place = file if file.startswith("qed.") else f"{package}.{file}"
                found |= dict.fromkeys(names, place)
    return found


def constant_import(node: ast.AST) -> str | None:
    """Give the module that a call of ``import_module`` or ``later`` names by a constant."""
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called.endswith("import_module") or called == "later":
            return str(node.args[0].value)
    return None


def names_imported(nodes) -> set[str]:
    """Give everything that is imported, from whomever: modules, and names in them as ``module.name``."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports say the whole name"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
        elif (name := constant_import(node)) is not None:
            found.add(name)
    return found


@cache
def imports_of(path: Path) -> frozenset[str]:
    return frozenset(names_imported(ast.walk(tree(path))))


@cache
def modules_used(name: str) -> frozenset[str]:
    """Give the modules of the house that one of them imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree(PATHS[name])):
        if isinstance(node, ast.ImportFrom) and node.module in PATHS:
            within = listed(node.module) if PATHS[node.module].name == "__init__.py" else {}
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                found.add(within.get(alias.name) or (inside if inside in PATHS else node.module))
        else:
            found |= names_imported([node]) & PATHS.keys()
    return frozenset(found - {name})


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Give the sets of nodes that reach each other (Tarjan)."""
    number, low, stack, found = {}, {}, [], []

    def visit(node):
        number[node] = low[node] = len(number)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in number:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == number[node]:
            cut = stack.index(node)
            if len(stack) - cut > 1:
                found.append(sorted(stack[cut:]))
            del stack[cut:]

    for node in sorted(graph):
        if node not in number:
            visit(node)
    return found


def test_circles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set(), "f": {"g"}, "g": {"f", "a"}}
    assert circles(graph) == [["a", "b", "c"], ["f", "g"]]


@each_file
def test_imports_point_downwards(path):
    room = room_of(module_name(path))
    if room not in FLOOR:
        assert room == "", f"{room} stands on no floor: add it to FLOORS"
        return
    for name in imports_of(path):
        other = room_of(name) if name.split(".")[0] == "qed" else ""
        if other in FLOOR and other != room:
            assert FLOOR[other] <= FLOOR[room], f"{module_name(path)} imports {name}, which stands above it"


def test_no_import_cycles():
    found = circles({name: set(modules_used(name)) for name in PATHS})
    assert not found, "\n".join(" <-> ".join(circle) for circle in found)


@each_file
def test_imports_stand_at_the_head(path):
    """Lazy ones too: ``kernels = later("qed.stats.gram")``."""
    inner = {
        name
        for function in ast.walk(tree(path))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for name in names_imported(ast.walk(function))
        if name.split(".")[0] == "qed"
    }
    assert not inner, f"{module_name(path)} imports {sorted(inner)} inside a function: import at the head, or `later`"


def test_rooms_of_one_floor_do_not_import_each_other_in_circles():
    graph: dict[str, set[str]] = {room: set() for room in FLOOR}
    for name in PATHS:
        if room_of(name) in FLOOR:
            graph[room_of(name)] |= {room_of(other) for other in modules_used(name)} & FLOOR.keys() - {room_of(name)}
    assert not circles(graph)


@each_file
def test_private_names_stay_at_home(path):
    """No ``from qed.x import _y``, and no ``x._y`` of an imported module."""
    modules, found = {}, []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            modules |= {alias.asname: alias.name for alias in node.names if alias.asname and alias.name in PATHS}
        elif isinstance(node, ast.ImportFrom) and node.module in PATHS:
            found += [f"{node.module}.{alias.name}" for alias in node.names if is_private(alias.name)]
            for alias in node.names:
                inside = f"{node.module}.{alias.name}"
                if inside in PATHS and alias.name not in listed(node.module):
                    modules[alias.asname or alias.name] = inside
        elif isinstance(node, ast.Assign) and constant_import(node.value) in PATHS:
            modules |= {
                target.id: constant_import(node.value) for target in node.targets if isinstance(target, ast.Name)
            }
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = constant_import(node.value) or modules.get(ast.unparse(node.value), ast.unparse(node.value))
            if owner in PATHS:
                found.append(f"{owner}.{node.attr}")
    assert not found, f"{module_name(path)} uses {sorted(set(found))}: names with an underscore belong to their file"


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def test_choosing_models_imports_no_model():
    found = {
        f"{name} imports {other}"
        for name in PATHS
        for other in modules_used(name)
        if room_of(name) == "selection" and room_of(other) in ROOMS_OF_MODELS
    }
    assert not found, "\n".join(sorted(found))


def test_rooms_are_small():
    """What has more files wants rooms inside it."""
    files = Counter(folder_of(name) for name, path in PATHS.items() if path.name != "__init__.py")
    assert {room: count for room, count in files.items() if count > 16} == {}


@pytest.mark.parametrize("room", sorted({room_of(name) for name in PATHS}))
def test_any_stands_no_more_often_than_it_did(room):
    text = "".join(path.read_text(encoding="utf-8") for name, path in PATHS.items() if room_of(name) == room)
    found, lines = len(re.findall(r"\bAny\b", text)), max(text.count("\n"), 250)
    most = MOST_ANY.get(room, MOST_ANY_IN_A_NEW_ROOM)
    assert 1000 * found <= most * lines, (
        f"Any stands {found} times in {lines} lines of {room}: give what is new its real type"
    )


@each_file
def test_scikit_learn_is_plumbing_only_and_in_base_only(path):
    used = {name for name in imports_of(path) if name.split(".")[0] == "sklearn"}
    if room_of(module_name(path)) != "base":
        assert not used, f"{module_name(path)} imports {sorted(used)}: only qed.base may"
    for name in used:
        assert name.startswith(PLUMBING), f"{module_name(path)} imports {name}, which is no plumbing"


def names_given(path: Path) -> set[str]:
    """Give the names that a file gives to classes, functions, arguments, variables and itself."""
    found = {path.stem}
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.ClassDef):
            found.add(node.name.lstrip("_"))
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.id if isinstance(node, ast.Name) else node.attr)
    return found


@each_file
def test_names_say_what_things_are(path):
    assert not names_given(path) & VAGUE, f"{module_name(path)} has {sorted(names_given(path) & VAGUE)}: what is it?"


@each_file
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, f"{module_name(path)} is longer than 400 lines: does it hold two ideas?"
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (node.end_lineno or 0) - (body[0].lineno if body else node.lineno) + 1
            assert lines <= 60, f"{module_name(path)}.{node.name} has {lines} lines"


@pytest.mark.parametrize(
    "peer", ["statsmodels", "lightgbm", "torch", "xgboost", "pandas", "polars", "sklearnex", "celer"]
)
def test_peers_are_never_imported_at_the_top(peer):
    for path in MODULES:
        found = [name for name in names_imported(tree(path).body) if name.split(".")[0] == peer]
        assert not found, f"{module_name(path)} imports {peer}"
