r"""Searching for the best setting of a model's parameters.

Of the candidates :math:`c` in a grid, take the one with the best mean score over k folds,

.. math:: \hat c = \arg\max_c \frac1k \sum_{f=1}^k \mathrm{score}\big(h_c^{(-f)},\ f\big),

where :math:`h_c^{(-f)}` is fitted to all rows but those of fold :math:`f`; then fit it to all rows. The folds are drawn
once and shared by all candidates, and of several best ones the first is taken. The model is asked first whether it can
tell the whole table of scores cheaply (:mod:`qed.selection.searching.cheap`): ridge regression on 5 folds with 50 penalties then
costs little more than one fit. What it can not tell is fitted in parallel. Either way the scores are those of the plain
search, to the solver's tolerance. The best score is an optimistic estimate, being the best of many: keep rows aside for
an honest one.

Stone (1974), Cross-validatory choice and assessment of statistical predictions.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError, NotFittedError
from qed.base.models.estimator import Estimator, fit_known
from qed.base.models.parameters import Parameter, anything, boolean, check_parameters
from qed.base.running.callbacks import calling_back
from qed.base.sources.rows import Rows
from qed.selection.scoring import Scorer, check_scoring, get_scorer
from qed.selection.searching.audience import Audience, told_inside
from qed.selection.searching.candidates import candidates_of, fresh, made_with
from qed.selection.searching.fits import Settings, evaluate
from qed.selection.searching.folds import Folds, Scores
from qed.selection.searching.results import results_of
from qed.selection.searching.samples import Data
from qed.selection.splitting.splits import Partition, StratifiedKFold


def _model() -> Parameter:
    def accepts(value: Any) -> bool:
        return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")

    return Parameter("a model (an object, not its class) with fit and get_params", accepts, "model")


def _error_score() -> Parameter:
    def accepts(value: Any) -> bool:
        return value == "raise" if isinstance(value, str) else isinstance(value, (int, float, np.number))

    return Parameter("'raise' or a number", accepts)


def scorer_for(model: Any, scoring: Any, folds: Folds) -> Any:
    """Give the scorer that is meant; on single rows, where R² is not defined, a regressor's default is the squared error."""
    scorer = check_scoring(model, scoring)
    if scoring is None and folds.leave_one_out and isinstance(scorer, Scorer) and scorer.name == "r2":
        return get_scorer("neg_mean_squared_error")
    return scorer


def is_classifier(model: Any) -> bool:
    """Say whether a model tells classes."""
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and tags().estimator_type == "classifier"


def draw_folds(model: Any, cv: Any, data: Data, groups: Any = None, *, train_scores: bool = False) -> Folds:
    """Draw the folds that `cv` means for a model and its data."""
    classifier = is_classifier(model)
    ours = cv is None or isinstance(cv, (int, np.integer, str, Partition))
    by_class = classifier or isinstance(cv, StratifiedKFold) or bool(getattr(cv, "stratify", False))
    # The target of rows that are streamed takes a pass to gather, so it is asked for where it is needed only.
    y = data.y if by_class or not ours else None
    weight = data.weight if type(cv).__name__ == "LeaveOneOut" or isinstance(cv, str) else None
    return Folds.of(cv, data.X, y, groups, weight=weight, classifier=classifier, train_scores=train_scores)


class _Delegated:
    """A method of the model that is searched: there when the model has it, and answered by the best one."""

    def __init__(self, says: str) -> None:
        self.says = says

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, search: Any, owner: type | None = None) -> Any:
        if search is None:
            return self
        getattr(getattr(search, "best_estimator_", search.model), self.name)
        name = self.name

        def call(*args: Any, **options: Any) -> Any:
            return getattr(search._best(), name)(*args, **options)

        call.__name__, call.__doc__ = name, self.says
        return call


