r"""Cross-validation: how well a model does on rows it has not seen.

Partition the rows into k folds once; for each fold, fit the model to all the other rows and score it on the fold. The estimate is the plain
mean of the k scores, each fold counting the same, also where their sizes differ by one. The standard error,
:math:`s / \sqrt k` with the standard deviation :math:`s` of the scores, is a rough one: training sets overlap, so the scores are not
independent. Models in closed form need one pass over the data for all k folds; others are fitted in parallel.

Stone (1974), Cross-validatory choice and assessment of statistical predictions.
"""

import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.engine import work
from qed.base.errors import InputError, ParameterError, level_of_user
from qed.base.models.no_effect import also_called, takes
from qed.base.sources.block import is_sparse, join
from qed.base.visible import html_table
from qed.selection.searching.fits import ErrorScore, Evaluation, Settings, evaluate, fitted
from qed.selection.searching.folds import Folds
from qed.selection.searching.samples import Data, draw_folds
from qed.selection.searching.scorers import ScoringLike, scorers_for
from qed.selection.splitting.splits import Splitting


class CrossValidation(dict[str, object]):
    """The scores of a model on each fold: a dict with scikit-learn's names, and their mean.

    Attributes
    ----------
    mean, standard_error : float, or dict of str to float for several scorers
        Mean over folds, each counting the same, and its standard error.
    how : str
        How the scores were found.

    Examples
    --------
    >>> from qed.base.models.scoring import Scores
    >>> scores = {"score": Scores.of(np.array([[0.5, 0.7]]))}
    >>> found = CrossValidation(Evaluation(scores, "by hand", np.zeros((1, 2)), np.zeros((1, 2))))
    >>> found.mean, found["test_score"]
    (0.6, array([0.5, 0.7]))
    """

    def __init__(self, found: Evaluation) -> None:
        super().__init__()
        self._scores, self.how = found.scores, found.how
        n_splits = next(iter(found.scores.values())).n_splits
        self["fit_time"] = np.broadcast_to(found.fit_time[0], n_splits).copy()
        self["score_time"] = np.broadcast_to(found.score_time[0], n_splits).copy()
        if found.models is not None:
            self["estimator"] = found.models[0]
        for name, scores in found.scores.items():
            if scores.each is not None:
                self[f"test_{name}"] = scores.each[0]
            if scores.train is not None:
                self[f"train_{name}"] = scores.train[0]

    @property
    def mean(self) -> float | dict[str, float]:
        """The mean score over folds."""
        return self._single({name: float(scores.mean[0]) for name, scores in self._scores.items()})

    @property
    def standard_error(self) -> float | dict[str, float]:
        """The standard error of the mean score."""
        return self._single({name: float(scores.standard_error[0]) for name, scores in self._scores.items()})

    def _single(self, values: dict[str, float]) -> float | dict[str, float]:
        return values["score"] if list(values) == ["score"] else values

    def __repr__(self) -> str:
        lines = [
            f"{name}: {found.mean[0]:.6g} ± {found.standard_error[0]:.2g} ({found.n_splits} folds)"
            for name, found in self._scores.items()
        ]
        return "\n".join([*lines, self.how])

    def _repr_html_(self) -> str:
        lines = [
            [name, f"{found.mean[0]:.6g}", f"{found.standard_error[0]:.2g}", str(found.n_splits)]
            for name, found in self._scores.items()
        ]
        return html_table(["score", "mean", "standard error", "folds"], lines, self.how)


