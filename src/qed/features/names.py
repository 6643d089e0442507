"""Names of columns, as scikit-learn's contract has them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from qed.base.errors import InputError


def input_names(model: Any, input_features: Any = None) -> np.ndarray:
    """Give the names of the columns that came in: those given, those seen in ``fit``, or ``x0``, ``x1`` ...

    Where there were names in ``fit``, those given must be the same.
    """
    model._check_fitted()
    known = getattr(model, "feature_names_in_", None)
    if input_features is None:
        return known if known is not None else np.array([f"x{j}" for j in range(model.n_features_in_)], dtype=object)
    given = np.asarray(input_features, dtype=object)
    if known is not None and not np.array_equal(known, given):
        raise InputError("input_features is not equal to feature_names_in_: leave it out, or give the names of fit.")
    if len(given) != model.n_features_in_:
        raise InputError(
            f"input_features should have length equal to the number of features ({model.n_features_in_}), got {len(given)}."
        )
    return given


def told_apart(names: Iterable[str]) -> list[str]:
    """Number names that occur more than once.

    >>> told_apart(["a", "b", "a"])
    ['a', 'b', 'a#2']
    """
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(name if seen[name] == 1 else f"{name}#{seen[name]}")
    return found
