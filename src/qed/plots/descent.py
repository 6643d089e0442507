"""The paths that methods of minimisation take: over the contours of a function of two variables, or on the curve of one."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.plots.style import HUES, MUTED, Axes, axes, plain

GRID = 120
LEVELS = 14


def descent(objective: Any, paths: Any, ax: Axes | None = None) -> Axes:
    """Draw the iterates of one or more methods on the function that they minimise.

    Parameters
    ----------
    objective : Objective or callable
        A function of one or two variables.
    paths : mapping of str to path, or path
        For each name the points (an array of shape (t, d), d = 1 or 2) or the steps of a run.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> from itertools import islice
    >>> from qed.optim import GradientDescent, HeavyBall
    >>> def ravine(w):
    ...     return w[0] ** 2 + 10 * w[1] ** 2
    >>> methods = {"gradient descent": GradientDescent(0.09), "heavy ball": HeavyBall(0.06, 0.5)}
    >>> paths = {name: list(islice(method.steps(ravine, [3.0, 1.0]), 20)) for name, method in methods.items()}
    >>> ax = descent(ravine, paths)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['gradient descent', 'heavy ball']
    """
    value = getattr(objective, "value", objective)
    named = dict(paths) if isinstance(paths, Mapping) else {"": paths}
    points = {name: _points(path) for name, path in named.items()}
    widths = {path.shape[1] for path in points.values()}
    if len(widths) != 1 or not widths <= {1, 2}:
        raise InputError(f"Paths can be drawn in one or two dimensions, the same for all; these have {sorted(widths)}.")
    ax = axes(ax, height=4.4)
    everywhere = np.vstack(list(points.values()))
    draw = _curve if widths == {1} else _contours
    draw(ax, value, everywhere)
    for number, (name, path) in enumerate(points.items()):
        height = path[:, 1] if widths == {2} else np.array([float(np.squeeze(value(point))) for point in path])
        color = HUES[number % len(HUES)]
        ax.plot(path[:, 0], height, color=color, marker="o", markersize=3, linewidth=1.2, label=plain(name))
    ax.set_title("Descent", loc="left")
    if any(points):
        ax.legend(loc="best", fontsize=9)
    return ax


def _points(path: Any) -> np.ndarray:
    """Give the points of a path, which may be given as steps."""
    found = [getattr(step, "point", step) for step in path]
    if not found or not np.isfinite(found).all():
        raise InputError("A path must have at least one point, and finite numbers only.")
    return np.asarray(found, dtype=float).reshape(len(found), -1)


def _spread(values: np.ndarray) -> np.ndarray:
    low, high = values.min(), values.max()
    margin = 0.15 * (high - low) or 1.0
    return np.linspace(low - margin, high + margin, GRID)


def _curve(ax: Axes, value: Any, points: np.ndarray) -> None:
    x = _spread(points[:, 0])
    ax.plot(x, [float(np.squeeze(value(np.array([one])))) for one in x], color=MUTED, linewidth=1.0)
    ax.set(xlabel="w", ylabel="f(w)")


def _contours(ax: Axes, value: Any, points: np.ndarray) -> None:
    """Draw contours that are dense at the bottom: at even quantiles of the values on a grid."""
    x, y = _spread(points[:, 0]), _spread(points[:, 1])
    heights = np.array([[float(np.squeeze(value(np.array([a, b])))) for a in x] for b in y])
    levels = np.unique(np.nanquantile(heights[np.isfinite(heights)], np.linspace(0, 1, LEVELS) ** 1.5))
    if len(levels) > 1:
        ax.contour(x, y, heights, levels=levels, colors=MUTED, linewidths=0.6)
    ax.set(xlabel="w₁", ylabel="w₂")
