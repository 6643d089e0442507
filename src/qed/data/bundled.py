"""The bundled data sets: which there are, and how to read one."""

import difflib
from typing import Any

from qed.base.errors import ParameterError
from qed.data.catalogue import CATALOGUE, About
from qed.data.dataset import Dataset


def names() -> list[str]:
    """Give the names that `load` knows.

    Examples
    --------
    >>> names()[:4]
    ['anes96', 'breast_cancer', 'diabetes', 'digits']
    """
    return sorted(CATALOGUE)


def catalogue() -> list[About]:
    """Give what is known about every bundled data set, in the order of their names.

    Examples
    --------
    >>> for about in catalogue()[:2]:
    ...     print(about.name, about.task, about.rows, about.columns)
    anes96 classification 944 10
    breast_cancer classification 569 31
    """
    return [CATALOGUE[name] for name in names()]


def load(name: str) -> Dataset:
    """Read a bundled data set.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Dataset
        The table with its target column and provenance.

    Raises
    ------
    qed.base.errors.ParameterError
        When there is no such data set; the message names the closest ones.

    Examples
    --------
    >>> iris = load("iris")
    >>> X, y = iris.Xy()
    >>> X.shape, iris.target, str(y[0])
    ((150, 4), 'species', 'setosa')
    """
    if not isinstance(name, str) or name not in CATALOGUE:
        raise _unknown(name)
    return Dataset.read(CATALOGUE[name])


def _unknown(name: Any) -> Exception:
    wanted = str(name).strip().lower().replace("-", "_").replace(" ", "_")
    close = difflib.get_close_matches(wanted, names(), n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(repr(match) for match in close)}?" if close else ""
    known = ", ".join(names())
    return ParameterError(f"There is no bundled data set {name!r}.{hint} Choose one of: {known}.")
