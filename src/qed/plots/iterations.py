"""The way an iterative fit went: its objective, and its distance from the certificate, iteration by iteration."""

from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.plots.given import having
from qed.plots.style import ACCENT, SECOND, Axes, axes


def iterations_of(fit: Any) -> list[dict[str, Any]]:
    """Give what a fitted model, its ending or a trace knows of its iterations: one record for each, at least one."""
    ending = getattr(fit, "ending_", fit)
    if not hasattr(ending, "trace"):
        having(ending, ("records",), "a fitted iterative model, its ending, or a trace of qed.watch")
    known = list(ending.trace if hasattr(ending, "trace") else ending.records)
    if not known:
        raise InputError("There is no iteration to draw: the trace is empty.")
    return known


def trace(fit: Any, ax: Axes | None = None) -> Axes:
    """Draw the trace of an iterative fit.

    Parameters
    ----------
    fit : fitted model, Ending or Trace
        Whatever knows its iterations: a model with ``ending_``, that ending, or a trace of ``qed.watch``.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> trace(qed.KMeans(3, random_state=0).fit(X)).get_xlabel()
    'iteration'
    """
    known = iterations_of(fit)
    # What comes before the first iteration, such as seeding, has another objective.
    records = [record for record in known if record["number"] >= 0] or known
    ax = axes(ax)
    numbers = np.array([record["number"] for record in records])
    objective = np.array([record["objective"] for record in records])
    ax.plot(numbers, objective, color=ACCENT, marker="o", markersize=3.5, linewidth=1.6, label="objective (left)")
    ax.set(xlabel="iteration", ylabel="objective")
    ax.set_title(str(getattr(fit, "model", "")) or "Iterations", loc="left")
    # Iterations are counted: no tick stands between two of them.
    ax.locator_params(axis="x", integer=True)
    gaps = [(record["number"], record["gap"]) for record in records if record["gap"]]
    if gaps:
        side = ax.twinx()
        side.semilogy(*zip(*gaps), color=SECOND, marker="o", markersize=3.5, linewidth=1.2, label="gap (right)")
        side.set_ylabel("distance from the certificate")
        side.grid(False)
        ax.legend(handles=[*ax.lines, *side.lines], loc="upper right", fontsize=9)
    else:
        ax.legend(loc="upper right", fontsize=9)
    return ax
