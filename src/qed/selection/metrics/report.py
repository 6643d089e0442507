"""A table of precision, recall and F1 of every class, with their averages.

The counts behind it are those of ``precision``; the report is a value that prints as a table and
gives its numbers as a dictionary.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import ParameterError
from qed.base.visible import ShownAsText, visible
from qed.selection.inputs import classes_of, label_pair
from qed.selection.inputs import labels as as_labels
from qed.selection.metrics.multilabel import indicator_pair, is_indicator
from qed.selection.metrics.precision import precision_recall_fscore_support

COLUMNS = ("precision", "recall", "f1-score", "support")


@dataclass(frozen=True, repr=False)
class ClassificationReport(ShownAsText):
    """Precision, recall, F1 and support, class by class and averaged.

    Attributes
    ----------
    classes : dict
        The name of each class, and its four numbers.
    averages : dict
        The averages "macro avg", "weighted avg" and, when not all classes are reported, "micro avg".
    accuracy : float or None
        The share of labels that were predicted; None when not all classes are reported.
    digits : int
        The decimals that are printed.
    """

    classes: dict[str, tuple[float, ...]]
    averages: dict[str, tuple[float, ...]]
    accuracy: float | None
    digits: int = 2

    def to_dict(self) -> dict[str, Any]:
        """Give all numbers, by row and column."""
        found: dict[str, Any] = {name: dict(zip(COLUMNS, row)) for name, row in self.classes.items()}
        if self.accuracy is not None:
            found["accuracy"] = self.accuracy
        return found | {name: dict(zip(COLUMNS, row)) for name, row in self.averages.items()}

    def __str__(self) -> str:
        names = [*self.classes, *self.averages, "accuracy"]
        width = max(len(name) for name in names)
        lines = [" " * width + "".join(f"{column:>11}" for column in COLUMNS), ""]
        lines += [self._line(name.rjust(width), row) for name, row in self.classes.items()]
        lines.append("")
        if self.accuracy is not None:
            support = sum(row[-1] for row in self.classes.values())
            lines.append(self._line("accuracy".rjust(width), (None, None, self.accuracy, support)))
        lines += [self._line(name.rjust(width), row) for name, row in self.averages.items()]
        return visible("\n".join(lines))

    def _line(self, name: str, row: Sequence[float | None]) -> str:
        cells = ["" if value is None else f"{value:.{self.digits}f}" for value in row[:-1]]
        return name + "".join(f"{cell:>11}" for cell in [*cells, f"{row[-1]:g}"])


def classification_report(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    target_names: Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    digits: int = 2,
    output_dict: bool = False,
    zero_division: float | str = "warn",
) -> ClassificationReport | dict[str, object]:
    """Report precision, recall and F1 of every class.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, classes)
        True and predicted labels: integers or strings; or matrices of zeros and ones for rows of several classes.
    labels : array-like, optional
        The classes to report; the default is every label that occurs, sorted.
    target_names : sequence of str, optional
        What to call the classes in the table.
    sample_weight : array-like of shape (n,), optional
        What each row counts.
    digits : int, default=2
        The decimals to print.
    output_dict : bool, default=False
        Give the numbers as a dictionary of dictionaries, as ``to_dict()`` of the report does.
    zero_division : {"warn", 0, 1, nan}, default="warn"
        The value of 0/0; "warn" means 0, with a warning. NaN is left out of averages.

    Returns
    -------
    ClassificationReport or dict
        Prints as a table; ``to_dict()`` gives the numbers.

    Examples
    --------
    >>> classification_report(["ham", "ham", "spam", "spam"], ["ham", "spam", "spam", "spam"])
                   precision     recall   f1-score    support
    <BLANKLINE>
             ham       1.00       0.50       0.67          2
            spam       0.67       1.00       0.80          2
    <BLANKLINE>
        accuracy                             0.75          4
       macro avg       0.83       0.75       0.73          4
    weighted avg       0.83       0.75       0.73          4
    """
    several = is_indicator(y_true) or is_indicator(y_pred)
    true, predicted, _ = (indicator_pair if several else label_pair)(y_true, y_pred, sample_weight)
    present = np.arange(true.shape[1]) if several else classes_of(true, predicted)
    chosen = present if labels is None else as_labels(labels, "labels")
    names = [str(name) for name in (chosen.tolist() if target_names is None else target_names)]
    if len(names) != len(chosen):
        raise ParameterError(f"target_names has {len(names)} names for {len(chosen)} classes: {chosen.tolist()}.")
    given: dict[str, Any] = {"labels": chosen, "sample_weight": sample_weight}
    columns = precision_recall_fscore_support(true, predicted, zero_division=zero_division, **given)
    rows = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
    given["zero_division"] = 0 if zero_division == "warn" else zero_division
    averages: dict[str, tuple[float, ...]] = {}
    for kind in ("micro", "macro", "weighted", *(("samples",) if several else ())):
        values = precision_recall_fscore_support(true, predicted, average=kind, **given)
        averages[f"{kind} avg"] = (*map(float, values[:3]), float(rows[:, 3].sum()))
    accuracy = averages.pop("micro avg")[0] if not several and np.isin(present, chosen).all() else None
    report = ClassificationReport(dict(zip(names, map(tuple, rows.tolist()))), averages, accuracy, digits)
    return report.to_dict() if output_dict else report
