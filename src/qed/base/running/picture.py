"""The one picture of the way a fit went, for traces and for ``qed.plots.trace``."""

from typing import Any

from qed.base.errors import InputError


def draw_records(records: list[dict[str, Any]], ax: Any, title: str, colours: tuple[str, str] = ("C0", "C1")) -> Any:
    """Draw the objective, and the gap where there is one, against the iterations.

    Parameters
    ----------
    records : list of dict
        Number, objective and gap of every iteration, as a ``Trace`` has them.
    ax : matplotlib axes
        Where to draw.
    title : str
        What is drawn.
    colours : tuple of two colours
        Of the objective, and of the gap.
    """
    if not records:
        raise InputError("There is no iteration to draw: the trace is empty.")
    # What comes before the first iteration, such as seeding, has another objective.
    records = [record for record in records if record["number"] >= 0] or records
    look: dict[str, Any] = {"marker": "o", "markersize": 3.5}
    numbers = [record["number"] for record in records]
    objective = [record["objective"] for record in records]
    ax.plot(numbers, objective, color=colours[0], linewidth=1.6, label="objective (left)", **look)
    lines = [ax.lines[-1]]
    ax.set(xlabel="iteration", ylabel="objective")
    ax.set_title(title, loc="left")
    # Iterations are counted: no tick stands between two of them.
    ax.locator_params(axis="x", integer=True)
    gaps = [(record["number"], record["gap"]) for record in records if record["gap"]]
    if gaps:
        side = ax.twinx()
        # Dashed, so that the two are told apart in print.
        lines += side.semilogy(
            *zip(*gaps), color=colours[1], linewidth=1.2, linestyle="--", label="gap (right)", **look
        )
        side.set_ylabel("distance from the certificate")
        side.grid(visible=False)
    ax.legend(handles=lines, loc="upper right", fontsize=9)
    return ax
