"""Forests that tell classes: see :mod:`qed.trees.forests.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import size
from qed.base.certificate import Claim
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Classifier
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.classifier import DecisionTreeClassifier
from qed.trees.forests.model import FOREST_NO_EFFECT, FOREST_PARAMETERS, Forest
from qed.trees.impurity import impurity, shares
from qed.trees.model import DecisionTree
from qed.trees.nodes import Nodes
from qed.trees.problem import ClassTreeProblem


@takes(**FOREST_NO_EFFECT)
class RandomForestClassifier(Classifier, Forest):
    """Classes by the mean of many trees, grown from rows and columns drawn by lot.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : {"gini", "entropy", "log_loss", "misclassification"}, default="gini"
        What makes a node impure.
    max_depth : int or None, default=None
        How many questions may follow one another.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows that a node must have to be split, and that each side must keep, or their share of all.
    min_weight_fraction_leaf : float, default=0.0
        The share of the weight of all rows that each side must keep.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns that each node looks at, drawn by lot; where none of them can split it, more are drawn.
    min_impurity_decrease : float, default=0.0
        What a question must be worth, times the share of the rows that it is asked of.
    bootstrap : bool, default=True
        Whether each tree draws its rows, with replacement; else it has all of them.
    oob_score : bool, default=False
        Whether to judge each row by the trees that have not seen it.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn with.
    class_weight : None, "balanced" or dict, default=None
        By what factor the rows of each class weigh more.
    max_samples : int, float or None, default=None
        How many rows each tree draws, or their share; as many as there are where it is None.
    categorical_features : array-like or None, default=None
        The columns that hold categories, by number or name, or as a mask: whole numbers from 0 to 254. A question tells a set of them
        from the others. What is missing or negative counts as one more category; what a node has not seen goes where most of its weight
        went.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    trees_ : list of Nodes
        The nodes of the trees.
    bins_ : Bins
        The bins of the columns, between which questions are asked.
    seed_ : int
        What was drawn with.
    is_categorical_ : ndarray of shape (p,) or None
        Which columns hold categories; None where none does.
    feature_importances_ : ndarray of shape (p,)
        The share of each column in the impurity that questions take away, on average over trees.
    oob_score_ : float
        The accuracy on rows that trees have not seen, where it was asked for.
    certificate_ : Certificate
        The proof: leaves are what the rows that were drawn for them say.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> model = qed.RandomForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.93, bool(model.certificate_)
    (True, True)
    """

    attributes: ClassVar = {"n_classes_": size("classes")}
    compare_grid: ClassVar[Mapping[str, Any]] = {"max_features": ["sqrt"]}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "criterion": choice("gini", "entropy", "log_loss", "misclassification", kind="model"),
        **FOREST_PARAMETERS,
        "class_weight": choice(None, "balanced") | Parameter("a dict", lambda value: isinstance(value, Mapping)),
    }
    _has_scores: ClassVar[bool] = False
    n_classes_: int

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = "sqrt",
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool = False,
        random_state: Any = None,
        class_weight: Any = None,
        max_samples: Any = None,
        categorical_features: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.random_state = random_state
        self.class_weight = class_weight
        self.max_samples = max_samples
        self.categorical_features = categorical_features

    def _problem(self, rows: Rows) -> ClassTreeProblem:
        return ClassTreeProblem(rows, self)

    def _solve(self, problem: ClassTreeProblem) -> None:  # type: ignore[override]
        self.classes_, self.n_classes_ = problem.classes, len(problem.classes)
        super()._solve(problem)

    def _described(
        self, problem: Any, nodes: Nodes, tally: np.ndarray, rows: np.ndarray, mass: np.ndarray, leaf: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return shares(tally), impurity(tally, self.criterion)

    def _score_of(self, problem: ClassTreeProblem, mean: np.ndarray, there: np.ndarray) -> float:
        weight = problem.weights[there]
        return float(weight @ (mean.argmax(axis=1) == problem.label[there]) / weight.sum())

    def _member(self, nodes: Nodes) -> DecisionTree:
        tree = DecisionTreeClassifier()
        tree.classes_, tree.n_classes_ = self.classes_, self.n_classes_
        return self._as_member(tree, nodes)

    def _says(self, mean: np.ndarray) -> dict[str, np.ndarray]:
        said = self.classes_[mean.argmax(axis=1)]
        return {"predict": said, "predict_proba": mean, "classes_": self.classes_}

    def _decide(self, block: Block) -> np.ndarray:
        return self._probabilities(block)

    def _choose(self, block: Block) -> np.ndarray:
        return self.classes_[self._mean(block).argmax(axis=1)]

    def _probabilities(self, block: Block) -> np.ndarray:
        return self._mean(block)

    def _prove(self, problem: ClassTreeProblem) -> list[Claim]:  # type: ignore[override]
        others = float(not np.array_equal(problem.classes, self.classes_) or self.n_classes_ != len(self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]
