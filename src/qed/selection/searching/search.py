r"""Searching for the best setting of a model's parameters.

Of the candidates :math:`c` in a grid, take the one with the best mean score over k folds,

.. math:: \hat c = \arg\max_c \frac1k \sum_{f=1}^k \mathrm{score}\big(h_c^{(-f)},\ f\big),

where :math:`h_c^{(-f)}` is fitted to all rows but those of fold :math:`f`; then fit it to all rows. The folds are drawn
once and shared by all candidates, and of several best ones the first is taken. The model is asked first whether it can
tell the whole table of scores cheaply (:mod:`qed.base.models.searching`): ridge regression on 5 folds with 50 penalties then
costs little more than one fit. What it can not tell is fitted in parallel. Either way the scores are those of the plain
search, to the solver's tolerance. The best score is an optimistic estimate, being the best of many: keep rows aside for
an honest one.

Stone (1974), Cross-validatory choice and assessment of statistical predictions.
"""

import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from qed.base.attributes import booleans, floats, function, integers, maybe, model, of, size, table, text
from qed.base.certificate import Certificate, Claim
from qed.base.errors import NotAvailableError, NotFittedError, ParameterError
from qed.base.models.estimator import Estimator
from qed.base.models.no_effect import also_called, takes
from qed.base.models.parameters import Parameter, anything, boolean, calling, check_parameters
from qed.base.models.problem import Problem
from qed.base.models.proof import FOLLOWING, SAME_DATA, examine
from qed.base.models.scoring import Scoring
from qed.base.models.searching import fit_known
from qed.base.running.callbacks import calling_back
from qed.base.running.changing import trying_many
from qed.base.sources.rows import Rows
from qed.selection.scoring import default_scorer
from qed.selection.searching.candidates import Grid, candidates_of, fresh, made_with
from qed.selection.searching.choosing import RULE, Rule, chosen_by
from qed.selection.searching.claims import table_claims
from qed.selection.searching.delegated import Delegated
from qed.selection.searching.fits import ErrorScore, Evaluation, Settings, evaluate
from qed.selection.searching.reporting import Reporter, task_inside
from qed.selection.searching.results import results_of
from qed.selection.searching.rules import ERROR_SCORE, REFITTING, SEARCHABLE
from qed.selection.searching.samples import Data, Sample, Splits, draw_folds
from qed.selection.searching.scorers import CustomScorer, ScoringLike, as_given, scorers_for
from qed.selection.splitting.splits import Splitting


def _chosen(index: Any, many: int) -> int:
    if not isinstance(index, (int, np.integer)) or not 0 <= index < many:
        raise ParameterError(f"refit must give the number of a candidate, from 0 to {many - 1}, not {index!r}.")
    return int(index)


