"""What a model is for: predicting numbers, telling classes, grouping rows, changing columns.

Each role brings its public methods, which work on arrays, files and clusters alike because they are folds over blocks; the score of a
model on a file larger than memory is one of them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    OneToOneFeatureMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if

from qed.base.attributes import Attributes, labels
from qed.base.errors import InputError, NotAvailableError, ParameterError
from qed.base.models.checks import complete
from qed.base.models.estimator import Estimator, OnePass
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows

__all__ = [
    "ClassNamePrefixFeaturesOutMixin",
    "Classifier",
    "Clusterer",
    "Grouper",
    "LeftOut",
    "OnePassClassifier",
    "OneToOneFeatureMixin",
    "Regressor",
    "Transformer",
    "available_if",
    "usual_score",
]


class LeftOut(Protocol):
    """Models without each row in turn, where they follow from the one fitted to all rows: one for each row of weight above zero.

    Least squares, ridge, kernel ridge and nearest neighbours have them (`_without_each`); `qed.Conformal` makes intervals of them at the
    price of one fit. It is savable, and part of what a fit leaves behind.
    """

    @property
    def errors(self) -> np.ndarray:
        """The target less what is predicted for it by the model that has not seen it, of shape (n,)."""

    def predictions(self, model: Any, block: Block) -> np.ndarray:
        """Predict the rows of a block by each model: of shape (m, n); `model` is the one fitted to all rows."""

    def apart(self, other: Self) -> float:
        """Say how far others are from these, as a share of their size."""


class Regressor(RegressorMixin, Estimator):
    """A model that predicts numbers."""

    target: ClassVar[str | None] = "number"

    @abstractmethod
    def _predict(self, block: Block) -> np.ndarray:
        """Predict the rows of one block."""

    def _predicted_shape(self) -> tuple[int, ...]:
        """Give the shape of what is predicted for one row: empty for a number, ``(q,)`` for several."""
        return np.shape(getattr(self, "coef_", 0.0))[:-1]

    def _without_each(self, rows: Rows) -> LeftOut | None:
        """Give the models that leave out each row of the fit in turn, where they follow from this one; see `LeftOut`."""
        return None

    def predict(self, X: Any) -> np.ndarray:
        """Predict the target.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.

        Returns
        -------
        ndarray of shape (n,) or (n, n_outputs)
            The predictions.
        """
        return self._apply(self._predict, X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give the coefficient of determination: one minus the squared error over the scatter of the target.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their true target.
        """
        self._check_fitted()
        rows = complete(self._open(X, y, sample_weight, reset=False, target=self.target), self, once=True)
        sums = rows.fold(Sums.of, self._predict)
        if sums.count < 2:
            raise InputError("R^2 is not defined for fewer than two rows: score on more of them.")
        return float(np.mean(sums.r2))


class Sums:
    """Squared errors and scatter of the target, added up over blocks: what R² is made of."""

    def __init__(self, count: int, weight: float, error: np.ndarray, mean: np.ndarray, scatter: np.ndarray) -> None:
        self.count, self.weight, self.error, self.mean, self.scatter = count, weight, error, mean, scatter

    @classmethod
    def of(cls, block: Block, predict: Any) -> Sums:
        y = np.asarray(block.y, dtype=np.float64).reshape(len(block), -1)
        residual = y - np.asarray(predict(block), dtype=np.float64).reshape(y.shape)
        w = block.weights
        total = float(w.sum())
        mean = w @ y / total if total > 0 else np.zeros(y.shape[1])
        return cls(len(block), total, w @ residual**2, mean, w @ (y - mean) ** 2)

    def __add__(self, other: Sums) -> Sums:
        weight = self.weight + other.weight
        share = other.weight / weight if weight > 0 else 0.0
        gap = other.mean - self.mean
        scatter = self.scatter + other.scatter + gap**2 * self.weight * share
        return Sums(self.count + other.count, weight, self.error + other.error, self.mean + gap * share, scatter)

    @property
    def r2(self) -> np.ndarray:
        """One minus error over scatter; for a constant target one where it is met exactly, else zero."""
        exact = np.where(self.error == 0, 1.0, 0.0)
        return np.where(self.scatter > 0, 1 - self.error / np.where(self.scatter > 0, self.scatter, 1), exact)


