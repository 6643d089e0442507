"""What the best model says of rows that it has not seen: it is fitted once more without each fold, and asked about that.

Every fold encodes its own training rows, as the comparison did. A table that the comparison encoded once, because it is large, is so here
as well: into a file on disk, of which every fold reads its part, so that no two folds hold a copy of the encoded table side by side.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from qed.base.engine import work
from qed.base.models.searching import fit_known
from qed.base.sources.rows import Rows, kept
from qed.base.threads.interrupts import in_time
from qed.selection.comparing.table_model import TableModel
from qed.selection.guarantees.scores import aligned
from qed.selection.searching.candidates import fresh
from qed.stats.parts import Part

# Folds whose encoded training rows have more cells than this are not worked on side by side.
SIDE_BY_SIDE = 20_000_000


@dataclass(frozen=True, eq=False)
class Unseen:
    """A model without a fold, and what it says of the rows of that."""

    member: TableModel
    predicted: np.ndarray
    chances: np.ndarray | None  # the probability of each class; None where the model has none


def asked(
    model: TableModel, whole: TableModel, rows: Rows, pairs: Sequence[tuple[np.ndarray, np.ndarray]], *, once: bool
) -> list[Unseen]:
    """Fit a model without each fold, and ask it about the fold; as many of the folds as there is time for (`done_by`).

    Parameters
    ----------
    model : TableModel
        What is fitted; it stays as it is.
    whole : TableModel
        The same model fitted to all rows, whose classes chances are about.
    rows : Rows
        The table, with its target.
    pairs : list of two arrays each
        The numbers of the rows that are learned from, and of those that are asked about.
    once : bool
        Whether the encoding of the whole is that of every fold.
    """
    if not once:
        block = rows.array()
        ask = partial(_encoded_anew, model, whole, block.X, np.asarray(block.y))
        width = whole.model_.n_features_in_
    else:
        # A file: folds that are worked on side by side share its pages.
        ask = partial(_encoded_once, model, whole, rows, kept(whole.encoded(rows), on_disk=True))
        width = 0
    calls = [partial(ask, train, test) for train, test in pairs]
    abreast = width * max(len(train) for train, _ in pairs) <= SIDE_BY_SIDE
    return in_time(work(calls) if abreast else (call() for call in calls))


def _encoded_anew(
    model: TableModel, whole: TableModel, X: Any, y: np.ndarray, train: np.ndarray, test: np.ndarray
) -> Unseen:
    member, rows = fresh(model).fit(X.take(train), y[train]), X.take(test)
    return Unseen(member, member.predict(rows), aligned(member, rows, whole.classes_) if _has_chances(whole) else None)


def _encoded_once(
    model: TableModel, whole: TableModel, table: Rows, encoded: Rows, train: np.ndarray, test: np.ndarray
) -> Unseen:
    member, count = fresh(model), table.count()
    learned, held = (np.isin(np.arange(count), rows) for rows in (train, test))
    fit_known(member, Part(table, learned), (deepcopy(whole.changes_), Part(encoded, learned)))
    inner, rows = member.model_, Part(encoded, held)
    return Unseen(member, inner.predict(rows), aligned(inner, rows, whole.classes_) if _has_chances(whole) else None)


def _has_chances(whole: TableModel) -> bool:
    return hasattr(whole.model_, "classes_") and hasattr(whole.model_, "predict_proba")
