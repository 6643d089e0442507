"""The contract of models, and the templates of ``fit``.

A fit is three nouns: rows, problem, steps. The rows become a problem (``_problem``), the problem is solved (``_solve``), and what was
found is proven from the problem (``_prove``).
`OnePass`: one fold gives a statistic, and the statistic gives the model in closed form. From that follow, with no code in the model,
``partial_fit`` (add), ``forget`` (subtract), cross-validation at the price of one pass, files and clusters.
`Iterative`: a generator of steps, run by the one driver in :mod:`qed.base.running.steps`, which brings tracing, progress, checkpoints, time
budgets, interruption and resuming.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.callback import CallbackSupportMixin
from sklearn.utils import Tags
from sklearn.utils.validation import _is_fitted

from qed.base.attributes import Attributes, having, maybe, names, of, size
from qed.base.certificate import Certificate, Claim
from qed.base.errors import (
    InputError,
    NotAvailableError,
    NotFittedError,
    ParameterError,
    UnprovenWarning,
    enough_memory,
    level_of_user,
)
from qed.base.fitted import fitted_attributes
from qed.base.models.checks import check_rows, finite
from qed.base.models.fingerprint import Fingerprint
from qed.base.models.parameters import Parameter, check_parameters
from qed.base.models.problem import Problem, RowsProblem, StatisticProblem, none_left, refuse_light
from qed.base.models.proof import difference_from
from qed.base.models.searching import Answer, Question
from qed.base.running.callbacks import calling_back, iteration_callbacks
from qed.base.running.changing import COLUMNS, begin_anew, changing
from qed.base.running.stepped import Stepped
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows


class Estimator(CallbackSupportMixin, BaseEstimator):
    """The contract of models.

    Class attributes
    ----------------
    passes : {"one", "two", "each iteration", "stream", "as codes", "in memory"}
        How the model reads its data; in two passes where the first has to find out which classes there are, as codes where a byte of
        each value is kept in memory.
    target : {"number", "label", None}
        What ``y`` has to be.
    sparse : bool
        Whether sparse matrices are taken.
    missing : bool
        Whether missing features (NaN) are let through; infinite ones never are.
    parameters : mapping of str to Parameter
        The rule and the kind of each parameter.
    attributes : mapping of str to Attribute
        What a fit leaves behind: the shape, kind and range of each attribute. Those of the base classes are added.
    no_inference : str
        Why there is no ``inference_``, for models that have none.
    """

    passes: ClassVar[str] = "one"
    target: ClassVar[str | None] = None
    sparse: ClassVar[bool] = False
    missing: ClassVar[bool] = False
    parameters: ClassVar[Mapping[str, Parameter]] = {}
    attributes: ClassVar[Attributes] = {
        "n_features_in_": size("features"),
        "feature_names_in_": maybe(names("features")),
        "fingerprint_": maybe(of(Fingerprint, mean="features")),
        "certificate_": of(Certificate),
    }
    no_inference: ClassVar[str] = "it estimates no coefficients whose sampling distribution is known"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the model.

        Nothing of an earlier fit is left. A fit that fails leaves the model as it was before, fitted or not.

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
        with changing(self, anew=not self._goes_on()), calling_back(self, X, y, sample_weight):
            self._settle(self._problem(self._open(X, y, sample_weight, reset=True, target=self.target)))
        return self

    def _goes_on(self) -> bool:
        """Say whether a fit goes on from what the last one has left, as ``warm_start=True`` asks for; else nothing of it is left."""
        return False

    def _settle(self, problem: Any) -> None:
        """Solve a problem and prove the solution."""
        self._solve(problem)
        if (fingerprint := problem.fingerprint) is not None:
            self.fingerprint_ = fingerprint
        self.certificate_ = Certificate(self._prove(problem), source=problem.source)
        if self.certificate_.failures:
            said = f"{type(self).__name__}: {self.certificate_.shortfall} {self._advice()}"
            warnings.warn(said, UnprovenWarning, stacklevel=level_of_user())

    def _advice(self) -> str:
        """Say what to change where the certificate does not hold."""
        return "Scaling the columns, for example with qed.StandardScaler, often helps."

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        """Turn what the user gave into checked rows: of numbers here, of a mixed table in encoders."""
        return check_rows(self, X, y, sample_weight, reset=reset, target=target)

    def _problem(self, rows: Rows) -> Any:
        """Make of checked rows what is to be solved, from them and the parameters alone."""
        return RowsProblem(rows, self)

    def _evidence(self, rows: Rows) -> Any:
        """Make of checked rows what the claims are recomputed from: the problem, unless the proof has to go back to the data."""
        return self._problem(rows)

    @abstractmethod
    def _solve(self, problem: Any) -> None:
        """Set the fitted attributes."""

    @abstractmethod
    def _prove(self, problem: Any) -> list[Claim]:
        """Compute the claims from the model's public attributes and the problem."""

    def _restate(self, problem: Any) -> list[Claim]:
        """Compare attributes that follow from the data and the others with what they should be; ``certify`` alone asks for it."""
        return []

    def _difference(self, problem: Problem) -> str | None:
        """Say how the rows of a problem differ from those of the fit; empty where they do not, None where that is not known."""
        return difference_from(self, problem.fingerprint)

    def _statistic_numbers(self, p: int, k: int) -> int:
        """Say about how many numbers the statistic of p columns and k outputs or classes holds: by default the products of columns."""
        return (p + k) ** 2

    def _search(self, question: Question[Self]) -> Answer | None:
        """Score many settings on many folds in whatever way is cheap; None to have them fitted. See `qed.base.models.searching`."""
        return None

    @classmethod
    def _contends_on(cls, X: np.ndarray) -> bool:
        """Say whether a comparison should try the model on such columns, encoded and not scaled; most models take any numbers."""
        return True

    @classmethod
    def _settings_on(cls, n_rows: int, n_columns: int, n_outputs: int) -> Mapping[str, Any]:
        """Give the values of parameters that a comparison is to try on such a table: ``compare_grid``, unless that depends on its size."""
        return cls.compare_grid

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        """Give about how long a fit to such a table takes, where that can be long: a comparison leaves out what it can not afford."""
        return 0.0

    def _disagreement(self) -> str:
        """Say in what the fitted attributes disagree with each other or with the parameters, where `attributes` can not tell."""
        return ""

    def _max_tasks(self) -> int:
        """Say how many tasks callbacks can expect inside a fit."""
        return 0

    def _attributes(self) -> dict[str, Any]:
        """Give the fitted attributes: what ends in an underscore, as scikit-learn has it."""
        return fitted_attributes(self)

    @property
    def inference_(self) -> object:
        """Standard errors and tests, where theory gives them; refused with the reason where it does not."""
        raise NotAvailableError(
            f"Standard errors and p-values are not defined for {type(self).__name__}: {self.no_inference}."
        )

    def _check_fitted(self) -> None:
        if not _is_fitted(self):
            name = type(self).__name__
            raise NotFittedError(f"This {name} is not fitted yet: call fit with your data before using it.")

    def _apply(self, function: Callable[..., Any], X: Any, *args: Any) -> Any:
        """Work out ``function(block, *args)`` for all rows of `X`, after the checks that every model needs."""
        self._check_fitted()
        with enough_memory():
            return finite(self._open(X, reset=False), self).map(function, *args)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_") and bool(
            self._attributes().keys() - {"n_features_in_", "feature_names_in_", "fingerprint_"}
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse
        tags.input_tags.allow_nan = self.missing
        tags.target_tags.required = self.target is not None
        return tags


