"""The look of all pictures: six colours, quiet axes, and labels that are never read as mathematics.

A picture is drawn on the axes it is given, whose style is left alone; without axes it makes a figure in the style of qed. The colours
are few and fixed, so that a report can replace them by those of its page, light or dark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from qed.base.visible import visible

if TYPE_CHECKING:  # for all pictures: matplotlib itself is imported when one is drawn
    from matplotlib.axes import Axes as Axes
else:
    Axes = object

INK, MUTED, RULE, PAPER = "#1b1f24", "#68707a", "#d9dde2", "#fefefe"
ACCENT, SECOND = "#2563a8", "#c2571a"
HUES = (ACCENT, SECOND, "#2e8b6f", "#8b5fb8", "#b8912e", "#b84a6b", "#4a9bb8", "#6f7f3a")
MOST_POINTS = 2000
# Words upon a colour have this name, by which a page gives them a rim.
ON_COLOUR = "on-colour"

STYLE: Any = {
    "axes.axisbelow": True,
    "axes.edgecolor": MUTED,
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "figure.facecolor": PAPER,
    "font.size": 10,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "legend.edgecolor": "none",
    "legend.facecolor": PAPER,
    "legend.framealpha": 0.85,
    "legend.labelcolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "xtick.labelcolor": MUTED,
    "ytick.color": MUTED,
    "ytick.labelcolor": MUTED,
}


def axes(ax: Axes | None = None, width: float = 6.0, height: float = 3.8) -> Axes:
    """Give the axes to draw on: those of the caller, or new ones in the style of qed.

    >>> axes(width=4.0, height=3.0).figure.get_size_inches().tolist()
    [4.0, 3.0]
    """
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    with plt.rc_context(STYLE):
        return plt.subplots(figsize=(width, height), layout="constrained")[1]


def plain(text: Any, longest: int = 40) -> str:
    """Give a name as it can stand in a picture: one line, not too long, and with no mathematics in it.

    >>> plain("price in $"), plain("a" * 50, 10)
    ('price in \\\\$', 'aaaaaaaaa…')
    """
    line = " ".join(visible(str(text)).split())
    short = line if len(line) <= longest else line[: longest - 1] + "…"
    return short.replace("$", r"\$")


def some(n: int, most: int = MOST_POINTS) -> np.ndarray:
    """Choose which of `n` points to draw: all, or `most` of them, evenly spread over their order.

    >>> some(3), len(some(10**6))
    (array([0, 1, 2]), 2000)
    """
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)
