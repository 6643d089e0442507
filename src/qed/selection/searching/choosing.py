r"""Which candidate of a search is taken: the best, or the simplest that can not be told from it.

The mean score of the best of many candidates is known to its standard error only, and the best is often more complicated than it has to
be. The rule of one standard error takes the simplest candidate whose mean is at least that of the best less the standard error of the
best. What is simpler is known of the usual parameters (more penalty, more neighbours, fewer rounds, shallower trees); for others it has to
be said.

Breiman, Friedman, Olshen and Stone (1984), Classification and Regression Trees, section 3.4.3.
"""

from collections.abc import Mapping
from numbers import Real
from typing import Any, Literal

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter

ONE_STANDARD_ERROR = "one standard error"
Rule = str | Mapping[str, Literal["more", "less"]]
# Whether more or less of a parameter makes a simpler model, under the names that it has everywhere.
SIMPLER: Mapping[str, Literal["more", "less"]] = {
    **dict.fromkeys(
        ("alpha", "ccp_alpha", "l2_regularization", "shrinkage", "reg_param", "n_neighbors", "tol"), "more"
    ),
    **dict.fromkeys(("min_samples_leaf", "min_samples_split", "var_smoothing", "reg_covar", "epsilon"), "more"),
    **dict.fromkeys(("C", "degree", "max_depth", "max_leaf_nodes", "max_iter", "n_estimators", "n_components"), "less"),
    **dict.fromkeys(("n_nonzero_coefs", "n_clusters", "gamma", "max_features", "coef0"), "less"),
}


def _is_rule(value: object) -> bool:
    if isinstance(value, str):
        return value in ("best", ONE_STANDARD_ERROR)
    return isinstance(value, Mapping) and bool(value) and all(one in ("more", "less") for one in value.values())


RULE = Parameter('"best", "one standard error", or a mapping such as {"alpha": "more"}', _is_rule)


def chosen_by(rule: Rule, table: Mapping[str, Any], name: str) -> int:
    """Give the place of the candidate that a rule takes, from the table of a search and the scorer that decides.

    >>> table = {"params": [{"alpha": a} for a in (0.1, 1.0, 10.0)], "mean_test_score": np.array([0.80, 0.79, 0.5])}
    >>> table |= {"standard_error_test_score": np.array([0.02, 0.02, 0.02]), "rank_test_score": np.array([1, 2, 3])}
    >>> chosen_by("best", table, "score"), chosen_by("one standard error", table, "score")
    (0, 1)
    """
    best = int(np.asarray(table[f"rank_test_{name}"]).argmin())
    if rule == "best":
        return best
    means, error = np.asarray(table[f"mean_test_{name}"]), float(table[f"standard_error_test_{name}"][best])
    near = np.flatnonzero(means >= means[best] - (error if np.isfinite(error) else 0.0))
    directions = directions_of(rule, table["params"])
    # Of equally simple ones the better is taken, and the first of equals.
    return min(near.tolist(), key=lambda place: (_complexity(table["params"][place], directions), -means[place], place))


def directions_of(rule: Rule, candidates: list[dict[str, Any]]) -> dict[str, str]:
    """Say for each parameter that differs between candidates whether more of it is simpler, those that were named first."""
    named = dict(rule) if isinstance(rule, Mapping) else {}
    names = sorted({name for one in candidates for name in one})
    varied = [name for name in names if len({repr(one.get(name)) for one in candidates}) > 1]
    found: dict[str, str] = {name: named[name] for name in named if name in varied}
    for name in varied:
        known = SIMPLER.get(name.rpartition("__")[2])
        if name not in found and known is None:
            raise ParameterError(
                f"rule: which values of {name!r} are simpler is not known. Say it, such as rule={{{name!r}: 'less'}}, or take rule='best'."
            )
        found.setdefault(name, str(known))
    return found


def _complexity(candidate: Mapping[str, Any], directions: Mapping[str, str]) -> tuple[float, ...]:
    """Give numbers that order candidates by how complicated they are, one parameter after the other; None is no limit at all."""
    return tuple(_size(candidate.get(name), name) * (1 if way == "less" else -1) for name, way in directions.items())


def _size(value: Any, name: str) -> float:
    if value is None:
        return float("inf")
    if isinstance(value, Real):
        return float(value)
    raise ParameterError(
        f"rule: {name}={value!r} is no number, so that more and less of it mean nothing: take rule='best'."
    )
