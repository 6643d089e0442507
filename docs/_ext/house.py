"""The plan of the house, drawn from the import graph when the documentation is built: it can not be out of date."""

import ast
from collections import defaultdict
from html import escape
from pathlib import Path

from sphinx.application import Sphinx

SOURCE = Path(__file__).parent.parent.parent / "src" / "qed"
WIDTH, HEIGHT, GAP, RISE = 190, 88, 20, 56
STYLE = """
.room { fill: #f3f6fb; stroke: #4477aa; stroke-width: 1.2 }
.name { font: 600 20px sans-serif; fill: #1b2a41 } .size, .parts { font: 15px sans-serif; fill: #54606f }
.arrow { stroke: #8a97a8; stroke-width: 1.3; fill: none; marker-end: url(#head) }
"""


def rooms() -> dict[str, list[Path]]:
    """Give the files of every room; a single file beside the rooms belongs to the doors."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).parts
        if len(parts) > 1:
            found[parts[0]].append(path)
        elif parts[0] == "cli.py":
            found["commands"].append(path)
    return dict(found)


def imports(files: list[Path]) -> set[str]:
    """Give the rooms that some files import from, inside functions too."""
    found = set()
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("qed."):
                found.add((node.module or "").split(".")[1])
            elif isinstance(node, ast.Import):
                found |= {one.name.split(".")[1] for one in node.names if one.name.startswith("qed.")}
    return found


def floors(graph: dict[str, set[str]]) -> dict[str, int]:
    """Give the floor of every room: one above the highest that it stands on."""
    height: dict[str, int] = {}

    def visit(room: str) -> int:
        if room not in height:
            height[room] = 1 + max((visit(other) for other in graph[room]), default=-1)
        return height[room]

    for room in graph:
        visit(room)
    return height


def needed(graph: dict[str, set[str]]) -> set[tuple[str, str]]:
    """Give the arrows that do not follow from others."""

    def below(room: str) -> set[str]:
        return {room}.union(*(below(other) for other in graph[room]))

    arrows = set()
    for room, others in graph.items():
        for other in others:
            if not any(other in below(between) for between in others - {other}):
                arrows.add((room, other))
    return arrows


def draw() -> str:
    """Draw the rooms, floor above floor, with the arrows of their imports."""
    files = rooms()
    graph = {room: (imports(paths) & files.keys()) - {room} for room, paths in files.items()}
    height = floors(graph)
    stacked: dict[int, list[str]] = defaultdict(list)
    for room in sorted(files):
        stacked[height[room]].append(room)
    top, widest = max(stacked), max(len(on_floor) for on_floor in stacked.values())
    width = widest * (WIDTH + GAP) + GAP
    place = {}
    for floor, on_floor in stacked.items():
        left = (width - len(on_floor) * (WIDTH + GAP) + GAP) / 2
        for k, room in enumerate(on_floor):
            place[room] = (left + k * (WIDTH + GAP), GAP + (top - floor) * (HEIGHT + RISE))
    lines = [_arrow(place[a], place[b]) for a, b in sorted(needed(graph))]
    lines += [_box(room, files[room], *place[room]) for room in sorted(files)]
    size = f"0 0 {width:.0f} {GAP * 2 + (top + 1) * (HEIGHT + RISE) - RISE:.0f}"
    head = '<marker id="head" markerWidth="8" markerHeight="8" refX="7" refY="3" orient="auto">'
    head += '<path d="M0,0 L7,3 L0,6 z" fill="#8a97a8"/></marker>'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img" aria-label="Rooms and their imports">',
            f"<style>{STYLE}</style><defs>{head}</defs>",
            *lines,
            "</svg>",
        ]
    )


def _arrow(upper: tuple[float, float], lower: tuple[float, float]) -> str:
    x, y = upper[0] + WIDTH / 2, upper[1] + HEIGHT
    u, v = lower[0] + WIDTH / 2, lower[1]
    return f'<path class="arrow" d="M{x:.0f},{y:.0f} C{x:.0f},{y + RISE / 2:.0f} {u:.0f},{v - RISE / 2:.0f} {u:.0f},{v:.0f}"/>'


def _box(room: str, paths: list[Path], x: float, y: float) -> str:
    count = sum(path.name != "__init__.py" for path in paths)
    length = sum(path.read_text(encoding="utf-8").count("\n") for path in paths)
    parts = sorted({path.relative_to(SOURCE).parts[1] for path in paths if len(path.relative_to(SOURCE).parts) > 2})
    shown = ", ".join(parts) if len(", ".join(parts)) <= 25 else ", ".join(parts)[:24].rsplit(",", 1)[0] + " …"
    middle = f'x="{x + WIDTH / 2:.0f}" text-anchor="middle"'
    return (
        f'<rect class="room" x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="7"/>'
        f'<text class="name" {middle} y="{y + 29:.0f}">{escape(room)}</text>'
        f'<text class="size" {middle} y="{y + 52:.0f}">{count} files, {length:,} lines</text>'
        f'<text class="parts" {middle} y="{y + 74:.0f}">{escape(shown)}</text>'
    )


def write(app: Sphinx) -> None:
    """Write the plan beside the other pictures."""
    (Path(app.srcdir) / "_static" / "house.svg").write_text(draw(), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True}
