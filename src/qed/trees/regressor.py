r"""A tree of questions that predicts numbers.

.. math:: \hat y(x) = \bar y_{\ell(x)}, \qquad \min \sum_{i \in L} w_i (y_i - \bar y_L)^2 + \sum_{i \in R} w_i (y_i - \bar y_R)^2
          \ \text{at every node},

the mean of the training rows in the leaf that the questions lead to. Each node asks the question after which the squared distances of its
two sides from their means are least, so that no question makes the training error larger. Cost: see :mod:`qed.trees.growing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import of
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Regressor
from qed.base.models.ways import takes
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.model import TREE_PARAMETERS, TREE_WAYS, DecisionTree
from qed.trees.nodes import Nodes
from qed.trees.problem import NumberTreeProblem


@takes(**TREE_WAYS)
class DecisionTreeRegressor(Regressor, DecisionTree):
    """Numbers by questions about one column at a time.

    Parameters
    ----------
    criterion : {"squared_error"}, default="squared_error"
        What makes a node impure: the mean squared distance from its mean.
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

    Attributes
    ----------
    tree_ : Nodes
        The nodes: what they ask, where they lead, means, impurity and rows.
    feature_importances_ : ndarray of shape (p,)
        The share of each column in the impurity that questions take away.
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
        "criterion": choice("squared_error", kind="model"),
        **TREE_PARAMETERS,
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

    def _problem(self, rows: Rows) -> NumberTreeProblem:
        return NumberTreeProblem(rows, self)

    def _described(
        self, problem: Any, leaf: np.ndarray, nodes: Nodes, tally: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return means(nodes, leaf, problem.number, problem.weights, problem.size)

    def _errors(self, block: Block, nodes: Nodes) -> np.ndarray:
        leaf, w, y = nodes.apply(block.X), block.weights, np.asarray(block.y, dtype=np.float64)
        mean = nodes.value[leaf, 0]
        # About the mean of the leaf, whose distance from those above it is added.
        weight, linear, square = (nodes.sums(leaf, w * (y - mean) ** k) for k in range(3))
        total = square.copy()
        for level in reversed(nodes.levels):
            asking = level[~nodes.is_leaf[level]]
            total[asking] = linear[asking] = 0.0
            for child in (asking + 1, nodes.children_right[asking]):
                shift = nodes.value[child, 0] - nodes.value[asking, 0]
                total[asking] += total[child] + 2 * shift * linear[child] + weight[child] * shift**2
                linear[asking] += linear[child] + weight[child] * shift
        return total

    def _answers(self, problem: NumberTreeProblem, nodes: Nodes, leaf: np.ndarray) -> dict[str, np.ndarray]:
        return {"predict": nodes.value[leaf, 0]}

    def _predict(self, block: Block) -> np.ndarray:
        return self.tree_.value[:, 0][self._leaf(block)].astype(block.X.dtype, copy=False)


def means(
    nodes: Nodes, leaf: np.ndarray, number: np.ndarray, weight: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and mean squared distance from it of the numbers of rows in every node, times `size`; of equal ones exactly."""
    mean, scatter = _spread(nodes.node_count, leaf, number, weight)
    total = nodes.sums(leaf, weight)
    for level in reversed(nodes.levels):
        asking = level[~nodes.is_leaf[level]]
        left, right = asking + 1, nodes.children_right[asking]
        share = total[right] / total[asking]
        gap = mean[right] - mean[left]
        mean[asking] = mean[left] + share * gap
        scatter[asking] = scatter[left] + scatter[right] + total[left] * share * gap**2
    with np.errstate(over="ignore", under="ignore"):
        return (mean * size)[:, None], scatter / total * size * size


def _spread(count: int, leaf: np.ndarray, y: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give mean and scatter of the numbers in each leaf."""
    weight = np.bincount(leaf, w, count)
    one = np.zeros(count)
    one[leaf] = y
    # About one of them, so that equal ones differ by nothing.
    with np.errstate(invalid="ignore"):
        mean = one + np.where(weight > 0, np.bincount(leaf, w * (y - one[leaf]), count) / weight, 0.0)
    return mean, np.bincount(leaf, w * (y - mean[leaf]) ** 2, count)
