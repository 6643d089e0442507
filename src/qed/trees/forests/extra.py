r"""Extremely randomised trees: at every node one threshold by chance for each column that is looked at, and the best of these questions.

A threshold is drawn between the least and the largest value of a column in the node, each as likely as any other, and goes to the next
edge of a bin below. What a question tells is then less, and trees agree less: their mean has a little more bias and less variance than
that of :mod:`qed.trees.forests.model`, and nothing but the columns has to be drawn, so that every tree sees all rows.

Geurts, Ernst and Wehenkel (2006), Extremely randomized trees.
"""

from __future__ import annotations

from typing import Any, ClassVar

from qed.base.models.no_effect import takes
from qed.trees.forests.classifier import RandomForestClassifier
from qed.trees.forests.model import FOREST_NO_EFFECT
from qed.trees.forests.regressor import RandomForestRegressor


@takes(**FOREST_NO_EFFECT)
class ExtraTreesClassifier(RandomForestClassifier):
    """Classes by the mean of many trees whose thresholds are drawn by lot.

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
    bootstrap : bool, default=False
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
        The proof: questions are those that the lots say, and leaves are what their rows say.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> model = qed.ExtraTreesClassifier(20, max_depth=5, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95, bool(model.certificate_)
    (True, True)
    """

    by_chance: ClassVar[bool] = True

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
        bootstrap: bool = False,
        oob_score: bool = False,
        random_state: Any = None,
        class_weight: Any = None,
        max_samples: Any = None,
        categorical_features: Any = None,
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            random_state=random_state,
            class_weight=class_weight,
            max_samples=max_samples,
            categorical_features=categorical_features,
        )


@takes(**FOREST_NO_EFFECT)
class ExtraTreesRegressor(RandomForestRegressor):
    """Numbers by the mean of many trees whose thresholds are drawn by lot.

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
    bootstrap : bool, default=False
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
        The proof: questions are those that the lots say, and leaves are what their rows say.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.ExtraTreesRegressor(20, max_depth=5, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.5, bool(model.certificate_)
    (True, True)
    """

    by_chance: ClassVar[bool] = True

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
        bootstrap: bool = False,
        oob_score: bool = False,
        random_state: Any = None,
        max_samples: Any = None,
        categorical_features: Any = None,
    ) -> None:
        super().__init__(
            n_estimators,
            criterion=criterion,
            max_depth=max_depth,
            min_samples_split=min_samples_split,
            min_samples_leaf=min_samples_leaf,
            min_weight_fraction_leaf=min_weight_fraction_leaf,
            max_features=max_features,
            min_impurity_decrease=min_impurity_decrease,
            bootstrap=bootstrap,
            oob_score=oob_score,
            random_state=random_state,
            max_samples=max_samples,
            categorical_features=categorical_features,
        )
