"""The house stands: imports point downwards, scikit-learn's algorithms stay outside, files and functions stay short."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "qed"
FLOORS = [
    {"cli", "commands", "report", "lab"},
    {"selection", "plots"},
    {
        "regression",
        "classification",
        "neighbors",
        "clustering",
        "reduction",
        "trees",
        "neural",
        "reinforcement",
        "association",
    },
    {"features", "kernels", "optim", "stats"},
    {"data", "linalg"},
    {"base"},
]
FLOOR = {room: height for height, rooms in enumerate(reversed(FLOORS)) for room in rooms}
PLUMBING = ("sklearn.base", "sklearn.utils", "sklearn.callback", "sklearn.exceptions", "sklearn.pipeline")
MODULES = sorted(SOURCE.rglob("*.py"))


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, *, top_level: bool = False) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level else ast.walk(tree)
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
    return found


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_point_downwards(path):
    parts = module_name(path).split(".")
    if len(parts) < 2 or parts[1] not in FLOOR:
        return
    for name in imports_of(path):
        other = name.split(".")
        if other[0] == "qed" and len(other) > 1 and other[1] in FLOOR and other[1] != parts[1]:
            assert FLOOR[other[1]] <= FLOOR[parts[1]], f"{'.'.join(parts)} imports {name}, which stands above it"


def test_no_import_cycles():
    names = {module_name(path): path for path in MODULES}
    graph = {
        name: {other for other in imports_of(path, top_level=True) if other in names and other != name}
        for name, path in names.items()
    }
    state: dict[str, int] = {}

    def visit(name: str, trail: list[str]) -> None:
        state[name] = 1
        for other in sorted(graph[name]):
            if state.get(other) == 1:
                pytest.fail(" -> ".join([*trail, name, other]))
            if other not in state:
                visit(other, [*trail, name])
        state[name] = 2

    for name in sorted(graph):
        if name not in state:
            visit(name, [])


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_scikit_learn_is_plumbing_only_and_in_base_only(path):
    used = {name for name in imports_of(path) if name.split(".")[0] == "sklearn"}
    if "base" not in path.relative_to(SOURCE).parts:
        assert not used, f"{module_name(path)} imports {sorted(used)}: only qed.base may"
    for name in used:
        assert name.startswith(PLUMBING), f"{module_name(path)} imports {name}, which is no plumbing"


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_files_and_functions_are_short(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 400, f"{module_name(path)} is longer than 400 lines: does it hold two ideas?"
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            lines = (node.end_lineno or 0) - (body[0].lineno if body else node.lineno) + 1
            assert lines <= 60, f"{module_name(path)}.{node.name} has {lines} lines"


@pytest.mark.parametrize(
    "peer", ["statsmodels", "lightgbm", "torch", "xgboost", "pandas", "polars", "sklearnex", "celer"]
)
def test_peers_are_never_imported_at_the_top(peer):
    for path in MODULES:
        found = [name for name in imports_of(path, top_level=True) if name.split(".")[0] == peer]
        assert not found, f"{module_name(path)} imports {peer}"
