"""Why a penalty on sizes makes coefficients zero: the ellipses of equal error, and the first point of a diamond or disc they touch.

The best coefficients within a ball lie where the smallest ellipse that reaches the ball touches it. A disc (squares) is touched at some
point of its smooth border; a diamond (sizes) has corners on the axes, where a coefficient is zero, and is often touched there.
"""

from typing import Any

import numpy as np
from scipy.optimize import brentq

from qed.base.errors import InputError
from qed.plots.given import numbers
from qed.plots.style import ACCENT, INK, SECOND, Axes, axes
from qed.regression.sparse.constrained import constrained_lasso


def tangency(X: Any, y: Any, radius: float, ax: Axes | None = None, *, norm: int = 1) -> Axes:
    """Draw the squared error over two coefficients, a ball around zero, and where they meet.

    Parameters
    ----------
    X : array-like of shape (n, 2)
        Two columns; there is no intercept.
    y : array-like of shape (n,)
        The target.
    radius : float
        The radius of the ball.
    ax : matplotlib axes, optional
        Where to draw.
    norm : {1, 2}
        The ball is a diamond (1, the lasso) or a disc (2, ridge regression).

    Returns
    -------
    axes
        The last point drawn is the best one in the ball.

    Examples
    --------
    >>> ax = tangency([[1.0, 0.0], [0.0, 1.0]], [3.0, 0.5], 2.0)
    >>> [float(value[0].round(6)) for value in ax.lines[-1].get_data()]
    [2.0, 0.0]
    """
    X, y = numbers(X, "Columns", ndim=2), numbers(y, "Targets")
    if X.ndim != 2 or X.shape[1] != 2 or norm not in (1, 2):
        raise InputError(
            f"Two columns and a norm of 1 or 2 can be drawn, not a table of shape {X.shape} and norm={norm!r}."
        )
    if len(y) != len(X) or not radius > 0:
        raise InputError(f"There must be one target for each of the {len(X)} rows, and a radius above zero.")
    ax = axes(ax, width=4.6, height=4.4)
    best = np.linalg.lstsq(X, y, rcond=None)[0]
    meet = constrained_lasso(X, y, radius, fit_intercept=False).coef if norm == 1 else _in_disc(X, y, best, radius)
    reach = 1.25 * max(radius, np.abs(best).max(), 1e-12)
    grid = np.linspace(-reach, reach, 201)
    points = np.stack(np.meshgrid(grid, grid))
    error = ((np.tensordot(X, points, axes=1) - y[:, None, None]) ** 2).sum(axis=0)
    least, touching = np.sum((X @ best - y) ** 2), np.sum((X @ meet - y) ** 2)
    levels = least + (touching - least) * np.array([0.1, 0.4, 1.0, 1.8, 3.0])
    if levels[-1] > levels[0]:
        ax.contour(grid, grid, error, levels=levels, colors=SECOND, linewidths=1)
    turn = np.linspace(0, 2 * np.pi, 5 if norm == 1 else 201)
    ax.fill(radius * np.cos(turn), radius * np.sin(turn), color=ACCENT, alpha=0.3, linewidth=0)
    ax.plot(*best[:, None], "+", color=SECOND, markersize=9, markeredgewidth=2, label="least squares")
    ax.plot(*meet[:, None], "o", color=INK, markersize=6, label=f"best in the ball ({meet[0]:.3g}, {meet[1]:.3g})")
    ax.set(xlabel="first coefficient", ylabel="second coefficient", aspect="equal")
    ax.set_title("Sizes: a diamond" if norm == 1 else "Squares: a disc", loc="left")
    ax.legend(loc="lower left", fontsize=8)
    return ax


def _in_disc(X: np.ndarray, y: np.ndarray, best: np.ndarray, radius: float) -> np.ndarray:
    """Find the ridge regression whose coefficients are as long as the radius."""
    if np.linalg.norm(best) <= radius or radius <= 0:
        return best if radius > 0 else np.zeros(2)
    gram, right = X.T @ X, X.T @ y

    def coef(penalty: float) -> np.ndarray:
        return np.linalg.solve(gram + penalty * np.eye(2), right)

    most = np.linalg.norm(right) / radius
    return coef(float(brentq(lambda penalty: np.linalg.norm(coef(penalty)) - radius, 1e-12 * most, most, xtol=1e-300)))
