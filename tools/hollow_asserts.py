"""Which asserts of the theory tests are computed without qed: such an assert holds whatever the library does.

A value comes from qed if something of qed was called, or looked at, on the way to it. Names that are assigned from it, filled with it,
counted where it says so, or looped over it come from qed too; so do what a function gives whose body uses qed, what a spy that was
handed to qed has noted, and what pytest hands to a helper. ``np.testing.assert_...`` counts as an assert.

Run ``python tools/hollow_asserts.py``; a test of the suite asks for an empty list.
"""

import ast
from pathlib import Path

import catalogue_coverage
from catalogue_coverage import names_of

FILLS = ("append", "extend", "add", "update", "clear")


def hollow_asserts(path: Path) -> list[tuple[str, int]]:
    """Give function and line of each assert of a file in which nothing comes from qed."""
    known, parts = catalogue_coverage.using(path)
    found = set()
    for node in parts.values():
        for function in [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]:
            held = known | _held(function, known)
            found |= {(function.name, line) for line, names in _claims(function) if not names & held}
    return sorted(found, key=lambda one: one[1])


def _held(function: ast.FunctionDef, known: set[str]) -> set[str]:
    """Give the names inside a function that come from qed."""
    held: set[str] = set()
    if not function.name.startswith("test") or names_of(*function.decorator_list) & known:
        # A helper is handed values of qed, and so is a test that is marked with them.
        held |= {one.arg for one in function.args.args}
    for inner in ast.walk(function):
        if isinstance(inner, ast.FunctionDef | ast.Lambda) and inner is not function:
            held |= {name for call in ast.walk(inner) for name in _filled(call)}
    growing = True
    while growing:
        before = len(held)
        for node in ast.walk(function):
            held |= _reached(node, known | held)
        growing = len(held) > before
    return held


def _filled(node: ast.AST) -> set[str]:
    """Give the name that a call puts something into."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in FILLS
    return {node.func.value.id} if is_call and isinstance(node.func.value, ast.Name) else set()


def _reached(node: ast.AST, known: set[str]) -> set[str]:
    """Give the names that come from qed by one statement or expression, given those that are known to."""
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.NamedExpr) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        places = [one.slice for one in targets if isinstance(one, ast.Subscript)]
        return names_of(*targets) if names_of(node.value, *places) & known else set()
    if isinstance(node, ast.For | ast.comprehension):
        return names_of(node.target) if names_of(node.iter) & known else set()
    if isinstance(node, ast.If | ast.While):
        # What is set where a value of qed says so comes from it.
        set_there = [one for part in node.body for one in ast.walk(part) if isinstance(one, ast.AugAssign)]
        return names_of(*(one.target for one in set_there)) if names_of(node.test) & known else set()
    if isinstance(node, ast.withitem):
        return names_of(node.optional_vars) if node.optional_vars and names_of(node.context_expr) & known else set()
    if isinstance(node, ast.FunctionDef):
        return {node.name} if names_of(*node.body) & known else set()
    if isinstance(node, ast.ImportFrom):
        return {alias.asname or alias.name for alias in node.names if (node.module or "").split(".")[0] == "qed"}
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and names_of(node.value) & known:
        # A function of qed (a kernel) whose result nobody takes has changed what it was handed; methods only fill lists.
        return names_of(*node.value.args) if isinstance(node.value.func, ast.Name) else _filled(node.value)
    return set()


def _claims(function: ast.FunctionDef) -> list[tuple[int, set[str]]]:
    """Give line and names of each assert of a function."""
    found = []
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            found.append((node.lineno, names_of(node.test)))
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr.startswith("assert_")
        ):
            found.append((node.lineno, names_of(*node.args)))
    return found


def main() -> None:
    paths = sorted(catalogue_coverage.THEORY.glob("test_*.py"))
    found = [(path.name, *one) for path in paths for one in hollow_asserts(path)]
    for name, function, line in found:
        print(f"{name}:{line}: in {function} nothing comes from qed")
    print(f"{len(found)} asserts are computed without qed")


if __name__ == "__main__":
    main()
