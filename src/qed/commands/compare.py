"""``qed compare``: from a file to a leaderboard, a report and a saved model.

Reads the table, leaves out rows without a target, cross-validates every model for the task, writes the report and saves the best model.
"""

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import qed
from qed.base.errors import InputError, SourceError
from qed.base.saving.models import save
from qed.base.sources.open import rows
from qed.commands.source import read
from qed.report.clusters import clusters_dict
from qed.report.data import Data
from qed.report.page import write_report
from qed.selection.comparing.comparison import compare as run
from qed.selection.comparing.leaderboard import Comparison, Entry, Progress


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

    def to_dict(self) -> dict[str, object]:
        """Give everything that a machine may want to know."""
        found = self.comparison
        return {
            "qed": qed.__version__,
            "data": self.data.name,
            "rows": int(self.data.table.num_rows),
            "rows_without_target": self.data.n_lost,
            "columns": self.data.table.column_names,
            "target": self.data.target,
            "task": found.task,
            "why": found.why,
            "scoring": found.scoring,
            "folds": found.n_folds,
            "seed": found.seed,
            "leaderboard": [_line(rank, entry) for rank, entry in enumerate(found.entries, start=1)],
            **({"clusters": clusters_dict(found)} if found.task == "clustering" else {}),
            "report": self.report,
            "model": self.model,
            "seconds": self.seconds,
        }


def _line(rank: int, entry: Entry) -> dict[str, object]:
    certificate = None if entry.model is None else entry.model.certificate_.to_dict()
    return {
        "rank": rank,
        "name": entry.name,
        "class": type(entry.contender.model).__name__,
        "degree": entry.contender.degree,
        "score": None if entry.failure else entry.score,
        "standard_error": None if entry.failure else entry.standard_error,
        "fold_scores": [] if entry.failure else entry.scores[entry.chosen].tolist(),
        "setting": {} if entry.failure else entry.setting,
        "seconds": entry.seconds,
        "certificate": certificate,
        "judged": "out of bag" if entry.out_of_bag else "folds",
        "notes": list(entry.notes),
        "failure": entry.failure or None,
    }


def compare(
    data: str,
    target: str | None = None,
    *,
    no_target: bool = False,
    drop: Sequence[str] = (),
    task: str | None = None,
    cv: int = 5,
    seed: int = 0,
    scoring: str | None = None,
    positive: str | None = None,
    out_of_bag: bool = False,
    report: str | None = None,
    model: str | None = None,
    command: str = "",
    progress: Progress | None = None,
) -> Compared:
    """Compare all models for a table.

    Without a target the rows are clustered. Report and best model are written where a path is given; `command` is what
    the report gives as the command that made it.
    """
    began = time.perf_counter()
    if no_target and target is not None:
        raise InputError(f"--no-target and --target {target} contradict each other: give one of them.")
    for path in (report, model):
        _check_place(path)
    source = read(data, target, drop)
    given = rows(source.table.append_column(target, _arrow(source.y)), target=target) if target else rows(source.table)
    asked: dict[str, Any] = {
        "task": task,
        "cv": cv,
        "scoring": scoring,
        "positive": positive,
        "seed": seed,
        "out_of_bag": out_of_bag,
    }
    found = run(given, **asked, progress=_part(progress, 0.0, 0.85))
    if found.best.model is None:
        raise InputError(f"No model could be fitted. {found.best.name}: {found.best.failure}")
    if model is not None:
        save(found.best.model, model)
    if report is not None:
        write_report(report, source, found, command, _part(progress, 0.85, 1.0))
    return Compared(source, found, report, model, time.perf_counter() - began, no_target or task == "clustering")


def _arrow(y: Any) -> Any:
    import pyarrow as pa

    return pa.array(y)


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
