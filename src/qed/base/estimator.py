"""What every model stands on: the contract of models and the two templates of ``fit``.

`OnePass`: one fold gives a statistic, and the statistic gives the model in closed form. From that follow, with no code in the model,
``partial_fit`` (add), ``forget`` (subtract), cross-validation at the price of one pass, files and clusters.
`Iterative`: a generator of steps, run by the one driver in :mod:`qed.base.steps`, which brings tracing, progress, checkpoints, time
budgets, interruption and resuming.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.callback._callback_support import callback_management_context
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted

from qed.base.certificate import Certificate, Claim
from qed.base.checks import check_rows, is_finite, overflowed, refuse_missing
from qed.base.errors import ConvergenceWarning, NotFittedError
from qed.base.fingerprint import Fingerprint
from qed.base.parameters import Parameter, check_parameters
from qed.base.rows import Block, Rows
from qed.base.steps import Ending, Reason, Rule, Step, run
from qed.base.summary import Summary
from qed.base.watch import watches


class Estimator(CallbackSupportMixin, BaseEstimator):
    """The contract of models.

    Class attributes
    ----------------
    passes : {"one", "each iteration", "stream", "in memory"}
        How the model reads its data.
    target : {"number", "label", None}
        What ``y`` has to be.
    sparse : bool
        Whether sparse matrices are taken.
    parameters : mapping of str to Parameter
        The rule and the kind of each parameter.
    """

    passes: ClassVar[str] = "one"
    target: ClassVar[str | None] = None
    sparse: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, Parameter]] = {}

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like, optional
            The target; not needed when `X` is Rows that know their target.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.

        Returns
        -------
        self
            The fitted model, with its ``certificate_``.
        """
        check_parameters(self, self.parameters)
        with callback_management_context(self):
            context = self._init_callback_context(max_subtasks=self._max_tasks())
            rows = self._open(X, y, sample_weight, reset=True)
            told = {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}}
            context.call_on_fit_task_begin(estimator=self, **told)
            self._fit(rows)
            context.call_on_fit_task_end(estimator=self, **told, reconstruction_attributes=self._attributes)
        return self

    def _open(self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool) -> Rows:
        """Turn what the user gave into checked rows: of numbers here, of a mixed table in encoders."""
        return check_rows(self, X, y, sample_weight, reset=reset, target=self.target)

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn the attributes from checked rows."""

    @abstractmethod
    def _claims(self, rows: Rows) -> list[Claim]:
        """Compute the claims from the model's public attributes and the data."""

    def _max_tasks(self) -> int | None:
        return 0

    def _attributes(self) -> dict[str, Any]:
        """Give the fitted attributes: what ends in an underscore, as scikit-learn has it."""
        return {name: value for name, value in vars(self).items() if name.endswith("_") and not name.startswith("_")}

    def _check_fitted(self) -> None:
        if not _is_fitted(self):
            name = type(self).__name__
            raise NotFittedError(f"This {name} is not fitted yet: call fit with your data before using it.")

    def _apply(self, function: Callable[..., Any], X: Any, *args: Any) -> Any:
        """Work out ``function(block, *args)`` for all rows of `X`, after the checks that every model needs."""
        self._check_fitted()
        rows = check_rows(self, X, reset=False)
        return rows.map(_checked, function, self, rows, *args)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") and bool(
            self._attributes().keys() - {"n_features_in_", "feature_names_in_"}
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse
        tags.target_tags.required = self.target is not None
        return tags


def _checked(block: Block, function: Callable[..., Any], model: Estimator, rows: Rows, *args: Any) -> Any:
    if not is_finite(block.X):
        refuse_missing(rows, model)
    return function(block, *args)


