"""Coefficients as bars, the largest first: what moves the prediction, and in which direction."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

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
    values = np.asarray(values, dtype=float)
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
    table = np.atleast_2d(np.asarray(importances, dtype=float))
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
