r"""A tree of questions that predicts numbers.

.. math:: \hat y(x) = \bar y_{\ell(x)}, \qquad \min \sum_{i \in L} w_i (y_i - \bar y_L)^2 + \sum_{i \in R} w_i (y_i - \bar y_R)^2
          \ \text{at every node},

the mean of the training rows in the leaf that the questions lead to. Each node asks the question after which the squared distances of its
two sides from their means are least, so that no question makes the training error larger. Cost: see :mod:`qed.trees.growing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import of
from qed.base.certificate import Claim
from qed.base.errors import ParameterError
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice, number
from qed.base.models.roles import Regressor
from qed.base.models.searching import Answer, Question
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.asking.describing import DESCRIBED, costs
from qed.trees.asking.lines import along, claims_of_lines, costs_of_lines, restated_lines, with_lines
from qed.trees.impurity import KINDS, SQUARES
from qed.trees.model import CATEGORY_PARAMETERS, TREE_NO_EFFECT, TREE_PARAMETERS, DecisionTree
from qed.trees.nodes import Nodes
from qed.trees.problem import NumberTreeProblem


@takes(**TREE_NO_EFFECT)
class DecisionTreeRegressor(Regressor, DecisionTree):
    """Numbers by questions about one column at a time.

    Parameters
    ----------
    criterion : {"squared_error", "friedman_mse", "absolute_error", "poisson"}, default="squared_error"
        What makes a node impure: the mean squared distance from its mean, the mean distance from its median, which it then predicts, or
        for counts half the mean Poisson deviance from its mean, which is never zero then. The second takes a factor of the logarithm of
        the rows more time and one thread; ``"friedman_mse"`` is another word for the first.
    max_depth : int or None, default=None
        How many questions may follow one another.
    min_samples_split : int or float, default=2
        Rows that a node must have to be split, or their share of all.
    min_samples_leaf : int or float, default=1
        Rows that each side of a question must keep, or their share of all.
    min_weight_fraction_leaf : float, default=0.0
        The share of the weight of all rows that each side must keep.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns that each node looks at, drawn by lot; all of them where it is None. Where none of them can split the node, more are drawn.
    random_state : int, Generator, RandomState or None, default=None
        What columns are drawn with.
    max_leaf_nodes : int or None, default=None
        How many leaves there may be; the questions worth most are asked first.
    min_impurity_decrease : float, default=0.0
        What a question must be worth, times the share of the rows that it is asked of.
    ccp_alpha : float, default=0.0
        The price of a leaf: the tree is pruned to the one whose impurity plus price is least.
    categorical_features : array-like or None, default=None
        The columns that hold categories, by number or name, or as a mask: whole numbers from 0 to 254. What is missing or negative counts
        as one more category; what a node has not seen goes where most of its weight went.
    categorical_split : {"subset", "multiway"}, default="subset"
        Whether a question about categories tells a set of them from the others, or has a branch for each that the node has rows of.
    leaf : {"constant", "linear"}, default="constant"
        What a leaf predicts: the mean of its rows, or the line that fits them best, within the targets it has seen
        (:mod:`qed.trees.asking.lines`).
    leaf_alpha : float, default=0.0
        How much the slopes of lines are held back: the share of their own squares that is added to the squared distances.
    max_bins : int or None, default=None
        Bins of a column at the most, 2 to 255, between which questions are asked: rows are then read as codes, a byte for each value, from
        files larger than memory too. Where it is None, questions are asked between all values, which have to be in memory.

    Attributes
    ----------
    tree_ : Nodes
        The nodes: what they ask, where they lead, means, impurity and rows.
    feature_importances_ : ndarray of shape (p,)
        The share of each column in the impurity that questions take away.
    is_categorical_ : ndarray of shape (p,) or None
        Which columns hold categories; None where none does.
    bins_ : Bins
        The bins of the columns, where ``max_bins`` is given.
    certificate_ : Certificate
        The proof: no question is better than the one asked, on a sample of nodes here, on all of them in ``certify``.

    See Also
    --------
    DecisionTreeClassifier : The same for classes.

    Examples
    --------
    >>> import qed
    >>> model = qed.DecisionTreeRegressor().fit([[0.0], [1.0], [2.0], [5.0]], [0.0, 0.0, 4.0, 25.0])
    >>> model.predict([[0.4], [4.0]]), model.get_n_leaves()
    (array([ 0., 25.]), 3)
    """

    attributes: ClassVar = {"tree_": of(Nodes, n_outputs="outputs")}
    # The price of a leaf would be in units of the target, which a number of leaves is not.
    compare_grid: ClassVar[Mapping[str, Any]] = {"max_leaf_nodes": [round(2 ** (j / 2)) for j in range(2, 19)]}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "criterion": choice("squared_error", "friedman_mse", "absolute_error", "poisson", kind="model"),
        **TREE_PARAMETERS,
        **CATEGORY_PARAMETERS,
        "leaf": choice("constant", "linear", kind="model"),
        "leaf_alpha": number(0),
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        categorical_features: Any = None,
        categorical_split: str = "subset",
        leaf: str = "constant",
        leaf_alpha: float = 0.0,
        max_bins: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.leaf = leaf
        self.leaf_alpha = leaf_alpha
        self.max_bins = max_bins

    def _problem(self, rows: Rows) -> NumberTreeProblem:
        if self.leaf == "linear" and KINDS[self.criterion] != SQUARES:
            raise ParameterError(
                f"Lines are fitted by squared distances: leaf='linear' has no criterion={self.criterion!r}."
            )
        return NumberTreeProblem(rows, self)

    def _solve(self, problem: NumberTreeProblem) -> None:  # type: ignore[override]
        super()._solve(problem)
        if self.leaf == "linear":
            self.tree_ = with_lines(self.tree_, problem, self.leaf_alpha)

    def _search(self, question: Question[Self]) -> Answer | None:
        return None if any(one.leaf == "linear" for one in question.models) else super()._search(question)

    def _prove(self, problem: NumberTreeProblem) -> list[Claim]:  # type: ignore[override]
        claims = super()._prove(problem)
        if (self.tree_.slope is None) != (self.leaf == "constant"):
            return [*claims, Claim("leaves hold what was asked for (lines or not)", np.inf, 0.0)]
        fits = not self.tree_.fault() and self.tree_.slope is not None
        return [*claims, *(claims_of_lines(self.tree_, problem, self.leaf_alpha) if fits else [])]

    def _restate(self, problem: NumberTreeProblem) -> list[Claim]:  # type: ignore[override]
        lines = not self.tree_.fault() and self.tree_.slope is not None
        return [*super()._restate(problem), *(restated_lines(self.tree_, problem) if lines else [])]

    def _described(
        self, problem: Any, leaf: np.ndarray, nodes: Nodes, tally: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return DESCRIBED[problem.kind](nodes, leaf, problem.number, problem.weights, problem.size)

    def _errors(self, block: Block, nodes: Nodes) -> np.ndarray:
        leaf, w, y = nodes.apply(block.X), block.weights, np.asarray(block.y, dtype=np.float64)
        kind = KINDS[self.criterion]
        if nodes.slope is not None:
            return costs_of_lines(nodes, block.X, leaf, y, w)
        if kind != SQUARES:
            return costs(nodes, leaf, y, w, kind)
        mean = nodes.value[leaf, 0]
        # About the mean of the leaf, whose distance from those above it is added.
        weight, linear, square = (nodes.sums(leaf, w * (y - mean) ** k) for k in range(3))
        total = square.copy()
        for level in reversed(nodes.levels):
            asking = level[~nodes.is_leaf[level]]
            total[asking] = linear[asking] = 0.0
            for parent, child in nodes.children(asking):
                shift = nodes.value[child, 0] - nodes.value[parent, 0]
                total[parent] += total[child] + 2 * shift * linear[child] + weight[child] * shift**2
                linear[parent] += linear[child] + weight[child] * shift
        return total

    def _answers(self, problem: NumberTreeProblem, nodes: Nodes, leaf: np.ndarray) -> dict[str, np.ndarray]:
        return {"predict": nodes.value[leaf, 0]}

    def _predict(self, block: Block) -> np.ndarray:
        leaf = self._leaf(block)
        said = self.tree_.value[:, 0][leaf] if self.tree_.slope is None else along(self.tree_, block.X, leaf)
        return said.astype(block.X.dtype, copy=False)
