"""Scores, as searches and models speak of them: what is wanted, and how well candidates did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

Numbers = float | np.ndarray
OnSingleRows = Literal["squared error", "absolute error", "right", "undefined"] | None


class Scoring(Protocol):
    """What is wanted: a score of which greater is better."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def sign(self) -> int:
        """1, or -1 where the metric behind it is an error."""

    @property
    def additive(self) -> bool:
        """Whether it follows from total weight, sum of squared errors and scatter of the target."""

    @property
    def on_single_rows(self) -> OnSingleRows:
        """What it is on one row, but for the sign; None where that is something else."""

    def from_sums(self, weight: Numbers, squared_error: Numbers, scatter: Numbers) -> Numbers:
        """Give the score from sums over rows, element by element, where it is additive."""

    def asks(self, model: object) -> str | None:
        """Name the method of a model that it will call; None where that can not be known."""

    def __call__(self, estimator: object, X: object, y: object = None, sample_weight: object = None) -> Any:
        """Score a fitted model on rows."""


@dataclass(frozen=True, eq=False)
class Scores:
    """How well candidates did."""

    # (n_candidates,): mean over folds (each counting the same), standard deviation, and standard error of the
    # mean.
    mean: np.ndarray
    std: np.ndarray
    standard_error: np.ndarray
    n_splits: int  # the number of folds
    # (n_candidates, n_splits): the score on every fold; None where there are too many of them to keep.
    each: np.ndarray | None = None
    # (n_candidates, n_splits): the scores on the training rows, where they were asked for.
    train: np.ndarray | None = None

    @classmethod
    def of(cls, each: np.ndarray, train: np.ndarray | None = None) -> Scores:
        """Take the scores of all folds together.

        >>> scores = Scores.of(np.array([[1.0, 3.0]]))
        >>> scores.mean, scores.std, scores.standard_error
        (array([2.]), array([1.]), array([1.]))
        """
        each = np.asarray(each, dtype=np.float64)
        k = each.shape[1]
        with np.errstate(invalid="ignore"):
            mean, std = each.mean(axis=1), each.std(axis=1)
        return cls(mean, std, std / np.sqrt(max(k - 1, 1)), k, each, train)

    def take(self, places: np.ndarray) -> Scores:
        """Give the scores of the candidates at some places."""
        each, train = (None if table is None else table[places] for table in (self.each, self.train))
        return Scores(self.mean[places], self.std[places], self.standard_error[places], self.n_splits, each, train)
