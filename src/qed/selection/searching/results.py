"""The table of a search, under the names that scikit-learn gives it, so that code written for its searches can read it."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from qed.base.models.scoring import Scores
from qed.selection.searching.fits import Evaluation

MOST_COLUMNS = 1000
Column: TypeAlias = Any  # an array, or a list of dicts


def results_of(candidates: list[dict[str, object]], found: Evaluation) -> dict[str, Column]:
    """Make scikit-learn's ``cv_results_`` of tables of scores.

    >>> scores = {"score": Scores.of(np.array([[0.5, 0.7], [0.9, 0.7]]))}
    >>> found = Evaluation(scores, "by hand", np.zeros((2, 2)), np.zeros((2, 2)))
    >>> results = results_of([{"alpha": 1.0}, {"alpha": 2.0}], found)
    >>> results["rank_test_score"], results["param_alpha"].tolist()
    (array([2, 1], dtype=int32), [1.0, 2.0])
    """
    results: dict[str, Column] = {}
    for name, seconds in (("fit_time", found.fit_time), ("score_time", found.score_time)):
        results[f"mean_{name}"], results[f"std_{name}"] = seconds.mean(axis=1), seconds.std(axis=1)
    results |= parameter_columns(candidates)
    results["params"] = candidates
    for name, scores in found.scores.items():
        results |= _columns_of(name, scores)
    return results


def parameter_columns(candidates: Sequence[Mapping[str, object]]) -> dict[str, Column]:
    """Give the column of each parameter that some candidate sets."""
    names = sorted({name for candidate in candidates for name in candidate})
    return {f"param_{name}": _column([candidate.get(name, _ABSENT) for candidate in candidates]) for name in names}


def _columns_of(name: str, scores: Scores) -> dict[str, np.ndarray]:
    """Give the columns of one scorer."""
    results: dict[str, np.ndarray] = {}
    for part, each in (("test", scores.each), ("train", scores.train)):
        if each is not None and each.shape[1] <= MOST_COLUMNS:
            results |= {f"split{fold}_{part}_{name}": each[:, fold] for fold in range(each.shape[1])}
    results[f"mean_test_{name}"], results[f"std_test_{name}"] = scores.mean, scores.std
    results[f"standard_error_test_{name}"] = scores.standard_error
    results[f"rank_test_{name}"] = ranks(scores.mean)
    if scores.train is not None:
        results[f"mean_train_{name}"] = scores.train.mean(axis=1)
        results[f"std_train_{name}"] = scores.train.std(axis=1)
    return results


_ABSENT = object()


def _column(values: list[object]) -> np.ma.MaskedArray[Any, Any]:
    """Give the values of one parameter, masked where a candidate does not set it."""
    there = [value for value in values if value is not _ABSENT]
    plain = all(isinstance(value, (bool, int, float, np.generic)) for value in there)
    kind = np.array(there).dtype if plain else np.dtype(object)
    column = np.ma.MaskedArray(np.empty(len(values), dtype=object if kind.kind in "US" else kind), mask=True)
    for place, value in enumerate(values):
        if value is not _ABSENT:
            column[place] = value
    return column


def ranks(scores: np.ndarray) -> np.ndarray:
    """Rank scores, the greatest first, equal ones alike; those that are not numbers come last."""
    order = np.sort(-np.where(np.isnan(scores), -np.inf, scores))
    return (np.searchsorted(order, -np.where(np.isnan(scores), -np.inf, scores)) + 1).astype(np.int32)
