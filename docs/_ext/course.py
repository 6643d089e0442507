"""The pages of the course: solutions that stay folded until they are wanted, and links from one chapter to the next.

A chapter is a script. What stands between ``.. solution::`` and ``.. end-solution::`` (text, code, what it prints, its pictures) is
shown inside a closed ``<details>``; in the notebook the cells of a solution are folded in the same way. The code of a solution is code of
the script like any other, so that whoever runs the chapter runs its solutions.
"""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

FOLDER = "course"
BEGIN, END = ".. solution::", ".. end-solution::"
FOLDED_WORDS = "**Solution** (its code is folded; unfold the next cell)\n\n"
FOLDED = {"jupyter": {"source_hidden": True, "outputs_hidden": True}, "collapsed": True}


class solution(nodes.General, nodes.Element):
    """What is folded; while a page is read it is the mark where that begins."""


class end_solution(nodes.General, nodes.Element):
    """The mark where it ends."""


class Solution(SphinxDirective):
    """Begin a solution, with the words that open it."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        mark = solution()
        self.set_source_info(mark)
        return [mark, *self.parse_content_to_nodes()]


class EndSolution(SphinxDirective):
    """End a solution."""

    def run(self) -> list[nodes.Node]:
        return [end_solution()]


class Fold(SphinxTransform):
    """Put all that stands between the two marks into the first."""

    default_priority = 210

    def apply(self, **kwargs: Any) -> None:
        for mark in list(self.document.findall(solution)):
            home = mark.parent
            place = home.index(mark)
            ends = [k for k in range(place + 1, len(home)) if isinstance(home[k], end_solution)]
            if not ends:
                raise ValueError(f"{self.env.docname}: a solution has no '{END}' before the next heading.")
            inside = home.children[place + 1 : ends[0]]
            del home[place + 1 : ends[0] + 1]
            mark += inside
        if stray := next(iter(self.document.findall(end_solution)), None):
            raise ValueError(
                f"{self.env.docname}: '{END}' without a solution before it, in {stray.parent.astext()[:60]!r}."
            )


def fold_notebook(notebook: dict[str, Any]) -> dict[str, Any]:
    """Give a notebook whose cells between the two marks are folded, with a word in the place of each mark."""
    inside = False
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            if BEGIN in text or END in text:
                inside = text.rfind(BEGIN) > text.rfind(END)
            begun, mark, words = text.partition(BEGIN)
            text = (begun.replace(END, "") + mark.replace(BEGIN, FOLDED_WORDS) + dedent(words)).strip()
            cell["source"] = text.splitlines(keepends=True)
        elif inside:
            cell["metadata"] |= FOLDED
    return notebook


def fold_notebooks(app: Sphinx) -> None:
    """Fold the solutions of all notebooks that the gallery has written."""
    for path in sorted((Path(app.srcdir) / FOLDER).glob("*.ipynb")):
        text = path.read_text(encoding="utf-8")
        if BEGIN in text:
            path.write_text(json.dumps(fold_notebook(json.loads(text)), indent=1), encoding="utf-8")


def link_chapters(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Show what comes before and after, on the pages of the course alone."""
    context["theme_show_prev_next"] = page.startswith(FOLDER + "/")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_node(
        solution,
        html=(
            lambda self, node: self.body.append('<details class="solution"><summary>Solution</summary>\n'),
            lambda self, node: self.body.append("</details>\n"),
        ),
    )
    app.add_node(end_solution)
    app.add_directive("solution", Solution)
    app.add_directive("end-solution", EndSolution)
    app.add_transform(Fold)
    app.connect("builder-inited", fold_notebooks, priority=900)
    app.connect("html-page-context", link_chapters)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
