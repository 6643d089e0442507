"""The Python that makes the best model again: what is to be read, which columns, which settings, which folds."""

import warnings
from typing import Any

import numpy as np

from qed.base.models.no_effect import without_effect
from qed.report.data import Data
from qed.report.words import score_words
from qed.selection.comparing.leaderboard import Comparison
from qed.selection.splitting.splits import KFold, StratifiedKFold


def python_of(data: Data, comparison: Comparison) -> str:
    """Write the program; nothing where it would need more than a program can say in a few lines."""
    best = comparison.best
    if (
        not data.given
        or best.model is None
        or comparison.task == "clustering"
        or data.is_reread
        or best.sample is not None
    ):
        return ""
    lines = ["import qed", "", *_reading(data, comparison)]
    encoder = best.contender.encoder
    parts = [_written(best.model.model, "    "), f"    encoder={_called(encoder, '    ')}"]
    if best.contender.degree > 1:
        parts.append(f"    degree={best.contender.degree}")
    parts.append(f"    scale={best.contender.scale}")
    parts = [part if part.startswith(" ") else f"    {part}" for part in parts]
    lines += ["model = qed.TableModel(", *(f"{part}," for part in parts), ")"]
    if not best.out_of_bag:
        lines += _judging(comparison)
    return "\n".join([*lines, "model.fit(rows)", 'qed.save(model, "best.qed")', ""])


def _reading(data: Data, comparison: Comparison) -> list[str]:
    columns = list(comparison.rows.feature_names or ())
    given: Any = data.given[0] if len(data.given) == 1 else list(data.given)
    source = f"qed.data.load({given!r}).table" if data.known else f"qed.rows({given!r}).table().array().X"
    lines = [f"table = {source}"]
    if data.n_lost:
        lines.append(f"table = table.filter(table[{data.target!r}].is_valid())")
    return [*lines, f"columns = {columns!r}", f"rows = qed.rows(table, target={data.target!r}, columns=columns)"]


def _judging(comparison: Comparison) -> list[str]:
    """Score it on the folds of the comparison, where these are drawn by the seed and not by a column."""
    kind: Any = StratifiedKFold if comparison.task == "classification" else KFold
    splitter = kind(comparison.n_folds, random_state=comparison.seed)
    y = comparison.rows.array().y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if y is None or not np.array_equal(splitter.assign(len(y), y), comparison.folds):
            return []
    sign = score_words(comparison.scoring)[1]
    folds = f"qed.{kind.__name__}({comparison.n_folds}, random_state={comparison.seed})"
    return [
        f"scores = qed.cross_val_score(model, rows, cv={folds}, scoring={comparison.scoring!r})",
        f"print({'-' if sign < 0 else ''}scores.mean())  # {sign * comparison.best.score:.6g}",
    ]


def _called(model: Any, indent: str) -> str:
    return _written(model, indent).lstrip()


def _written(model: Any, indent: str) -> str:
    """Write a model with those of its parameters that are not as usual."""
    usual = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    parts = [
        f"{name}={_value(value)}"
        for name, value in given.items()
        if name not in without_effect(model) and repr(value) != repr(usual[name])
    ]
    return f"{indent}qed.{type(model).__name__}({', '.join(parts)})"


def _value(value: Any) -> str:
    return repr(value.item() if hasattr(value, "item") else value)
