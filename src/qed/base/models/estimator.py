"""What every model stands on: the contract of models and the two templates of ``fit``.

`OnePass`: one fold gives a statistic, and the statistic gives the model in closed form. From that follow, with no code in the model,
``partial_fit`` (add), ``forget`` (subtract), cross-validation at the price of one pass, files and clusters.
`Iterative`: a generator of steps, run by the one driver in :mod:`qed.base.running.steps`, which brings tracing, progress, checkpoints, time
budgets, interruption and resuming.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted

from qed.base.certificate import Certificate, Claim
from qed.base.engine import blas_for
from qed.base.errors import InputError, NotFittedError
from qed.base.models.checks import check_rows, finite, overflowed, refuse_missing
from qed.base.models.fingerprint import Fingerprint, target_sums
from qed.base.models.parameters import Parameter, check_parameters
from qed.base.running.callbacks import iterations_told, told_to_callbacks
from qed.base.running.drive import drive, usual_advice, warn_if_unproven
from qed.base.running.steps import Ending, Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.base.summary import Summary


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
            The features; whatever :func:`qed.rows` takes.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path: ``fit("houses.csv", "price")``. Not needed when `X`
            is Rows that know their target.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.

        Returns
        -------
        self
            The fitted model, with its ``certificate_``.
        """
        check_parameters(self, self.parameters)
        with told_to_callbacks(self, X, y, sample_weight):
            self._fit(self._open(X, y, sample_weight, reset=True, target=self.target))
        return self

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        """Turn what the user gave into checked rows: of numbers here, of a mixed table in encoders."""
        return check_rows(self, X, y, sample_weight, reset=reset, target=target)

    @abstractmethod
    def _fit(self, rows: Rows) -> None:
        """Learn the attributes from checked rows."""

    @abstractmethod
    def _claims(self, rows: Rows) -> list[Claim]:
        """Compute the claims from the model's public attributes and the data."""

    def _max_tasks(self) -> int:
        """Say how many tasks callbacks can expect inside a fit."""
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
        return finite(self._open(X, reset=False), self).map(function, *args)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") and bool(
            self._attributes().keys() - {"n_features_in_", "feature_names_in_", "fingerprint_"}
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse
        tags.target_tags.required = self.target is not None
        return tags


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
        with blas_for(self.n_features_in_):
            self._solve(statistic)
            self.certificate_ = Certificate(self._claims_from(statistic), source="statistics")
        self.fingerprint_ = self._fingerprint(statistic)

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
        rows = self._open(X, y, sample_weight, reset=first, target=self.target)
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
        rows = self._open(X, y, sample_weight, reset=False, target=self.target)
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

    def _max_tasks(self) -> int:
        return self.max_iter + 1

    def _rule(self) -> Rule:
        return Rule(tol=self.tol, max_iter=self.max_iter)

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
        with told_to_callbacks(self, X, y, sample_weight):
            rows = self._open(X, y, sample_weight, reset=False, target=self.target)
            self._iterate(rows.cached(), start=self.ending_.last or self.ending_.step)
        return self

    def _look(self, rows: Rows, known: Fingerprint | None = None) -> None:
        """Look at the data once: is all there, is it what is `known`, what must be known before the first step."""
        summary = rows.fold(Summary.of)
        if not summary.is_complete:
            refuse_missing(rows, self)
            raise overflowed(self)
        target = rows.fold(target_sums) if self.target is not None else None
        fingerprint = Fingerprint.of(summary, target)
        difference = "" if known is None else known.difference(fingerprint)
        if difference:
            raise InputError(f"{type(self).__name__} was fitted on other data: {difference}. Call fit to begin anew.")
        self.fingerprint_ = fingerprint
        self._prepare(rows, summary)

    def _iterate(self, rows: Rows, start: Step | None) -> None:
        """Run the steps, from the beginning, from a checkpoint, or from a step of an earlier fit on the same data."""
        self._look(rows, None if start is None else self.fingerprint_)
        ending = drive(self, partial(self._steps, rows), self._rule(), start, iterations_told(self, rows))
        self._finish(rows, ending.step)
        self.ending_ = ending
        self.n_iter_ = max(1, ending.n_iter)
        self.certificate_ = self._certificate(rows)
        self._warn(ending)

    def _certificate(self, rows: Rows) -> Certificate:
        """Prove the fit from the rows; a model that has folded a statistic of them may do it from that."""
        return Certificate(self._claims(rows))

    def _warn(self, ending: Ending) -> None:
        advice = usual_advice(
            ending,
            self.max_iter,
            "call resume to go on from here.",
            "Scaling the columns, for example with qed.StandardScaler, often helps.",
        )
        warn_if_unproven(type(self).__name__, self.certificate_, ending, advice)


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
    rows = model._open(X, y, sample_weight, reset=False, target=model.target)
    return Certificate(model._claims(rows))
