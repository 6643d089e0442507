"""Scores against the number of rows and against a hyperparameter, and predictions against a column.

A *learning curve* says whether more rows would help: when training and validation scores have met, they would not. A *validation
curve* shows the price of too much and too little freedom. Bands are one standard error of the mean over the folds. *Partial dependence*
is the mean prediction against the values of one column, with the range of most rows about it.
"""

from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.plots.given import having
from qed.plots.style import ACCENT, HUES, INK, SECOND, Axes, axes, plain
from qed.plots.theory import LINES

DAY = 86_400
MOST_OUTPUTS = 6


def learning_curve(
    sizes: ArrayLike, train_scores: ArrayLike, test_scores: ArrayLike, ax: Axes | None = None, *, ylabel: str = "score"
) -> Axes:
    """Draw training and validation scores against the number of training rows.

    Parameters
    ----------
    sizes : array-like of shape (m,)
        Numbers of training rows.
    train_scores, test_scores : array-like of shape (m, folds)
        The scores of each fold at each size.
    ax : matplotlib axes, optional
        Where to draw.
    ylabel : str
        The name of the score.

    Examples
    --------
    >>> ax = learning_curve([50, 100], [[0.9, 0.95], [0.9, 0.9]], [[0.6, 0.7], [0.8, 0.85]])
    >>> len(ax.lines)
    2
    """
    ax = axes(ax)
    _line(ax, sizes, train_scores, SECOND, "rows it was fitted on")
    _line(ax, sizes, test_scores, ACCENT, "rows held out")
    ax.set(xlabel="training rows", ylabel=ylabel)
    ax.set_title("Learning curve", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax


def validation_curve(
    values: ArrayLike,
    scores: ArrayLike,
    ax: Axes | None = None,
    *,
    xlabel: str = "value",
    ylabel: str = "score",
    chosen: float | None = None,
) -> Axes:
    """Draw cross-validated scores against the values of a hyperparameter.

    Parameters
    ----------
    values : array-like of shape (m,)
        The values, rising. They are drawn on a logarithmic scale when they span more than a factor of fifty.
    scores : array-like of shape (m, folds)
        The scores of each fold at each value.
    ax : matplotlib axes, optional
        Where to draw.
    xlabel, ylabel : str
        The names of the hyperparameter and of the score.
    chosen : float, optional
        The value to mark.

    Examples
    --------
    >>> ax = validation_curve([0.01, 1.0, 100.0], [[0.5], [0.7], [0.4]], xlabel="alpha", chosen=1.0)
    >>> ax.get_xscale()
    'log'
    """
    ax = axes(ax)
    values = np.asarray(values, dtype=float)
    _line(ax, values, scores, ACCENT, "rows held out")
    if values.min() > 0 and values.max() > 50 * values.min():
        ax.set_xscale("log")
    if chosen is not None:
        ax.axvline(float(chosen), color=INK, linewidth=0.8, linestyle=(0, (4, 3)))
        ax.annotate(
            f"chosen: {float(chosen):.4g}",
            (float(chosen), 0.02),
            xycoords=("data", "axes fraction"),
            xytext=(4, 0),
            textcoords="offset points",
            fontsize=9,
        )
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title("Validation curve", loc="left")
    return ax


def dependence(found: Any, ax: Axes | None = None) -> Axes:
    """Draw what ``qed.partial_dependence`` gives: lines over numbers and dates, bars over categories.

    Parameters
    ----------
    found : PartialDependence
        What it gives.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> found = qed.partial_dependence(qed.LinearRegression().fit(X, y), X, 0)
    >>> dependence(found).get_xlabel()
    'x0'
    """
    having(found, ("outputs", "places", "average"), "what qed.partial_dependence gives")
    ax = axes(ax)
    outputs = range(min(len(found.outputs), MOST_OUTPUTS))
    draw = _categories if found.places is None else _numbers
    draw(ax, found, outputs)
    if len(outputs) > 1:
        ax.legend(loc="best", fontsize=9)
    ax.set_title(f"{plain(found.name)}", loc="left")
    return ax


def _numbers(ax: Axes, found: Any, outputs: range) -> None:
    places = np.asarray(found.places)
    for k in outputs:
        color = ACCENT if len(outputs) == 1 else HUES[k % len(HUES)]
        style = LINES[0] if len(outputs) == 1 else LINES[k % len(LINES)]
        ax.plot(places, found.average[:, k], style, color=color, linewidth=1.8, label=plain(found.outputs[k], 24))
    if len(outputs) == 1:
        low, high = np.quantile(found.each[:, :, 0], [0.1, 0.9], axis=0)
        ax.fill_between(places, low, high, color=ACCENT, alpha=0.15, linewidth=0)
    # Where there are rows: a short line for each value that was tried, which are quantiles.
    ax.plot(places, np.zeros(len(places)), "|", color=ACCENT, markersize=6, transform=ax.get_xaxis_transform())
    if found.is_date:
        ticks = np.linspace(places[0], places[-1], 4)
        ax.set_xticks(ticks, [datetime.fromtimestamp(float(one) * DAY, UTC).strftime("%Y-%m-%d") for one in ticks])
    ax.set(xlabel=plain(found.name), ylabel=plain(found.outputs[0], 28) if len(outputs) == 1 else "mean prediction")


def _categories(ax: Axes, found: Any, outputs: range) -> None:
    count, height = len(found.values), 0.8 / max(len(outputs), 1)
    for k in outputs:
        color = ACCENT if len(outputs) == 1 else HUES[k % len(HUES)]
        where = np.arange(count) + (k - (len(outputs) - 1) / 2) * height
        if len(outputs) == 1:
            low, high = np.quantile(found.each[:, :, 0], [0.1, 0.9], axis=0)
            ax.hlines(where, low, high, color=color, alpha=0.3, linewidth=5)
        ax.plot(found.average[:, k], where, "o", color=color, markersize=6, label=plain(found.outputs[k], 24))
    ax.set_yticks(range(count), [plain(value, 24) for value in found.values])
    ax.set_ylim(count - 0.4, -0.6)
    ax.set(xlabel=plain(found.outputs[0], 28) if len(outputs) == 1 else "mean prediction", ylabel="")
    ax.grid(False, axis="y")


def _line(ax: Axes, x: ArrayLike, scores: ArrayLike, color: str, label: str) -> None:
    """Draw the mean over the folds with a band of one standard error."""
    x, scores = np.asarray(x, dtype=float), np.atleast_2d(np.asarray(scores, dtype=float))
    mean, folds = scores.mean(axis=1), scores.shape[1]
    ax.plot(x, mean, color=color, marker="o", markersize=3.5, linewidth=1.6, label=label)
    if folds > 1:
        error = scores.std(axis=1, ddof=1) / np.sqrt(folds)
        ax.fill_between(x, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
