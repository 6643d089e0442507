"""How far predictions are from the truth: residuals against predictions, predictions against the truth, and which classes are
taken for which.

In a good model the residuals are a level cloud about zero; a bend means that a column enters in another way than the model
thinks, a funnel that the noise grows with the prediction.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.plots.given import numbers, pair
from qed.plots.style import ACCENT, INK, ON_COLOUR, PAPER, RULE, SECOND, Axes, axes, plain, some

MOST_WRITTEN = 15


def residuals(y: ArrayLike, predicted: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the residuals ``y - predicted`` against the predictions, with the level of groups of equal size.

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        What was true, and what a model said.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> ax = residuals(y, qed.LinearRegression().fit(X, y).predict(X))
    >>> ax.get_xlabel()
    'predicted'
    """
    y, predicted = pair(y, predicted, ("y", "predicted"))
    ax = axes(ax)
    left = y - predicted
    chosen = some(len(y))
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.plot(predicted[chosen], left[chosen], "o", color=ACCENT, alpha=0.45, markersize=4, markeredgewidth=0)
    centre, level = _levels(predicted, left)
    if len(centre) > 2:
        ax.plot(centre, level, color=SECOND, linewidth=1.6, label="mean of neighbours")
        ax.legend(loc="best", fontsize=9)
    ax.set(xlabel="predicted", ylabel="true − predicted", title="Residuals")
    return ax


def predicted_against_true(y: ArrayLike, predicted: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw predictions against the truth; a perfect model is the diagonal.

    Parameters
    ----------
    y, predicted : array-like of shape (n,)
        What was true, and what a model said.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> predicted_against_true([1.0, 2.0], [1.1, 1.9]).get_title(loc="left")
    'Predicted and true'
    """
    y, predicted = pair(y, predicted, ("y", "predicted"))
    ax = axes(ax)
    chosen = some(len(y))
    ends = [float(min(y.min(), predicted.min())), float(max(y.max(), predicted.max()))]
    ax.plot(ends, ends, color=INK, linewidth=0.8)
    ax.plot(y[chosen], predicted[chosen], "o", color=ACCENT, alpha=0.45, markersize=4, markeredgewidth=0)
    ax.set(xlabel="true", ylabel="predicted")
    ax.set_title("Predicted and true", loc="left")
    return ax


def _levels(predicted: np.ndarray, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Average prediction and residual over groups of neighbours, about as many as the square root of their number."""
    parts = np.array_split(np.argsort(predicted, kind="stable"), max(1, min(12, int(np.sqrt(len(left)) / 2))))
    pairs = np.array([[predicted[part].mean(), left[part].mean()] for part in parts])
    return pairs[:, 0], pairs[:, 1]


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

    counts = numbers(counts, "Counts", ndim=2)
    k = len(counts)
    if counts.shape != (k, len(classes)):
        raise InputError(f"{len(classes)} classes want a square table of as many counts, not the shape {counts.shape}.")
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
