"""Curves that the course is told with: losses, impurities, rates of true and false alarms, paths of coefficients, descent in comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.base.lazy import later
from qed.plots.given import having, named, numbers, pair
from qed.plots.iterations import iterations_of
from qed.plots.style import ACCENT, HUES, INK, MUTED, SECOND, Axes, axes, plain

impurity_of_nodes = later("qed.trees.impurity")
LINES = ("-", "--", "-.", ":")


def losses(functions: Mapping[str, Any], ax: Axes | None = None, *, reach: float = 3.0) -> Axes:
    """Draw losses of a label +1 or -1 against the margin, the score times the label, with the 0-1 loss behind them.

    Parameters
    ----------
    functions : mapping of str to Loss
        Losses of :mod:`qed.optim`, by what they are to be called.
    ax : matplotlib axes, optional
        Where to draw.
    reach : float
        The largest margin that is drawn, and minus it the smallest.

    Examples
    --------
    >>> from qed.optim import HingeLoss
    >>> losses({"hinge": HingeLoss()}).get_xlabel()
    'margin: label times score'
    """
    if not reach > 0:
        raise InputError(f"reach is the largest margin that is drawn: above zero, not {reach}.")
    for loss in named(functions, "losses").values():
        having(loss, ("value",), "losses of qed.optim, such as HingeLoss()")
    ax = axes(ax)
    margin = np.linspace(-reach, reach, 401)
    ax.plot(margin, (margin <= 0).astype(float), color=MUTED, linewidth=2.4, label="0-1")
    for number, (name, loss) in enumerate(functions.items()):
        values = [float(loss.value(np.array([m]), np.array([1.0]))) for m in margin]
        ax.plot(margin, values, LINES[number % 4], color=HUES[number % len(HUES)], linewidth=1.8, label=plain(name))
    ax.set(xlabel="margin: label times score", ylabel="loss", ylim=(-0.1, reach + 1))
    ax.set_title("Losses", loc="left")
    ax.legend(loc="upper right", fontsize=9)
    return ax


def impurities(ax: Axes | None = None) -> Axes:
    """Draw entropy, Gini's impurity and the misclassification of two classes against the share of one.

    Parameters
    ----------
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> len(impurities().lines)
    3
    """
    ax = axes(ax)
    share = np.linspace(0, 1, 201)
    counts = np.column_stack([share, 1 - share])
    for number, (name, kind) in enumerate(
        (("entropy (bits)", "entropy"), ("Gini", "gini"), ("error", "misclassification"))
    ):
        ax.plot(
            share,
            impurity_of_nodes.impurity(counts, kind),
            LINES[number],
            color=HUES[number],
            linewidth=1.8,
            label=name,
        )
    ax.set(xlabel="share of one class", ylabel="impurity")
    ax.set_title("Impurity of two classes", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax


def roc(curves: Mapping[str, tuple[ArrayLike, ArrayLike]], ax: Axes | None = None) -> Axes:
    """Draw true against false alarms for every threshold, one curve for each model, with the area below it.

    Parameters
    ----------
    curves : mapping of str to (false alarms, true alarms)
        What ``qed.roc_curve`` gives first and second, by the name of the model.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> roc({"perfect": ([0.0, 0.0, 1.0], [0.0, 1.0, 1.0])}).get_legend().get_texts()[1].get_text()
    'perfect (area 1.000)'
    """
    drawn = _pairs(curves, ("false alarms", "true alarms"))
    ax = axes(ax, 4.6, 4.2)
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":", label="by chance")
    for number, (name, (x, y)) in enumerate(drawn.items()):
        area = float(np.trapezoid(y, x))
        label = f"{plain(name)} (area {area:.3f})"
        ax.plot(x, y, LINES[number % 4], color=HUES[number % len(HUES)], linewidth=1.8, label=label)
    ax.set(xlabel="share of false alarms", ylabel="share of true alarms", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_title("Alarms, true and false", loc="left")
    ax.legend(loc="lower right", fontsize=9)
    return ax


def precision_recall(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]], ax: Axes | None = None, *, share: float | None = None
) -> Axes:
    """Draw precision against recall for every threshold, one curve for each model.

    Parameters
    ----------
    curves : mapping of str to (precision, recall)
        What ``qed.precision_recall_curve`` gives first and second, by the name of the model.
    ax : matplotlib axes, optional
        Where to draw.
    share : float, optional
        The share of positive rows, which is the precision of guessing.

    Examples
    --------
    >>> precision_recall({"perfect": ([1.0, 1.0], [1.0, 0.0])}).get_xlabel()
    'recall'
    """
    drawn = _pairs(curves, ("precision", "recall"))
    ax = axes(ax, 4.6, 4.2)
    if share is not None:
        ax.axhline(share, color=MUTED, linewidth=1, linestyle=":", label="by chance")
    for number, (name, (y, x)) in enumerate(drawn.items()):
        color, style = HUES[number % len(HUES)], LINES[number % len(LINES)]
        ax.plot(x, y, style, color=color, linewidth=1.8, label=plain(name), drawstyle="steps-post")
    ax.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_title("Precision and recall", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax


def calibration(
    came_true: ArrayLike, predicted: ArrayLike, ax: Axes | None = None, *, chances: ArrayLike | None = None
) -> Axes:
    """Draw how often what had a chance came true, against that chance; true probabilities are the diagonal.

    Parameters
    ----------
    came_true, predicted : array-like of shape (n_bins,)
        What ``qed.calibration_curve`` gives.
    ax : matplotlib axes, optional
        Where to draw.
    chances : array-like of shape (n,), optional
        All chances that were predicted, drawn as a histogram below.

    Examples
    --------
    >>> calibration([0.1, 0.9], [0.2, 0.8]).get_xlabel()
    'predicted chance'
    """
    came_true, predicted = pair(came_true, predicted, ("came_true", "predicted"))
    ax = axes(ax, 4.6, 4.2)
    if chances is not None:
        counts, edges = np.histogram(np.asarray(chances, dtype=float), bins=20, range=(0.0, 1.0))
        heights = 0.25 * counts / max(counts.max(), 1)
        ax.bar(edges[:-1], heights, width=0.05, align="edge", color=SECOND, alpha=0.3, label="how often it is given")
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=1, linestyle=":", label="true probabilities")
    ax.plot(np.asarray(predicted), np.asarray(came_true), "o-", color=ACCENT, linewidth=1.8, markersize=4)
    ax.set(xlabel="predicted chance", ylabel="share that came true", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    ax.set_title("Calibration", loc="left")
    ax.legend(loc="upper left", fontsize=9)
    return ax


def coefficient_path(
    alphas: ArrayLike, coef: ArrayLike, names: ArrayLike | None = None, ax: Axes | None = None
) -> Axes:
    """Draw how coefficients shrink as the penalty grows.

    Parameters
    ----------
    alphas : array-like of shape (k,)
        The penalties, above zero.
    coef : array-like of shape (k, p)
        The coefficients for each.
    names : array-like of str, optional
        What the coefficients belong to; the largest six are named.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> coefficient_path([0.1, 1.0], [[2.0, 1.0], [1.0, 0.0]]).get_xscale()
    'log'
    """
    penalties, values = numbers(alphas, "Penalties"), numbers(coef, "Coefficients", ndim=2)
    if len(values) != len(penalties) or not (penalties > 0).all():
        raise InputError("There must be one row of coefficients for each penalty, and penalties above zero.")
    ax = axes(ax)
    titles = (
        [f"column {j}" for j in range(values.shape[1])]
        if names is None
        else [plain(name) for name in np.asarray(names)]
    )
    order = np.argsort(-np.abs(values).max(axis=0), kind="stable")
    for place, j in enumerate(order):
        label = titles[j] if place < 6 else None
        ax.plot(
            penalties,
            values[:, j],
            LINES[place // len(HUES) % 4],
            color=HUES[place % len(HUES)],
            linewidth=1.5,
            label=label,
        )
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set(xscale="log", xlabel="penalty", ylabel="coefficient")
    ax.set_title("Path of the coefficients", loc="left")
    ax.legend(loc="best", fontsize=8)
    return ax


def _pairs(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]], names: tuple[str, str]
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Give curves by name, each as two lists that belong together."""
    found = {}
    for name, curve in named(curves, "curves").items():
        if len(curve) != 2:
            raise InputError(f"The curve {name!r} must be two lists, {names[0]} and {names[1]}, not {len(curve)}.")
        found[name] = pair(*curve, names)
    return found


def convergence(fits: Mapping[str, Any], least: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw how far above the least objective several methods are, iteration by iteration.

    Parameters
    ----------
    fits : mapping of str to fitted model, Ending or Trace
        Whatever knows its iterations, by the name of the method.
    least : float, optional
        The least objective; the least that any of them has found, if not given.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> from qed.optim import minimize
    >>> found = {name: minimize(lambda w: w @ w, [1.0, 2.0], method=name).ending for name in ("gradient", "newton")}
    >>> convergence(found).get_yscale()
    'log'
    """
    records = {name: iterations_of(fit) for name, fit in named(fits, "fits").items()}
    ax = axes(ax)
    bottom = min(row["objective"] for rows in records.values() for row in rows) if least is None else least
    for number, (name, rows) in enumerate(records.items()):
        above = np.array([row["objective"] - bottom for row in rows])
        shown = above > 0
        at = np.array([row["number"] for row in rows])
        ax.plot(
            at[shown], above[shown], LINES[number % 4], color=HUES[number % len(HUES)], linewidth=1.6, label=plain(name)
        )
    ax.set(yscale="log", xlabel="iteration", ylabel="objective above the least")
    ax.set_title("Convergence", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax
