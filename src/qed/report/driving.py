"""What drives the best model: how much of its score it loses without each column of the table, and how the leading ones work."""

import warnings
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from qed.base.threads.interrupts import TimeIsUpError, done_by, moment
from qed.features.tables.columns import TextColumn
from qed.report.diagnosis import NO_TIME
from qed.selection.comparing.budget import Clock
from qed.selection.comparing.judging import with_positive
from qed.selection.comparing.leaderboard import Comparison
from qed.selection.diagnosis.dependence import PartialDependence, partial_dependence
from qed.selection.diagnosis.importance import PermutationImportance, permutation_importance, together
from qed.selection.scoring import get_scorer

# Rows of each fold that columns are shuffled among, and how often; the number of predictions that may be asked for, and their time.
MOST_ROWS, REPEATS, MOST_CALLS, MOST_SECONDS = 400, 2, 1_500, 15.0
LEADING, MOST_VALUES, AVERAGED = 4, 16, 300


@dataclass(frozen=True, eq=False)
class Driving:
    """What drives a model."""

    importance: PermutationImportance | None = None  # measured on rows held out
    dependences: tuple[PartialDependence, ...] = ()  # of the leading columns, the most important first
    how: str = ""  # on what the importances were measured
    missing: str = ""  # why there are none


def driving(comparison: Comparison, clock: Clock) -> Driving:
    """Shuffle the columns of rows held out, and look at what the leading ones do; bounded in rows, calls and time."""
    try:
        with done_by(clock.end):
            return _driving(comparison, min(MOST_SECONDS, clock.left))
    except TimeIsUpError:
        return Driving(missing=NO_TIME)


def _driving(comparison: Comparison, most: float) -> Driving:
    if comparison.task == "clustering" or comparison.best.is_baseline:
        return Driving()
    model, block = comparison.best.model, comparison.rows.array()
    X, y = block.X, np.asarray(block.y)
    pairs = list(zip(comparison.members, (test for _, test in comparison.pairs))) or [(model, np.arange(len(y)))]
    calls = X.num_columns * REPEATS * len(pairs)
    pairs = pairs[: max(1, int(len(pairs) * MOST_CALLS / max(calls, 1)))]
    moment()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = perf_counter()
        model.predict(X.take(pairs[0][1][:MOST_ROWS]))
        fold = (perf_counter() - began) * X.num_columns * REPEATS
        if fold > most or X.num_columns > MOST_CALLS:
            return Driving(missing=f"left out: shuffling {X.num_columns:,} columns would take long")
        pairs = pairs[: max(1, int(most / max(fold, 1e-9)))]
        scorer = with_positive(get_scorer(comparison.scoring), None, y)
        found = together(
            [
                permutation_importance(
                    member,
                    X.take(test),
                    y[test],
                    scoring=scorer,
                    n_repeats=REPEATS,
                    max_samples=MOST_ROWS,
                    random_state=comparison.seed + fold,
                )
                for fold, (member, test) in enumerate(pairs)
            ]
        )
        lines = tuple(
            partial_dependence(model, X, found.names[j], n_values=MOST_VALUES, max_samples=AVERAGED)
            for j in _leading(comparison, found)
        )
    unseen = "rows that the model had not seen" if comparison.members else "the rows of the fit"
    folds = f"; of {len(pairs)} of the folds" if comparison.members and len(pairs) < comparison.n_folds else ""
    few = f", at most {MOST_ROWS} of each fold" if len(y) > MOST_ROWS * len(pairs) else ""
    return Driving(
        found, lines, f"measured on {unseen}{few}{folds}, {found.importances.shape[1]} shuffles of each column"
    )


def _leading(comparison: Comparison, found: PermutationImportance) -> list[int]:
    """Choose the columns that matter by more than their spread; free text has no values to try."""
    encoder = comparison.best.model.changes_[0]
    texts = {column.place for column in encoder.columns_ if isinstance(column, TextColumn)}
    mean, spread = found.importances_mean, found.importances_std
    return [int(j) for j in found.order if mean[j] > spread[j] and j not in texts][:LEADING]


def leading_words(found: Driving) -> str:
    """Say which columns matter, and how many hardly do.

    >>> from qed.selection.diagnosis.importance import PermutationImportance
    >>> parts = PermutationImportance(("age", "zip"), np.array([[0.2, 0.3], [0.0, 0.0]]), 0.8)
    >>> leading_words(Driving(parts))
    'Most depends on age. Of zip it takes nothing that shuffling would spoil.'
    """
    one = found.importance
    if one is None:
        return ""
    mean, spread = one.importances_mean, one.importances_std
    matter = [one.names[j] for j in one.order if mean[j] > spread[j]]
    rest = [one.names[j] for j in one.order if not mean[j] > spread[j]]
    if not matter:
        return "No single column matters by more than its spread: what one says, others say too."
    lead = listed(matter[:3])
    if not rest:
        return f"Most depends on {lead}."
    names = listed(rest) if len(rest) <= 3 else f"{len(rest)} of {len(one.names)} columns"
    return f"Most depends on {lead}. Of {names} it takes nothing that shuffling would spoil."


def listed(words: list[str]) -> str:
    """Write a few words one after another.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
