"""Words from data, as they may be shown in a terminal or a notebook, and results that show themselves.

Names come from data, and data may come from a stranger: text is written out where a terminal would obey it, and HTML is escaped.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape

# Line breaks and tabs are layout, and blanks of all widths are harmless; Python counts neither among what can be printed.
LAYOUT = {"\n", "\t"}
# More lines than these are not shown, but counted.
MOST_LINES = 60
# They join or part letters of a script, or pictures: families of emoji, Persian, Hindi. Between plain letters they only hide.
JOINERS = {"\u200c", "\u200d"}
Lines = tuple[Sequence[str], Sequence[Sequence[str]]]


def visible(text: str) -> str:
    r"""Write out what a terminal would obey in the place of showing it: escapes, bells, and marks that turn the direction of reading.

    Names of columns, levels and labels come from files, and a file from a stranger may hold commands for the terminal.

    Examples
    --------
    >>> visible("price\x1b[2J"), visible("grüße, 你好")
    ('price\\x1b[2J', 'grüße, 你好')
    """
    if text.isprintable():
        return text
    before = " " + text
    return "".join(
        letter if _is_harmless(letter) or (letter in JOINERS and not last.isascii()) else repr(letter)[1:-1]
        for last, letter in zip(before, text)
    )


def _is_harmless(letter: str) -> bool:
    return letter.isprintable() or letter in LAYOUT or unicodedata.category(letter) == "Zs"


def text_table(header: Sequence[str], lines: Sequence[Sequence[object]]) -> str:
    """Give a table as text, the columns as wide as what is in them.

    >>> print(text_table(["name", "score"], [["ridge", 0.5], ["mean", 0.0]]))
    name   score
    ridge  0.5
    mean   0.0
    """
    cells = [[visible(str(cell)).replace("\n", " ") for cell in line] for line in [header, *lines[:MOST_LINES]]]
    widths = [max(len(line[column]) for line in cells) for column in range(len(header))]
    shown = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in cells]
    return "\n".join([*shown, f"... and {len(lines) - MOST_LINES} more"] if len(lines) > MOST_LINES else shown)


def html_table(header: Sequence[str], lines: Sequence[Sequence[object]], caption: str = "") -> str:
    """Give a table as HTML, everything in it escaped.

    >>> html_table(["name"], [["<b>"]])
    '<table class="qed"><thead><tr><th scope="col">name</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    head = "".join(f'<th scope="col">{_safe(cell)}</th>' for cell in header)
    body = "".join(f"<tr>{''.join(f'<td>{_safe(cell)}</td>' for cell in line)}</tr>" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        body += f'<tr><td colspan="{len(header)}">... and {len(lines) - MOST_LINES} more</td></tr>'
    # A caption of the table itself would be as narrow as the table.
    above = f"<p>{_safe(caption)}</p>" if caption else ""
    return f'{above}<table class="qed"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _safe(cell: object) -> str:
    return escape(visible(str(cell))).replace("\n", "<br>")


class Shown:
    """A result that shows itself: its class says what is in the table (`_table`) and what is said of it (`_said`)."""

    __slots__ = ()

    def _table(self) -> Lines:
        """Give the header and the lines of the table."""
        return [], []

    def _said(self) -> str:
        """Give what is said below the table."""
        return ""

    def __str__(self) -> str:
        header, lines = self._table()
        parts = [text_table(header, lines) if lines else "", visible(self._said())]
        return "\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        header, lines = self._table()
        said = self._said()
        if not lines:
            return f"<p>{_safe(said)}</p>"
        return html_table(header, lines, said)


class ShownAsText:
    """A result whose text (``__str__``) is what it shows everywhere; in a notebook with the same layout."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f'<pre class="qed">{escape(visible(str(self)))}</pre>'
