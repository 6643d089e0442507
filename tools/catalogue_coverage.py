"""Which entry of the catalogue is held by which test: writes docs/coverage.md from the tests themselves.

A file of tests in ``tests/theory`` names its entries at the beginning of its docstring (``"HB: the heavy ball ..."``), or by its own name
(``test_ridge_svd.py``). The list of entries is ``tests/theory/catalogue.tsv``.
Run ``python tools/catalogue_coverage.py`` after adding tests; a test
of the suite compares the page with what this would write.
"""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
THEORY = ROOT / "tests" / "theory"
PAGE = ROOT / "docs" / "coverage.md"
HEAD = """# Coverage

Every entry of the catalogue that qed is built along, and the file in `tests/theory` that holds the library to it. This page is written by
`tools/catalogue_coverage.py` from the tests.

"""


def entries() -> list[tuple[str, str, str]]:
    """Give identifier, part and title of every entry."""
    lines = (THEORY / "catalogue.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [tuple(line.split("\t")) for line in lines]  # type: ignore[misc]


def covered() -> dict[str, list[str]]:
    """Give the files of tests of each entry."""
    wanted = {name.lower(): name for name, _, _ in entries()}
    found: dict[str, list[str]] = {name: [] for name in wanted.values()}
    for path in sorted(THEORY.glob("test_*.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        words = {word.lower() for word in re.split(r"[,\s]+", said.split(":")[0])}
        words.add(path.stem.removeprefix("test_").replace("_", "-"))
        for word in sorted(words & wanted.keys()):
            found[wanted[word]].append(path.name)
    return found


def page() -> str:
    """Write the page."""
    known, tests = entries(), covered()
    done = sum(bool(tests[name]) for name, _, _ in known)
    text = [HEAD, f"{done} of {len(known)} entries have their tests.\n"]
    part = ""
    for name, where, title in known:
        if where != part:
            part = where
            text.append(
                f"\n## {part[0].upper()}{part[1:]}\n\n| entry | what it is | tests | status |\n|---|---|---|---|\n"
            )
        files = ", ".join(f"`{file}`" for file in tests[name])
        text.append(f"| {name} | {title} | {files} | {'held' if files else 'open'} |\n")
    return "".join(text)


def hollow(path: Path) -> list[str]:
    """Give the tests of a file that never come to use anything of qed, neither themselves nor by what they call in the file."""
    used, parts = using(path)
    return [name for name in parts if name.startswith("test") and name not in used]


def using(path: Path) -> tuple[set[str], dict[str, ast.stmt]]:
    """Give the names in a file that come to use something of qed, and all parts of the file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    used = _imported(tree)
    parts: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            parts[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts |= {one.id: node for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}
    growing = True
    while growing:
        new = {name for name, node in parts.items() if name not in used and names_of(node) & used}
        growing, used = bool(new), used | new
    return used, parts


def _imported(tree: ast.Module) -> set[str]:
    """Give the names in a file that are of qed, or of a neighbour's helper that uses it."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {
                (alias.asname or alias.name).split(".")[0] for alias in node.names if alias.name.split(".")[0] == "qed"
            }
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "qed":
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests."):
            inner = using(ROOT / Path(*node.module.split(".")).with_suffix(".py"))[0]
            found |= {alias.asname or alias.name for alias in node.names if alias.name in inner}
    return found


def names_of(*nodes: ast.AST) -> set[str]:
    """Give the names that parts of a file mention; what a test is given by name counts as well."""
    found = [one for node in nodes for one in ast.walk(node)]
    return {one.id for one in found if isinstance(one, ast.Name)} | {
        one.arg for one in found if isinstance(one, ast.arg)
    }


def main() -> None:
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.relative_to(ROOT)}: {page().splitlines()[5]}")
    for path in sorted(THEORY.glob("test_*.py")):
        for name in hollow(path):
            print(f"{path.name}: {name} never calls qed")


if __name__ == "__main__":
    main()
