"""How far predictions are from the truth: residuals against predictions, and predictions against the truth.

In a good model the residuals are a level cloud about zero; a bend means that a column enters in another way than the model
thinks, a funnel that the noise grows with the prediction.
"""

import numpy as np
from numpy.typing import ArrayLike

from qed.plots.style import ACCENT, INK, SECOND, Axes, axes, some


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
    ax = axes(ax)
    y, predicted = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
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
    ax = axes(ax)
    y, predicted = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
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
