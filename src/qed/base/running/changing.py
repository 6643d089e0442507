"""A change of a model is made whole or not at all."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from types import TracebackType

from qed.base.errors import enough_memory
from qed.base.fitted import fitted_attributes
from qed.base.threads.blas import fitting
from qed.base.threads.interrupts import deferred

# Whether the fits under way are parts of something larger, which an interrupt ends as a whole.
in_parts: ContextVar[bool] = ContextVar("qed_in_parts", default=False)


# What a model knows of its columns, which an update does not learn anew.
COLUMNS = frozenset({"n_features_in_", "feature_names_in_"})


def begin_anew(model: object, keep: Collection[str] = ()) -> None:
    """Drop what a model has learned, so that nothing of it is left beside what it learns next.

    Parameters
    ----------
    model : object
        What is about to be fitted.
    keep : collection of str
        The names of attributes that stay.
    """
    held = vars(model)
    for name in fitted_attributes(model).keys() - keep:
        del held[name]


def changing(model: object, *, anew: bool = False) -> AbstractContextManager[None]:
    """Fit a model inside the ``with`` block; whatever ends it by an error or an interrupt leaves the model as it was.

    Ctrl-C waits for a moment in which nothing is half done, BLAS is held to one thread, and memory that is missing is a sentence.

    Parameters
    ----------
    model : object
        What is fitted. Its attributes are set anew, never changed in place, so that remembering them is enough.
    anew : bool
        Whether nothing of an earlier fit is to be left.
    """
    return _Changing(model, anew)


@contextmanager
def trying_many(model: object) -> Iterator[None]:
    """Fit many models inside the ``with`` block for the sake of one, such as a search.

    An interrupt ends all of it: no candidate is judged by a fit that was cut short. The one model is left as it was then, and holds nothing
    of an earlier fit otherwise.

    Parameters
    ----------
    model : object
        What the fits are made for.
    """
    with deferred(), _Whole(model):
        begin_anew(model)
        token = in_parts.set(True)
        try:
            yield
        finally:
            in_parts.reset(token)


class _Whole(AbstractContextManager[None]):
    """Puts the attributes of a model back where something ends the block early."""

    def __init__(self, model: object) -> None:
        self._held, self._before = vars(model), dict(vars(model))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._held.clear()
            self._held.update(self._before)


class _Changing(_Whole):
    """The same, with all that a fit needs around it: one context in the place of four, as small fits are made by the thousand."""

    def __init__(self, model: object, anew: bool) -> None:
        super().__init__(model)
        self._model, self._anew = model, anew

    def __enter__(self) -> None:
        self._deferred = deferred()
        self._deferred.__enter__()
        try:
            fitting().__enter__()
        except BaseException:
            self._deferred.__exit__()
            raise
        if self._anew:
            begin_anew(self._model)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
            enough_memory().__exit__(kind, error, trace)
        finally:
            try:
                fitting().__exit__()
            finally:
                self._deferred.__exit__()