class Search(Estimator):
    """Search a grid of parameters by cross-validation.

    Parameters
    ----------
    model : estimator
        The model to search; any estimator with scikit-learn's contract.
    grid : dict of str to list, or list of such dicts
        The values to try for each parameter.
    cv : int, None, "loo", splitter or iterable of (train, test), default=5
        The folds: a number of them (consecutive; stratified for classifiers), "loo" to leave out each row in turn, a splitter, or the
        splits themselves. None means 5.
    scoring : str, Scorer, callable or None, default=None
        What to maximise; None means R² for regressors (mean squared error when leaving one out), accuracy for classifiers, and
        else the model's own ``score``.
    refit : bool, default=True
        Whether to fit the best candidate to all rows.
    cheap : bool, default=True
        Whether to ask the model first for what it can do cheaply. The scores are the same without, to the solver's tolerance.
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails: raise its error, with the candidate and the fold in the message, or give it this score.
    return_train_score : bool, default=False
        Whether to score on the training rows as well.

    Attributes
    ----------
    best_params_ : dict
        The best setting.
    best_score_ : float
        Its mean score over the folds, each counting the same.
    standard_error_ : float
        The standard error of that mean.
    best_index_ : int
        Its place among the candidates.
    best_estimator_ : estimator
        The model with these parameters, fitted to all rows.
    certificate_ : Certificate
        The proof of the best model's fit.
    cv_results_ : dict of arrays
        For every candidate its parameters, scores, rank and times, under scikit-learn's names; the scores of single folds where
        there are at most a thousand of them.
    how_ : str
        How the scores were found, such as "5 folds from the sums of 1 pass".
    n_splits_ : int
        The number of folds.
    scorer_ : callable
        What was maximised.
    refit_time_ : float
        Seconds that the last fit took.

    Examples
    --------
    >>> import qed
    >>> X = np.vander(np.linspace(-1, 1, 60), 6)
    >>> y = np.sin(3 * X[:, 4]) + 0.1 * np.cos(40 * X[:, 4])
    >>> search = qed.Search(qed.Ridge(), {"alpha": [0.001, 0.1, 10.0]}, cv=5).fit(X, y)
    >>> search.best_params_, round(search.best_score_, 3)
    ({'alpha': 0.001}, 0.581)
    >>> search.how_
    '5 folds from the sums of 1 pass, 3 alphas from one eigendecomposition each'
    >>> bool(search.certificate_)
    True
    """

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "model": _model(),
        "grid": anything("a dict of lists"),
        "cv": anything("a number of folds, a splitter or splits"),
        "scoring": anything("the name of a scorer, or a callable"),
        "refit": boolean(),
        "cheap": boolean(),
        "error_score": _error_score(),
        "return_train_score": boolean(),
    }

    searches: ClassVar[bool] = True

    def __init__(
        self,
        model: Any,
        grid: Any,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        cheap: bool = True,
        *,
        error_score: Any = "raise",
        return_train_score: bool = False,
    ) -> None:
        self.model = model
        self.grid = grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.cheap = cheap
        self.error_score = error_score
        self.return_train_score = return_train_score

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Search the grid.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features, as the model takes them.
        y : array-like, optional
            The target.
        sample_weight : array-like of shape (n,), optional
            Weights, for fitting and for scoring.
        groups : array-like of shape (n,), optional
            For splitters that keep groups of rows together.

        Returns
        -------
        self
            With the best model fitted to all rows.
        """
        check_parameters(self, self.parameters)
        candidates = candidates_of(self.grid)
        with calling_back(self, X, y, sample_weight):
            data = Data(self.model, X, y, sample_weight)
            folds = draw_folds(self.model, self.cv, data, groups, train_scores=bool(self.return_train_score))
            self.scorer_ = scorer_for(self.model, self.scoring, folds)
            with Audience(self, len(candidates) * folds.n_splits) as audience:
                settings = Settings(bool(self.cheap), self.error_score, False, audience.around, audience.note)
                found = evaluate(self.model, data, candidates, folds, {"score": self.scorer_}, settings)["score"]
            self._keep(candidates, found)
            if self.refit:
                self._fit_best(data, found)
        return self

    def _keep(self, candidates: list[dict[str, Any]], scores: Scores) -> None:
        found = scores.shared_by_equals(candidates)
        for name in ("best_estimator_", "refit_time_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        self.cv_results_ = results_of(candidates, found)
        self.n_splits_, self.how_ = found.n_splits, found.how
        self.best_index_ = int(self.cv_results_["rank_test_score"].argmin())
        self.best_params_ = candidates[self.best_index_]
        self.best_score_ = float(found.mean[self.best_index_])
        self.standard_error_ = float(found.standard_error[self.best_index_])

    def _fit_best(self, data: Data, found: Scores) -> None:
        """Fit the best candidate to all rows, from their statistic where the search has collected it."""
        best = made_with(self.model, self.best_params_)
        began = time.perf_counter()
        with told_inside(self, best, "refit"):
            if found.statistic is not None:
                fit_known(best, data.open(fresh(best)), found.statistic)
            elif data.streamed:
                best.fit(data.X)
            else:
                given = {} if data.weight is None else {"sample_weight": data.weight}
                best.fit(data.X, **given) if data.y is None else best.fit(data.X, data.y, **given)
        self.refit_time_ = time.perf_counter() - began
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    def _best(self) -> Any:
        """Give the best model, or say why there is none."""
        if hasattr(self, "best_estimator_"):
            return self.best_estimator_
        if hasattr(self, "cv_results_"):
            raise NotAvailableError(
                f"This Search was made with refit=False, so there is no model to use: fit one with {self.best_params_}, "
                "or search with refit=True."
            )
        raise NotFittedError("This Search is not fitted yet: call fit with your data before using it.")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Score the best model on these rows, by what was searched for.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their true target.
        """
        best = self._best()
        given = {} if sample_weight is None else {"sample_weight": sample_weight}
        if isinstance(X, Rows):
            data = Data(best, X)
            given = {} if data.weight is None else {"sample_weight": data.weight}
            y = data.y
        return float(self.scorer_(best, X, y, **given))

    predict = _Delegated("Predict with the best model.")
    predict_proba = _Delegated("Give the probabilities of the classes, by the best model.")
    predict_log_proba = _Delegated("Give the logarithms of the probabilities of the classes, by the best model.")
    decision_function = _Delegated("Score the classes with the best model.")
    score_samples = _Delegated("Score rows with the best model.")
    transform = _Delegated("Change columns with the best model.")
    inverse_transform = _Delegated("Undo what the best model does to columns.")
    get_feature_names_out = _Delegated("Name the columns that the best model makes.")

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the training data."""
        return int(self._of_best("n_features_in_"))

    @property
    def classes_(self) -> Any:
        """The classes that the best model tells apart."""
        return self._of_best("classes_")

    @property
    def certificate_(self) -> Any:  # type: ignore[override]
        """The proof of the best model's fit."""
        return self._of_best("certificate_")

    def _of_best(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"This Search has no {name} before it is fitted with refit=True.")
        return getattr(self.best_estimator_, name)

    @property
    def target(self) -> str | None:  # type: ignore[override]
        """What ``y`` has to be."""
        return getattr(self.model, "target", None)

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        rows: Rows = self._best()._open(X, y, sample_weight, reset=reset, target=target)
        return rows

    def _solve(self, problem: Any) -> None:
        self.fit(problem.rows)

    def _evidence(self, rows: Rows) -> Any:
        return self._best()._evidence(rows)

    def _prove(self, problem: Any) -> list[Claim]:
        return list(self._best()._prove(problem))

    def _max_tasks(self) -> int:
        return 2

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def __sklearn_tags__(self) -> Any:
        tags = getattr(self.model, "__sklearn_tags__", super().__sklearn_tags__)
        return deepcopy(tags())
