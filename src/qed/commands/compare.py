"""``qed compare``: from a file to a leaderboard, a report and a saved model.

Reads the table, leaves out rows without a target, cross-validates every model for the task, writes the report and saves the best model.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import qed
from qed.base.errors import InputError, ParameterError, SourceError
from qed.base.saving.models import save
from qed.base.sources.formats.dialect import Dialect
from qed.base.sources.rows import ArrayRows
from qed.base.threads.interrupts import done_by
from qed.commands.boundary import began
from qed.commands.files import free
from qed.commands.source import read
from qed.report.classes import ClassLine, classes_of
from qed.report.clusters import clusters_dict
from qed.report.data import Data
from qed.report.page import write_report
from qed.report.reading import coverage_of, unseen_words
from qed.selection.comparing.budget import SECONDS, Clock
from qed.selection.comparing.comparison import compare as run
from qed.selection.comparing.leaderboard import Comparison, Entry, Progress
from qed.selection.guarantees.coverage import Coverage

# The best model is fitted once more for each fold, to see what it says of each class, if that takes no longer.
MOST_SECONDS = 20.0
# The rest of the time is for the report.
SHARE_OF_FITS, SHARE_WITHOUT_REPORT = 0.8, 0.9
# About how long the pictures of a report take.
PICTURES = 2.0


@dataclass(frozen=True, eq=False)
class Compared:
    """What ``qed compare`` did."""

    data: Data  # what was learned from
    comparison: Comparison  # the leaderboard
    # Where the report and the best model were written.
    report: str | None
    model: str | None
    seconds: float  # how long all of it took
    asked: bool = False  # whether clusters were asked for in so many words
    moved: tuple[str, ...] = ()  # which files were there already, so that others were written
    classes: list[ClassLine] | None = None  # how well each class is told; None where that was not looked at
    # How often intervals or sets hold rows held out; None where that was not looked at.
    coverage: Coverage | None = None
    unseen: tuple[str, ...] = ()  # what is to be said where there was no time to look at all rows held out

    def to_dict(self) -> dict[str, object]:
        """Give everything that a machine may want to know."""
        found = self.comparison
        return {
            "qed": qed.__version__,
            "data": self.data.name,
            "rows": int(self.data.table.num_rows),
            "rows_without_target": self.data.n_lost,
            "columns": list(found.rows.feature_names or ()),
            "target": self.data.target,
            "task": found.task,
            "why": found.why,
            "scoring": found.scoring,
            "says": [*self.data.says, *found.says, *self.unseen],
            "beats_guessing": found.beats_guessing,
            "simplest_of_the_best": found.simplest.name,
            "understood": None if found.columns is None else found.columns.to_dict(),
            "classes": [] if self.classes is None else [vars(one) for one in self.classes],
            "coverage": None if self.coverage is None else _held(self.coverage),
            "folds": found.n_folds,
            "seed": found.seed,
            "leaderboard": [_line(rank, entry) for rank, entry in enumerate(found.entries, start=1)],
            **({"clusters": clusters_dict(found)} if found.task == "clustering" else {}),
            "report": self.report,
            "model": self.model,
            "seconds": self.seconds,
        }


def _held(found: Coverage) -> dict[str, object]:
    return {"level": found.level, "kind": found.kind, "hits": found.hits, "rows": found.rows, "size": found.size}


def _line(rank: int, entry: Entry) -> dict[str, object]:
    certificate = None if entry.model is None else entry.model.certificate_.to_dict()
    return {
        "rank": rank,
        "name": entry.name,
        "class": type(entry.contender.model).__name__,
        "degree": entry.contender.degree,
        "score": None if entry.failure else entry.score,
        "standard_error": None if entry.failure else entry.standard_error,
        "other_scores": {} if entry.failure else {name: entry.other(name) for name in entry.others},
        "fold_scores": [] if entry.failure else entry.scores[entry.chosen].tolist(),
        "setting": {} if entry.failure else entry.setting,
        "seconds": entry.seconds,
        "certificate": certificate,
        "judged": "out of bag" if entry.out_of_bag else "folds",
        "rows_learned_from": None if entry.sample is None else int(entry.sample.sum()),
        "notes": list(entry.notes),
        "failure": entry.failure or None,
    }


def compare(
    data: str | Sequence[str],
    target: str | None = None,
    *,
    no_target: bool = False,
    drop: Sequence[str] = (),
    use: Sequence[str] = (),
    treat: Sequence[str] = (),
    time: str | None = None,
    group: str | None = None,
    dialect: Dialect | None = None,
    force: bool = False,
    task: str | None = None,
    cv: int = 5,
    seed: int = 0,
    scoring: str | None = None,
    positive: str | None = None,
    out_of_bag: bool = False,
    models: Sequence[str] = (),
    budget: float | None = None,
    report: str | None = None,
    model: str | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> Compared:
    """Compare all models for a table.

    Without a target the rows are clustered. Report and best model are written where a path is given; `command` is what
    the report gives as the command that made it.
    """
    clock = Clock(_seconds(budget), began.get())
    if no_target and target is not None:
        raise InputError(f"--no-target and --target {target} contradict each other: give one of them.")
    for path in (report, model):
        _check_place(path)
    wanted, (report, model) = (report, model), (path if force else free(path) for path in (report, model))
    source = read(data, target, drop, dialect)
    given = _rows(source)
    asked: dict[str, Any] = {
        "use": use,
        "drop": drop,
        "treat": dict(_column_and_kind(words) for words in treat),
        "time": time,
        "group": group,
        "task": task,
        "cv": cv,
        "scoring": scoring,
        "positive": positive,
        "seed": seed,
        "out_of_bag": out_of_bag,
        "models": models,
        "budget": _part_of(clock, report),
    }
    found = run(given, **asked, progress=_part(progress, 0.0, 0.85))
    if found.best.model is None:
        raise InputError(f"No model could be fitted. {found.best.name}: {found.best.failure}")
    if model is not None:
        save(found.best.model, model)
    if report is not None:
        write_report(report, source, found, command, _part(progress, 0.85, 1.0), _without_pictures(clock))
    moved = tuple(path for path, place in zip(wanted, (report, model)) if path is not None and path != place)
    has_members = _has_members(found, clock)
    classes = classes_of(found) if has_members else None
    coverage = coverage_of(found) if has_members else None
    unseen = tuple(unseen_words(found)) if found.is_looked_at else ()
    seconds, asked_for = perf_counter() - clock.began, no_target or task == "clustering"
    return Compared(source, found, report, model, seconds, asked_for, moved, classes, coverage, unseen)


def _seconds(budget: float | None) -> float:
    """Give a budget in seconds; one of 0 has no limit."""
    budget = SECONDS if budget is None else budget
    return budget if budget > 0 else float("inf")


def _part_of(clock: Clock, report: str | None) -> Clock:
    """Give what is left for the comparison when the data are read, and the best model is looked at closer, or in a report."""
    share = SHARE_OF_FITS if report is not None else SHARE_WITHOUT_REPORT
    return clock.part(max(clock.left * share, clock.seconds / 10))


def _without_pictures(clock: Clock) -> Clock:
    """Give what is left for a report but for its pictures, which are drawn in any case."""
    return Clock(clock.left - min(PICTURES, 0.15 * clock.seconds) if clock.seconds < float("inf") else float("inf"))


def _has_members(found: Comparison, clock: Clock) -> bool:
    """Fit the best model once more for each fold, if no report has done so yet and it is quick; say whether that was done."""
    if found.task == "clustering" or found.best.out_of_bag:
        return True
    if not found.is_looked_at and found.best.seconds * found.n_folds > min(MOST_SECONDS, clock.left):
        return False
    with done_by(clock.end):
        return len(found.members) > 0


def _rows(source: Data) -> ArrayRows:
    """Give what was read as rows, without copying it."""
    names = () if source.target is None else (source.target,)
    columns = source.table.column_names
    return ArrayRows(source.table, source.y, None, columns, target_names=names, mapped=source.mapped)


def _column_and_kind(words: str) -> tuple[str, str]:
    """Read ``column=kind``."""
    name, equals, kind = words.rpartition("=")
    if not equals or not name:
        raise ParameterError(f"--as takes column=kind, such as --as zip=category, not {words!r}.")
    return name, kind


def _part(progress: Progress | None, start: float, stop: float) -> Progress | None:
    """Give the progress of a part of the whole."""
    if progress is None:
        return None
    return lambda share, words: progress(start + share * (stop - start), words)


def _check_place(path: str | None) -> None:
    """Refuse, before the work begins, a place where nothing can be written."""
    if path is None:
        return
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise SourceError(f"{path!r} can not be written: there is no folder {folder!r}. Create it first.")
    if os.path.isdir(path):
        raise SourceError(f"{path!r} can not be written: it is a folder.")
    if not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise SourceError(f"{path!r} can not be written: permission denied.")
