"""Run scikit-learn's own tests on our classes, and compare with the differences that we accept.

The test files are read from the installed scikit-learn. Names that qed has too are imported from qed in their place, and tests in which
none of them occurs are left out. The rewritten files live in a temporary folder and never in the repository. What fails is held against
``tools/peer_suite.toml``, where every accepted difference stands with its reason: a failure that is not on the list is a defect, and an
entry that nothing fails for any more is stale.

    python tools/peer_suite.py                  all files
    python tools/peer_suite.py test_ridge.py    some of them
"""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import sklearn

import qed

HERE = Path(__file__).parent
ACCEPTED = HERE / "peer_suite.toml"
FILES = (
    *(f"linear_model/tests/test_{name}.py" for name in ("base", "coordinate_descent", "huber", "logistic", "omp")),
    *(f"linear_model/tests/test_{name}.py" for name in ("perceptron", "ridge", "sparse_coordinate_descent")),
    *(f"svm/tests/test_{name}.py" for name in ("bounds", "sparse", "svm")),
    *("tests/test_discriminant_analysis.py", "tests/test_naive_bayes.py"),
    *("tests/test_kernel_ridge.py", "tests/test_kernel_approximation.py", "cluster/tests/test_k_means.py"),
    "cluster/tests/test_spectral.py",
    *("mixture/tests/test_gaussian_mixture.py", "mixture/tests/test_mixture.py"),
    "neighbors/tests/test_neighbors.py",
    "ensemble/_hist_gradient_boosting/tests/test_gradient_boosting.py",
    # Not those of the older gradient boosting: ours has the parameters of the one with histograms, and takes none of the others.
    *(f"ensemble/tests/test_{name}.py" for name in ("bagging", "forest", "stacking", "voting", "weight_boosting")),
    *("tree/tests/test_export.py", "tree/tests/test_tree.py"),
    *(f"decomposition/tests/test_{name}.py" for name in ("factor_analysis", "kernel_pca", "pca")),
    *("cross_decomposition/tests/test_pls.py", "tests/test_random_projection.py"),
    "neural_network/tests/test_mlp.py",
    *(f"preprocessing/tests/test_{name}.py" for name in ("data", "encoders", "polynomial")),
    *("impute/tests/test_impute.py", "feature_extraction/tests/test_text.py"),
    *(f"metrics/tests/test_{name}.py" for name in ("classification", "ranking", "regression", "score_objects")),
    "metrics/cluster/tests/test_unsupervised.py",
    *(f"model_selection/tests/test_{name}.py" for name in ("search", "split", "validation")),
)
# What scikit-learn calls otherwise.
OURS = {
    "GridSearchCV": "Search",
    "RandomizedSearchCV": "RandomSearch",
    **{f"HistGradientBoosting{kind}": f"GradientBoosting{kind}" for kind in ("Classifier", "Regressor")},
}
# What is said once in a process would make the outcome of a test depend on those before it.
CONFTEST = "from qed.base.models.no_effect import NoEffect\n\nWay.notice = lambda self, *about: None\n"
PACKAGES = frozenset(
    "sklearn." + name
    for name in (
        *(
            "linear_model",
            "cluster",
            "mixture",
            "preprocessing",
            "impute",
            "metrics",
            "metrics.cluster",
            "model_selection",
        ),
        *("kernel_ridge", "kernel_approximation", "discriminant_analysis", "naive_bayes"),
        *(
            "svm",
            "neighbors",
            "tree",
            "ensemble",
            "decomposition",
            "feature_extraction.text",
            "cross_decomposition",
            "random_projection",
            "neural_network",
        ),
    )
)


def ours(package: str | None, name: str) -> str | None:
    """Give the name in qed of what scikit-learn exports, or None where qed has no such thing."""
    mine = OURS.get(name, name)
    # What a package exports, tests may also take from the private module where it is written.
    whole = (package or "").partition("._")[0]
    known = whole in PACKAGES or (whole == "sklearn.ensemble" and name in OURS)
    return mine if known and mine in dir(qed) else None


def rewritten(source: str) -> str:
    """Import from qed what it has, and leave out the tests in which nothing of qed occurs."""
    tree = ast.parse(source)
    whole = _Attributes(tree)
    tree = whole.visit(tree)
    body: list[ast.stmt] = [ast.ImportFrom("qed", [ast.alias(name, mine)], 0) for mine, name in whole.found.items()]
    swapped = set(whole.found)
    for statement in tree.body:
        if not isinstance(statement, ast.ImportFrom):
            body.append(statement)
            continue
        mine = {alias: found for alias in statement.names if (found := ours(statement.module, alias.name))}
        swapped |= {alias.asname or alias.name for alias in mine}
        body += [
            ast.ImportFrom("qed", [ast.alias(name, alias.asname or alias.name)], 0) for alias, name in mine.items()
        ]
        statement.names = [alias for alias in statement.names if alias not in mine]
        body += [statement] if statement.names else []
    touched = _reaching(body, swapped)
    tree.body = [one for one in body if not _is_test(one) or touched & _defined(one)]
    return ast.unparse(ast.fix_missing_locations(tree))


