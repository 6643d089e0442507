"""What a target asks for: numbers to predict (regression) or classes to tell (classification).

The rule is short, so that it can be remembered: text, categories and truth values are classes; so are whole numbers that take two
values only, or few values (at most 20, each of them ten times on average). All else is numbers. Whoever knows better says so with
``task``.
"""

from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError

TASKS = ("regression", "classification", "clustering")
MOST_CLASSES, ROWS_PER_CLASS = 20, 10


def task_of(y: Any) -> tuple[str, str]:
    """Decide what a target asks for, and say why.

    >>> task_of(np.array(["a", "b", "a"]))
    ('classification', 'the target holds text')
    >>> task_of(np.array([1.5, 2.0, 3.7]))
    ('regression', 'the target holds numbers with fractions')
    >>> task_of(np.arange(30))
    ('regression', 'the target holds 30 different whole numbers')
    """
    y = np.asarray(y)
    if y.dtype.kind == "b":
        return "classification", "the target holds truth values"
    if y.dtype.kind not in "iuf":
        return "classification", "the target holds text"
    if y.dtype.kind == "f" and (y != np.round(y)).any():
        return "regression", "the target holds numbers with fractions"
    distinct = len(np.unique(y))
    words = f"the target holds {distinct} different whole number{'s' if distinct != 1 else ''}"
    few = distinct <= min(MOST_CLASSES, len(y) // ROWS_PER_CLASS)
    return ("classification" if distinct == 2 or few else "regression"), words


def check_task(task: str | None, y: Any, name: str = "y") -> tuple[str, str]:
    """Settle the task: what was asked for, if the target allows it, or else what `task_of` says.

    No target means clustering; `name` is what it is called in messages.

    >>> check_task("regression", np.array([0, 1, 1, 0]))
    ('regression', 'asked for')
    """
    if task is not None and task not in TASKS:
        raise ParameterError(f"task must be one of {', '.join(TASKS)}, not {task!r}.")
    if y is None:
        if task in ("regression", "classification"):
            raise InputError(f"{task.capitalize()} needs a target: say which column to predict.")
        return "clustering", "no target was given"
    if task == "clustering":
        raise InputError("Clustering has no target: leave the target out, or ask for another task.")
    y = np.asarray(y)
    found, why = task_of(y) if task is None else (task, "asked for")
    if found == "regression" and y.dtype.kind not in "biuf":
        raise InputError(f"The target {name!r} holds text, which regression can not predict: ask for classification.")
    distinct = len(np.unique(y.astype(str) if y.dtype == object else y))
    if distinct < 2:
        raise InputError(f"The target {name!r} has the same value in all {len(y)} rows: there is nothing to predict.")
    if found == "classification" and distinct > max(2, len(y) // 2):
        advice = "ask for regression, or choose another target" if y.dtype.kind in "biuf" else "choose another target"
        raise InputError(
            f"The target {name!r} has {distinct} different values in {len(y)} rows, too many to be classes: {advice}."
        )
    return found, why
