"""A mixture of two columns as ellipses: one, two standard deviations around the mean of each component."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.plots.given import having
from qed.plots.style import Axes, axes


def ellipses(
    mixture: Any,
    X: Any = None,
    ax: Axes | None = None,
    *,
    columns: Sequence[int] = (0, 1),
    deviations: Sequence[float] = (1, 2),
) -> Axes:
    """Draw the components of a mixture, and rows in the colours that their shares mix.

    Parameters
    ----------
    mixture : fitted GaussianMixture or Step
        Whatever has weights, means and covariances: a model, or a step on the way to it.
    X : array-like of shape (n, p), optional
        Rows to draw; of a model, in the mixed colours of the components they belong to.
    ax : matplotlib axes, optional
        Where to draw.
    columns : two int, default=(0, 1)
        Which columns to look at.
    deviations : sequence of float, default=(1, 2)
        How many standard deviations the ellipses are away.

    Examples
    --------
    >>> import qed
    >>> X, _ = qed.data.load("iris").Xy()
    >>> len(ellipses(qed.GaussianMixture(3, random_state=0).fit(X), X).lines)
    6
    """
    from matplotlib.colors import to_rgb

    means, covariances = (np.asarray(_of(mixture, name)) for name in ("means", "covariances"))
    k, p = means.shape
    chosen = list(columns)
    if len(chosen) != 2 or not all(0 <= int(column) < p for column in chosen):
        raise InputError(f"Ellipses need two columns of the {p} that there are, not columns={tuple(columns)}.")
    ax = axes(ax)
    colours = np.array([to_rgb(f"C{j % 10}") for j in range(k)])
    if X is not None:
        rows = np.asarray(X, dtype=np.float64)
        colour_of_rows = mixture.predict_proba(rows) @ colours if hasattr(mixture, "predict_proba") else "0.6"
        ax.scatter(rows[:, chosen[0]], rows[:, chosen[1]], s=8, c=colour_of_rows, alpha=0.7, linewidths=0)
    around = np.linspace(0, 2 * np.pi, 100)
    circle = np.stack([np.cos(around), np.sin(around)])
    for j in range(k):
        values, vectors = np.linalg.eigh(_matrix(covariances, j, k, p)[np.ix_(chosen, chosen)])
        for deviation in deviations:
            edge = means[j, chosen][:, None] + vectors @ (deviation * np.sqrt(np.maximum(values, 0))[:, None] * circle)
            ax.plot(edge[0], edge[1], color=colours[j], linewidth=1.8 / deviation)
    ax.scatter(means[:, chosen[0]], means[:, chosen[1]], marker="X", s=60, c=colours, edgecolors="white", zorder=3)
    return ax


def _of(mixture: Any, name: str) -> Any:
    """Give a fitted number of a model, or the same of a step."""
    if hasattr(mixture, name + "_"):
        return getattr(mixture, name + "_")
    return getattr(having(mixture, (name,), "a fitted mixture, such as qed.GaussianMixture, or a step to it"), name)


def _matrix(covariances: np.ndarray, j: int, k: int, p: int) -> np.ndarray:
    """Give the covariance of a component, whatever shape they have."""
    if covariances.ndim == 3:
        return covariances[j]
    if covariances.ndim == 1:
        return covariances[j] * np.eye(p)
    return covariances if covariances.shape == (p, p) and covariances.shape != (k, p) else np.diag(covariances[j])
