"""Every error and warning of qed, in one small family.

A message of ours says three things: what was wrong, where (the column, the row, the parameter), and what to do.
Errors that stand for bad values are also ``ValueError``s, and those that stand for a model used before it was fitted are
also scikit-learn's ``NotFittedError``, so that code written for scikit-learn catches them; so it is with warnings.
"""

import sys
from contextlib import AbstractContextManager

from sklearn.exceptions import ConvergenceWarning as SklearnConvergenceWarning
from sklearn.exceptions import FitFailedWarning as SklearnFitFailedWarning
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.exceptions import UndefinedMetricWarning as SklearnUndefinedMetricWarning

# Longer than this no value is shown in a sentence.
WORDS = 200


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
    """There is not as much memory as something needs; the text says how much was asked for."""


class SavingError(QedError, ValueError):
    """A model file is damaged, of another format, or holds what can not be stored safely."""


class NotAvailableError(QedError, AttributeError, ValueError):
    """A quantity that theory does not give for this model, with the reason."""


class NotFittedError(QedError, SklearnNotFittedError):
    """The model has to be fitted first."""


class UnprovenWarning(UserWarning):
    """The certificate of a fit does not hold; the text says which claim is furthest off, by how much, and what to change."""


class ConvergenceWarning(UnprovenWarning, SklearnConvergenceWarning):
    """The fit ended before its certificate held; the text says how far off it is and what to change."""


class DegenerateWarning(UserWarning):
    """The data leave the answer undetermined; the text says which columns or classes are to blame."""


class ManySupportVectorsWarning(UserWarning):
    """Nearly all rows are support vectors: the model has learned its rows by heart, or can not tell the classes at all."""


class UndefinedMetricWarning(DegenerateWarning, SklearnUndefinedMetricWarning):
    """A metric divides nothing by nothing on these data; the text says what was returned in its place."""


class FitFailedWarning(DegenerateWarning, SklearnFitFailedWarning):
    """A fit of a search failed, and its score is what ``error_score`` says."""


class LongFitWarning(UserWarning):
    """A fit may take many minutes; said before it begins."""


class NoEffectWarning(UserWarning):
    """A keyword that only chooses a way was set, and means nothing here; the text says what to use in its place."""


class _EnoughMemory(AbstractContextManager[None]):
    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, NoMemoryError) or not isinstance(error, (MemoryError, ValueError)):
            return
        asked = (
            str(error).removeprefix("Unable to allocate ").replace(" for an array", " were asked for, for an array", 1)
        )
        if isinstance(error, ValueError):
            if not asked.startswith(("Maximum allowed dimension", "array is too big")):
                return
            asked = ""
        raise NoMemoryError(
            f"There is not enough memory: {asked or 'more was asked for than there is'}. Give fewer rows or columns at a time, use "
            "float32, or read the rows from files, which are never all in memory."
        ) from error


_ENOUGH = _EnoughMemory()


def enough_memory() -> AbstractContextManager[None]:
    """Say in a sentence how much memory was asked for, where there is not that much.

    Examples
    --------
    >>> import numpy as np
    >>> with enough_memory():
    ...     np.empty(10**17)
    Traceback (most recent call last):
    qed.base.errors.NoMemoryError: There is not enough memory: 711. PiB were asked for, for an array with shape (100000000000000000,) ...
    """
    return _ENOUGH


def level_of_user() -> int:
    """Give the ``stacklevel`` with which a warning points at the first line outside qed that led to it."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("qed."):
        level, frame = level + 1, frame.f_back
    return level


def shown(value: object) -> str:
    """Give a value as it stands in a sentence: as it is written in Python, in one line and not without end.

    Examples
    --------
    >>> shown("x"), len(shown("x" * 10**6))
    ("'x'", 203)
    """
    try:
        words = " ".join(repr(value).split())
    except ValueError:  # whole numbers of thousands of digits are not written out
        words = f"a {type(value).__name__} of thousands of digits"
    return words if len(words) <= WORDS else f"{words[:WORDS]}..."
