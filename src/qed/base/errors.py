"""Every error and warning of qed, in one small family.

A message of ours says three things: what was wrong, where (the column, the row, the parameter), and what to do.
Errors that stand for bad values are also ``ValueError``s, and those that stand for a model used before it was fitted are
also scikit-learn's ``NotFittedError``, so that code written for scikit-learn catches them.
"""

import sys

from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.exceptions import NotFittedError as SklearnNotFittedError


class QedError(Exception):
    """Whatever qed raises on purpose."""


class InputError(QedError, ValueError):
    """The data can not be used as they are."""


class KindError(InputError, TypeError):
    """The data hold values of a kind that can not be used, such as a dictionary in a cell."""


class ParameterError(InputError):
    """A parameter of a model has a value that makes no sense."""


class DegenerateError(InputError):
    """The problem has no solution for these data, such as variances from a single row."""


class SourceError(QedError, OSError):
    """A file or cluster could not be read, or a cache could not be written."""


class NoMemoryError(QedError, MemoryError):
    """A table does not fit into memory; the text says how large it would be."""


class SavingError(QedError, ValueError):
    """A model file is damaged, of another format, or holds what can not be stored safely."""


class NotAvailableError(QedError, AttributeError, ValueError):
    """A quantity that theory does not give for this model, with the reason."""


class NotFittedError(QedError, SklearnNotFittedError):
    """The model has to be fitted first."""


class ConvergenceWarning(SklearnConvergenceWarning):
    """The fit ended before its certificate held; the text says how far off it is and what to change."""


class DegenerateWarning(UserWarning):
    """The data leave the answer undetermined; the text says which columns or classes are to blame."""


def level_of_user() -> int:
    """Give the ``stacklevel`` with which a warning points at the first line outside qed that led to it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("qed."):
        level, frame = level + 1, frame.f_back
    return level
