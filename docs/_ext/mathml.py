"""Formulas as MathML, which every browser draws by itself: no script, no font, no network.

latex2mathml does the work. What it does not know, or writes in a way that browsers ignore, is put right here: words such as
``arg min``, limits under ``min`` and ``max``, bold and blackboard letters (browsers want the letters themselves, not an
attribute), and the alignment of several lines. A command that nobody knows is a warning of the build, not a red backslash.
"""

import re
from html import unescape
from typing import Any
from unicodedata import category
from xml.etree.ElementTree import Element, tostring

from docutils import nodes
from latex2mathml.converter import convert_to_element
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

SPELLED = [
    (re.compile(r"\\arg\s*\\(min|max)(?![a-zA-Z])"), r"\\operatorname{arg\1}"),
    (re.compile(r"\\operatorname\*"), r"\\operatorname"),
    (re.compile(r"\\operatorname\{arg\\,(min|max)\}"), r"\\operatorname{arg\1}"),
    (re.compile(r"\\mathrm\{(\w\w+)\}"), r"\\operatorname{\1}"),
    (re.compile(r"\\(begin|end)\{aligned\}"), r"\\\1{align*}"),
    (re.compile(r"\\mathbb\s+(\w)"), r"\\mathbb{\1}"),
    (re.compile(r"\\[bB]igg?l?\s*([(\[])"), r"\\left\1"),
    (re.compile(r"\\[bB]igg?r?\s*([)\]])"), r"\\right\1"),
]
WITH_LIMITS = {
    "argmin": "arg min",
    "argmax": "arg max",
    "min": "min",
    "max": "max",
    "sup": "sup",
    "inf": "inf",
    "lim": "lim",
}
# What may stand beside a formula without a space: a short word, or signs alone.
BESIDE_LEFT = re.compile(r"(?<!\S)\S{1,12}\Z|[^\w\s]+\Z")
BESIDE_RIGHT = re.compile(r"\S{1,12}(?!\S)|[^\w\s]+")
ENVIRONMENT = re.compile(r"\\begin\{(\w+\*?)\}.*?\\end\{\1\}", re.DOTALL)
UNDER = {"msub": "munder", "msubsup": "munderover"}
LETTERS = {
    "bold": {"A": 0x1D400, "a": 0x1D41A, "0": 0x1D7CE},
    "bold-italic": {"A": 0x1D468, "a": 0x1D482, "0": 0x1D7CE},
    "double-struck": {"A": 0x1D538, "a": 0x1D552, "0": 0x1D7D8},
    "script": {"A": 0x1D49C, "a": 0x1D4B6},
}
OLD_LETTERS = {0x1D53A: "ℂ", 0x1D53F: "ℍ", 0x1D545: "ℕ", 0x1D547: "ℙ", 0x1D548: "ℚ", 0x1D549: "ℝ", 0x1D551: "ℤ"}
OLD_LETTERS |= {
    0x1D49D: "ℬ",
    0x1D4A0: "ℰ",
    0x1D4A1: "ℱ",
    0x1D4A3: "ℋ",
    0x1D4A4: "ℐ",
    0x1D4A7: "ℒ",
    0x1D4A8: "ℳ",
    0x1D4AD: "ℛ",
}


def mathml(text: str, display: str) -> str:
    """Give the MathML of a formula in LaTeX."""
    for found, meant in SPELLED:
        text = found.sub(meant, text)
    root = convert_to_element(text, display=display)
    for element in root.iter():
        element.text = unescape(element.text or "")
        _put_right(element, block=display == "block")
        _space_words(element)
    for element in list(root.iter()):
        _fence_tables(element)
    return tostring(root, encoding="unicode")


def _put_right(element: Element, *, block: bool) -> None:
    if element.tag in UNDER and block and unescape(element[0].text or "") in {*WITH_LIMITS, "∑", "∏"}:
        element.tag = UNDER[element.tag]
    text = element.text or ""
    if element.tag == "mi" and len(text) == 1 and category(text) == "Sm":
        element.tag = "mo"
    if element.tag == "mo" and text in ("‖", "|"):
        element.attrib |= {"stretchy": "false", "lspace": "0", "rspace": "0"}
    if element.tag == "mover":
        element.set("accent", "true")
    if align := element.attrib.pop("columnalign", None):
        element.set("style", f"text-align: {align}; padding: 0.3em 0")
    variant = element.get("mathvariant", "normal")
    if variant in LETTERS:
        del element.attrib["mathvariant"]
        element.text = "".join(_letter(character, LETTERS[variant]) for character in text)


