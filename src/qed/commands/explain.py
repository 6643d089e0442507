"""``qed explain``: what a model file holds, and, with data, what the model needs each of their columns for."""

from collections.abc import Sequence

import numpy as np

from qed.base.errors import InputError
from qed.base.saving.models import load
from qed.commands.source import read
from qed.report.explanation import Explanation, explanation_of
from qed.selection.diagnosis.importance import PermutationImportance, permutation_importance

MOST_ROWS = 2_000


def explain(path: str) -> Explanation:
    """Read a model file and say what it holds."""
    return explanation_of(load(path))


def needed(path: str, data: Sequence[str], target: str | None = None) -> PermutationImportance:
    """Shuffle the columns of a table, and say how much of its score the model loses without each; of at most `MOST_ROWS` rows."""
    model = load(path)
    goal = target or getattr(model, "target_name_", None)
    if goal is None:
        raise InputError("Which column is the target? The model does not say: name it with --target.")
    found = read(list(data), goal)
    names = [str(name) for name in getattr(model, "feature_names_in_", found.table.column_names)]
    lacking = [name for name in names if name not in found.table.column_names]
    if lacking:
        raise InputError(f"{found.name!r} has no column {lacking[0]!r}, which the model has learned from.")
    assert found.y is not None
    y = np.asarray(found.y)
    return permutation_importance(model, found.table.select(names), y, max_samples=MOST_ROWS)
