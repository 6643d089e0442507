"""The candidates of a search: settings of parameters, and models made with them.

A grid is a dict of lists, and stands for every combination of one value from each; several grids stand for the combinations of
each. Models are only asked for what scikit-learn's contract has (``get_params``, ``set_params``), so any estimator can be searched.
"""

from collections.abc import Mapping, Sequence
from copy import copy, deepcopy
from itertools import product
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.searching import Candidate
from qed.base.sources.layout import did_you_mean

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


def candidates_of(grid: Grid) -> list[dict[str, object]]:
    """Give every combination of a grid, the last name changing fastest, names in alphabetical order.

    >>> candidates_of({"b": [1, 2], "a": ["x"]})
    [{'a': 'x', 'b': 1}, {'a': 'x', 'b': 2}]
    """
    grids = [grid] if isinstance(grid, Mapping) else grid
    if isinstance(grids, (str, bytes)) or not isinstance(grids, Sequence) or not grids:
        raise ParameterError(f"grid must be a dict of lists, or a list of such dicts, not {grid!r}.")
    found = []
    for one in grids:
        if not isinstance(one, Mapping):
            raise ParameterError(f"grid must be made of dicts that name parameters, but holds {one!r}.")
        names = sorted(one)
        found += [dict(zip(names, values)) for values in product(*(_values(name, one[name]) for name in names))]
    return found


def _values(name: str, values: Any) -> list[Any]:
    no_list = isinstance(values, (str, bytes, Mapping, set)) or not hasattr(values, "__len__")
    if no_list or (isinstance(values, np.ndarray) and values.ndim == 0):
        raise ParameterError(
            f"grid: the values of {name!r} must be a list, not {values!r}. For one value: [{values!r}]."
        )
    if len(values) == 0:
        raise ParameterError(f"grid: there are no values for {name!r}. Leave it out, or give at least one.")
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values.tolist() if values.dtype.kind in "biuf" else list(values)
    return list(values)


def fresh(model: Any) -> Any:
    """Give an unfitted model with the same parameters."""
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise ParameterError(f"A model is wanted, with get_params and fit, not {model!r}.")
    if hasattr(model, "__sklearn_clone__"):
        return model.__sklearn_clone__()
    return type(model)(**{name: _copied(value) for name, value in model.get_params(deep=False).items()})


def _copied(value: Any) -> Any:
    return fresh(value) if hasattr(value, "get_params") and not isinstance(value, type) else deepcopy(value)


def made_with(model: Any, candidate: Candidate) -> Any:
    """Give an unfitted model like `model` with some parameters set.

    A name such as ``step__name`` reaches into pipelines.
    """
    made = fresh(model)
    known = made.get_params(deep=True)
    for name in candidate:
        if name not in known and name.partition("__")[0] not in known:
            raise ParameterError(f"{type(model).__name__} has no parameter {name!r}. {did_you_mean(name, known)}")
    made.set_params(**{name: _copied(value) for name, value in candidate.items()})
    return made


def all_made_with(model: Any, candidates: Sequence[Candidate]) -> list[Any]:
    """Give one unfitted model for each candidate, opened on the rows that `model` was opened on.

    What they have in common they share, so they are to be read only.
    """
    known = model.get_params(deep=False)
    opened = {name: value for name, value in vars(model).items() if name not in known}
    made = []
    for candidate in candidates:
        if all(name in known for name in candidate):
            one = copy(model)
            vars(one).update(candidate)
        else:
            one = made_with(model, candidate)
            vars(one).update(opened)
        made.append(one)
    return made


def words_for(model: Any, candidate: Candidate) -> str:
    """Name a candidate for messages, such as ``Ridge(alpha=0.5)``."""
    settings = ", ".join(f"{name}={value!r}" for name, value in candidate.items())
    return f"{type(model).__name__}({settings})"