def _space_words(parent: Element) -> None:
    """Set names of functions apart from what they are applied to, unless that is in brackets."""
    for place, element in enumerate(parent):
        word = unescape(element.text or "")
        if parent.tag != "mover" and word == "~":
            element.text = "∼"
            element.attrib |= {"lspace": "0.28em", "rspace": "0.28em"}
        if element.tag not in ("mo", "mi") or len(word) < 2 or not word.isalpha():
            continue
        after = unescape(parent[place + 1].text or "") if place + 1 < len(parent) else ""
        element.tag, element.text = "mo", WITH_LIMITS.get(word, word).replace(" ", "\u2009")
        element.attrib |= {"lspace": "0.17em", "rspace": "0" if after == "(" else "0.17em"}
        if word in WITH_LIMITS:
            element.set("movablelimits", "true")


def _fence_tables(parent: Element) -> None:
    """Give every matrix a row of its own with its brackets, which grow to the tallest of their row."""
    children = list(parent)
    for place in range(1, len(children) - 1):
        fenced = children[place - 1 : place + 2]
        if [element.tag for element in fenced] == ["mo", "mtable", "mo"] and fenced[0].text in ("(", "["):
            row = Element("mrow")
            parent.insert(list(parent).index(fenced[0]), row)
            for element in fenced:
                parent.remove(element)
                row.append(element)


def _letter(character: str, first: dict[str, int]) -> str:
    """Give a letter or digit in another alphabet of Unicode; some of these letters had a place of their own before."""
    begin = "0" if character.isdigit() else "A" if character.isupper() else "a"
    if not (character.isascii() and character.isalnum() and begin in first):
        return character
    code = first[begin] + ord(character) - ord(begin)
    return OLD_LETTERS.get(code, chr(code))


def _drawn(node: nodes.Node, text: str, display: str) -> str:
    found = mathml(text, display)
    # A doubled backslash is a new line, which no formula within a sentence has.
    if "\\" in found or (display == "inline" and 'linebreak="newline"' in found):
        logger.warning("this formula has a command that is not known: %s", text, location=node)
    return found


def _parts(text: str) -> list[str]:
    """Cut a displayed formula where it has wide gaps, so that a narrow page can break it there."""
    parts = [part.strip() for part in text.split(r"\qquad")]
    outside = ENVIRONMENT.sub("", text)
    torn = any(
        part.count(begin) != part.count(end) for part in parts for begin, end in ((r"\begin", r"\end"), ("{", "}"))
    )
    return [text] if torn or r"\\" in outside else parts


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(_drawn(node, node.astext(), "inline"))
    raise nodes.SkipNode


class Together(SphinxPostTransform):
    """Keep a formula and what stands right beside it on one line: a comma, a bracket, the rest of a word.

    Browsers end lines on either side of a formula, and do not heed the sign that joins words.
    """

    default_priority = 900
    formats = ("html",)

    def run(self, **kwargs: Any) -> None:
        for node in list(self.document.findall(nodes.math)):
            home = node.parent
            place = home.index(node)
            before = home[place - 1] if place else None
            after = home[place + 1] if place + 1 < len(home) else None
            kept = nodes.inline(classes=["together"])
            if isinstance(before, nodes.Text) and (tail := BESIDE_LEFT.search(before)):
                kept += nodes.Text(tail[0])
                home.replace(before, nodes.Text(before[: tail.start()]))
            kept += node.deepcopy()
            if isinstance(after, nodes.Text) and (head := BESIDE_RIGHT.match(after)):
                kept += nodes.Text(head[0])
                home.replace(after, nodes.Text(after[head.end() :]))
            if len(kept) > 1:
                home.replace(node, kept)


def _block(translator: Any, node: nodes.math_block) -> None:
    text = node.astext()
    if r"\\" in text and r"\begin" not in text:
        text = rf"\begin{{aligned}}{text}\end{{aligned}}"
    drawn = "\n".join(_drawn(node, part, "block") for part in _parts(text))
    translator.body.append(f'<div class="formula">{drawn}</div>\n')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_post_transform(Together)
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