@also_called(estimator="model")
@takes("n_jobs", "verbose", "pre_dispatch")
def cross_validate(
    model: Any,
    X: Any,
    y: Any = None,
    cv: Splitting = 5,
    scoring: ScoringLike = None,
    *,
    sample_weight: Any = None,
    groups: ArrayLike | None = None,
    return_train_score: bool = False,
    return_estimator: bool = False,
    return_indices: bool = False,
    error_score: ErrorScore = "raise",
    cheap: bool = True,
    params: Mapping[str, object] | None = None,
) -> CrossValidation:
    """Score a model on each of k folds, fitted to the others.

    Parameters
    ----------
    model : estimator
        The model; it is not changed.
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features, as the model takes them.
    y : array-like, optional
        The target.
    cv : int, None, "loo", splitter or iterable of (train, test), default=5
        The number of folds, stratified for classes; None for five; "loo" for every row by itself; or a splitter, or pairs of row numbers.
    scoring : str, callable, list, tuple or dict of them, or None
        What to score by; several give several columns. None means the model's own ``score``.
    sample_weight : array-like of shape (n,), optional
        Weights, for fitting and for scoring.
    groups : array-like of shape (n,), optional
        For splitters that keep groups of rows together.
    return_train_score : bool, default=False
        Whether to score on the training rows as well.
    return_estimator : bool, default=False
        Whether to keep the fitted models, under "estimator".
    return_indices : bool, default=False
        Whether to give the numbers of the rows of each fold, under "indices": "train" and "test".
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails.
    cheap : bool, default=True
        Whether to ask the model first for what it can do cheaply.
    params : mapping of str to object, optional
        What else ``fit`` of the model takes; of what has a value for each row, each fit gets its own rows.

    Returns
    -------
    CrossValidation
        A dict with ``test_score`` (or ``test_<name>`` for several scorers), times and what else was asked for, one
        value per fold; with ``mean`` and ``standard_error``.

    Examples
    --------
    >>> import qed
    >>> x = np.arange(20.0)
    >>> found = cross_validate(qed.LinearRegression(), x[:, None], 3 * x + np.cos(x), cv=4)
    >>> found["test_score"].round(3)
    array([0.951, 0.964, 0.979, 0.974])
    >>> found.how
    '4 folds from the sums of 1 pass'
    """
    data = Data(model, X, y, sample_weight, params)
    folds = draw_folds(model, cv, data, groups)
    scorers = scorers_for(model, scoring, leave_one_out=folds.leave_one_out)
    settings = Settings(cheap, error_score, return_train_score, return_estimator)
    found = CrossValidation(evaluate(model, data, [{}], folds, scorers, settings))
    if return_indices:
        found["indices"] = {"train": [folds.train(k) for k in folds], "test": [folds.test(k) for k in folds]}
    return found


@also_called(estimator="model")
@takes("n_jobs", "verbose", "pre_dispatch")
def cross_val_score(
    model: Any,
    X: Any,
    y: Any = None,
    cv: Splitting = 5,
    scoring: ScoringLike = None,
    *,
    sample_weight: Any = None,
    groups: ArrayLike | None = None,
    error_score: ErrorScore = "raise",
    params: Mapping[str, object] | None = None,
) -> np.ndarray:
    """Give the score of a model on each of k folds, fitted to the others.

    Parameters
    ----------
    model : estimator
        The model; it is not changed.
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features, as the model takes them.
    y : array-like, optional
        The target.
    cv : int, None, "loo", splitter or iterable of (train, test), default=5
        The number of folds, stratified for classes; None for five; "loo" for every row by itself; or a splitter, or pairs of row numbers.
    scoring : str, callable or None
        What to score by. None means the model's own ``score``.
    sample_weight : array-like of shape (n,), optional
        Weights, for fitting and for scoring.
    groups : array-like of shape (n,), optional
        For splitters that keep groups of rows together.
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails.
    params : mapping of str to object, optional
        What else ``fit`` of the model takes; of what has a value for each row, each fit gets its own rows.

    Returns
    -------
    ndarray of shape (folds,)
        The scores.

    Examples
    --------
    >>> import qed
    >>> x = np.arange(20.0)
    >>> cross_val_score(qed.Ridge(), x[:, None], x, cv=2, scoring="neg_mean_squared_error").round(3)
    array([-0.016, -0.016])
    """
    given = {"sample_weight": sample_weight, "groups": groups, "error_score": error_score, "params": params}
    found = cross_validate(model, X, y, cv=cv, scoring=scoring, **given)
    if "test_score" not in found:
        raise InputError(
            "There are too many folds to list their scores one by one: cross_validate gives their mean and standard error."
        )
    return np.asarray(found["test_score"])


