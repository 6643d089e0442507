r"""Training as a generator of steps, one for each epoch.

A step holds the weights, what the rule of updates remembers, and how training has gone so far, so that going on from it is going on as
if nothing had happened: orders and draws are keyed by (seed, epoch). Training ends by itself when the loss, or the score on rows that were
held out, has not become better by more than ``tol`` for ``patience`` epochs; with rows held out it then goes back to the weights that did
best on them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from qed.base.running.steps import Halt, Reason, Step
from qed.base.threads.team import team
from qed.neural.engine.node import Array
from qed.neural.training.passes import Course
from qed.neural.training.schedules import Schedule
from qed.neural.training.updates import Moving

# With the schedule "adaptive", training ends below this rate.
LEAST_RATE = 1e-6


class Judged(NamedTuple):
    """What rows that were held out say of the weights.

    Where there are classes, the loss decides and not the accuracy, which stands still where one class is rare until the network is good.
    """

    score: float  # what is told
    goodness: float  # what decides, larger is better


@dataclass(frozen=True)
class Patience:
    """When training ends by itself."""

    epochs: float = 10  # how many epochs may go by without getting better
    tol: float = 1e-4  # what counts as better
    judge: Callable[[], Judged] | None = None  # of rows that were held out, with the network's own weights


def epochs(
    course: Course, schedule: Schedule, patience: Patience, start: Step | None = None
) -> Generator[Step, None, Halt]:
    """Yield a step for each epoch, from the beginning (which is a step, too, before any update) or from `start`.

    The network's own vector is what is trained; who keeps a step copies nothing.
    """
    network = course.network
    known = {} if start is None else start.state
    if start is None:
        first, second = course.update.begin(network.vector)
        moving = Moving(network.vector, first, second)
    else:
        network.vector[:] = known["vector"]
        for name, value in network.running.items():
            value[...] = known["running"][name]
        # Rows may have come in another precision since.
        first, second = (known[name].astype(network.dtype) for name in ("first", "second"))
        moving = Moving(network.vector, first, second, known["updates"])
    epoch, visited, cuts = (int(known.get(name, 0)) for name in ("epoch", "visited", "cuts"))
    best, still = float(known.get("best", -np.inf)), int(known.get("still", 0))
    kept: Array = np.asarray(known.get("kept", np.zeros(0, network.dtype)))
    losses, scores = list(known.get("losses", [])), list(known.get("scores", []))
    with team(None if course.shares else 1) as crew:
        while True:
            if start is None and epoch > 0:
                yield Step(
                    losses[-1],
                    vector=network.vector.copy(),
                    running={name: value.copy() for name, value in network.running.items()},
                    first=moving.first.copy(),
                    second=moving.second.copy(),
                    updates=moving.updates,
                    epoch=epoch,
                    visited=visited,
                    cuts=cuts,
                    best=best,
                    still=still,
                    kept=kept,
                    losses=list(losses),
                    scores=list(scores),
                    seed=course.seed,
                )
            start = None
            if still > patience.epochs:
                cuts, still = cuts + 1, 0
                if schedule.kind != "adaptive" or schedule.rate(epoch, visited, cuts) < LEAST_RATE:
                    return Halt(Reason.STALLED, _why(patience))
            rate = schedule.rate(epoch, visited, cuts)
            epoch += 1
            with np.errstate(all="ignore"):  # where training runs away, the driver says so
                losses.append(course.epoch(moving, epoch, rate, crew))
            visited += course.rows.count()
            if not np.isfinite(losses[-1]):
                still = 0
                continue
            judged = Judged(np.nan, -losses[-1]) if patience.judge is None else patience.judge()
            now = judged.goodness
            if patience.judge is not None:
                scores.append(judged.score)
            still = 0 if now > best + patience.tol else still + 1
            if now > best:
                best = now
                if patience.judge is not None:
                    kept = network.vector.copy()


def _why(patience: Patience) -> str:
    what = "training loss" if patience.judge is None else "loss or score of the rows held out"
    return (
        f"The {what} did not become better by more than tol={patience.tol:g} for {patience.epochs:g} epochs in a row."
    )
