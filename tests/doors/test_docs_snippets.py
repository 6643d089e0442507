"""What the documentation shows is true: code runs, sessions give what they print, commands succeed, tests it names exist."""

import doctest
import inspect
import re
import shlex
import warnings
from importlib import import_module
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md"]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ROUNDING = re.compile(r"\b(0\.0e\+00|\d\.\d+e-(1[2-9]|[2-9]\d))\b")


class Checker(doctest.OutputChecker):
    """Compare what was printed, with all numbers of the size of rounding errors being equal."""

    def check_output(self, want, got, optionflags):
        return super().check_output(ROUNDING.sub("~0", want), ROUNDING.sub("~0", got), optionflags)


def run_python(code, names, page, line):
    if ">>>" not in code:
        exec(compile("\n" * line + code, str(page), "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(code, names, page.name, str(page), line)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failures = []
    doctest.DocTestRunner(Checker(), optionflags=options).run(test, out=failures.append, clear_globs=False)
    names.update(test.globs)
    assert not failures, "".join(failures)


def run_commands(code, run):
    for line in code.splitlines():
        if line.startswith("$ qed "):
            found = run(*shlex.split(line)[2:])
            assert found.exit_code == 0, f"{line}\n{found.output}"


def blocks(page):
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return [(match[1], match[2], text[: match.start(2)].count("\n")) for match in BLOCK.finditer(text)]


def write_sales(folder):
    """Write the file that a reader of the README is thought to have."""
    sales = pyarrow.table({"size": [1.0, 2.0, 3.0, 4.0], "age": [3.0, 1.0, 2.0, 5.0], "price": [2.0, 4.0, 5.0, 9.0]})
    pyarrow.parquet.write_table(sales, folder / "sales-0.parquet")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_the_code_of_a_page_runs(page, run, among_few, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_sales(tmp_path)
    names = {}
    with warnings.catch_warnings():
        for kind, code, line in blocks(page):
            if kind == "python":
                run_python(code, names, page, line)
            else:
                # That they succeed is all that is looked at, whoever competes.
                with among_few():
                    run_commands(code, run)


def test_the_tests_that_the_pages_of_the_course_name_exist():
    pages = (ROOT / "docs" / "coverage.md", ROOT / "docs" / "errata.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"test_\w+\.py", text))
    assert len(named) > 40
    assert sorted(name for name in named if not (ROOT / "tests" / "theory" / name).exists()) == []


def test_every_public_name_has_a_page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    import rooms

    import qed

    shown = {name for _, _, module, names in rooms.shelves() if module == "qed" for name in names}
    hidden = {"__version__", *qed._MODULES}
    assert set(dir(qed)) - hidden == shown


def test_tables_of_attributes_are_written_out():
    """Nobody is sent to another page to learn what a model holds."""
    import qed

    sent = []
    for name in dir(qed):
        item = getattr(qed, name)
        text = (item.__doc__ or "") if isinstance(item, type) else ""
        attributes = re.split(r"\n    [A-Z][\w ]+\n    -+\n", text.partition("Attributes\n    ----------\n")[2])[0]
        if re.search(r"\bas in `", attributes, re.IGNORECASE):
            sent.append(name)
    assert sent == []


def shown_docstrings():
    """Give name and docstring of all that has a page: functions, classes, and what classes can do."""
    import rooms

    for _, _, module, names in rooms.shelves():
        for name in names:
            owner, _, last = f"{module}.{name}".rpartition(".")
            item = getattr(import_module(owner), last)
            yield last, item.__doc__ or ""
            members = [member for member in dir(item) if not member.startswith("_")] if isinstance(item, type) else []
            for member in members:
                found = inspect.getattr_static(item, member)
                yield f"{last}.{member}", getattr(getattr(found, "fget", None) or found, "__doc__", None) or ""


def test_nobody_is_sent_to_another_page_to_learn_what_a_parameter_is(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "docs" / "_ext"))
    sent = r"parameters (?:are )?(?:as|those|like)\b|\n +(?:As (?:in|for) `|See [`:])"
    found = [name for name, text in shown_docstrings() if re.search(sent, text, re.IGNORECASE)]
    assert sorted(set(found)) == []