class OnePass(Estimator):
    """A model in closed form: a statistic of the rows, and a solution from it.

    Class attributes
    ----------------
    statistic_parameters : tuple of str or None
        The parameters that the statistic depends on; None stands for all of them. Candidates of a search that agree in these share
        the one pass that collects it.
    problem_kind : type of StatisticProblem
        What the rows become: a statistic, with what a model works out of it once.
    least_weight : float
        What all rows together have to weigh more than; rows that are added or taken away may weigh less.
    """

    passes: ClassVar[str] = "one"
    problem_kind: ClassVar[type[StatisticProblem]] = StatisticProblem
    statistic_parameters: ClassVar[tuple[str, ...] | None] = None
    least_weight: ClassVar[float] = 0.0
    attributes: ClassVar[Attributes] = {
        "statistic_": having("fingerprint", "is_finite"),
        "fingerprint_": of(Fingerprint, mean="features"),
    }
    statistic_: Any

    @abstractmethod
    def _statistic(self, block: Block) -> Any:
        """Give the statistic of one block; see `qed.base.statistic.Statistic`."""

    def _problem(self, rows: Rows) -> Any:
        return self.problem_kind(self, rows)

    def _evidence(self, rows: Rows) -> Any:
        return self.problem_kind(self, rows, source="data")

    def _known(self, rows: Rows | None, statistic: Any, target_ndim: int = 1) -> Any:
        """Make the problem of rows whose statistic is known already; they say themselves what their target is, where they are at hand."""
        return self.problem_kind(self, rows, statistic, target_ndim=target_ndim)

    def _settle(self, problem: StatisticProblem) -> None:
        self._check_statistic(problem)
        refuse_light(self, problem.statistic)
        self.statistic_ = problem.statistic
        super()._settle(problem)

    def _check_statistic(self, problem: StatisticProblem) -> None:
        """Refuse a statistic from which no model follows."""

    def _needs_all(self) -> str:
        """Say why a model with these parameters has to learn from all its rows at once; nothing where sums of their parts will do."""
        return ""

    def _check_sums(self, door: str) -> None:
        if why := self._needs_all():
            raise ParameterError(
                f"{type(self).__name__} has no {door} with these parameters: {why}. Call fit with all rows."
            )

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to those already learned from: the result is that of a fit on all of them.

        Parameters
        ----------
        X, y : array-like, frame, path, Dask collection or Rows
            The features; and the target, or the name of its column.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        check_parameters(self, self.parameters)
        self._check_sums("partial_fit")
        first = not hasattr(self, "statistic_")
        with changing(self, anew=first), calling_back(self, X, y, sample_weight):
            new = self._problem(self._open(X, y, sample_weight, reset=first, target=self.target))
            self._check_statistic(new)
            self._update(new.statistic if first else self.statistic_ + new.statistic, new)
        return self

    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take rows away again: the result is that of a fit without them (exact unlearning).

        Parameters
        ----------
        X, y, sample_weight
            Rows that were learned from, with the weights they had.
        """
        self._check_fitted()
        self._check_sums("forget")
        with changing(self):
            new = self._problem(self._open(X, y, sample_weight, reset=False, target=self.target))
            self._check_statistic(new)
            known, taken = (statistic.fingerprint().count for statistic in (self.statistic_, new.statistic))
            if taken >= known:
                raise none_left(self, known, taken)
            self._update(self.statistic_ - new.statistic, new)
        return self

    def _update(self, statistic: Any, new: StatisticProblem) -> None:
        """Learn from a statistic whose rows are no longer all at hand."""
        begin_anew(self, keep=COLUMNS)
        self._settle(self._known(None, statistic, new.target_ndim))


class Iterative(Stepped, Estimator):
    """A model found step by step. Subclasses have the parameters ``tol`` and ``max_iter``."""

    passes: ClassVar[str] = "each iteration"
    attributes: ClassVar[Attributes] = {"fingerprint_": of(Fingerprint, mean="features")}

    def _problem(self, rows: Rows) -> Any:
        return RowsProblem(rows.cached(), self)

    def _begin(self, *data: Any, reset: bool = True, **named: Any) -> Any:
        check_parameters(self, self.parameters)
        return self._problem(self._open(*data, **named, reset=reset, target=self.target))

    def _settle(self, problem: Any) -> None:
        self._solve(problem)

    def _solve(self, problem: Any) -> None:
        self._run(problem, None, iteration_callbacks(self, problem))

    def _max_tasks(self) -> int:
        return self.max_iter + 1

    def resume(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Go on from where the last fit of this model ended, with the same data: after an interrupt, or with more iterations allowed.

        Parameters
        ----------
        X, y, sample_weight
            The data of the last fit.
        """
        self._check_fitted()
        with changing(self), calling_back(self, X, y, sample_weight):
            problem = self._begin(X, y, sample_weight, reset=False)
            difference = self.fingerprint_.difference(problem.fingerprint)
            if difference:
                raise InputError(
                    f"{type(self).__name__} was fitted on other data: {difference}. Call fit to begin anew."
                )
            last = self.ending_.last or self.ending_.step
            begin_anew(self, keep=COLUMNS)
            self._run(problem, last, iteration_callbacks(self, problem))
        return self
