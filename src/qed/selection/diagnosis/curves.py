r"""Curves: scores against the number of training rows, and against a parameter.

A *learning curve* fits a model to the first m rows of each training set, for growing m, and shows the score on those
rows and on the rows held out: the gap between the two is variance, what both lack is bias. A *validation curve* does
the same for the values of one parameter. Models in closed form need one pass for either curve
(:mod:`qed.selection.searching.growing`); all others are fitted in parallel.

Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, chapter 7.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import InputError, ParameterError
from qed.base.models.no_effect import also_called, no_effect, takes, with_default
from qed.base.models.parameters import boolean
from qed.base.models.scoring import Scoring
from qed.base.random import Seed, generator, seed_of
from qed.base.visible import Lines, Shown
from qed.plots import curves as drawn
from qed.plots.style import SECOND
from qed.selection.searching.fits import ErrorScore, Evaluation, Settings, evaluate
from qed.selection.searching.folds import Folds
from qed.selection.searching.growing import GrowingFolds
from qed.selection.searching.samples import Data, draw_folds
from qed.selection.searching.scorers import scorers_for
from qed.selection.splitting.splits import Splitting

INCREMENTAL = no_effect(boolean(), False, "a model in closed form takes one pass for the whole curve anyway")


@dataclass(frozen=True, eq=False, repr=False)
class _Curve(Shown):
    """Scores on training rows and on rows held out, a row for each point of the curve, a column for each fold."""

    train_scores: np.ndarray
    test_scores: np.ndarray
    how: str

    def _points(self) -> tuple[str, list[str]]:
        """Give what the points of the curve are, and their names."""
        return "point", [str(place) for place in range(len(self.test_scores))]

    def _table(self) -> Lines:
        name, points = self._points()
        values = zip(points, self.train_mean, self.train_error, self.test_mean, self.test_error)
        lines = [[point, f"{a:.4g} ± {b:.2g}", f"{c:.4g} ± {d:.2g}"] for point, a, b, c, d in values]
        return [name, "score on training rows", "score on rows held out"], lines

    def _said(self) -> str:
        return self.how

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give the scores on training rows and on rows held out."""
        return iter((self.train_scores, self.test_scores))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __getitem__(self, place: int) -> np.ndarray:
        return tuple(self)[place]

    @property
    def train_mean(self) -> np.ndarray:
        """Mean over folds of the scores on the training rows."""
        return np.asarray(self.train_scores.mean(axis=1))

    @property
    def test_mean(self) -> np.ndarray:
        """Mean over folds of the scores on the rows held out."""
        return np.asarray(self.test_scores.mean(axis=1))

    @property
    def train_error(self) -> np.ndarray:
        """Standard error of `train_mean`."""
        return _standard_error(self.train_scores)

    @property
    def test_error(self) -> np.ndarray:
        """Standard error of `test_mean`."""
        return _standard_error(self.test_scores)


def _standard_error(scores: np.ndarray) -> np.ndarray:
    return np.asarray(scores.std(axis=1) / np.sqrt(max(scores.shape[1] - 1, 1)))


@dataclass(frozen=True, eq=False, repr=False)
class LearningCurve(_Curve):
    """Scores against the number of training rows.

    Attributes
    ----------
    train_scores, test_scores : ndarray of shape (n_sizes, n_splits)
        Scores on the training rows and on the rows held out.
    how : str
        How they were found.
    train_sizes : ndarray of int of shape (n_sizes,)
        The numbers of training rows.
    fit_times, score_times : ndarray of shape (n_sizes, n_splits), optional
        Seconds, where they were asked for.
    """

    train_sizes: np.ndarray
    fit_times: np.ndarray | None = None
    score_times: np.ndarray | None = None

    def _points(self) -> tuple[str, list[str]]:
        return "training rows", [str(size) for size in self.train_sizes]

    def __iter__(self) -> Iterator[np.ndarray]:
        """Give sizes, scores on training rows and on rows held out, and the times where they were asked for."""
        parts = (self.train_sizes, self.train_scores, self.test_scores, self.fit_times, self.score_times)
        return (part for part in parts if part is not None)

    def plot(self, ax: Any = None) -> Any:
        """Draw both scores, with a standard error either side."""
        return drawn.learning_curve(self.train_sizes, self.train_scores, self.test_scores, ax)


