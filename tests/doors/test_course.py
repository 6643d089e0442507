"""The course: its chapters run with all their exercises, have all their parts, and become notebooks; links lead somewhere."""

import ast
import importlib.util
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted((ROOT / "course").glob("chapter_*.py"))
PARTS = ["The proof, and what its certificate checks", "Stepping through it", "Where the texts slip", "Exercises"]
BEGIN, END = ".. solution::", ".. end-solution::"


def load(folder, name, monkeypatch):
    """Import a module of the documentation or of the tools, which are no packages."""
    spec = importlib.util.spec_from_file_location(f"the_{name}", ROOT / folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_there_are_chapters_in_order():
    numbers = [int(path.name.split("_")[1]) for path in CHAPTERS]
    assert numbers == sorted(numbers) and set(numbers) == set(range(1, 10)), "a chapter may have two halves"
    contents = (ROOT / "docs" / "course.md").read_text(encoding="utf-8")
    for path in CHAPTERS:
        assert f"](course/{path.stem}.rst)" in contents, "in the table of contents"
        assert f"\ncourse/{path.stem}\n" in contents, "in the tree of pages"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
@pytest.mark.sampled(3)
def test_a_chapter_runs_with_its_solutions(path, monkeypatch, capsys):
    import matplotlib.pyplot as plt

    monkeypatch.setattr(plt, "show", lambda: None)
    with warnings.catch_warnings():
        # What is shown is meant to be shown: a chapter catches the warnings that it speaks of, and gives no others.
        warnings.simplefilter("error")
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), {"__name__": "__main__"})
    plt.close("all")
    printed = capsys.readouterr().out
    assert "∎" in printed, "a real certificate is printed, and holds"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_has_all_its_parts(path):
    text = path.read_text(encoding="utf-8")
    assert "**The question.**" in ast.get_docstring(ast.parse(text))
    assert text.count("plt.show()") >= 3
    for part in PARTS:
        assert f"\n# {part}\n# {'-' * len(part)}\n" in text, part
    exercises = text[text.index("# Exercises\n") :]
    assert [int(number) for number in re.findall(r"\*\*Exercise (\d)\.\*\*", exercises)] == [1, 2, 3]
    for solution in exercises.split(BEGIN)[1:]:
        inside, closed, _ = solution.partition(END)
        assert closed and "assert " in inside, "a solution is checked by itself"


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_uses_public_names_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), node.attr
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("qed"):
            assert node.module in ("qed", "qed.optim", "qed.kernels", "qed.neural", "qed.stats", "qed.data.synthetic")


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_notebook_of_a_chapter_has_its_code_and_folds_its_solutions(path, monkeypatch):
    pytest.importorskip("sphinx_gallery")
    from sphinx_gallery.gen_gallery import DEFAULT_GALLERY_CONF
    from sphinx_gallery.notebook import jupyter_notebook
    from sphinx_gallery.py_source_parser import split_code_and_text_blocks

    _, blocks = split_code_and_text_blocks(str(path))
    notebook = jupyter_notebook(blocks, dict(DEFAULT_GALLERY_CONF), str(path.parent))
    folded = load("docs/_ext", "course", monkeypatch).fold_notebook(notebook)
    cells = ["".join(cell["source"]) for cell in folded["cells"] if cell["cell_type"] == "code"]
    code = "\n".join(cell for cell in cells if not cell.startswith("%"))
    assert ast.dump(ast.parse(code)) == ast.dump(
        ast.parse("\n".join(block[1] for block in blocks if block[0] == "code"))
    )
    hidden = [cell for cell in folded["cells"] if cell["metadata"].get("jupyter", {}).get("source_hidden")]
    assert len(hidden) == 3
    words = "".join("".join(cell["source"]) for cell in folded["cells"] if cell["cell_type"] == "markdown")
    assert BEGIN not in words and END not in words and words.count("**Solution**") == 3
    assert ":math:" not in words and ".. math" not in words, "formulas are formulas there, too"


def build(folder, text):
    """Build one page with the extension of the course alone, in a process of its own, and give what it was asked for and what it said."""
    (folder / "conf.py").write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'docs' / '_ext')!r}); extensions = ['course']"
    )
    (folder / "index.rst").write_text(text)
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", str(folder), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True)
    page = folder / "html" / "index.html"
    return page.read_text(encoding="utf-8") if page.exists() else "", done.stderr


def test_a_solution_is_a_closed_fold(tmp_path):
    pytest.importorskip("sphinx")
    page, said = build(tmp_path, f"Title\n=====\n\nAsk.\n\n{BEGIN}\n\n   Words.\n\n>>> 1 + 1\n2\n\n{END}\n\nAfter.\n")
    inside = page.partition('<details class="solution"><summary>Solution</summary>')[2].partition("</details>")[0]
    assert "Words." in inside and "1" in inside and "After." not in inside and "Ask." not in inside and said == ""


def test_a_solution_without_an_end_is_an_error_of_the_build(tmp_path):
    pytest.importorskip("sphinx")
    _, said = build(tmp_path, f"Title\n=====\n\n{BEGIN}\n\n   Words.\n")
    assert "a solution has no '.. end-solution::'" in said


def test_dead_links_are_found(tmp_path, monkeypatch):
    checker = load("tools", "check_links", monkeypatch)
    (tmp_path / "part").mkdir()
    (tmp_path / "index.html").write_text(
        '<p id="top"></p><a href="part/a.html#here">a</a><a href="https://example.org">b</a>'
    )
    (tmp_path / "part" / "a.html").write_text('<a href="../index.html#top">up</a><h1 id="here">here</h1>')
    assert checker.dead_links(tmp_path) == ([], 2, 1)
    (tmp_path / "part" / "b.html").write_text('<a href="../index.html#bottom">up</a><img src="none.png">')
    dead, _, _ = checker.dead_links(tmp_path)
    assert len(dead) == 2 and "leads to no place" in dead[0] and "there is no none.png" in dead[1]


def test_a_page_that_shows_a_warning_with_its_file_is_found(tmp_path, monkeypatch):
    checker = load("tools", "check_links", monkeypatch)
    (tmp_path / "a.html").write_text(f"<pre>{ROOT / 'examples' / 'plot.py'}:25: UserWarning: ...</pre>")
    (tmp_path / "b.html").write_text("<pre>examples/plot.py</pre>")
    assert [line.split(":")[0] for line in checker.machine_places(tmp_path)] == ["a.html"]


def test_links_of_the_sources_lead_to_files():
    """Pages that are made by the build (the gallery, the course, the reference) come from scripts and names that exist."""
    made = {"gallery": ROOT / "examples", "course": ROOT / "course"}
    for page in sorted((ROOT / "docs").rglob("*.md")):
        if {"generated", "rooms", "_build"} & set(page.parts):
            continue
        for link in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            target = link.split("#")[0]
            if not target or "://" in target or "/images/" in target or target.startswith("api/rooms"):
                continue
            first = target.split("/")[0]
            if first in made and "/" in target:
                source = made[first] / Path(*target.split("/")[1:]).with_suffix(".py")
                assert source.exists() or target == "gallery/index.rst", f"{page.name}: {link}"
            else:
                assert (page.parent / target).exists() or target.startswith("rooms/"), f"{page.name}: {link}"
