"""Formulas as MathML, which every browser draws by itself: no script, no font, no network."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext(), display="inline"))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    text = node.astext()
    wrapped = rf"\begin{{aligned}}{text}\end{{aligned}}" if r"\\" in text and r"\begin" not in text else text
    translator.body.append(convert(wrapped, display="block"))
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
