"""Comparing all models for a table: a leaderboard of cross-validated scores, and the best model fitted.

Every fold of all but large tables encodes its own training rows and nothing else, once for all models (:mod:`qed.selection.comparing.run`),
and each model then scores all its settings on the encoded rows in whatever way is cheapest for it. So the scores are those of fitting
every setting of every `TableModel` anew, at a fraction of the price. The score of a model is that of its best setting, averaged over the
folds; as it was chosen for being best, it is a little too good, the more so the more settings there were and the fewer rows. Without a
target rows are grouped instead (:mod:`qed.selection.comparing.grouping`).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.sources.open import rows as rows_of
from qed.base.sources.rows import ArrayRows, Rows
from qed.selection.comparing.budget import SECONDS, Clock
from qed.selection.comparing.grouping import Grouping
from qed.selection.comparing.judging import judging, refuse_what_judges_targets
from qed.selection.comparing.leaderboard import Comparison, Progress
from qed.selection.comparing.preparing import Asked, decided, prepared, reading_of
from qed.selection.comparing.run import Run
from qed.selection.comparing.task import check_task


def compare(
    X: Any,
    y: Any = None,
    *,
    task: str | None = None,
    cv: int = 5,
    scoring: str | None = None,
    positive: object = None,
    seed: int = 0,
    out_of_bag: bool = False,
    use: Sequence[str] = (),
    drop: Sequence[str] = (),
    treat: Mapping[str, str] | None = None,
    time: str | None = None,
    group: str | None = None,
    models: Sequence[str] = (),
    budget: float | Clock | None = SECONDS,
    progress: Progress | None = None,
) -> Comparison:
    """Cross-validate every model for a task on a table, and fit each with its best setting.

    Parameters
    ----------
    X : frame, Arrow table, array-like or Rows
        The table. Columns may hold numbers, text, dates and missing values. A large one, of more than a million cells and 50 000 rows,
        is encoded once, by what all rows say of the columns, and kept on disk; models that have to hold their rows learn from a sample.
    y : array-like, optional
        The target, without missing values; without one the rows are clustered.
    task : {"regression", "classification", "clustering"}, optional
        What is to be done. When not given: text, truth values, and whole numbers that take two values only or few (at most 20, each ten
        times on average) are classes, all else is numbers; without a target rows are clustered.
    cv : int, default=5
        The number of folds, drawn at random, with the classes in equal shares.
    scoring : str, optional
        The name of a scorer, such as "rmse", "f1" or "auc". When not given, R² for numbers and accuracy for classes, but where most rows
        are of one class the area under the ROC curve, or, of more than two classes, the log-loss. Clusters have their silhouette.
    positive : label, optional
        The positive one of two classes, for scores such as f1, precision or recall; when not given it is 1, or the greater one
        where 1 is no label.
    seed : int, default=0
        The seed of the folds and of models that draw.
    out_of_bag : bool, default=False
        Whether models whose members draw their rows, such as forests, are judged by the members that have not seen a row: one fit in the
        place of one for each fold, with a score that is a little too low. Where folds would take too long, they are in any case.
    use, drop : list of str
        Columns to learn from, though a rule would leave them out, and columns to leave out.
    treat : dict of str to str, optional
        What some columns are to be read as, whatever they look like: "number", "category", "date" or "text".
    time : str, optional
        The column that puts the rows in order: each block of rows is then judged by models of all rows before it.
    group : str, optional
        The column whose equal values belong together: all rows of one are held out together. It is not learned from.
    models : list of str, optional
        The models to compare, by the names of their classes or those of the leaderboard; guessing always takes part.
    budget : float, Clock or None, default=60.0
        About how many seconds the comparison may take, or a clock that runs already; None for as many as it needs. Models that would
        take more than their part of it learn from a sample of the rows or are left out, which the leaderboard says.
    progress : callable, optional
        Called with the share that is done and a few words.

    Returns
    -------
    Comparison
        The leaderboard, with fitted models.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("stackloss").Xy()
    >>> found = qed.compare(X, y)
    >>> found.task, bool(found.best.model.certificate_)
    ('regression', True)
    """
    clock = budget if isinstance(budget, Clock) else Clock(_seconds(budget))
    table, y = _opened(X, y)
    task, why = check_task(task, y, (table.target_names or ("y",))[0])
    table, folds, seen = prepared(table, y, task, cv, seed, Asked(use, drop, treat or {}, time, group))
    tell, reading = progress or _silent, reading_of(seen)
    found: dict[str, Any] = {"columns": seen, "forward": folds.forward}
    if task == "clustering":
        refuse_what_judges_targets(scoring, positive, out_of_bag)
        grouping = Grouping(table, folds.number, seed, reading, progress=tell, clock=clock)
        entries = grouping.leaderboard()
        found["columns"] = decided(seen, entries)
        reference = grouping.reference(entries[0])
        return Comparison(
            task, why, "silhouette", entries, table, folds.number, seed, reference, says=folds.says, **found
        )
    assert y is not None
    judged = judging(task, y, scoring, positive, complete=task == "regression" or folds.have_all_classes(y))
    asked: dict[str, Any] = {"models": tuple(models), "prefers_bags": out_of_bag, "seed": seed, "reading": reading}
    run = Run(task=task, table=table, y=y, folds=folds, judged=judged, progress=tell, clock=clock, **asked)
    entries = run.leaderboard()
    says = (*judged.says, *folds.says, *run.says())
    found |= {"others": tuple(judged.others), "says": says, "columns": decided(seen, entries), "once": run.once}
    return Comparison(task, why, judged.name, entries, table, folds.number, seed, **found)


def _seconds(budget: float | None) -> float:
    if budget is None:
        return np.inf
    if isinstance(budget, bool) or not isinstance(budget, (int, float)) or not budget > 0:
        raise ParameterError(f"budget must be a number of seconds above 0, or None for no limit, not {budget!r}.")
    return float(budget)


def _silent(share: float, words: str) -> None:
    """Show no progress."""


def _opened(X: Any, y: Any) -> tuple[ArrayRows, np.ndarray | None]:
    source = X if isinstance(X, Rows) else rows_of(X, y)
    block = source.table().array()
    found = ArrayRows(
        block.X, block.y, None, source.feature_names, target_names=source.target_names, mapped=source.facts.is_mapped
    )
    return found, block.y