@also_called(estimator="model")
@takes("n_jobs", "verbose", "pre_dispatch")
def cross_val_predict(
    model: Any,
    X: Any,
    y: Any = None,
    cv: Splitting = 5,
    *,
    method: str = "predict",
    sample_weight: Any = None,
    groups: ArrayLike | None = None,
    params: Mapping[str, object] | None = None,
) -> Any:
    """Predict every row by a model that has not seen it.

    Parameters
    ----------
    model : estimator
        The model; it is not changed.
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features, as the model takes them.
    y : array-like, optional
        The target.
    cv : int, None, "loo", splitter or iterable of (train, test), default=5
        The number of folds, or what makes them; they must hold out every row once.
    sample_weight : array-like of shape (n,), optional
        Weights, for fitting and for scoring.
    groups : array-like of shape (n,), optional
        For splitters that keep groups of rows together.
    params : mapping of str to object, optional
        What else ``fit`` of the model takes; of what has a value for each row, each fit gets its own rows.
    method : str, default="predict"
        The method to ask: "predict", "predict_proba", "decision_function", "transform" ...

    Returns
    -------
    ndarray, sparse matrix, or list of ndarray
        One answer for each row, in their order; in a list of as many arrays as outputs, or in a sparse matrix, where the model answers so.
        A class that a training set lacks has the probability zero, and the least number there is as its decision value or logarithm, with
        a warning; decision values that are one column for two classes are refused then.

    Examples
    --------
    >>> import qed
    >>> x = np.arange(6.0)
    >>> cross_val_predict(qed.LinearRegression(), x[:, None], 2 * x, cv=3).round(9) + 0.0
    array([ 0.,  2.,  4.,  6.,  8., 10.])
    """
    if not hasattr(model, method):
        raise ParameterError(f"{type(model).__name__} has no method {method!r}.")
    data = Data(model, X, y, sample_weight, params)
    folds = draw_folds(model, cv, data, groups, every_row=True)
    if folds.assignment is None or (folds.assignment < 0).any():
        raise InputError("The folds must hold out every row exactly once, so that each gets one prediction.")
    models = fitted(model, data, folds)
    answers = list(work(partial(_answers, one, data, folds, fold, method) for fold, one in enumerate(models)))
    order = np.argsort(np.concatenate([folds.test(fold) for fold in folds]), kind="stable")
    classes = [getattr(one, "classes_", None) for one in models]
    if not isinstance(answers[0], list):
        return _joined(answers, classes, order, method)
    each = zip(zip(*answers), zip(*classes) if isinstance(classes[0], list) else [classes] * len(answers[0]))
    return [_joined(one, own, order, method) for one, own in each]


def _answers(model: Any, data: Data, folds: Folds, fold: int, method: str) -> Any:
    found = getattr(model, method)(data.test(folds, fold).X)
    return found if isinstance(found, list) or is_sparse(found) else np.asarray(found)


def _joined(answers: Sequence[Any], classes: Sequence[Any], order: np.ndarray, method: str) -> Any:
    """Put the answers of all folds below each other, in the order of the rows, with a column for each class that any fold knows."""
    known = [np.asarray(one) for one in classes if one is not None]
    if method != "predict" and any(not np.array_equal(known[0], other) for other in known):
        fill = 0.0 if method == "predict_proba" else float(np.finfo(np.float64).min)
        what = f"Some training sets lack a class, so what {method} gives"
        advice = "take fewer folds, stratified ones, or join rare classes."
        if any(one.shape[1:] != own.shape for one, own in zip(answers, known)):
            raise InputError(f"{what} does not fit together: {advice}")
        warnings.warn(f"{what} for it is {fill}: {advice}", RuntimeWarning, stacklevel=level_of_user())
        every = np.unique(np.concatenate(known))
        wide = [np.full((len(one), len(every)), fill) for one in answers]
        for table, one, own in zip(wide, answers, known):
            table[:, np.searchsorted(every, own)] = one
        answers = wide
    return join(list(answers))[order]
