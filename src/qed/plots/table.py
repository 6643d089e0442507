"""A table at a glance: one small picture for each column, of how often its values occur."""

from typing import Any

import numpy as np

from qed.base.counts import Counts
from qed.base.sources.layout import kind_of, values_of
from qed.base.sources.open import rows
from qed.plots.style import ACCENT, STYLE, Axes, plain


def histograms(X: Any, *, columns: int = 4, bins: int = 20) -> Any:
    """Draw the distribution of every column of a table: numbers as histograms, everything else as counts of its commonest values.

    Parameters
    ----------
    X : frame, Arrow table, or anything that `qed.rows` takes
        The table.
    columns : int
        Pictures side by side.
    bins : int
        Bars of a histogram.

    Returns
    -------
    matplotlib figure
        With one picture for each column.

    Examples
    --------
    >>> import qed
    >>> figure = histograms(qed.data.load("penguins").table)
    >>> [ax.get_title(loc="left") for ax in figure.axes[:2]]
    ['species', 'island']
    """
    import matplotlib.pyplot as plt

    table = rows(X).table().array().X
    across = max(1, min(columns, table.num_columns))
    down = -(-table.num_columns // across)
    with plt.rc_context(STYLE):
        figure, grid = plt.subplots(
            down, across, figsize=(2.4 * across, 1.7 * down), layout="constrained", squeeze=False
        )
    for ax, name in zip(grid.flat, table.column_names):
        _draw(ax, table.column(name).drop_null(), bins)
        ax.set_title(plain(name, 24), loc="left", fontsize=10)
    for ax in grid.flat[table.num_columns :]:
        ax.remove()
    return figure


def _draw(ax: Axes, column: Any, bins: int) -> None:
    ax.tick_params(labelsize=8)
    ax.grid(False)
    if kind_of(column.type) in ("number", "time") and str(column.type) != "bool":
        values = values_of(column)
        if values.dtype.kind == "M":
            ax.hist(values.astype("datetime64[ns]"), bins=bins, color=ACCENT)
            return
        finite = np.asarray(values, dtype=float)
        finite = finite[np.isfinite(finite)]
        if len(finite) and (finite == np.round(finite)).all() and np.ptp(finite) < bins:
            # Few whole numbers, such as years: a bar for each, and no marks between them.
            edges = np.arange(finite.min() - 0.5, finite.max() + 1).tolist()
            ax.hist(finite, bins=edges, color=ACCENT, rwidth=0.8)
            ax.locator_params(axis="x", integer=True, nbins=5)
        else:
            ax.hist(finite, bins=bins, color=ACCENT)
        return
    seen = Counts.of_columns([column])
    pairs = sorted(zip(seen.rows().tolist(), map(str, seen.values())), reverse=True)[:6]
    places = np.arange(len(pairs))
    ax.barh(places, [count for count, _ in pairs], color=ACCENT, height=0.7)
    ax.set_yticks(places, [plain(word, 14) for _, word in pairs])
    ax.invert_yaxis()