class _Attributes(ast.NodeTransformer):
    """Names of qed in the place of attributes of whole packages: ``svm.SVC`` after ``from sklearn import svm``."""

    def __init__(self, tree: ast.Module) -> None:
        imports = (one for one in tree.body if isinstance(one, ast.ImportFrom) and one.module == "sklearn")
        self.packages = {alias.asname or alias.name: f"sklearn.{alias.name}" for one in imports for alias in one.names}
        self.found: dict[str, str] = {}  # the name of each thing of qed in the file, and in qed

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        """Swap an attribute that qed has."""
        self.generic_visit(node)
        package = self.packages.get(node.value.id) if isinstance(node.value, ast.Name) else None
        # A variable may be called as a package is.
        is_theirs = package is not None and hasattr(importlib.import_module(package), node.attr)
        if is_theirs and (name := ours(package, node.attr)):
            self.found[mine := f"{node.value.id}_{node.attr}"] = name
            return ast.Name(mine, node.ctx)
        return node


def _is_test(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and statement.name.lower().startswith("test")


def _defined(statement: ast.stmt) -> set[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return {statement.name}
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return set()
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _used(statement: ast.stmt) -> set[str]:
    """Give the names that a statement reads; arguments of tests are names of fixtures."""
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
    return names | {node.arg for node in ast.walk(statement) if isinstance(node, ast.arg)}


def _reaching(body: Sequence[ast.stmt], names: set[str]) -> set[str]:
    """Give everything at the top of a module in which one of `names` occurs, directly or through others."""
    reached = set(names)
    while new := {name for one in body if _used(one) & reached for name in _defined(one)} - reached:
        reached |= new
    return reached


def run(files: Iterable[str], workers: int) -> dict[str, str]:
    """Run files of scikit-learn's tests on qed, and give the outcome of each test: "passed", "skipped", or the first line of its error."""
    root = Path(sklearn.__file__).parent
    with tempfile.TemporaryDirectory(prefix="peer-suite-") as name:
        folder = Path(name)
        for file in files:
            (folder / Path(file).name).write_text(rewritten((root / file).read_text()))
        (folder / "conftest.py").write_text(CONFTEST)
        report = folder / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull, "--rootdir", name, "--import-mode=importlib"]
        command += [
            "-p",
            "sklearn.conftest",
            "-p",
            "no:cacheprovider",
            "--timeout=120",
            "--tb=line",
            "-n",
            str(workers),
        ]
        # The same qed as here, also where a relative path led to it.
        paths = [str(Path(qed.__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
        given = {"cwd": name, "env": os.environ | {"PYTHONPATH": os.pathsep.join(paths)}}
        done = subprocess.run([*command, f"--junitxml={report}", name], capture_output=True, text=True, **given)
        if not report.exists():
            raise SystemExit(f"pytest could not run:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
        return dict(_outcomes(ElementTree.parse(report)))


def _outcomes(report: ElementTree.ElementTree) -> Iterator[tuple[str, str]]:
    for case in report.iter("testcase"):
        name = f"{case.get('classname', '').rpartition('.')[2]}.py::{case.get('name')}"
        bad = case.find("failure") if case.find("failure") is not None else case.find("error")
        if bad is not None:
            yield name, (bad.get("message") or "error").strip().split("\n")[0]
        else:
            yield name, "skipped" if case.find("skipped") is not None else "passed"


@dataclass(frozen=True)
class Difference:
    """One line of the list: the tests that may fail (``*`` stands for anything), and why."""

    pattern: str
    kind: str
    reason: str

    def covers(self, test: str) -> bool:
        """Say whether a test is meant."""
        return re.fullmatch(".*".join(map(re.escape, self.pattern.split("*"))), test, re.DOTALL) is not None

    def is_in(self, files: Iterable[str]) -> bool:
        """Say whether the pattern belongs to one of these files."""
        return self.pattern.partition("::")[0] in {Path(file).name for file in files}


def accepted(path: Path = ACCEPTED) -> list[Difference]:
    """Read the list of accepted differences."""
    groups = tomllib.loads(path.read_text())["difference"]
    return [Difference(pattern, group["kind"], group["reason"]) for group in groups for pattern in group["tests"]]


def judge(outcomes: dict[str, str], known: Sequence[Difference]) -> tuple[dict[str, str], list[Difference]]:
    """Give the failures that are not on the list, and the entries of the list for which nothing failed."""
    failed = {test: says for test, says in outcomes.items() if says not in ("passed", "skipped")}
    new = {test: says for test, says in failed.items() if not any(one.covers(test) for one in known)}
    return new, [one for one in known if not any(one.covers(test) for test in failed)]


def main() -> int:
    """Print what differs; the exit code says whether anything is new or stale."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="*", help="names of test files; all of them when left out")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    files = [file for file in FILES if not options.files or Path(file).name in options.files]
    known = [one for one in accepted() if one.is_in(files)]
    outcomes = run(files, options.workers)
    new, stale = judge(outcomes, known)
    for test, says in sorted(new.items()):
        print(f"NEW    {test}\n       {says[:300]}")
    for one in stale:
        print(f"STALE  {one.pattern}")
    counts = Counter(says if says in ("passed", "skipped") else "failed" for says in outcomes.values())
    print(
        f"{counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped; {len(new)} not on the list"
    )
    return 1 if new or stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
