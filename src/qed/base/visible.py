"""Words from data, as they may be shown in a terminal."""

from __future__ import annotations

import unicodedata

# Line breaks and tabs are layout, and blanks of all widths are harmless; Python counts neither among what can be printed.
LAYOUT = {"\n", "\t"}


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
    return "".join(letter if _is_harmless(letter) else repr(letter)[1:-1] for letter in text)


def _is_harmless(letter: str) -> bool:
    return letter.isprintable() or letter in LAYOUT or unicodedata.category(letter) == "Zs"
