"""The report: one self-contained page, with nothing to fetch and nothing to run.

The template is filled with escaping on, so what comes from the data can not become markup. Only the pictures are markup, and those
escape their texts themselves.
"""

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import pyarrow as pa

import qed
from qed.base.saving.replacing import replacing
from qed.base.visible import visible
from qed.report.about import about
from qed.report.again import python_of
from qed.report.classes import MOST_CLASSES, classes_of
from qed.report.clusters import choice_words, describe_clusters, verdict_words
from qed.report.columns import describe_columns
from qed.report.data import Data
from qed.report.diagnosis import diagnose
from qed.report.driving import Driving, driving
from qed.report.errors import worst_rows
from qed.report.explanation import decisions_of, inference_of, inner_model, rules_of
from qed.report.figures import figures
from qed.report.headline import headline, more_words
from qed.report.reading import coverage_of, coverage_words, curve_words, freedom_words, unseen_words
from qed.report.words import APART, apart, decimals_for, number, plus_minus, score_words, seconds_words, setting_words
from qed.selection.comparing.budget import Clock
from qed.selection.comparing.leaderboard import Comparison, Entry

MOST_COLUMNS, MOST_TYPICAL_COLUMNS, MOST_RULES = 100, 8, 16
LONGEST_CELL = 40
PACKAGES = ("numpy", "scipy", "numba", "pyarrow", "scikit-learn")


@dataclass(frozen=True)
class Line:
    """A line of the leaderboard, in words, with the place of its score on a common scale from 0 to 100."""

    rank: int
    entry: Entry
    score: str
    setting: str
    seconds: str
    others: list[str]
    is_tie: bool
    place: float
    low: float
    high: float

    @property
    def certificate(self) -> Any:
        return None if self.entry.model is None else self.entry.model.certificate_


def write_report(
    path: str,
    data: Data,
    comparison: Comparison,
    command: str = "",
    progress: Callable[[float, str], None] | None = None,
    clock: Clock | None = None,
) -> None:
    """Write the report of a comparison.

    Parameters
    ----------
    path : str
        Where to write.
    data : Data
        What was learned from.
    comparison : Comparison
        What came of it.
    command : str
        The command that does it again.
    progress : callable, optional
        Called with the share that is done and a few words.
    clock : Clock, optional
        The time that is left for what takes time: fits without each fold, the learning curve, shuffled columns. What is not done in it
        is left out, which the report says. Without one there is no limit.
    """
    tell = progress or (lambda share, words: None)
    tell(0.0, "looking closer at the best model")
    page = render(data, comparison, command, tell, clock)
    with replacing(path) as file:
        file.write(page.encode())


def render(
    data: Data,
    comparison: Comparison,
    command: str = "",
    tell: Callable[[float, str], None] = lambda share, words: None,
    clock: Clock | None = None,
) -> str:
    """Give the report of a comparison as HTML; see `write_report`."""
    environment = _environment()
    clock = clock or Clock(np.inf)
    diagnosis = diagnose(comparison, clock)
    tell(0.4, "shuffling columns")
    driven = driving(comparison, clock)
    tell(0.7, "drawing pictures")
    best = comparison.best.model
    table = data.table if data.target is None else data.table.add_column(0, data.target, pa.array(data.y))
    return environment.get_template("report.html").render(
        data=data,
        comparison=comparison,
        headline=headline(data, comparison),
        more=more_words(data, comparison),
        says=[*data.says, *comparison.says, *unseen_words(comparison)],
        understood=comparison.columns,
        classes=(classes := classes_of(comparison))[:MOST_CLASSES],
        n_more_classes=max(0, len(classes) - MOST_CLASSES),
        other_names=[score_words(name)[0] for name in comparison.others],
        lines=_lines(comparison),
        score_name=score_words(comparison.scoring)[0],
        is_encoded_once=comparison.once,
        lower_is_better=score_words(comparison.scoring)[1] < 0,
        pictures_of=figures(comparison, diagnosis, driven),
        no_curve=diagnosis.missing,
        no_importance=driven.missing,
        enough=curve_words(diagnosis.curve),
        freedom=freedom_words(diagnosis.curve, comparison),
        coverage=coverage_words(coverage_of(comparison), data.target),
        worst=worst_rows(comparison, _leading(driven)),
        about=[(entry.name, about(entry.contender.model, entry.contender.degree)) for entry in comparison.entries],
        python=python_of(data, comparison),
        inference=inference_of(inner_model(best)),
        rules=rules_of(best, MOST_RULES),
        clusters=describe_clusters(comparison) if comparison.task == "clustering" else [],
        explained=[*choice_words(comparison.best), verdict_words(comparison)]
        if comparison.task == "clustering"
        else [],
        typical_columns=data.table.column_names[:MOST_TYPICAL_COLUMNS],
        columns=describe_columns(table.select(table.column_names[:MOST_COLUMNS])),
        n_more_columns=max(0, table.num_columns - MOST_COLUMNS),
        n_missing=sum(table.column(name).null_count for name in table.column_names),
        decisions=_decisions(comparison),
        notes=list(dict.fromkeys(words for entry in comparison.entries for words in entry.notes)),
        command=command,
        versions=_versions(),
        today=date.today().isoformat(),
    )