@dataclass(frozen=True, eq=False, repr=False)
class ValidationCurve(_Curve):
    """Scores against the values of a parameter.

    Attributes
    ----------
    train_scores, test_scores : ndarray of shape (n_values, n_splits)
        Scores on the training rows and on the rows held out.
    how : str
        How they were found.
    name : str
        The parameter.
    values : tuple
        Its values.
    """

    name: str
    values: tuple[Any, ...]

    def _points(self) -> tuple[str, list[str]]:
        return self.name, [str(value) for value in self.values]

    def _said(self) -> str:
        return f"best: {self.name}={self.best!r}; {self.how}"

    @property
    def best(self) -> Any:
        """The first of the values with the best mean score on the rows held out."""
        return self.values[int(np.argmax(self.test_mean))]

    def plot(self, ax: Any = None) -> Any:
        """Draw both scores; those on rows held out with a standard error either side."""
        numbers = all(isinstance(one, (int, float, np.number)) and not isinstance(one, bool) for one in self.values)
        places = np.array(self.values, dtype=float) if numbers else np.arange(len(self.values), dtype=float)
        order = np.argsort(places)
        ax = drawn.validation_curve(places[order], self.test_scores[order], ax, xlabel=self.name)
        ax.plot(places[order], self.train_mean[order], color=SECOND, linewidth=1.6, label="rows it was fitted on")
        ax.legend(loc="best", fontsize=9)
        if not numbers:
            ax.set_xticks(places, [str(value) for value in self.values])
        return ax


@also_called(estimator="model", param_name="name", param_range="values")
@takes("n_jobs", "verbose", pre_dispatch=with_default("pre_dispatch", "all"))
def validation_curve(
    model: Any,
    X: Any,
    y: Any,
    name: str,
    values: Sequence[Any],
    cv: Splitting = 5,
    scoring: str | Callable[..., Any] | None = None,
    *,
    sample_weight: Any = None,
    groups: ArrayLike | None = None,
    error_score: ErrorScore = "raise",
    params: Mapping[str, object] | None = None,
) -> ValidationCurve:
    """Score a model for several values of one parameter, on training rows and on rows held out.

    Parameters
    ----------
    model : estimator
        The model; it is not changed.
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features, as the model takes them.
    y : array-like, optional
        The target; None for Rows that know it.
    sample_weight : array-like of shape (n,), optional
        Weights, for fitting and for scoring.
    groups : array-like of shape (n,), optional
        For splitters that keep groups of rows together.
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails.
    params : mapping of str to object, optional
        What else ``fit`` of the model takes; of what has a value for each row, each fit gets its own rows.
    name : str
        The parameter; ``step__name`` reaches into pipelines.
    values : sequence
        The values to try.
    cv : int, None, "loo", splitter or iterable of (train, test), default=5
        The folds: a number of them (consecutive; stratified for classifiers), "loo" to leave out each row in turn, a splitter, or the
        splits themselves. None means 5.
    scoring : str, Scorer, callable or None
        What to measure; None means the model's own ``score``.

    Returns
    -------
    ValidationCurve
        With both scores for every value and fold; it can be unpacked into them.

    Examples
    --------
    >>> import qed
    >>> X = np.vander(np.linspace(-1, 1, 40), 5)
    >>> curve = validation_curve(qed.Ridge(), X, np.sin(2 * X[:, 3]), "alpha", [0.01, 1.0, 100.0], cv=qed.KFold(4))
    >>> bool((np.diff(curve.train_mean) <= 0).all()), curve.best
    (True, 0.01)
    """
    candidates = [{name: value} for value in values]
    if not candidates:
        raise ParameterError(f"values is empty: give at least one value of {name!r}.")
    data = Data(model, X, y, sample_weight, params)
    folds = draw_folds(model, cv, data, groups)
    scorers = _one_scorer(model, scoring, folds)
    found = evaluate(model, data, candidates, folds, scorers, Settings(error_score=error_score, train_scores=True))
    test, train = _tables(found)
    return ValidationCurve(train, test, found.how, name, tuple(values))