class OnePass(Estimator):
    """A model in closed form: a statistic of the rows, and a solution from it."""

    passes: ClassVar[str] = "one"

    @abstractmethod
    def _statistic(self, block: Block) -> Any:
        """Give the statistic of one block."""

    @abstractmethod
    def _solve(self, statistic: Any) -> None:
        """Set the fitted attributes from the statistic of all rows."""

    @abstractmethod
    def _claims_from(self, statistic: Any) -> list[Claim]:
        """Compute the claims from the statistic: what `_claims` does without going back to the rows."""

    def _fit(self, rows: Rows) -> None:
        self._learn(self._collect(rows), rows)

    def _collect(self, rows: Rows) -> Any:
        statistic = rows.fold(self._statistic)
        if not statistic.is_finite:
            refuse_missing(rows, self)
            raise overflowed(self)
        return statistic

    def _learn(self, statistic: Any, rows: Rows | None) -> None:
        """Set everything from a statistic; `rows` are there in ``fit``, for models that may need a second look."""
        self.statistic_ = statistic
        self._solve(statistic)
        self.fingerprint_ = self._fingerprint(statistic)
        self.certificate_ = Certificate(self._claims_from(statistic), source="statistics")

    def _fingerprint(self, statistic: Any) -> Fingerprint:
        p = self.n_features_in_
        weight = max(float(statistic.weight), 1e-300)
        variance = np.diagonal(statistic.scatter)[:p] / weight
        return Fingerprint(int(statistic.count), float(statistic.weight), statistic.mean[:p], variance)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those already learned from: the result is that of a fit on all of them.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        check_parameters(self, self.parameters)
        first = not hasattr(self, "statistic_")
        rows = self._open(X, y, sample_weight, reset=first)
        statistic = self._collect(rows)
        self._learn(statistic if first else self.statistic_ + statistic, None)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again: the result is that of a fit without them (exact unlearning).

        Parameters
        ----------
        X, y, sample_weight
            Rows that were learned from, with the weights they had.
        """
        self._check_fitted()
        rows = self._open(X, y, sample_weight, reset=False)
        self._learn(self.statistic_ - self._collect(rows), None)
        return self


class Iterative(Estimator):
    """A model found step by step. Subclasses have the parameters ``tol`` and ``max_iter``."""

    passes: ClassVar[str] = "each iteration"
    tol: float
    max_iter: int

    @abstractmethod
    def _steps(self, rows: Rows, start: Step | None = None) -> Iterator[Step]:
        """Yield step after step, from the beginning or from `start`."""

    @abstractmethod
    def _finish(self, rows: Rows, step: Step) -> None:
        """Set the fitted attributes from a step."""

    def _prepare(self, rows: Rows, summary: Summary) -> None:
        """Set what has to be known before the first step, such as the classes."""

    def _max_tasks(self) -> int | None:
        return None

    def _rule(self) -> Rule:
        seconds = [seen.seconds for seen in watches() if seen.seconds is not None]
        return Rule(tol=self.tol, max_iter=self.max_iter, seconds=min(seconds, default=None))

    def _fit(self, rows: Rows) -> None:
        self._iterate(rows.cached(), start=None)

    def resume(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on from where the last fit of this model ended, with the same data: after an interrupt, or with more iterations allowed.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        self._check_fitted()
        check_parameters(self, self.parameters)
        with callback_management_context(self):
            self._init_callback_context(max_subtasks=None)
            rows = self._open(X, y, sample_weight, reset=False)
            self._iterate(rows.cached(), start=self.ending_.step)
        return self

    def _look(self, rows: Rows) -> None:
        """Look at the data once: is all there, what is the fingerprint, what must be known beforehand."""
        summary = rows.fold(Summary.of)
        if not summary.is_complete:
            refuse_missing(rows, self)
            raise overflowed(self)
        self.fingerprint_ = Fingerprint.of(summary)
        self._prepare(rows, summary)

    def _iterate(self, rows: Rows, start: Step | None) -> None:
        self._look(rows)
        rule = self._rule()
        start = start or _from_checkpoint(self)
        with ExitStack() as stack:
            watchers = [w for seen in watches() for w in stack.enter_context(seen.of(self, rule))]
            if getattr(self, "_skl_callbacks", None):
                watchers.append(self._tell_callbacks(rows))
            ending = run(self._steps(rows, start), rule, watchers, start)
        for seen in watches():
            if seen.checkpoint is not None:
                from qed.base.saving import save_checkpoint

                save_checkpoint(seen.checkpoint, self, ending.step)
        self._finish(rows, ending.step)
        self.ending_ = ending
        self.n_iter_ = max(1, ending.n_iter)
        self.certificate_ = Certificate(self._claims(rows))
        self._warn(ending)

    def _tell_callbacks(self, rows: Rows) -> Callable[[Step], bool]:
        """Speak scikit-learn's callback protocol: a task per iteration."""
        context = self._callback_fit_ctx

        def tell(step: Step) -> bool:
            task = context.subcontext(task_name=f"iteration {step.number}")
            task.call_on_fit_task_begin(estimator=self)

            def attributes() -> dict[str, Any]:
                self._finish(rows, step)
                return self._attributes()

            return bool(task.call_on_fit_task_end(estimator=self, reconstruction_attributes=attributes))

        return tell

    def _warn(self, ending: Ending) -> None:
        if self.certificate_ or ending.reason is Reason.CERTIFIED:
            return
        name = type(self).__name__
        worst = max(self.certificate_.failures, key=lambda claim: claim.value / max(claim.bound, 1e-300))
        off = f"'{worst.says}' is {worst.value:.1e}, wanted at most {worst.bound:.1e}."
        advice = "" if ending.advice else _advice(self, ending)
        warnings.warn(f"{name}: {ending} {off} {advice}".strip(), ConvergenceWarning, stacklevel=4)


def _advice(model: Iterative, ending: Ending) -> str:
    """Name the parameter to change and a value to try."""
    if ending.reason is Reason.MAX_ITER:
        return f"Try max_iter={10 * model.max_iter}."
    if ending.reason is Reason.TIME:
        return "Allow more seconds, or call resume to go on from here."
    if ending.reason is Reason.INTERRUPTED:
        return "Call resume to go on from here."
    if ending.reason is Reason.STALLED and ending.step.gap is not None:
        return f"This is as far as floating-point numbers go; tol={ending.step.gap * 2:.1g} would be reached."
    return "Scaling the columns, for example with qed.StandardScaler, often helps."


def _from_checkpoint(model: Iterative) -> Step | None:
    for seen in watches():
        if seen.checkpoint is not None and seen.checkpoint.exists():
            from qed.base.saving import load_checkpoint

            return load_checkpoint(seen.checkpoint, model)
    return None


def certify(model: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Certificate:
    """Recompute a model's certificate from its public attributes and the data.

    Nothing the solver believed is used: whoever has the model and the data can check the proof.

    Parameters
    ----------
    model : fitted estimator
        Any model of qed.
    X, y, sample_weight
        The data it was fitted on; files and Dask collections too.

    Returns
    -------
    Certificate
        True when all claims hold.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.Ridge(alpha=0.5).fit(X, y)
    >>> bool(qed.certify(model, X, y))
    True
    >>> model.coef_[0] *= 1.001
    >>> bool(qed.certify(model, X, y))
    False
    """
    model._check_fitted()
    rows = model._open(X, y, sample_weight, reset=False)
    return Certificate(model._claims(rows))