def _environment() -> Any:
    """Make what fills the templates: everything is escaped, and a name that is not there is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("qed.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters |= {
        "number": number,
        "share": lambda part, whole: f"{100 * part / max(whole, 1):.0f} %",
        "cell": _cell,
        "apart": apart,
    }
    return environment


def _leading(driven: Driving) -> list[str]:
    one = driven.importance
    return [] if one is None else [one.names[j] for j in one.order]


def _decisions(comparison: Comparison) -> dict[str, str]:
    """Say of every column what the best model makes of it, or why it is left out."""
    found = {one["column"]: one["how"] for one in decisions_of(comparison.best.model)}
    gone = (
        {}
        if comparison.columns is None
        else {one.column: f"left out: {one.says}" for one in comparison.columns.left_out}
    )
    return {**gone, **found}


def _shown(value: object) -> object:
    """Write out marks in the data that would turn the direction of reading, but not those of `apart`; pictures are markup already."""
    if type(value) is not str:
        return value
    return "".join(part if part in APART else visible(part) for part in re.split(f"([{APART}])", value))


def _cell(value: object) -> str:
    """Write a value of the table: nothing for a hole, a number in few digits, and not the whole of a long text."""
    if value is None or isinstance(value, float):
        return "" if value is None else number(value)
    text = str(value)
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def _lines(comparison: Comparison) -> list[Line]:
    _, sign = score_words(comparison.scoring)
    fine = [entry for entry in comparison.entries if not entry.failure]
    ties = comparison.ties if len(comparison.ties) > 1 else []
    ends = [(sign * e.score - _error(e), sign * e.score + _error(e)) for e in fine]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)

    def place(value: float) -> float:
        return 4 + 92 * (value - low) / max(high - low, 1e-300)

    found = []
    for rank, entry in enumerate(comparison.entries, start=1):
        if entry.failure:
            found.append(Line(rank, entry, "–", "", "", [""] * len(comparison.others), False, 0.0, 0.0, 0.0))
            continue
        score = sign * entry.score
        scale = (place(score), place(score - _error(entry)), place(score + _error(entry)))
        written = plus_minus(score, entry.standard_error, decimals_for(comparison.best.standard_error))
        words = written, setting_words(entry.choice), seconds_words(entry.seconds)
        others = [number(score_words(name)[1] * entry.other(name)) for name in comparison.others]
        found.append(Line(rank, entry, *words, others, entry in ties, *scale))
    return found


def _error(entry: Entry) -> float:
    return entry.standard_error if np.isfinite(entry.standard_error) else 0.0


def _versions() -> list[tuple[str, str]]:
    found = [("qed", qed.__version__), ("Python", platform.python_version())]
    for package in PACKAGES:
        try:
            found.append((package, version(package)))
        except PackageNotFoundError:
            continue
    return found
