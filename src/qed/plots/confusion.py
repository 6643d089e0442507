"""Which classes are taken for which: a square for every pair, darker where more of the row's class end there."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from qed.plots.style import ACCENT, INK, ON_COLOUR, PAPER, RULE, Axes, axes, plain

MOST_WRITTEN = 15


def confusion_matrix(counts: ArrayLike, classes: Sequence[object] | np.ndarray, ax: Axes | None = None) -> Axes:
    """Draw a confusion matrix.

    Parameters
    ----------
    counts : array-like of shape (k, k)
        How many rows of each true class (row) were predicted to be of each class (column).
    classes : sequence of length k
        The names of the classes.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> ax = confusion_matrix([[8, 2], [1, 9]], ["no", "yes"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['no', 'yes']
    """
    from matplotlib.patches import Rectangle

    counts = np.asarray(counts, dtype=float)
    k = len(counts)
    side = min(7.0, 2.6 + 0.5 * k)
    ax = axes(ax, side + 0.8, side)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1e-300)
    # Of many classes most pairs never occur.
    for row, column in np.argwhere(share > 0):
        place = (column - 0.5, row - 0.5)
        ax.add_patch(Rectangle(place, 1, 1, facecolor=ACCENT, alpha=float(share[row, column]), linewidth=0))
        if k <= MOST_WRITTEN:
            dark = share[row, column] > 0.55
            words = f"{counts[row, column]:g}"
            ax.text(column, row, words, ha="center", va="center", color=PAPER if dark else INK, gid=ON_COLOUR)
    ax.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal", xlabel="predicted", ylabel="true")
    if k <= 40:
        names = [plain(name, 16) for name in classes]
        turn = 0 if max(len(name) for name in names) * k <= 48 else 45
        ax.set_xticks(range(k), names, rotation=turn, ha="right" if turn else "center")
        ax.set_yticks(range(k), names)
    ax.grid(False)
    ax.set_title("Confusion matrix", loc="left")
    for spine in ax.spines.values():
        spine.set(visible=True, color=RULE)
    ax.tick_params(length=0)
    return ax
