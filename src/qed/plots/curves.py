"""Scores against the number of rows, and against a hyperparameter.

A *learning curve* says whether more rows would help: when training and validation scores have met, they would not. A *validation
curve* shows the price of too much and too little freedom. Bands are one standard error of the mean over the folds.
"""

import numpy as np
from numpy.typing import ArrayLike

from qed.plots.style import ACCENT, INK, SECOND, Axes, axes


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


def _line(ax: Axes, x: ArrayLike, scores: ArrayLike, color: str, label: str) -> None:
    """Draw the mean over the folds with a band of one standard error."""
    x, scores = np.asarray(x, dtype=float), np.atleast_2d(np.asarray(scores, dtype=float))
    mean, folds = scores.mean(axis=1), scores.shape[1]
    ax.plot(x, mean, color=color, marker="o", markersize=3.5, linewidth=1.6, label=label)
    if folds > 1:
        error = scores.std(axis=1, ddof=1) / np.sqrt(folds)
        ax.fill_between(x, mean - error, mean + error, color=color, alpha=0.15, linewidth=0)
