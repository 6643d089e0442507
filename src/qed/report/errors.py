"""Where the best model errs: the rows that it is most wrong about, each judged by a model that has not seen it."""

from dataclasses import dataclass, field

import numpy as np

from qed.report.words import number
from qed.selection.comparing.leaderboard import Comparison

MOST_WORST, MOST_SHOWN = 10, 4


@dataclass(frozen=True)
class WorstRow:
    """A row that the model is far off about."""

    row: int  # its number among the rows with a target, counted from 1
    true: str
    predicted: str
    off: str  # the residual of a number, or the chance that the true class was given
    values: list[object]  # its values of the leading columns


@dataclass(frozen=True)
class Worst:
    """The worst rows, with what the last columns of their table hold."""

    rows: list[WorstRow] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    off: str = ""  # what `WorstRow.off` is
    says: str = ""


def worst_rows(comparison: Comparison, leading: list[str]) -> Worst:
    """Find the rows with the largest residuals, or those whose true class was given the least chance; wrong ones only."""
    if comparison.task == "clustering" or comparison.predicted is None:
        return Worst()
    block, judged = comparison.rows.array(), comparison.judged
    y, said = np.asarray(block.y)[judged], comparison.predicted
    names = [*leading, *(name for name in block.X.column_names if name not in leading)][:MOST_SHOWN]
    if comparison.task == "regression":
        left = y.astype(np.float64) - said
        size, offs = np.abs(left), left
        chosen = np.argsort(-size, kind="stable")[:MOST_WORST]
        what = "true − predicted"
        tail = float(np.sort(size)[-max(1, len(size) // 20) :].sum() / max(size.sum(), 1e-300))
        says = f"The twentieth of the rows with the largest residuals holds {100 * tail:.0f} % of their sum."
    else:
        wrong = np.flatnonzero(y.astype(str) != said.astype(str))
        chances, what = comparison.chances, "chance of the truth"
        if chances is None:
            given, what = np.zeros(len(y)), ""
        else:
            labels = comparison.best.model.classes_.astype(str)
            codes = np.searchsorted(labels, y.astype(str)) if np.all(labels[:-1] <= labels[1:]) else _codes(labels, y)
            given = chances[np.arange(len(y)), codes]
        offs = given
        chosen = wrong[np.argsort(given[wrong], kind="stable")][:MOST_WORST]
        says = f"{len(wrong):,} of {len(y):,} rows are told wrong." if len(wrong) else "No row is told wrong."
    rows = [
        WorstRow(
            int(judged[i]) + 1,
            _written(y[i]),
            _written(said[i]),
            number(float(offs[i])) if what else "",
            [block.X.column(name)[int(judged[i])].as_py() for name in names],
        )
        for i in chosen
    ]
    return Worst(rows, names, what, says)


def _codes(labels: np.ndarray, y: np.ndarray) -> np.ndarray:
    known = {label: k for k, label in enumerate(labels.tolist())}
    return np.array([known[one] for one in y.astype(str).tolist()])


def _written(value: object) -> str:
    return number(float(value)) if isinstance(value, (float, np.floating)) else str(value)
