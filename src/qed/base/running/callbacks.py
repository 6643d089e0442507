"""scikit-learn's callback protocol, spoken once for every model: a fit is a task, each of its iterations a task inside it.

``model.set_callbacks(ProgressBar(), ScoringMonitor(scoring="r2"))`` then works as on scikit-learn's own estimators, alone
or inside a pipeline, and a callback that returns True ends the fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from typing import Any

from sklearn.callback._callback_support import callback_management_context

from qed.base.running.steps import Step

_NOBODY = nullcontext()


def calling_back(model: Any, X: Any, y: Any, sample_weight: Any) -> AbstractContextManager[None]:
    """Tell the callbacks of `model`, or of what it is a part of, that a fit begins and, if nothing is raised, that it ends."""
    listens = hasattr(model, "_skl_callbacks") or hasattr(model, "_parent_callback_ctx")
    return _telling(model, X, y, sample_weight) if listens else _NOBODY


@contextmanager
def _telling(model: Any, X: Any, y: Any, sample_weight: Any) -> Iterator[None]:
    with callback_management_context(model):
        context = model._init_callback_context(max_subtasks=model._max_tasks())
        metadata = {} if sample_weight is None else {"sample_weight": sample_weight}
        # The iterations inside tell their callbacks about the same data.
        context.given = {"X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(estimator=model, **context.given)
        yield
        context.call_on_fit_task_end(estimator=model, **context.given, reconstruction_attributes=model._attributes)


def iteration_callbacks(model: Any, problem: Any) -> list[Callable[[Step], bool]]:
    """Give the watcher that makes each step a task, or none when `model` has no callbacks."""
    if not getattr(model, "_skl_callbacks", None):
        return []
    context = model._callback_fit_ctx

    def tell(step: Step) -> bool:
        def attributes() -> dict[str, Any]:
            # A copy, so that a half-finished fit leaves no attributes behind.
            finished = copy(model)
            finished._finish(problem, step)
            return finished._attributes()

        task = context.subcontext(task_name=f"iteration {step.number}")
        task.call_on_fit_task_begin(estimator=model, **context.given)
        return task.call_on_fit_task_end(estimator=model, **context.given, reconstruction_attributes=attributes)

    return [tell]
