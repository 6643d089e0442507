"""The models of qed inside what others built around them: a pipeline, or the best of a search."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from sklearn.utils import get_tags
from sklearn.utils.validation import _is_fitted

from qed.base.errors import InputError, NotAvailableError, NotFittedError
from qed.base.sources.open import is_dask, is_path
from qed.base.sources.rows import Rows


class Step(Protocol):
    """A step of a pipeline."""

    def transform(self, X: object) -> object:
        """Change the columns."""


def parts_of(model: object, X: object) -> list[tuple[str, object, object]]:
    """Give the models of qed in something fitted: what to call each, the model, and the table that it sees.

    A model of qed is its own only part, without a name. Of a search it is the best model, of a pipeline every step that is one.

    Parameters
    ----------
    model : object
        What the user gave.
    X : array-like, frame, or whatever a model of qed takes
        The table that goes in at the front.
    """
    model = _best(model)
    if hasattr(model, "_prove") and not isinstance(model, type):
        return [("", model, X)]
    steps = getattr(model, "steps", None)
    if not isinstance(steps, list):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise InputError(
            f"{name} is no fitted model of qed, so there are no claims to check: give a model, or a pipeline or search of models."
        )
    # A list of words names files, unless what reads it asks for documents.
    documents = isinstance(X, (list, tuple)) and not get_tags(_first(steps)).input_tags.two_d_array
    if isinstance(X, Rows) or (is_path(X) and not documents) or is_dask(X):
        raise InputError(
            "A pipeline of scikit-learn reads tables in memory: give X and y as arrays or frames, or take qed.TableModel."
        )
    found = list(_steps(steps, X))
    if not found or not found[-1][0].startswith(f"{steps[-1][0]}: "):
        last = type(steps[-1][1]).__name__
        raise InputError(
            f"The pipeline ends with {last}, which is no model of qed and makes no claims: end it with one."
        )
    return found


def _first(steps: list[tuple[str, Step | str | None]]) -> Step | str | None:
    """Give the first step that does something."""
    return next((part for _, part in steps if part is not None and not isinstance(part, str)), steps[-1][1])


def _best(model: object) -> object:
    """Give the best model of a search, of whatever is inside; all else is given back."""
    while hasattr(model, "best_estimator_") and not hasattr(model.best_estimator_, "_prove"):
        model = model.best_estimator_
    if hasattr(model, "best_estimator_") and not hasattr(model, "_prove"):
        return model.best_estimator_
    if hasattr(model, "param_grid") or hasattr(model, "param_distributions"):
        name = type(model).__name__
        if _is_fitted(model):
            raise NotAvailableError(
                f"This {name} was made with refit=False, so there is no model whose claims to check."
            )
        raise NotFittedError(f"This {name} is not fitted yet: call fit with your data before using it.")
    return model


def _steps(steps: list[tuple[str, Step | str | None]], X: object) -> Iterator[tuple[str, object, object]]:
    for place, (name, part) in enumerate(steps):
        if part is None or isinstance(part, str):
            continue
        if hasattr(part, "_prove"):
            yield f"{name}: ", part, X
        elif hasattr(part, "steps") or hasattr(part, "best_estimator_"):
            yield from ((f"{name}: {inner}", found, table) for inner, found, table in parts_of(part, X))
        if place < len(steps) - 1:
            X = part.transform(X)