@also_called(estimator="model")
@takes("n_jobs", "verbose", pre_dispatch=with_default("pre_dispatch", "all"), exploit_incremental_learning=INCREMENTAL)
def learning_curve(
    model: Any,
    X: Any,
    y: Any = None,
    train_sizes: ArrayLike = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: Splitting = 5,
    scoring: str | Callable[..., Any] | None = None,
    *,
    sample_weight: Any = None,
    groups: ArrayLike | None = None,
    shuffle: bool = False,
    random_state: Seed = 0,
    error_score: ErrorScore = "raise",
    return_times: bool = False,
    params: Mapping[str, object] | None = None,
) -> LearningCurve:
    """Score a model fitted to more and more rows, on those rows and on rows held out.

    Parameters
    ----------
    model : estimator
        The model; it is not changed.
    X : array-like, sparse matrix, frame, path, Dask collection or Rows
        The features, as the model takes them.
    y : array-like, optional
        The target.
    sample_weight : array-like of shape (n,), optional
        Weights, for fitting and for scoring.
    groups : array-like of shape (n,), optional
        For splitters that keep groups of rows together.
    error_score : "raise" or float, default="raise"
        What to do about a fit that fails.
    params : mapping of str to object, optional
        What else ``fit`` of the model takes; of what has a value for each row, each fit gets its own rows.
    train_sizes : sequence of int or of float
        Numbers of training rows; or shares of the largest number that all training sets have.
    cv : int, None, "loo", splitter or iterable of (train, test), default=5
        The folds: a number of them (consecutive; stratified for classifiers), "loo" to leave out each row in turn, a splitter, or the
        splits themselves. None means 5.
    scoring : str, Scorer, callable or None
        What to measure; None means the model's own ``score``.
    shuffle : bool, default=False
        Whether training sets grow by rows drawn at random; otherwise they grow in the order of the rows.
    random_state : None, int or numpy generator, default=0
        The seed of the shuffle.
    return_times : bool, default=False
        Whether to give the times of fits and scores as well.

    Returns
    -------
    LearningCurve
        With both scores for every size and fold; it can be unpacked into sizes, scores on training rows and on rows held out (and times).

    Examples
    --------
    >>> import qed
    >>> x = np.linspace(0, 1, 60)
    >>> curve = learning_curve(
    ...     qed.LinearRegression(),
    ...     x[:, None],
    ...     x + np.cos(50 * x),
    ...     train_sizes=[6, 24, 48],
    ...     cv=qed.KFold(5),
    ...     shuffle=True,
    ... )
    >>> curve.train_sizes, bool(curve.test_mean[-1] > curve.test_mean[0])
    (array([ 6, 24, 48]), True)
    """
    data = Data(model, X, y, sample_weight, params)
    folds = draw_folds(model, cv, data, groups)
    sizes = _sizes(train_sizes, min(len(folds.train(fold)) for fold in folds))
    rank = np.arange(len(data))
    if shuffle:
        rank = generator(seed_of(random_state), "learning curve").permutation(rank)
    growing, scorers = GrowingFolds(folds, sizes, rank), _one_scorer(model, scoring, folds)
    found = evaluate(model, data, [{}], growing, scorers, Settings(error_score=error_score, train_scores=True))
    shape = (len(sizes), folds.n_splits)
    test, train = (table.reshape(shape) for table in _tables(found))
    if not return_times:
        return LearningCurve(train, test, found.how, sizes)
    times = (np.broadcast_to(seconds, (1, growing.n_splits)) for seconds in (found.fit_time, found.score_time))
    return LearningCurve(train, test, found.how, sizes, *(seconds.reshape(shape) for seconds in times))


def _one_scorer(model: Any, scoring: str | Callable[..., Any] | None, folds: Folds) -> dict[str, Scoring]:
    scorers = scorers_for(model, scoring, leave_one_out=folds.leave_one_out)
    if list(scorers) != ["score"]:
        raise ParameterError(f"A curve is drawn by one score: give one scorer, not {scoring!r}.")
    return scorers


def _tables(found: Evaluation) -> tuple[np.ndarray, np.ndarray]:
    """Give the scores on rows held out and on training rows."""
    scores = next(iter(found.scores.values()))
    assert scores.each is not None and scores.train is not None
    return scores.each, scores.train


def _sizes(train_sizes: ArrayLike, most: int) -> np.ndarray:
    """Give numbers of rows, rising, each once."""
    sizes = np.unique(np.asarray(train_sizes))
    if sizes.size == 0 or sizes.dtype.kind not in "iuf":
        raise ParameterError(f"train_sizes must be numbers of rows, or shares between 0 and 1, not {train_sizes!r}.")
    if sizes.dtype.kind == "f":
        if sizes[0] <= 0 or sizes[-1] > 1:
            raise ParameterError(f"train_sizes as shares must be above 0 and at most 1, not {train_sizes!r}.")
        sizes = np.unique(np.clip((sizes * most).astype(int), 1, most))
    if sizes[0] < 1 or sizes[-1] > most:
        raise InputError(
            f"train_sizes must be from 1 to {most}, the rows of the smallest training set, not {train_sizes!r}."
        )
    return sizes.astype(int)
