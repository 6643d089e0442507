r"""Classes by the vote of the nearest rows.

.. math:: \hat y(x) = \arg\max_c \sum_{i \in N_k(x)} v_i\, [y_i = c], \qquad
          P(c \mid x) = \frac{\sum_{i \in N_k(x)} v_i\, [y_i = c]}{\sum_{i \in N_k(x)} v_i},

with :math:`N_k(x)` the k nearest rows and votes :math:`v_i` of one, or of one over the distance. Nothing is learned but the rows, so the
model grows with them. As there are ever more rows, the nearest one errs at most twice as often as the best rule there is (Cover and Hart
1967), and k of them, k growing more slowly than the rows, no more often than that (Fix and Hodges 1951). Of equally far rows the first
ones are taken, and of classes with as many votes the first. A target of several columns has a vote on each, by the same neighbours. Cost:
see :mod:`qed.neighbors.search`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import each, integers, labels
from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError
from qed.base.models.labels import encode, learn_classes
from qed.base.models.no_effect import takes
from qed.base.models.roles import Classifier
from qed.base.models.searching import Answer, Question
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.neighbors.measures import Matrix
from qed.neighbors.model import NEIGHBOR_NO_EFFECT
from qed.neighbors.problem import KeptProblem
from qed.neighbors.voting import NEIGHBOR_GRID, Heard, Voting


@takes("n_jobs", **NEIGHBOR_NO_EFFECT)
class KNeighborsClassifier(Classifier, Voting):
    """Classes by the vote of the k nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote; odd numbers leave no draw between two classes.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Whether all votes count the same, or as one over the distance; or a function that makes votes of distances.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree", "hashing"}, default="auto"
        How neighbours are looked for. All ways find the same, trees are k-d trees; only "hashing" may miss some in tables of 5 000 rows
        and more, by Euclid's distance or "cosine": it compares a query with the rows in its cells alone, see ``recall_``.
    p : float, default=2
        The exponent of Minkowski's distance, above zero; infinity for the largest difference.
    metric : str, Kernel or callable, default="minkowski"
        The distance: "minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "haversine", a function of two rows, a kernel, in
        whose features the distance then is, or another name that SciPy has, such as "canberra" or "jaccard". With "precomputed" the
        rows are distances from the rows of the fit; a sparse matrix holds those that are known.
    metric_params : dict, optional
        What else a distance has to know: weights ``w`` of the columns for "minkowski", ``V`` for "seuclidean", ``VI`` for
        "mahalanobis", or arguments of the function.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,) or list of them
        The classes; of each column, where the target has several.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows.
    y_fit_ : ndarray of shape (n,) or (n, n_outputs)
        The number of each row's class.
    weight_fit_ : ndarray of shape (n,)
        Their weights, where they have some.
    n_samples_fit_ : int
        How many rows there are.
    tree_ : Tree
        Their tree, where one is worth its growing.
    tables_, recall_ : Tables and float
        With "hashing": the cells of the rows, and which share of their nearest rows some of the rows find.
    center_, scale_ : ndarray of shape (p,) and float
        The middle of the rows' box, and a power of two that brings them near one.
    certificate_ : Certificate
        The proof of the fit: what is kept are the rows, and what is found for a sample of them are their nearest rows.

    See Also
    --------
    KNeighborsRegressor : The same for numbers.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> model = qed.KNeighborsClassifier(15).fit(X, y)
    >>> round(model.score(X, y), 3), bool(model.certificate_)
    (0.987, True)
    >>> search = qed.Search(qed.KNeighborsClassifier(), {"n_neighbors": range(1, 31)}, cv="loo").fit(X, y)
    >>> search.how_
    'each of 150 rows judged by its neighbours among the others, all numbers of them from one search'

    A row may have several labels:

    >>> qed.KNeighborsClassifier(1).fit([[0.0], [1.0], [2.0]], [[1, 0], [1, 1], [0, 1]]).predict([[0.2], [1.1]])
    array([[1, 0],
           [1, 1]])
    """

    attributes: ClassVar = {
        "classes_": labels("classes") | each(labels("_"), "outputs"),
        "y_fit_": integers("rows", "outputs?", below="classes"),
    }
    _has_scores: ClassVar[bool] = False
    compare_grid: ClassVar[Mapping[str, Any]] = NEIGHBOR_GRID
    _losses: ClassVar[dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
        "right": lambda y, said: (y == said) + 0.0
    }
    classes_: np.ndarray | list[np.ndarray]  # type: ignore[assignment]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = True
        return tags

    def _solve(self, problem: KeptProblem) -> None:
        super()._solve(problem)
        self.classes_ = self._learned(problem.rows)
        self.y_fit_ = self._known(problem)

    def _learned(self, rows: Rows) -> np.ndarray | list[np.ndarray]:
        """Give the classes of the target, or of each of its columns; a label that all rows have is none to refuse there."""
        name = type(self).__name__
        if rows.target_ndim < 2:
            return learn_classes(rows, name)[0]
        columns = (rows.through(_column, j, target_only=True, target_shape=()) for j in range(rows.n_targets))
        return [learn_classes(column, name, least=1)[0] for column in columns]

    def _known(self, problem: KeptProblem) -> np.ndarray:
        y, weight = np.asarray(problem.block.y), problem.block.weight
        if isinstance(self.classes_, list):
            return np.column_stack([encode(column, known, weight) for column, known in zip(y.T, self.classes_)])
        return encode(y, self.classes_, weight)

    def _predicted_shape(self) -> tuple[int, ...]:
        return np.shape(self.y_fit_)[1:]

    def _disagreement(self) -> str:
        several = isinstance(self.classes_, list)
        if several != (self.y_fit_.ndim == 2):
            return f"y_fit_ has the shape {self.y_fit_.shape}, but classes_ are those of {'several columns' if several else 'one'}"
        if several and (self.y_fit_ >= [len(known) for known in self.classes_]).any():
            return "y_fit_ holds numbers of classes that there are not"
        return super()._disagreement()

    def _answers(self, heard: Heard) -> dict[str, np.ndarray]:
        if not isinstance(self.classes_, list):
            return self._said(_votes(heard, self.y_fit_, len(self.classes_)))
        votes = [_votes(heard, codes, len(known)) for codes, known in zip(self.y_fit_.T, self.classes_)]
        said = [known[one.argmax(axis=1)] for known, one in zip(self.classes_, votes)]
        return {"predict": np.column_stack(said), "predict_proba": np.hstack([_shares(one) for one in votes])}

    def _said(self, votes: np.ndarray, *, shares: bool = True) -> dict[str, np.ndarray]:
        said = {"predict": self.classes_[votes.argmax(axis=1)], "classes_": self.classes_}
        return {**said, "predict_proba": _shares(votes)} if shares else said

    def _stages(
        self, X: Matrix, question: Question[Self], members: list[int], own: np.ndarray | None = None
    ) -> Iterator[tuple[int, dict[str, np.ndarray]]]:
        if not self._is_uniform:
            yield from super()._stages(X, question, members, own)
            return
        # Who has one vote keeps it as more are heard.
        number, heard = self._nearest(X, self.n_neighbors, own).number, 0
        votes = np.zeros((len(number), len(self.classes_)))
        for candidate in sorted(members, key=lambda one: question.models[one].n_neighbors):
            k = question.models[candidate].n_neighbors
            votes += _votes(Heard(number[:, heard:k], np.ones((1, 1))), self.y_fit_, len(self.classes_))
            heard = k
            # Rows that are left out one by one are judged by what is said of them alone.
            yield candidate, self._said(votes, shares=own is None)

    def _decide(self, block: Block) -> np.ndarray:
        return self._probabilities(block)

    def _choose(self, block: Block) -> np.ndarray:
        return self._voted(block, "predict")

    def _probabilities(self, block: Block) -> np.ndarray:
        return self._voted(block, "predict_proba")

    def predict_proba(self, X: object) -> np.ndarray | list[np.ndarray]:  # type: ignore[override]
        """Give the share of each class in the votes, for every row.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.

        Returns
        -------
        ndarray of shape (m, n_classes) or list of them
            The shares; a list of those of each column, where the target has several.
        """
        return self._by_column(super().predict_proba(X))

    def predict_log_proba(self, X: object) -> np.ndarray | list[np.ndarray]:  # type: ignore[override]
        """Give the logarithm of what ``predict_proba`` gives.

        Parameters
        ----------
        X : array-like, sparse matrix, frame, path, Dask collection or Rows
            The features.
        """
        return self._by_column(super().predict_log_proba(X))

    def _by_column(self, found: np.ndarray) -> np.ndarray | list[np.ndarray]:
        if not isinstance(self.classes_, list):
            return found
        return np.split(found, np.cumsum([len(known) for known in self.classes_])[:-1], axis=1)

    def decide(self, X: object, costs: object) -> np.ndarray:
        """Choose the class with the least expected cost for every row: Bayes' rule for any loss.

        Parameters
        ----------
        X, costs
            As for every classifier with probabilities; the target is one column.
        """
        if isinstance(getattr(self, "classes_", None), list):
            raise NotAvailableError("Costs are those of one column of classes, but the target had several.")
        return super().decide(X, costs)

    def _search(self, question: Question[Self]) -> Answer | None:
        return None if question.rows.target_ndim == 2 else super()._search(question)

    def _prove(self, problem: KeptProblem) -> list[Claim]:
        found = self._learned(problem.rows)
        same = type(found) is type(self.classes_) and len(found) == len(self.classes_)
        others = float(not (same and all(map(np.array_equal, found, self.classes_))))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]


def _column(block: Block, j: int) -> Block:
    return replace(block, y=np.asarray(block.y)[:, j])


def _votes(heard: Heard, codes: np.ndarray, count: int) -> np.ndarray:
    """Add up the votes for each of so many classes on each row."""
    m = len(heard.number)
    places = np.arange(m)[:, None] * count + codes[heard.number]
    share = np.broadcast_to(heard.share, places.shape)
    return np.bincount(places.ravel(), share.ravel(), minlength=m * count).reshape(m, count)


def _shares(votes: np.ndarray) -> np.ndarray:
    """Give the share of each class in the votes; where no neighbour counts, all classes are as likely."""
    total = votes.sum(axis=1, keepdims=True)
    return np.divide(votes, total, out=np.full(votes.shape, 1 / votes.shape[1]), where=total > 0)
