"""The way an iterative fit went: its objective, and its distance from the certificate, iteration by iteration."""

from typing import Any

from qed.base.errors import InputError
from qed.base.running.picture import draw_records
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
    title = str(getattr(fit, "model", "")) or "Iterations"
    return draw_records(iterations_of(fit), axes(ax), title, (ACCENT, SECOND))
