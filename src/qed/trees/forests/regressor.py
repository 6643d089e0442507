"""Forests that predict numbers: see :mod:`qed.trees.forests.model`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.asking.describing import means
from qed.trees.forests.model import FOREST_NO_EFFECT, FOREST_PARAMETERS, Forest
from qed.trees.model import DecisionTree
from qed.trees.nodes import Nodes
from qed.trees.problem import NumberTreeProblem
from qed.trees.regressor import DecisionTreeRegressor


@takes(**FOREST_NO_EFFECT)
class RandomForestRegressor(Regressor, Forest):
    """Numbers by the mean of many trees, grown from rows and columns drawn by lot.

    Parameters
    ----------
    n_estimators : int, default=100
        How many trees.
    criterion : {"squared_error"}, default="squared_error"
        What makes a node impure: the mean squared distance from its mean.
    max_depth : int or None, default=None
        How many questions may follow one another.
    min_samples_split, min_samples_leaf : int or float, default=2 and 1
        Rows that a node must have to be split, and that each side must keep, or their share of all.
    min_weight_fraction_leaf : float, default=0.0
        The share of the weight of all rows that each side must keep.
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Columns that each node looks at, drawn by lot; where none of them can split it, more are drawn.
    min_impurity_decrease : float, default=0.0
        What a question must be worth, times the share of the rows that it is asked of.
    bootstrap : bool, default=True
        Whether each tree draws its rows, with replacement; else it has all of them.
    oob_score : bool, default=False
        Whether to judge each row by the trees that have not seen it.
    random_state : int, Generator, RandomState or None, default=None
        What is drawn with.
    max_samples : int, float or None, default=None
        How many rows each tree draws, or their share; as many as there are where it is None.
    categorical_features : array-like or None, default=None
        The columns that hold categories, by number or name, or as a mask: whole numbers from 0 to 254. A question tells a set of them
        from the others. What is missing or negative counts as one more category; what a node has not seen goes where most of its weight
        went.

    Attributes
    ----------
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
        The coefficient of determination on rows that trees have not seen, where it was asked for.
    certificate_ : Certificate
        The proof: leaves are what the rows that were drawn for them say.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.RandomForestRegressor(50, max_features="sqrt", oob_score=True, random_state=0).fit(X, y)
    >>> model.oob_score_ > 0.38, bool(model.certificate_)
    (True, True)
    """

    compare_grid: ClassVar[Mapping[str, Any]] = {"max_features": [0.5]}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "criterion": choice("squared_error", kind="model"),
        **FOREST_PARAMETERS,
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: Any = 1.0,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: bool = False,
        random_state: Any = None,
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
        self.max_samples = max_samples
        self.categorical_features = categorical_features

    def _problem(self, rows: Rows) -> NumberTreeProblem:
        return NumberTreeProblem(rows, self)

    def _described(
        self, problem: Any, nodes: Nodes, tally: np.ndarray, rows: np.ndarray, mass: np.ndarray, leaf: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        return means(nodes, leaf, problem.number[rows], mass, problem.size)

    def _score_of(self, problem: NumberTreeProblem, mean: np.ndarray, there: np.ndarray) -> float:
        weight, y = problem.weights[there], problem.number[there]
        error = weight @ (y - mean[:, 0] / problem.size) ** 2
        scatter = weight @ (y - weight @ y / weight.sum()) ** 2
        return float(1 - error / scatter) if scatter > 0 else float(error == 0)

    def _member(self, nodes: Nodes) -> DecisionTree:
        return self._as_member(DecisionTreeRegressor(), nodes)

    def _says(self, mean: np.ndarray) -> dict[str, np.ndarray]:
        return {"predict": mean[:, 0]}

    def _predict(self, block: Block) -> np.ndarray:
        return self._mean(block)[:, 0].astype(block.X.dtype, copy=False)