def _as_precise(block: Block, function: Callable[[Block], Any]) -> Any:
    """Give what a function makes of a block in the precision of the block: single in, single out."""
    found = function(block)
    single = isinstance(found, np.ndarray) and block.X.dtype == np.float32
    with np.errstate(over="ignore"):
        return found.astype(np.float32, copy=False) if single else found


def none_of_one(logs: np.ndarray, block: Block) -> np.ndarray:
    """Give logarithms of probabilities; zero of those that are one when rounded to the precision of the block."""
    return np.where(np.abs(logs) < np.finfo(block.X.dtype).eps / 2, 0, logs)


class Classifier(ClassifierMixin, Estimator):
    """A model that tells classes. Subclasses set ``classes_`` and score each class."""

    target: ClassVar[str | None] = "label"
    attributes: ClassVar[Attributes] = {"classes_": labels("classes")}
    classes_: np.ndarray
    # Whether there is a ``decision_function``; models of counts have none, as in scikit-learn, whose checks score any numbers.
    _has_scores: ClassVar[bool] = True

    @abstractmethod
    def _decide(self, block: Block) -> np.ndarray:
        """Score the classes: shape (n,) for two classes (positive: the second), else (n, n_classes)."""

    @available_if(lambda self: self._has_scores)
    def decision_function(self, X: Any) -> np.ndarray:
        """Score the classes of every row; the largest wins, for two classes the sign decides.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(_as_precise, X, self._decide)

    def _choose(self, block: Block) -> np.ndarray:
        scores = self._decide(block)
        return self.classes_[(scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of every row.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(self._choose, X)

    @property
    def _has_probabilities(self) -> bool:
        return type(self)._probabilities is not Classifier._probabilities

    def _probabilities(self, block: Block) -> np.ndarray:
        """Give the probability of each class, of shape (n, n_classes); models that have them say how."""
        raise NotAvailableError(f"{type(self).__name__} has no probabilities.")

    def _log_probabilities(self, block: Block) -> np.ndarray:
        """Give their logarithms; a model that can keep more digits than this does."""
        with np.errstate(divide="ignore"):
            return none_of_one(np.log(self._probabilities(block)), block)

    @available_if(lambda self: self._has_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Give the probability of each class, for every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(_as_precise, X, self._probabilities)

    @available_if(lambda self: self._has_probabilities)
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Give the logarithm of the probability of each class, for every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(_as_precise, X, self._log_probabilities)

    @available_if(lambda self: self._has_probabilities)
    def decide(self, X: Any, costs: Any) -> np.ndarray:
        """Choose the class with the least expected cost for every row: Bayes' rule for any loss.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        costs : array-like of shape (n_classes, n_classes) or mapping
            ``costs[j][k]`` is what it costs to say class j where k is true, in the order of ``classes_``; or a mapping such as
            ``{("well", "ill"): 10, ("ill", "well"): 1}`` of what is said and what is true, with zeros for the rest. Ones
            everywhere but on the diagonal give ``predict``; of equal costs the first class wins.
        """
        self._check_fitted()
        return self._apply(_cheapest, X, self._probabilities, self.classes_, cost_matrix(costs, self.classes_))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Give the accuracy: the share of rows (by weight) whose class is predicted.

        Parameters
        ----------
        X, y, sample_weight
            Rows with their true class.
        """
        self._check_fitted()
        rows = complete(self._open(X, y, sample_weight, reset=False, target=self.target), self, once=True)
        right, total = rows.fold(_count_right, self._choose)
        return float(right / total)


