"""What a model weighs: coefficients as bars, the largest first, and filters as small pictures on one scale."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.plots.given import numbers
from qed.plots.style import ACCENT, INK, SECOND, Axes, axes, plain


def coefficients(names: Sequence[str], values: ArrayLike, ax: Axes | None = None, *, most: int = 20) -> Axes:
    """Draw coefficients as bars, the largest in size at the top.

    They can be compared only when their columns are on one scale, as after `qed.StandardScaler`.

    Parameters
    ----------
    names : sequence of str
        What the coefficients belong to.
    values : array-like of shape (p,)
        The coefficients.
    ax : matplotlib axes, optional
        Where to draw.
    most : int
        How many bars to draw.

    Examples
    --------
    >>> ax = coefficients(["age", "income"], [0.1, -2.0])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['income', 'age']
    """
    values = numbers(values, "Coefficients")
    _check_names(names, len(values))
    order = np.argsort(-np.abs(values), kind="stable")[:most]
    ax = axes(ax, 6.0, 0.9 + 0.27 * len(order))
    places = np.arange(len(order))
    ax.barh(places, values[order], color=[ACCENT if value >= 0 else SECOND for value in values[order]], height=0.65)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(places, [plain(names[j], 32) for j in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_title("Coefficients", loc="left")
    return ax


def importances(names: Sequence[str], importances: ArrayLike, ax: Axes | None = None, *, most: int = 20) -> Axes:
    """Draw how much of its score a model loses without each column, the largest loss at the top, with the spread over the shuffles.

    Parameters
    ----------
    names : sequence of str
        The columns.
    importances : array-like of shape (p, n_repeats)
        The losses of each shuffle of each column.
    ax : matplotlib axes, optional
        Where to draw.
    most : int
        How many columns to draw.

    Examples
    --------
    >>> ax = importances(["age", "income"], [[0.1, 0.2], [0.4, 0.5]])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['income', 'age']
    """
    table = numbers(importances, "Importances", ndim=2)
    _check_names(names, len(table))
    mean, spread = table.mean(axis=1), table.std(axis=1)
    order = np.argsort(-mean, kind="stable")[:most]
    ax = axes(ax, 6.0, 0.9 + 0.27 * len(order))
    places = np.arange(len(order))
    ax.barh(places, mean[order], color=ACCENT, height=0.65)
    ax.hlines(places, (mean - spread)[order], (mean + spread)[order], color=INK, linewidth=1.2)
    ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.set_yticks(places, [plain(names[j], 32) for j in order])
    ax.set_ylim(len(order) - 0.4, -0.6)
    ax.set(xlabel="score lost when the column is shuffled")
    ax.grid(False, axis="y")
    ax.tick_params(axis="y", length=0)
    ax.set_title("Importances", loc="left")
    return ax


def _check_names(names: Sequence[str], count: int) -> None:
    if len(names) != count:
        raise InputError(f"There must be one name for each of the {count} bars, not {len(names)} names.")


def filters(weights: ArrayLike, ax: Axes | None = None, *, columns: int = 8) -> Axes:
    """Draw filters, or other small pictures with a sign, beside each other: blue below zero, red above, white at zero.

    Parameters
    ----------
    weights : array-like of shape (n, height, width)
        The pictures, such as ``seeing.first_filters(network)[:, 0]`` or components of images.
    ax : matplotlib axes, optional
        Where to draw.
    columns : int, default=8
        How many stand in a row.

    Examples
    --------
    >>> import numpy as np
    >>> filters(np.eye(3)[None] * [[[1.0]], [[-1.0]]]).get_title(loc="left")
    '2 filters of 3 x 3'
    """
    pictures = np.asarray(weights, dtype=float)
    if pictures.ndim != 3 or not pictures.size or not np.isfinite(pictures).all():
        raise InputError(
            f"Filters are drawn from finite numbers of the shape (n, height, width), not {pictures.shape}: choose a channel."
        )
    (n, high, wide), reach = pictures.shape, float(np.abs(pictures).max()) or 1.0
    across, down = min(columns, n), -(-n // columns)
    # A frame of a pixel stays empty around each.
    sheet = np.full((down * (high + 1) + 1, across * (wide + 1) + 1), np.nan)
    ax = axes(ax, 0.9 * across + 1.2, 0.9 * down + 0.6)
    for number, picture in enumerate(pictures):
        top, left = (number // columns) * (high + 1) + 1, (number % columns) * (wide + 1) + 1
        sheet[top : top + high, left : left + wide] = picture
        ax.text(left - 0.4, top - 0.55, str(number), color=INK, fontsize=7, va="bottom")
    drawn = ax.imshow(sheet, cmap="RdBu_r", vmin=-reach, vmax=reach, interpolation="nearest")
    ax.figure.colorbar(drawn, ax=ax, label="weight", shrink=0.9)
    ax.set_title(f"{n} filters of {high} x {wide}", loc="left")
    ax.set_axis_off()
    return ax
