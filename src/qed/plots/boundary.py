"""What a classifier or a clustering says of every point of the plane: boundaries, margins with the case of each row, cells of centres."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.plots.given import having, labels, plane
from qed.plots.style import HUES, INK, MUTED, Axes, axes, plain

# How many points each side of the plane is looked at.
FINE = 240
CASES = {
    "not needed": ("o", "outside the margin, multiplier 0"),
    "on the margin": ("s", "on the margin, multiplier between 0 and C"),
    "inside": ("X", "inside the margin or wrong, multiplier C"),
}


def decision_boundary(model: Any, X: ArrayLike, y: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw which class a classifier gives every point of the plane, with the rows.

    Parameters
    ----------
    model : fitted classifier
        Of two columns.
    X, y : array-like of shape (n, 2) and (n,)
        The rows and their classes.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.synthetic.blobs(60, random_state=0)
    >>> decision_boundary(qed.GaussianNB().fit(X, y), X, y).get_title(loc="left")
    'GaussianNB'
    """
    having(model, ("predict",), "a fitted classifier")
    rows = plane(X)
    found = labels(y, len(rows))
    first, second, points = _mesh(rows)
    answers = _asked(model.predict, points)
    if (answers.dtype.kind in "biuf") != (found.dtype.kind in "biuf"):
        raise InputError(
            f"The model answers {answers[0]!r}, but the labels are such as {found[0]!r}: give those of the fit."
        )
    classes = np.unique([*found.tolist(), *np.unique(answers).tolist()])
    ax = axes(ax, 5.4, 4.2)
    predicted = np.searchsorted(classes, answers).reshape(first.shape)
    levels = np.arange(len(classes) + 1) - 0.5
    ax.contourf(first, second, predicted, levels=levels, colors=[_hue(k) for k in range(len(classes))], alpha=0.18)
    for number, label in enumerate(classes):
        mine = rows[found == label]
        ax.plot(*mine.T, "os^Dv"[number % 5], color=_hue(number), markersize=4.5, markeredgewidth=0, label=plain(label))
    ax.set(xlabel="first column", ylabel="second column")
    ax.set_title(type(model).__name__, loc="left")
    ax.legend(loc="best", fontsize=9, title="class")
    return ax


def margins(model: Any, X: ArrayLike, y: ArrayLike, ax: Axes | None = None) -> Axes:
    """Draw the plane of a support vector machine, its margins, and the case of each row: by its multiplier.

    Parameters
    ----------
    model : fitted SVC
        Of two classes and two columns.
    X, y : array-like of shape (n, 2) and (n,)
        The rows of the fit and their classes.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.synthetic.blobs(60, random_state=0)
    >>> model = qed.SVC(kernel="linear").fit(X[y < 2], y[y < 2])
    >>> margins(model, X[y < 2], y[y < 2]).get_title(loc="left")
    'Margins'
    """
    having(model, ("decision_function", "dual_coef_", "support_"), "a fitted qed.SVC")
    rows = plane(X)
    found = labels(y, len(rows))
    if len(np.unique(found)) != 2 or np.max(model.support_, initial=-1) >= len(rows):
        raise InputError("Margins are drawn of a machine of two classes, with the rows that it was fitted to.")
    first, second, points = _mesh(rows)
    score = _asked(model.decision_function, points).reshape(first.shape)
    ax = axes(ax, 5.4, 4.2)
    ax.contour(
        first, second, score, levels=[-1, 0, 1], colors=INK, linestyles=["--", "-", "--"], linewidths=[1, 1.6, 1]
    )
    weight = np.zeros(len(rows))
    weight[np.asarray(model.support_)] = np.abs(np.ravel(model.dual_coef_))
    above = found == np.unique(found)[-1]
    most = float(weight.max(initial=0.0)) if model.C is None else float(model.C)
    free = (weight > 1e-8 * most) & (weight < most * (1 - 1e-8))
    for name, mine in (
        ("not needed", weight <= 1e-8 * most),
        ("on the margin", free),
        ("inside", weight >= most * (1 - 1e-8)),
    ):
        marker, words = CASES[name]
        for side in (False, True):
            chosen = mine & (above == side)
            ax.plot(
                *rows[chosen].T, marker, color=_hue(int(side)), markersize=6, markeredgewidth=0.4, markeredgecolor=INK
            )
        ax.plot([], [], marker, color=MUTED, label=f"{words} ({int(mine.sum())})")
    ax.set(xlabel="first column", ylabel="second column")
    ax.set_title("Margins", loc="left")
    # Three long lines would hide rows wherever they stood inside.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), fontsize=8)
    return ax


def voronoi(centers: ArrayLike, X: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the cells of centres in the plane: all points that are nearest to each, which k-means makes its clusters.

    Parameters
    ----------
    centers : array-like of shape (k, 2)
        The centres.
    X : array-like of shape (n, 2), optional
        Rows to draw as well.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> voronoi([[0.0, 0.0], [2.0, 1.0]]).get_title(loc="left")
    'Cells of the nearest centre'
    """
    middles = plane(centers)
    rows = middles if X is None else plane(X)
    ax = axes(ax, 5.4, 4.2)
    first, second, points = _mesh(np.concatenate([rows, middles]))
    nearest = ((points[:, None] - middles[None]) ** 2).sum(axis=2).argmin(axis=1)
    levels = np.arange(len(middles) + 1) - 0.5
    colors = [_hue(k) for k in range(len(middles))]
    ax.contourf(first, second, nearest.reshape(first.shape), levels=levels, colors=colors, alpha=0.2)
    if X is not None:
        ax.plot(*rows.T, "o", color=MUTED, markersize=3, markeredgewidth=0, label="rows")
    ax.plot(*middles.T, "x", color=INK, markersize=8, label="centres")
    ax.set(xlabel="first column", ylabel="second column")
    ax.set_title("Cells of the nearest centre", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax


def _hue(number: int) -> str:
    return HUES[number % len(HUES)]


def _asked(method: Callable[[np.ndarray], object], points: np.ndarray) -> np.ndarray:
    """Give what a model says of points of the plane, which have no names where its columns had."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*valid feature names")
        return np.asarray(method(points))


def _mesh(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give a grid of points around rows, a tenth wider than they are."""
    low, high = rows.min(axis=0), rows.max(axis=0)
    pad = 0.1 * np.where(high > low, high - low, 1.0)
    sides = [np.linspace(a, b, FINE) for a, b in zip(low - pad, high + pad)]
    first, second = np.meshgrid(*sides)
    return first, second, np.column_stack([first.ravel(), second.ravel()])