def cost_matrix(costs: Any, classes: np.ndarray) -> np.ndarray:
    """Give the cost of saying each class (row) where each is true (column), from a matrix or a mapping.

    >>> cost_matrix({("well", "ill"): 10.0}, np.array(["ill", "well"]))
    array([[ 0.,  0.],
           [10.,  0.]])
    """
    known = classes.tolist()
    if isinstance(costs, Mapping):
        matrix = np.zeros((len(known), len(known)))
        for pair, cost in costs.items():
            if not (isinstance(pair, tuple) and len(pair) == 2 and all(label in known for label in pair)):
                raise ParameterError(f"costs: {pair!r} is not a pair (said, true) of the classes {known}.")
            matrix[known.index(pair[0]), known.index(pair[1])] = cost
    else:
        matrix = np.asarray(costs, dtype=np.float64)
    if matrix.shape != (len(known), len(known)) or not np.isfinite(matrix).all():
        raise ParameterError(f"costs must be finite, of shape ({len(known)}, {len(known)}) for the classes {known}.")
    return matrix


def _cheapest(block: Block, probabilities: Any, classes: np.ndarray, costs: np.ndarray) -> np.ndarray:
    return np.asarray(classes[(probabilities(block) @ costs.T).argmin(axis=1)])


def _count_right(block: Block, choose: Any) -> np.ndarray:
    said, y = choose(block), np.asarray(block.y)
    # A row with several labels is right where all of them are.
    hit = said == y if y.ndim == 1 else (said == y).all(axis=1)
    return np.array([block.weights @ hit, block.weights.sum()])


class OnePassClassifier(Classifier, OnePass):
    """A classifier in closed form: what it has to know of its rows is a statistic, such as `ByClass`."""

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Add rows to those already learned from: the result is that of a fit on all of them.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        y : array-like or str, optional
            The target; or the name of its column, where `X` is a frame or a path.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice. scikit-learn's classifiers
            take the classes before them.
        classes : array-like, optional
            All classes there may be; a label that is none of them is refused. The model knows those that it has seen, in
            whichever call, so this need not be given.
        """
        if classes is not None and y is not None:
            known = np.asarray(classes).tolist()
            strange = [label for label in dict.fromkeys(np.asarray(y).ravel().tolist()) if label not in known]
            if strange:
                raise InputError(f"The label {strange[0]!r} is not among the classes given: {list(classes)}.")
        return super().partial_fit(X, y, sample_weight)


class Grouper(Estimator):
    """A model that tells to which group a row belongs: a cluster, or a component of a mixture."""

    target: ClassVar[str | None] = None

    @abstractmethod
    def _assign(self, block: Block) -> np.ndarray:
        """Give the number of the cluster of each row."""

    def predict(self, X: Any) -> np.ndarray:
        """Tell the cluster of every row.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(self._assign, X)


class Clusterer(ClusterMixin, Grouper):
    """A model that groups rows, and says in `labels_` how it has grouped those it was fitted to."""

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> np.ndarray:
        """Fit, and tell the cluster of every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n,), optional
            Weights; a weight of two means the same as the row twice.
        """
        return self.fit(X, sample_weight=sample_weight).labels_


class Transformer(TransformerMixin, Estimator):
    """A model that changes columns."""

    target: ClassVar[str | None] = None

    @abstractmethod
    def _change(self, block: Block) -> Any:
        """Give the new columns of one block."""

    def _makes_sparse(self, rows: Rows) -> bool:
        """Say whether the new columns of these rows are sparse matrices."""
        return False

    def transform(self, X: Any) -> Any:
        """Change the columns of `X`.

        Parameters
        ----------
        X : array-like, frame, path, Dask collection or Rows
            The features.
        """
        return self._apply(self._change, X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def usual_score(model: object) -> Literal["r2", "accuracy"] | None:
    """Say which of the usual scores a model's ``score`` is, here or in scikit-learn; None where it has one of its own."""
    own = getattr(type(model), "score", None)
    if own in (Regressor.score, RegressorMixin.score):
        return "r2"
    return "accuracy" if own in (Classifier.score, ClassifierMixin.score) else None
