"""The look of the gallery: the colours and the quiet axes that qed's own pictures have, and room for wide ones on a phone."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

# A picture that is wider than so many times its height has panels side by side: on a phone it is shown large, and is moved sideways.
WIDE = 1.9


def style(gallery: dict[str, Any], script: str) -> None:
    """Set matplotlib's defaults before every script."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    from qed.plots.style import HUES, STYLE

    plt.rcParams.update(STYLE)
    plt.rcParams["axes.prop_cycle"] = cycler(color=HUES)


def shape(picture: Path) -> tuple[int, int]:
    """Give width and height of a PNG file, which stand at a fixed place in it."""
    with picture.open("rb") as file:
        head = file.read(24)
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def give_room(app: Sphinx, document: nodes.document) -> None:
    """Put wide pictures of the gallery into a box that moves sideways where the page is narrow."""
    for node in [node for node in document.findall(nodes.Element) if type(node).__name__ == "imgsgnode"]:
        picture = Path(app.srcdir) / str(node["uri"]).lstrip("/")
        width, height = shape(picture) if picture.suffix == ".png" else (1, 1)
        if width > WIDE * height:
            begin = nodes.raw("", '<div class="wide-picture">', format="html")
            node.parent.replace(node, [begin, node, nodes.raw("", "</div>", format="html")])


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", give_room)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
