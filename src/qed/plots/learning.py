"""Learning by trial, drawn: what not knowing cost, and which way a policy goes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError
from qed.plots.given import having, named
from qed.plots.style import ACCENT, HUES, INK, MUTED, Axes, axes, plain

LINES = ("-", "--", "-.", ":")


def regret(players: Mapping[str, Any], ax: Axes | None = None) -> Axes:
    """Draw what not knowing the best arm has cost, pull after pull.

    Parameters
    ----------
    players : mapping of str to fitted player
        Such as ``qed.UpperConfidence``, by what they are to be called.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> player = qed.ThompsonSampling(pulls=100, runs=10, random_state=0).fit(qed.Bandit([0.2, 0.6]))
    >>> regret({"Thompson": player}).get_xlabel()
    'pulls'
    """
    for player in named(players, "players").values():
        having(player, ("regret_",), "fitted players of bandits, such as qed.UpperConfidence")
    ax = axes(ax)
    for number, (name, player) in enumerate(players.items()):
        curve = np.asarray(player.regret_)
        pulls = np.arange(1, len(curve) + 1)
        ax.plot(pulls, curve, LINES[number % 4], color=HUES[number % len(HUES)], linewidth=1.8, label=plain(name))
    ax.set(xlabel="pulls", ylabel="regret (rewards lost, mean over runs)")
    ax.set_title("What not knowing costs", loc="left")
    ax.legend(loc="best", fontsize=9)
    return ax


def policy(world: Any, actions: ArrayLike, values: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw a policy in a grid world as arrows, with what each field is worth as its shade.

    Parameters
    ----------
    world : GridWorld
        The world.
    actions : array-like of shape (n_states,)
        The action in each state.
    values : array-like of shape (n_states,), optional
        What each state is worth.
    ax : matplotlib axes, optional
        Where to draw.

    Examples
    --------
    >>> import qed
    >>> world = qed.GridWorld(["S.G"])
    >>> plan = qed.ValueIteration().fit(world)
    >>> len(policy(world, plan.policy_, plan.values_).texts)
    3
    """
    having(world, ("shape", "plan", "arrows"), "a qed.GridWorld")
    rows, columns = world.shape
    for what, given in (("actions", actions), ("values", values)):
        if given is not None and np.shape(given) != (rows * columns,):
            raise InputError(f"There must be one of the {what} for each of the {rows * columns} fields of the world.")
    ax = axes(ax, 0.6 + 0.62 * columns, 0.8 + 0.62 * rows)
    worth = np.zeros(rows * columns) if values is None else np.asarray(values, dtype=float)
    low, high = float(worth.min()), float(worth.max())
    shade = (worth - low) / (high - low) if high > low else np.zeros(len(worth))
    drawn = [line.split(" ") for line in world.arrows(np.asarray(actions)).split("\n")]
    for place in range(rows * columns):
        row, column = divmod(place, columns)
        wall = world.plan[row][column] == "#"
        ax.fill(
            column + np.array([0, 1, 1, 0]), row + np.array([0, 0, 1, 1]),
            facecolor=MUTED if wall else ACCENT, alpha=0.8 if wall else 0.08 + 0.5 * float(shade[place]), edgecolor=INK, linewidth=0.5,
        )  # fmt: skip
        ax.text(column + 0.5, row + 0.5, drawn[row][column], ha="center", va="center", color=INK, fontsize=13)
    ax.set(xlim=(0, columns), ylim=(rows, 0), xticks=[], yticks=[], aspect="equal")
    ax.grid(False)
    ax.set_title("Policy" if values is None else "Policy, and what fields are worth:\nthe darker, the more", loc="left")
    return ax
