r"""A tree of questions that tells classes.

.. math:: \hat y(x) = \arg\max_k p_{\ell(x), k}, \qquad x_{j(t)} \le v_t \ \text{leads left at node } t,

with :math:`\ell(x)` the leaf that the questions lead to and :math:`p_{\ell, k}` the share of class :math:`k` among the training rows
there. To find the smallest tree is NP-hard; here every node asks the question that leaves its two sides purest, and so on below, until rows
are of one class or a rule says so. A full tree makes no error on its own rows, unless two of different classes coincide. It is unchanged by
strictly increasing changes of a column. Cost: see :mod:`qed.trees.growing`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import of, size
from qed.base.certificate import Claim
from qed.base.models.labels import encode
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Classifier
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.impurity import impurity, shares
from qed.trees.model import CATEGORY_PARAMETERS, TREE_NO_EFFECT, TREE_PARAMETERS, DecisionTree
from qed.trees.nodes import Nodes
from qed.trees.problem import ClassTreeProblem


@takes(**TREE_NO_EFFECT)
class DecisionTreeClassifier(Classifier, DecisionTree):
    """Classes by questions about one column at a time.

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        What makes a node impure, from the shares p of the classes: 1 - Σ p², the entropy -Σ p log2 p ("log_loss" is the same), or the
        share of rows that are not of the most frequent class.
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
    class_weight : None, "balanced" or dict, default=None
        By what factor the rows of each class weigh more.
    ccp_alpha : float, default=0.0
        The price of a leaf: the tree is pruned to the one whose impurity plus price is least.
    categorical_features : array-like or None, default=None
        The columns that hold categories, by number or name, or as a mask: whole numbers from 0 to 254. What is missing or negative counts
        as one more category; what a node has not seen goes where most of its weight went.
    categorical_split : {"subset", "multiway"}, default="subset"
        Whether a question about categories tells a set of them from the others, or has a branch for each that the node has rows of.
    max_bins : int or None, default=None
        Bins of a column at the most, 2 to 255, between which questions are asked: rows are then read as codes, a byte for each value, from
        files larger than memory too. Where it is None, questions are asked between all values, which have to be in memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    tree_ : Nodes
        The nodes: what they ask, where they lead, the shares of the classes, impurity and rows.
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
    DecisionTreeRegressor : The same for numbers.

    Examples
    --------
    >>> import qed
    >>> iris = qed.data.load("iris")
    >>> X, y = iris.Xy()
    >>> model = qed.DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> print(qed.export_text(model, feature_names=iris.features))
    |--- petal_length <= 2.45
    |   |--- class: setosa
    |--- petal_length >  2.45
    |   |--- petal_width <= 1.75
    |   |   |--- class: versicolor
    |   |--- petal_width >  1.75
    |   |   |--- class: virginica
    >>> round(model.score(X, y), 2), bool(qed.certify(model, X, y))
    (0.96, True)
    """

    attributes: ClassVar = {"n_classes_": size("classes"), "tree_": of(Nodes, n_outputs="classes")}
    compare_grid: ClassVar[Mapping[str, Any]] = {"ccp_alpha": [10.0 ** (j / 4) for j in range(-18, -3)]}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "criterion": choice("gini", "entropy", "log_loss", "misclassification", kind="model"),
        **TREE_PARAMETERS,
        **CATEGORY_PARAMETERS,
        "class_weight": choice(None, "balanced") | Parameter("a dict", lambda value: isinstance(value, Mapping)),
    }
    _has_scores: ClassVar[bool] = False
    n_classes_: int

    def __init__(
        self,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        categorical_features: Any = None,
        categorical_split: str = "subset",
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
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.max_bins = max_bins

    def _problem(self, rows: Rows) -> ClassTreeProblem:
        return ClassTreeProblem(rows, self)

    def _solve(self, problem: ClassTreeProblem) -> None:  # type: ignore[override]
        self.classes_, self.n_classes_ = problem.classes, len(problem.classes)
        super()._solve(problem)

    def _described(
        self, problem: Any, leaf: np.ndarray, nodes: Nodes, tally: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return shares(tally), impurity(tally, self.criterion)

    def _errors(self, block: Block, nodes: Nodes) -> np.ndarray:
        label = encode(block.y, self.classes_, block.weight)
        counts = nodes.tally(nodes.apply(block.X), label, block.weights, len(self.classes_))
        said = nodes.value.argmax(axis=1)
        return np.asarray(counts.sum(axis=1) - counts[np.arange(len(said)), said])

    def _answers(self, problem: ClassTreeProblem, nodes: Nodes, leaf: np.ndarray) -> dict[str, np.ndarray]:
        said = problem.classes[nodes.value.argmax(axis=1)[leaf]]
        return {"predict": said, "predict_proba": nodes.value[leaf], "classes_": problem.classes}

    def _decide(self, block: Block) -> np.ndarray:
        return self._probabilities(block)

    def _choose(self, block: Block) -> np.ndarray:
        return self.classes_[self.tree_.value.argmax(axis=1)[self._leaf(block)]]

    def _probabilities(self, block: Block) -> np.ndarray:
        return np.asarray(self.tree_.value[self._leaf(block)])

    def _prove(self, problem: ClassTreeProblem) -> list[Claim]:  # type: ignore[override]
        others = float(not np.array_equal(problem.classes, self.classes_) or self.n_classes_ != len(self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]
