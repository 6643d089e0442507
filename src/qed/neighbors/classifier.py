r"""Classes by the vote of the nearest rows.

.. math:: \hat y(x) = \arg\max_c \sum_{i \in N_k(x)} v_i\, [y_i = c], \qquad
          P(c \mid x) = \frac{\sum_{i \in N_k(x)} v_i\, [y_i = c]}{\sum_{i \in N_k(x)} v_i},

with :math:`N_k(x)` the k nearest rows and votes :math:`v_i` of one, or of one over the distance. Nothing is learned but the rows, so the
model grows with them. As there are ever more rows, the nearest one errs at most twice as often as the best rule there is (Cover and Hart
1967), and k of them, k growing more slowly than the rows, no more often than that (Fix and Hodges 1951). Of equally far rows the first
ones are taken, and of classes with as many votes the first. Cost: see :mod:`qed.neighbors.search`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from qed.base.attributes import integers
from qed.base.certificate import Claim
from qed.base.models.labels import encode, learn_classes
from qed.base.models.roles import Classifier
from qed.base.models.ways import takes
from qed.base.sources.block import Block
from qed.neighbors.model import NEIGHBOR_WAYS, KeptProblem
from qed.neighbors.voting import Heard, Voting


@takes("n_jobs", **NEIGHBOR_WAYS)
class KNeighborsClassifier(Classifier, Voting):
    """Classes by the vote of the k nearest rows.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote; odd numbers leave no draw between two classes.
    weights : {"uniform", "distance"}, callable or None, default="uniform"
        Whether all votes count the same, or as one over the distance; or a function that makes votes of distances.
    algorithm : {"auto", "brute", "kd_tree", "ball_tree"}, default="auto"
        How neighbours are looked for; all ways find the same. Trees are k-d trees.
    p : float, default=2
        The exponent of Minkowski's distance, at least one; infinity for the largest difference.
    metric : str, Kernel or callable, default="minkowski"
        The distance: "minkowski", "euclidean", "manhattan", "chebyshev", "cosine", "precomputed", a function of two rows, or a
        kernel, in whose features the distance then is.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The rows.
    y_fit_ : ndarray of shape (n,)
        The number of each row's class.
    weight_fit_ : ndarray of shape (n,)
        Their weights, where they have some.
    n_samples_fit_ : int
        How many rows there are.
    tree_ : Tree
        Their tree, where one is worth its growing.
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
    """

    attributes: ClassVar = {"y_fit_": integers("rows", below="classes")}
    _has_scores: ClassVar[bool] = False
    _losses: ClassVar[dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
        "right": lambda y, said: (y == said) + 0.0
    }

    def _solve(self, problem: KeptProblem) -> None:
        super()._solve(problem)
        self.classes_, _ = learn_classes(problem.rows, type(self).__name__)
        self.y_fit_ = self._known(problem)

    def _known(self, problem: KeptProblem) -> np.ndarray:
        return encode(problem.block.y, self.classes_, problem.block.weight)

    def _answers(self, heard: Heard) -> dict[str, np.ndarray]:
        m, count = len(heard.number), len(self.classes_)
        places = np.arange(m)[:, None] * count + self.y_fit_[heard.number]
        share = np.broadcast_to(heard.share, places.shape)
        votes = np.bincount(places.ravel(), share.ravel(), minlength=m * count).reshape(m, count)
        total = votes.sum(axis=1, keepdims=True)
        # Where no neighbour counts, all classes are as likely.
        shares = np.divide(votes, total, out=np.full(votes.shape, 1 / count), where=total > 0)
        return {"predict": self.classes_[votes.argmax(axis=1)], "predict_proba": shares, "classes_": self.classes_}

    def _decide(self, block: Block) -> np.ndarray:
        return self._probabilities(block)

    def _choose(self, block: Block) -> np.ndarray:
        return self._told(block, "predict")

    def _probabilities(self, block: Block) -> np.ndarray:
        return self._told(block, "predict_proba")

    def _prove(self, problem: KeptProblem) -> list[Claim]:
        found, _ = learn_classes(problem.rows, type(self).__name__)
        others = float(not np.array_equal(found, self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]
