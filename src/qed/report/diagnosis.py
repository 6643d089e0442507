"""What can be said about the best model beyond its score: what it predicts for rows it has not seen, and whether more rows would help."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import NotAvailableError, QedError
from qed.base.threads.interrupts import TimeIsUpError, done_by
from qed.selection.comparing.budget import Clock
from qed.selection.comparing.leaderboard import Comparison
from qed.selection.diagnosis.curves import LearningCurve, learning_curve

MOST_ROWS, MOST_WORK = 200_000, 5e8
MANY_SECONDS, MOST_SECONDS = 20.0, 120.0
NO_TIME = "left out for want of time; --budget gives more"
SHARES, FEWER = (0.1, 0.2, 0.4, 0.7, 1.0), (0.2, 0.45, 1.0)


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """A closer look at the best model."""

    predicted: np.ndarray | None = None  # for each row, what a model said that was fitted without its fold
    curve: LearningCurve | None = None  # scores against the number of training rows
    missing: str = ""  # why there is no learning curve, if there is none


def diagnose(comparison: Comparison, clock: Clock) -> Diagnosis:
    """Look closer at the best model of a comparison, on the same folds, for as long as there is time."""
    if comparison.task == "clustering":
        return Diagnosis()
    # What is made of rows held out may take all the time, half of the rest is for the curve.
    with done_by(clock.end):
        comparison.members  # noqa: B018
    predicted = comparison.predicted
    if comparison.forward:
        return Diagnosis(predicted, missing="left out: rows are judged in the order of time")
    block = comparison.rows.array()
    model = comparison.best.contender.table_model(comparison.best.setting)
    folds, pairs = comparison.folds, comparison.pairs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if len(folds) > MOST_ROWS:
            return Diagnosis(predicted, None, f"left out: it would take long for more than {MOST_ROWS:,} rows")
        try:
            with done_by(clock.end - max(clock.left, 0.0) / 2 if clock.left < np.inf else np.inf):
                curve = _curve(model, block, pairs, comparison, clock.left / 2)
        except QedError as error:
            return Diagnosis(predicted, None, str(error).rstrip("."))
        except TimeIsUpError:
            return Diagnosis(predicted, None, NO_TIME)
    return Diagnosis(predicted, curve)


def _curve(model: Any, block: Any, pairs: list[Any], comparison: Comparison, left: float) -> LearningCurve:
    """Begin with shares likely to hold all classes, more rows than columns and than neighbours; spend less on large models.

    About how long a fit takes is known from the one to all rows, and from what was counted.
    """
    inner = comparison.best.model.model_
    begin = 0 if len(block.y) >= 200 else 2
    shares: tuple[float, ...] = tuple(
        share for share in SHARES[begin:] if share * len(pairs[0][0]) > getattr(inner, "n_neighbors", 0)
    )
    coefficients, classes = np.size(getattr(inner, "coef_", ())), len(getattr(inner, "classes_", ()))
    each = max(inner._seconds_on(len(block.y), inner.n_features_in_, classes), comparison.best.seconds)
    seconds = len(pairs) * sum(shares) * each
    if len(block.y) * coefficients**2 > MOST_WORK or seconds > min(MANY_SECONDS, left):
        shares, pairs = FEWER, pairs[:3]
        seconds = len(pairs) * sum(shares) * each
    if seconds > min(MOST_SECONDS, left):
        advice = "; --budget gives more" if seconds <= MOST_SECONDS else ""
        raise NotAvailableError(f"left out: its fits could take {seconds:,.0f} seconds{advice}")
    return learning_curve(
        model,
        block.X,
        block.y,
        train_sizes=shares,
        cv=pairs,
        scoring=comparison.scoring,
        shuffle=True,
        random_state=comparison.seed,
    )
