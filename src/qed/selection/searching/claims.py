"""What the table of a search can be checked for without searching again: that its columns follow from each other.

The scores of single folds are what the search is for: only another search could tell whether they are right. Means, ranks, and the best
of them follow from these.
"""

from collections.abc import Iterable, Mapping
from typing import Protocol

import numpy as np

from qed.base.certificate import Claim
from qed.base.models.proof import restated
from qed.base.models.scoring import Scores
from qed.base.numbers import EPS
from qed.selection.searching.choosing import Rule, chosen_by
from qed.selection.searching.results import Column, parameter_columns, ranks


class Searched(Protocol):
    """What is read of a fitted search."""

    cv_results_: dict[str, Column]
    multimetric_: bool
    n_splits_: int
    best_index_: int
    best_params_: dict[str, object]
    refit: object
    rule: Rule


def table_claims(search: Searched) -> list[Claim]:
    """Claim that the table of a fitted search is consistent, and that what is called best stands in it.

    Parameters
    ----------
    search : Search
        The search.
    """
    table = search.cv_results_
    names = [name.removeprefix("mean_test_") for name in table if name.startswith("mean_test_")]
    claims = [claim for name in names for claim in _score_claims(table, name, search.n_splits_)]
    claims.append(restated("multimetric_", search.multimetric_, names != ["score"], slack=0.0))
    columns = parameter_columns(table["params"])
    wrong = sum(not _same(table[name], column) for name, column in columns.items())
    claims.append(Claim("columns of parameters that differ from params", float(wrong), 0.0))
    if hasattr(search, "best_index_"):
        claims += _best_claims(search, table, names)
    return claims


def _score_claims(table: Mapping[str, Column], name: str, n_splits: int) -> list[Claim]:
    """Compare means, deviations and ranks of one scorer with the scores of its folds."""
    each = [table[key] for key in table if key.startswith("split") and key.endswith(f"_test_{name}")]
    claims = [restated(f"rank_test_{name}", table[f"rank_test_{name}"], ranks(table[f"mean_test_{name}"]), slack=0.0)]
    if not each:
        return claims
    scores = Scores.of(np.column_stack(each))
    size = np.abs(scores.mean) + scores.std + np.abs(np.column_stack(each)).max(axis=1)
    columns = {"mean": scores.mean, "std": scores.std, "standard_error": scores.standard_error}
    claims += [
        restated(f"{part}_test_{name}", table[f"{part}_test_{name}"], wanted, scale=size, slack=64 * n_splits * EPS)
        for part, wanted in columns.items()
    ]
    return [*claims, restated("n_splits_", n_splits, len(each), slack=0.0)]


def _best_claims(search: Searched, table: Mapping[str, Column], names: list[str]) -> list[Claim]:
    """Compare what is called best with the table."""
    place, chosen = search.best_index_, search.best_params_
    if not 0 <= place < len(table["params"]):
        return [Claim("best_index_ is no row of the table", 1.0, 0.0)]
    best = getattr(search, "best_estimator_", None)
    used = chosen if best is None else best.get_params()
    claims = [
        Claim("best_params_ are those of another row", float(not _alike(table["params"][place], chosen)), 0.0),
        Claim("best_estimator_ has other parameters", float(not _alike(chosen, used)), 0.0),
    ]
    name = search.refit if isinstance(search.refit, str) else "score"
    if callable(search.refit) or name not in names:
        return claims
    if search.rule == "best":
        better = float(table[f"rank_test_{name}"][place] - table[f"rank_test_{name}"].min())
        taken = Claim("rows of the table that are better than the best", better, 0.0)
    else:
        taken = Claim("the rule chooses another row", float(chosen_by(search.rule, table, name) != place), 0.0)
    columns = {"best_score_": f"mean_test_{name}", "standard_error_": f"standard_error_test_{name}"}
    return [
        *claims,
        taken,
        *(restated(own, getattr(search, own), table[column][place], slack=0.0) for own, column in columns.items()),
    ]


def _alike(wanted: Mapping[str, object], given: Mapping[str, object]) -> bool:
    """Say whether parameters have the values wanted; models are told apart by how they are written."""
    return all(
        name in given and (given[name] is value or repr(given[name]) == repr(value)) for name, value in wanted.items()
    )


def _same(then: Iterable[object], now: Iterable[object]) -> bool:
    """Say whether two columns of parameters are written alike."""
    return repr(list(then)) == repr(list(now))
