"""Driving an iterative method by hand: ``for step in qed.steps(KMeans(3), X): ...``."""

from __future__ import annotations

from copy import copy
from typing import Any

from sklearn.base import clone

from qed.base.certificate import Certificate
from qed.base.models.checks import check_rows
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import check_parameters
from qed.base.running.steps import Ending, Reason, Step


class steps:
    """The steps of a method, for those who want to drive it themselves.

    Parameters
    ----------
    model : Iterative
        The model; it is not fitted by this.
    X, y, sample_weight
        As in ``fit``.
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

    def __init__(
        self, model: Iterative, X: Any, y: Any = None, sample_weight: Any = None, *, start: Step | None = None
    ) -> None:
        self._model = clone(model)
        check_parameters(self._model, self._model.parameters)
        self._rows = check_rows(self._model, X, y, sample_weight, reset=True, target=model.target).cached()
        self._model._look(self._rows)
        self._number = -1 if start is None else start.number
        self._generator = self._model._steps(self._rows, start)

    def __iter__(self) -> steps:
        return self

    def __next__(self) -> Step:
        step = next(self._generator)
        self._number += 1
        step.number = self._number
        return step

    def model_at(self, step: Step) -> Any:
        """Give the model as it is at `step`, ready to predict, with its certificate."""
        model = copy(self._model)
        model._finish(self._rows, step)
        model.ending_ = Ending(step, Reason.INTERRUPTED, step.number, 0.0, [])
        model.n_iter_ = max(1, step.number)
        model.certificate_ = Certificate(model._claims(self._rows))
        return model
