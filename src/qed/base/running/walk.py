"""Driving an iterative method by hand: ``for step in qed.steps(KMeans(3), X): ...``."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from sklearn.base import clone

from qed.base.errors import InputError
from qed.base.running.stepped import Stepped
from qed.base.running.steps import Ending, Reason, Run, Step
from qed.base.threads.interrupts import deferred


class steps:
    """The steps of a method, for those who want to drive it themselves.

    A ``for`` loop, or whatever else goes through all of them, ends with the step at which ``fit`` would end; ``next`` goes on from there,
    for as long as the method has steps to take.

    Parameters
    ----------
    model : Stepped or Pipeline
        The model; it is not fitted by this. Of a pipeline, the last step is walked through, on what the others, fitted to these rows, make
        of them.
    *data, **named
        What ``fit`` of the model takes: the rows, mostly ``X``, ``y`` and ``sample_weight``, or the world that it acts in.
    start : Step, optional
        Go on from this step.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> walk = qed.steps(qed.KMeans(3, random_state=0), X)
    >>> first, second = next(walk), next(walk)
    >>> second.objective <= first.objective
    True
    >>> walk.model_at(second).cluster_centers_.shape
    (3, 4)
    """

    def __init__(self, model: Stepped, *data: Any, start: Step | None = None, **named: Any) -> None:
        if isinstance(getattr(model, "steps", None), list):
            model, data, named = _last_step(model, data, named)
        if not isinstance(model, Stepped):
            raise InputError(_no_steps(model))
        self._model = clone(model)
        self._problem = self._model._begin(*data, **named)
        self._run = Run(self._model._rule(), start=start)
        self._over = False
        self._generator = self._model._steps(self._problem, start)

    def __iter__(self) -> Iterator[Step]:
        while not self._over:
            try:
                step = next(self)
            except StopIteration:
                return
            yield step

    def __next__(self) -> Step:
        with deferred(moments=False):
            step = next(self._generator)
        self._over = self._run.take(step) is not None
        return step

    def model_at(self, step: Step) -> Any:
        """Give the model as it is at `step`, ready to predict, with its certificate."""
        model = copy(self._model)
        model._conclude(self._problem, Ending(step, Reason.INTERRUPTED, step.number, 0.0, []))
        return model


def _last_step(
    pipeline: Any, data: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """Give the last model of a pipeline, and the rows that it sees."""
    X, *rest = [*data] if data else [named.pop("X")]
    y = rest[0] if rest else named.get("y")
    for _, part in pipeline.steps[:-1]:
        if part is not None and not isinstance(part, str):
            X = clone(part).fit_transform(X, y)
    return pipeline.steps[-1][1], (X, *rest), named


def _no_steps(model: object) -> str:
    """Say what to give in the place of what is not found step by step."""
    name = model.__name__ if isinstance(model, type) else type(model).__name__
    if hasattr(model, "searches") or hasattr(model, "param_grid"):
        return f"{name} fits many models: walk through one of them, such as qed.steps(search.best_estimator_, X, y)."
    if hasattr(model, "passes") and not hasattr(model, "model"):
        return f"{name} has no steps to walk through, its solution comes at once: call fit."
    return f"{name} has no steps of its own: give an iterative model, such as qed.KMeans(3), and the rows that it sees."
