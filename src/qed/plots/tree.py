"""Trees drawn from the left to the right: the column that a node asks about, and on every way out the values that take it.

Leaves stand one below the other, so that a tree of four levels is as wide as a page and its words can be read. A line is as thick as
the share of the rows that go along it, and the bar in a box shows the shares of the classes, or how large the predicted number is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from qed.plots.style import ACCENT, HUES, INK, MUTED, PAPER, RULE, Axes, axes, plain
from qed.trees.words.reading import Answer, Reading

# In points of the drawing: a box, the way to the next level, what a leaf takes of the height, the bar in a box, and all around.
WIDE, TALL, GAP, ROW, BAR, EDGE = 150, 42, 122, 54, 4, 8
THICK = 7
MOST_NAMES, MOST_DEPTH = 8, 200


@dataclass
class Box:
    """A node in the drawing."""

    title: str  # the column that it asks about, or what it predicts
    says: str  # of how many rows it speaks
    bar: list[tuple[float, str]]  # lengths, as shares of the width, and their colours
    depth: int
    share: float  # of all rows
    is_tip: bool
    hidden: int = 0  # leaves below that are not drawn
    label: str = ""  # what leads here
    place: float = 0.0  # how far down, in leaves
    children: list[Box] = field(default_factory=list)

    @property
    def x(self) -> float:
        return EDGE + self.depth * (WIDE + GAP)

    @property
    def middle(self) -> float:
        return EDGE + self.place * ROW + TALL / 2


class Drawing:
    """The boxes of a tree, each at its place."""

    def __init__(self, reading: Reading, max_depth: int | None) -> None:
        self.reading = reading
        ends = reading.nodes.value[reading.nodes.is_leaf]
        self.low, self.high = float(ends.min()), float(ends.max())
        self.boxes: list[Box] = []
        self.tips = 0
        self._box(0, 0, "", MOST_DEPTH if max_depth is None else min(max_depth, MOST_DEPTH), {})
        self.hidden = sum(box.hidden for box in self.boxes)
        self.width = 2 * EDGE + WIDE + (WIDE + GAP) * max(box.depth for box in self.boxes)
        self.height = 2 * EDGE + TALL + ROW * (self.tips - 1)
        classes = reading.classes or []
        self.legend = [(plain(name, 18), HUES[k % len(HUES)]) for k, name in enumerate(classes[:MOST_NAMES])]
        self.notes = [f"and {len(classes) - MOST_NAMES} more classes"] * (len(classes) > MOST_NAMES)
        if self.hidden:
            self.notes.append(f"{self.hidden:,} of {reading.nodes.n_leaves:,} leaves lie deeper and are not drawn")

    def _box(self, node: int, depth: int, label: str, max_depth: int, asked: dict[int, Answer]) -> Box:
        nodes, reading = self.reading.nodes, self.reading
        ways = list(reading.answers(node))
        cut = bool(ways) and depth >= max_depth
        asks = bool(ways) and not cut
        title = reading.names[nodes.feature[node]] if asks else reading.said(node)
        share = float(nodes.weighted_n_node_samples[node] / nodes.weighted_n_node_samples[0])
        hidden = len(list(reading.below(node))) if cut else 0
        says = f"{int(nodes.n_node_samples[node]):,} rows" if asks else reading.support(node)
        box = Box(title, says, self._bar(node), depth, share, not asks, hidden, label)
        self.boxes.append(box)
        for child, answer in ways if asks else ():
            # Of levels only those are named that can still come here.
            before = asked.get(answer.column)
            left = answer if before is None or answer.levels is None else before & answer
            below = {**asked, answer.column: left}
            box.children.append(self._box(child, depth + 1, left.label(), max_depth, below))
        if box.children:
            box.place = (box.children[0].place + box.children[-1].place) / 2
        else:
            box.place, self.tips = self.tips, self.tips + 1
        return box

    def _bar(self, node: int) -> list[tuple[float, str]]:
        value = self.reading.nodes.value[node]
        if self.reading.classes is None:
            size = (float(value[0]) - self.low) / (self.high - self.low) if self.high > self.low else 1.0
            return [(size, ACCENT), (1 - size, RULE)]
        return [(float(share), HUES[k % len(HUES)]) for k, share in enumerate(value) if share > 0]


def export_svg(
    decision_tree: Any,
    *,
    feature_names: Any = None,
    class_names: Any = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    missing: bool | Collection[str] | None = None,
    max_depth: int | None = 4,
) -> str:
    """Draw a tree, as the text of an SVG picture.

    Parameters
    ----------
    decision_tree : fitted DecisionTreeClassifier or DecisionTreeRegressor, or a TableModel of one
        The tree.
    feature_names, class_names : list of str, optional
        Names of columns and classes; by default those of the fit.
    categories : mapping, optional
        For columns of levels, by name, what the numbers 0, 1, 2 and so on stand for; a `TableModel` knows them.
    missing : bool or list of str, optional
        The columns of which to say where missing values go; True for all, False for none. When not given, a `TableModel` knows
        which columns had some; of other trees it is said for all.
    max_depth : int or None, default=4
        Up to which level; boxes with a broken edge have more below them, and the picture says how much is not drawn. None draws all, up to
        200 levels.

    See Also
    --------
    plot_tree : The same with Matplotlib.
    export_rules : A sentence for every leaf.

    Examples
    --------
    >>> import qed
    >>> model = qed.DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> found = qed.export_svg(model, feature_names=["age"])
    >>> found[:4], "≤ 1.5" in found
    ('<svg', True)
    """
    drawing = Drawing(Reading(decision_tree, feature_names, class_names, categories, missing), max_depth)
    under = 26 if drawing.legend or drawing.notes else 0
    size = f"{drawing.width} {drawing.height + under}"
    wide, tall = size.split()
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{tall}" viewBox="0 0 {size}"'
    parts = [f'{head} style="font: 12px system-ui, sans-serif" role="img" aria-label="the tree as a drawing">']
    parts += [_svg_way(box, child) for box in drawing.boxes for child in box.children]
    parts += [_svg_box(box) for box in drawing.boxes]
    return "\n".join([*parts, *_svg_legend(drawing), "</svg>"])


def _svg_text(x: float, y: float, words: str, longest: int, style: str = "", anchor: str = "start") -> str:
    """Write a line of text, shortened where it is too long; then all of it shows when it is pointed at."""
    line = " ".join(words.split())
    shown = line if len(line) <= longest else line[: longest - 1] + "…"
    title = f"<title>{escape(line)}</title>" if shown != line else ""
    return (
        f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" style="fill: {INK}; {style}">{title}{escape(shown)}</text>'
    )


def _svg_way(box: Box, child: Box) -> str:
    start, end, bend = box.x + WIDE, child.x, box.x + WIDE + GAP / 2
    path = f"M{start:g} {box.middle:g} C{bend:g} {box.middle:g} {bend:g} {child.middle:g} {end:g} {child.middle:g}"
    thick = 1 + (THICK - 1) * child.share
    line = f'<path d="{path}" style="fill: none; stroke: {RULE}; stroke-width: {thick:.2f}"/>'
    below = child.middle > box.middle
    y = child.middle + (thick / 2 + 12 if below else -thick / 2 - 4)
    halo = f"font-size: 11px; stroke: {PAPER}; stroke-width: 3px; paint-order: stroke"
    return line + _svg_text(end - 6, y, child.label, 20, halo, "end")


def _svg_box(box: Box) -> str:
    top = box.middle - TALL / 2
    broken = "; stroke-dasharray: 4 3" if box.hidden else ""
    edge = f"fill: {PAPER}; stroke: {MUTED if box.is_tip else INK}{broken}"
    parts = [f'<rect x="{box.x:g}" y="{top:g}" width="{WIDE}" height="{TALL}" rx="3" style="{edge}"/>']
    x = box.x + 1
    for share, color in box.bar:
        size = share * (WIDE - 2)
        parts.append(
            f'<rect x="{x:.2f}" y="{top + TALL - BAR - 1:g}" width="{size:.2f}" height="{BAR}" style="fill: {color}"/>'
        )
        x += size
    weight = "font-weight: 600" if box.is_tip else ""
    says = box.says + (f", {box.hidden} leaves" if box.hidden else "")
    parts.append(_svg_text(box.x + 8, top + 16, box.title, 18 if weight else 21, weight))
    parts.append(_svg_text(box.x + 8, top + 31, says, 27, f"font-size: 10.5px; fill: {MUTED}"))
    return "".join(parts)


def _svg_legend(drawing: Drawing) -> list[str]:
    x, y, parts = float(EDGE), drawing.height + 16.0, []
    for name, color in drawing.legend:
        parts.append(f'<rect x="{x:g}" y="{y - 9:g}" width="10" height="10" style="fill: {color}"/>')
        parts.append(_svg_text(x + 15, y, name, 18, "font-size: 11px"))
        x += 32 + 6.5 * len(name)
    for words in drawing.notes:
        parts.append(_svg_text(x, y, words, 99, f"font-size: 11px; fill: {MUTED}"))
        x += 16 + 6.0 * len(words)
    return parts


def plot_tree(
    decision_tree: Any,
    *,
    max_depth: int | None = 4,
    feature_names: Any = None,
    class_names: Any = None,
    categories: Mapping[str, Sequence[Any]] | None = None,
    missing: bool | Collection[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw a tree with Matplotlib.

    Parameters
    ----------
    decision_tree : fitted DecisionTreeClassifier or DecisionTreeRegressor, or a TableModel of one
        The tree.
    max_depth : int or None, default=4
        Up to which level; boxes with a broken edge have more below them, and the picture says how much is not drawn. None draws all, up to
        200 levels.
    feature_names, class_names : list of str, optional
        Names of columns and classes; by default those of the fit.
    categories : mapping, optional
        For columns of levels, by name, what the numbers 0, 1, 2 and so on stand for; a `TableModel` knows them.
    missing : bool or list of str, optional
        The columns of which to say where missing values go; True for all, False for none. When not given, a `TableModel` knows
        which columns had some; of other trees it is said for all.
    ax : matplotlib axes, optional
        Where to draw.

    See Also
    --------
    export_svg : The same without Matplotlib.

    Examples
    --------
    >>> import qed
    >>> model = qed.DecisionTreeClassifier().fit([[0.0], [1.0], [2.0]], ["a", "a", "b"])
    >>> ax = qed.plot_tree(model, feature_names=["age"])
    >>> [text.get_text() for text in ax.texts][:3]
    ['age\\n3 rows', '≤ 1.5 or missing', '> 1.5']
    """
    from matplotlib.patches import Rectangle

    drawing = Drawing(Reading(decision_tree, feature_names, class_names, categories, missing), max_depth)
    # A point of the drawing is a point on paper, so letters fit into their boxes.
    ax = axes(ax, drawing.width / 72, drawing.height / 72)
    ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal", title="\n".join(drawing.notes))
    ax.axis("off")
    for box in drawing.boxes:
        top = box.middle - TALL / 2
        ax.text(box.x + 7, box.middle - 3, f"{plain(box.title, 21)}\n{box.says}", va="center", fontsize=8, zorder=3)
        edge: dict[str, Any] = {"edgecolor": MUTED if box.is_tip else INK, "linestyle": "--" if box.hidden else "-"}
        ax.add_patch(Rectangle((box.x, top), WIDE, TALL, facecolor=PAPER, zorder=2, **edge))
        x = box.x
        for share, color in box.bar:
            ax.add_patch(Rectangle((x, top + TALL - BAR), share * WIDE, BAR, color=color, linewidth=0, zorder=3))
            x += share * WIDE
        for child in box.children:
            ends = np.array([[box.x + WIDE, box.middle], [child.x, child.middle]])
            ax.plot(*ends.T, color=RULE, linewidth=1 + (THICK - 1) * child.share, zorder=1)
            ax.text(child.x - 5, child.middle, plain(child.label, 20), ha="right", va="center", fontsize=7.5, zorder=3)
    return ax
