"""The data of a command: a file, or the name of a bundled data set, as one Arrow table with its target.

Whatever is wrong with a name is said here: a file that is not there, a data set that does not exist, a column that is called otherwise.
"""

import os
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from qed.base.errors import InputError, SourceError
from qed.base.sources.layout import did_you_mean, target_of
from qed.base.sources.open import rows
from qed.data.bundled import load, names
from qed.data.catalogue import CATALOGUE
from qed.report.data import Data


def read(data: str, target: str | None = None, drop: Sequence[str] = ()) -> Data:
    """Read a file or a bundled data set.

    >>> penguins = read("penguins", target="sex", drop=["year"])
    >>> penguins.table.shape, penguins.n_lost
    ((333, 6), 11)
    """
    path, known = find(data)
    names = rows(path).feature_names or ()
    for name in (*drop, *([] if target is None else [target])):
        if name not in names:
            raise InputError(f"{data!r} has no column {name!r}. {did_you_mean(name, names)}")
    if target in drop:
        raise InputError(f"{target!r} can not be both the target and dropped.")
    kept = [name for name in names if name not in drop and name != target]
    if not kept:
        raise InputError(f"No column of {data!r} is left to learn from: drop fewer.")
    source = rows(path, target=target, columns=kept).table().array()
    if source.X.num_rows == 0:
        raise InputError(f"{data!r} has no rows.")
    name = known or os.path.basename(os.fspath(path))
    if target is None:
        return Data(name, source.X, None, None, 0, CATALOGUE[known].targets[0] if known else None)
    there = ~missing(source.y)
    if not there.any():
        raise InputError(f"The target {target!r} is missing in all rows of {data!r}.")
    # Read anew: whole numbers and truth values with holes come as floats, and become what they are without the holes.
    column = rows(path, columns=[target]).table().array().X.filter(there)
    return Data(name, source.X.filter(there), target, target_of(column, [target]), int((~there).sum()))


def find(data: str) -> tuple[Any, str | None]:
    """Give the path of what is meant, and its name if that is a bundled data set."""
    if os.path.exists(data) or not _is_bare(data):
        return data, None
    if data in names():
        return load(data).path, data
    near = get_close_matches(data.lower().replace("-", "_"), names(), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else " 'qed datasets' lists the bundled ones."
    raise SourceError(f"There is neither a file nor a bundled data set {data!r}.{hint}")


def _is_bare(data: str) -> bool:
    """Say whether this can be a name, rather than a path or a pattern."""
    return not any(letter in data for letter in "./\\*?[")


def missing(y: Any) -> np.ndarray:
    """Say which values of a target are missing.

    >>> missing(np.array(["a", None], dtype=object)), missing(np.array([1.0, np.nan]))
    (array([False,  True]), array([False,  True]))
    """
    y = np.asarray(y)
    if y.dtype.kind == "f":
        return np.asarray(np.isnan(y))
    return np.array([value is None or value != value for value in y.tolist()], dtype=bool)
