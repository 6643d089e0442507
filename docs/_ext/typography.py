"""What stays on one line: the groups of a long number, and a ± with what it is about."""

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

GAPS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))|(?<=±) (?=\d)")
NO_BREAK = "\N{NO-BREAK SPACE}"


class Together(SphinxPostTransform):
    """Put spaces that no line ends at into numbers, but not into code."""

    default_priority = 800
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        code = (nodes.literal, nodes.literal_block, nodes.math, nodes.raw)
        for text in list(self.document.findall(nodes.Text)):
            if not isinstance(text.parent, code) and GAPS.search(text):
                text.parent.replace(text, nodes.Text(GAPS.sub(NO_BREAK, text)))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(Together)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