@also_called(estimator="model", param_grid="grid")
@takes("n_jobs", "verbose", "pre_dispatch")
class Search(Estimator):
    """Search a grid of parameters by cross-validation.

    Parameters
    ----------
    model : estimator
        The model to search; any estimator with scikit-learn's contract.
    grid : dict of str to list, or list of such dicts
        The values to try for each parameter.
    cv : int, None, "loo", "oob", splitter or iterable of (train, test), default=5
        The folds: a number of them (consecutive; stratified for classifiers), "loo" to leave out each row in turn, a splitter, or the
        splits themselves. None means 5. For forests and bagging, "oob" takes none: each row is judged by the members that have not seen
        it, after one fit to all rows, and the scores are those of five parts of the rows, or of those that `groups` in ``fit`` names.
    scoring : str, Scorer, callable, list, tuple or dict of them, or None, default=None
        What to maximise; None means the model's own ``score`` (for regressors the mean squared error when leaving one out, where R² is
        not defined). Several scorers fill a table each; so does a callable that gives a dict of several scores.
    refit : bool, str or callable, default=True
        Whether to fit the best candidate to all rows. With several scorers, the name of the one that decides which is best, or False.
        A function takes ``cv_results_`` and gives the number of the best candidate.
    cheap : bool, default=True
        Whether to ask the model first for what it can do cheaply. The scores are the same without, to the solver's tolerance.
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails: raise its error, with the candidate and the fold in the message, or give it this score.
    return_train_score : bool, default=False
        Whether to score on the training rows as well.
    rule : {"best", "one standard error"} or mapping of str to {"more", "less"}, default="best"
        Which candidate is taken: the one with the best mean score, or the simplest of those whose mean is at most one standard error
        of the best one's below it. The mapping says of each parameter whether more of it is simpler; of the usual ones that is known.

    Attributes
    ----------
    best_params_ : dict
        The best setting; with several scorers, by the one that `refit` names. It and what follows from it is missing when `refit` is
        False and there are several.
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
        For every candidate its parameters, scores, rank and times, under scikit-learn's names (``mean_test_<name>`` for several
        scorers); the scores of single folds where there are at most a thousand of them.
    how_ : str
        How the scores were found, such as "5 folds from the sums of 1 pass".
    n_splits_ : int
        The number of folds.
    scorer_ : callable or dict of str to callable
        What was maximised; a dict when `scoring` named several.
    multimetric_ : bool
        Whether there are several scores.
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

    attributes: ClassVar = {
        "n_features_in_": maybe(size("features")),
        "certificate_": maybe(of(Certificate)),
        "scorer_": function() | table(function()),
        "multimetric_": booleans(),
        "cv_results_": table(),
        "how_": text(),
        "n_splits_": integers(low=1),
        "best_index_": maybe(integers()),
        "best_params_": maybe(table()),
        "best_score_": maybe(floats(finite=False)),
        "standard_error_": maybe(floats(low=0, finite=False)),
        "refit_time_": maybe(floats(low=0)),
        "best_estimator_": maybe(model("get_params")),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "model": SEARCHABLE,
        "grid": anything("a dict of lists"),
        "cv": anything("a number of folds, a splitter or splits"),
        "scoring": anything("the name of a scorer, or a callable"),
        "refit": REFITTING,
        "cheap": boolean(),
        "error_score": ERROR_SCORE,
        "return_train_score": boolean(),
        "rule": RULE,
    }

    searches: ClassVar[bool] = True

    def __init__(
        self,
        model: Any,
        grid: Grid,
        cv: Splitting = 5,
        scoring: ScoringLike = None,
        refit: bool | str | Callable[[dict[str, object]], int] = True,
        cheap: bool = True,
        *,
        error_score: ErrorScore = "raise",
        return_train_score: bool = False,
        rule: Rule = "best",
    ) -> None:
        self.model = model
        self.grid = grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.cheap = cheap
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.rule = rule

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: ArrayLike | None = None, **params: object
    ) -> Self:
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
        **params
            What else ``fit`` of the model takes; of what has a value for each row, each fit gets its own rows.

        Returns
        -------
        self
            With the best model fitted to all rows.
        """
        check_parameters(self, self.parameters)
        candidates = self._candidates()
        with trying_many(self), calling_back(self, X, y, sample_weight):
            data = Data(self.model, X, y, sample_weight, params)
            folds = draw_folds(self.model, self.cv, data, groups)
            scorers = scorers_for(self.model, self.scoring, leave_one_out=folds.leave_one_out)
            # A callable may turn out to give several scores: what they are called is known when it was called.
            if not isinstance(scorers.get("score"), CustomScorer):
                self._decisive(list(scorers))
            with Reporter(self, len(candidates) * folds.n_splits) as reporter:
                given = (bool(self.cheap), self.error_score, bool(self.return_train_score), False)
                settings = Settings(*given, reporter.fit, reporter.score)
                candidates, found = self._tried(candidates, data, folds, scorers, settings)
            self._keep(candidates, found, scorers)
            if self.refit:
                self._fit_best(data, found)
        return self

    def _tried(
        self,
        candidates: list[dict[str, object]],
        data: Data,
        folds: Splits,
        scorers: Mapping[str, Scoring],
        how: Settings,
    ) -> tuple[list[dict[str, object]], Evaluation]:
        """Score candidates; give those that were compared on all rows, with their scores."""
        return candidates, evaluate(self.model, data, candidates, folds, scorers, how)

    def _candidates(self) -> list[dict[str, object]]:
        """Give the settings to try."""
        return candidates_of(self.grid)

    def _decisive(self, names: list[str]) -> str | None:
        """Name the scorer that says which candidate is best; None where a function says it, or nobody."""
        if isinstance(self.refit, str):
            if self.refit in names:
                return self.refit
            if self.refit == self.scoring:
                return names[0]
        elif len(names) == 1:
            return names[0]
        elif callable(self.refit) or not self.refit:
            return None
        raise ParameterError(
            f"refit must be True or False, or with several scorers the name of the one that decides which candidate is best "
            f"({', '.join(map(repr, names))}), not {self.refit!r}."
        )

    def _keep(self, candidates: list[dict[str, object]], found: Evaluation, scorers: Mapping[str, Scoring]) -> None:
        decisive = self._decisive(list(found.scores))
        single = list(scorers) == ["score"]
        self.scorer_ = as_given(scorers["score"]) if single else {name: as_given(one) for name, one in scorers.items()}
        self.multimetric_ = list(found.scores) != ["score"]
        self.cv_results_ = results_of(candidates, found)
        self.how_, self.n_splits_ = found.how, next(iter(found.scores.values())).n_splits
        if callable(self.refit):
            with calling("refit", self.refit, "the table of results"):
                self.best_index_ = _chosen(self.refit(self.cv_results_), len(candidates))
        elif decisive is not None:
            self.best_index_ = chosen_by(self.rule, self.cv_results_, decisive)
        else:
            return
        self.best_params_ = candidates[self.best_index_]
        if decisive is not None:
            self.best_score_ = float(found.scores[decisive].mean[self.best_index_])
            self.standard_error_ = float(found.scores[decisive].standard_error[self.best_index_])

    def _fit_best(self, data: Data, found: Evaluation) -> None:
        """Fit the best candidate to all rows, from their statistic where the search has collected it."""
        best = made_with(self.model, self.best_params_)
        began = time.perf_counter()
        with task_inside(self, best, "refit"):
            if found.statistic is not None:
                fit_known(best, data.open(fresh(best)), found.statistic)
            else:
                Sample(data.X, None if data.streamed else data.y, data.weight, data.streamed, data.params).fit(best)
        self.refit_time_ = time.perf_counter() - began
        self.best_estimator_ = best
        if hasattr(best, "feature_names_in_"):
            self.feature_names_in_ = best.feature_names_in_

    def _best(self) -> Any:
        """Give the best model, or say why there is none."""
        if hasattr(self, "best_estimator_"):
            return self.best_estimator_
        if hasattr(self, "cv_results_"):
            best = (
                f"fit one with {self.best_params_}" if hasattr(self, "best_params_") else "choose one from cv_results_"
            )
            raise NotAvailableError(
                f"This Search was made with refit=False, so there is no model to use: {best}, or search with refit=True."
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
        scorer = self.scorer_
        if isinstance(scorer, dict):
            scorer = scorer[self.refit] if isinstance(self.refit, str) else default_scorer(best)
        score = scorer(best, X, y, **given)
        return float(score[self.refit] if isinstance(score, Mapping) else score)

    predict = Delegated("Predict with the best model.")
    predict_proba = Delegated("Give the probabilities of the classes, by the best model.")
    predict_log_proba = Delegated("Give the logarithms of the probabilities of the classes, by the best model.")
    decision_function = Delegated("Score the classes with the best model.")
    score_samples = Delegated("Score rows with the best model.")
    transform = Delegated("Change columns with the best model.")
    inverse_transform = Delegated("Undo what the best model does to columns.")
    get_feature_names_out = Delegated("Name the columns that the best model makes.")

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

    @property
    def inference_(self) -> object:
        """Standard errors and tests of the best model, where theory gives them."""
        return self._of_best("inference_")

    def _of_best(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise NotAvailableError(f"This Search has no {name} before it is fitted with refit=True.")
        return getattr(self.best_estimator_, name)

    @property
    def target(self) -> str | None:  # type: ignore[override]
        """What ``y`` has to be."""
        return getattr(self.model, "target", None)

    def _open(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, reset: bool, target: str | None = None
    ) -> Rows:
        return self._best()._open(X, y, sample_weight, reset=reset, target=target)

    def _solve(self, problem: Any) -> None:
        self.fit(problem.rows)

    def _evidence(self, rows: Rows) -> Any:
        return self._best()._evidence(rows)

    def _prove(self, problem: Any) -> list[Claim]:
        return [claim for claim in examine(self._best(), problem.rows) if claim.says not in (SAME_DATA, FOLLOWING)]

    def _restate(self, problem: Problem) -> list[Claim]:
        return table_claims(self)

    def _difference(self, problem: Problem) -> str | None:
        found: str | None = self._best()._difference(problem)
        return found

    def _max_tasks(self) -> int:
        return 2

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "cv_results_")

    def __sklearn_tags__(self) -> Any:
        tags = getattr(self.model, "__sklearn_tags__", super().__sklearn_tags__)
        return deepcopy(tags())
