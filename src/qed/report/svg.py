"""Pictures as SVG that lives inside a page: its text is text, its colours are those of the page, in the light and in the dark.

The colours of :mod:`qed.plots.style` are replaced by variables of the style sheet. Everything that could ask for another file, or
that differs from one run to the next, is taken out.
"""

import io
import re
from collections.abc import Callable

from markupsafe import Markup

from qed.plots.style import ACCENT, HUES, INK, MUTED, ON_COLOUR, PAPER, RULE, SECOND, STYLE

VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    RULE: "var(--rule)",
    PAPER: "var(--paper)",
    ACCENT: "var(--accent)",
    SECOND: "var(--second)",
    **{hue: f"var(--hue-{number})" for number, hue in enumerate(HUES) if number > 1},
}
PRELUDE = re.compile(r"^.*?(?=<svg)", re.DOTALL)
NEEDLESS = re.compile(r"\s*(<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->)", re.DOTALL)
SIZE = re.compile(r'(<svg[^>]*?) width="[^"]*"([^>]*?)>', re.DOTALL)
NAME = re.compile(r' id="([\w.]+)"')
REFERENCE = re.compile(r'(url\(|href=")#([\w.]+)')
HEIGHT = re.compile(r'(<svg[^>]*?) height="[^"]*"', re.DOTALL)


def picture(name: str, alt: str, draw: Callable[..., object], width: float = 5.4, height: float = 3.4) -> Markup:
    """Draw on new axes, and give the picture as markup, without its title, which the page has.

    The `name` is unique in the page and keeps the inner names of pictures apart; `alt` says what is shown, for those
    who can not see it.

    >>> found = picture("p", "a line", lambda ax: ax.plot([0, 1], [0, 1]))
    >>> found.startswith("<svg"), "<?xml" in found
    (True, False)
    """
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    style = {**STYLE, "svg.fonttype": "none", "svg.hashsalt": name, "figure.facecolor": "none"}
    with matplotlib.rc_context(style):
        figure, layout = Figure(figsize=(width, height)), ConstrainedLayoutEngine()
        FigureCanvasSVG(figure)
        ax = figure.subplots()
        draw(ax=ax)
        ax.set_title("", loc="left")
        # Placed here once: a figure that had the engine would be drawn twice.
        layout.execute(figure)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return Markup(_cleaned(stream.getvalue(), name, alt))


def coloured(text: str) -> str:
    """Give a picture the colours of the page."""
    for color, variable in VARIABLES.items():
        text = text.replace(color, variable)
    return text


def _cleaned(text: str, name: str, alt: str) -> str:
    text = NEEDLESS.sub("", PRELUDE.sub("", text, count=1))
    text = HEIGHT.sub(r"\1", SIZE.sub(r"\1\2>", text, count=1), count=1)
    text = coloured(text)
    text = text.replace(f' id="{ON_COLOUR}"', f' class="{ON_COLOUR}"')
    used = {found.group(2) for found in REFERENCE.finditer(text)}
    text = NAME.sub(lambda found: f' id="{name}-{found.group(1)}"' if found.group(1) in used else "", text)
    text = REFERENCE.sub(rf"\1#{name}-\2", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{Markup.escape(alt)}" ', 1)
