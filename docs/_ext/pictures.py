"""The look of the gallery: the colours and the quiet axes that qed's own pictures have, and room for wide ones on a phone."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

# A picture of more pixels than that has panels side by side: on a phone it is shown large, and is moved sideways.
WIDE = 850


def style(gallery: dict[str, Any], script: str) -> None:
    """Set matplotlib's defaults before every script."""
    import matplotlib.pyplot as plt
    from cycler import cycler

    from qed.plots.style import HUES, STYLE

    plt.rcParams.update(STYLE)
    plt.rcParams["axes.prop_cycle"] = cycler(color=HUES)


def scraper(block: Any, block_vars: Any, gallery_conf: dict[str, Any], **how: Any) -> str:
    """Keep the pictures of a script, and complain of those with a panel that nothing was drawn into, or whose words are cut off."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    for figure in map(plt.figure, plt.get_fignums()):
        if any(panel.axison and not panel.has_data() for panel in figure.axes):
            logger.warning("%s has a picture with an empty panel", block_vars["src_file"])
        for words in cut_off(figure):
            logger.warning("%s has a picture that cuts %r off: make it larger", block_vars["src_file"], words)
    return str(matplotlib_scraper(block, block_vars, gallery_conf, **how))


def cut_off(figure: Any) -> list[str]:
    """Give the titles and names of axes that stick out of a picture."""
    figure.canvas.draw()
    edge = figure.bbox
    words = [
        part for panel in figure.axes for part in (panel.title, panel._left_title, panel.xaxis.label, panel.yaxis.label)
    ]
    found = []
    for part in words:
        box = part.get_window_extent()
        out = min(box.x0 - edge.x0, box.y0 - edge.y0, edge.x1 - box.x1, edge.y1 - box.y1) < -1
        found += [part.get_text()] if part.get_text() and part.get_visible() and out else []
    return found


def width(picture: Path) -> int:
    """Give the width of a PNG file, which stands at a fixed place in it."""
    with picture.open("rb") as file:
        return int.from_bytes(file.read(20)[16:], "big")


def give_room(app: Sphinx, document: nodes.document) -> None:
    """Put wide pictures into a box that moves sideways where the page is narrow."""
    for node in [node for node in document.findall(nodes.Element) if type(node).__name__ == "imgsgnode"]:
        picture = Path(app.srcdir) / str(node["uri"]).lstrip("/")
        if picture.suffix == ".png" and width(picture) > WIDE:
            begin = nodes.raw("", '<div class="wide-picture">', format="html")
            node.parent.replace(node, [begin, node, nodes.raw("", "</div>", format="html")])
    for node in list(document.findall(nodes.image)):
        picture = Path(app.srcdir) / str(node["uri"]).lstrip("/")
        if picture.suffix == ".svg" or (picture.suffix == ".png" and picture.exists() and width(picture) > WIDE):
            above = node.parent
            while above is not None and not isinstance(above, nodes.paragraph):
                above = above.parent
            if above is not None:
                above["classes"].append("wide-picture")
                continue
            box = nodes.container(classes=["wide-picture"])
            node.parent.replace(node, box)
            box += node


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", give_room)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
