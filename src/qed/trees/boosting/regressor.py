r"""Boosted trees that predict numbers.

.. math:: \hat y(x) = F_M(x) \ \text{ or, for counts, } \ e^{F_M(x)}, \qquad F_M \text{ lowers } \sum_i w_i\, \ell(F(x_i), y_i) .

With squared errors the slopes are the residuals: each tree is fitted to what those before it left over, as in matching pursuit. Absolute
errors and quantiles send each leaf to a quantile of its residuals, Huber's loss does not follow far outliers, and that of Poisson takes
counts. How, and at what cost: see :mod:`qed.trees.boosting.model`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice, number
from qed.base.models.roles import Regressor
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.boosting.losses.objectives import OF_LOGARITHMS
from qed.trees.boosting.model import BOOSTING_GRID, BOOSTING_NO_EFFECT, BOOSTING_PARAMETERS, GradientBoosting
from qed.trees.boosting.problem import NumberProblem


@takes(**BOOSTING_NO_EFFECT)
class GradientBoostingRegressor(Regressor, GradientBoosting):
    """Numbers by trees that are added one after another.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma"}, default="squared_error"
        What is lowered: half the squared error, its size, squares near zero and sizes further out, that of a quantile, or half the
        deviance of counts, or of numbers above zero that scatter as far as they are large ("gamma"), such as costs. For these two the
        logarithm of the prediction is boosted.
    quantile : float or None, default=None
        Which quantile for ``loss="quantile"`` (0.5 where it is None); for ``loss="huber"`` the share of the rows nearest to the median that
        are inside the squares (0.9).
    learning_rate : float, default=0.1
        The share of its best value that each leaf goes.
    line_search : bool, default=False
        Whether the trees of a round are stretched to where the loss is least along them, before the rate shortens the way. Else each leaf
        goes to the minimum of a parabola of its own.
    max_iter : int, default=100
        Rounds at the most; ``n_iter_`` says how many there were.
    max_leaf_nodes : int or None, default=31
        Leaves of a tree at the most; the questions worth most are asked first.
    max_depth : int or None, default=None
        How many questions may follow one another.
    min_samples_leaf : int, default=20
        What a leaf must weigh: its rows, each as often as its weight says.
    l2_regularization : float, default=0.0
        What is added to the curvature of a leaf, so that it goes less far.
    max_features : int, float, "sqrt", "log2" or None, default=1.0
        Columns that each node looks at, drawn by lot, or their share.
    max_bins : int, default=255
        Bins of a column at the most, besides that of missing values.
    subsample : float, default=1.0
        The share of the rows that each round learns from, drawn by lot. Below one the training loss may rise.
    categorical_features : array-like or None, default=None
        The columns that hold categories, by number or name, or as a mask: whole numbers from 0 on, below ``max_bins``. What is
        negative, or was not there to learn from, counts as missing.
    monotonic_cst : array-like of -1, 0 and 1, dict by name, or None, default=None
        The columns in which the prediction may only rise (1) or only fall (-1), everything else being equal. The others have a 0, or are
        not named.
    early_stopping : bool or "auto", default="auto"
        Whether rounds end where the loss of rows kept aside no longer falls; by default for more than 10 000 rows.
    validation_fraction : float or None, default=0.1
        The share of the rows that are kept aside for that; where it is None, the training loss is looked at.
    n_iter_no_change : int, default=10
        For how many rounds it must not have fallen,
    tol : float, default=1e-7
        by more than this.
    random_state : int, Generator, RandomState or None, default=None
        What rows and columns are drawn with.

    Attributes
    ----------
    baseline_ : ndarray of shape (1,)
        The prediction before the first round.
    forest_ : Forest
        The nodes of all trees.
    n_trees_per_iteration_ : int
        One.
    train_score_ : ndarray of shape (rounds + 1,)
        The mean loss of the rows that were learned from, before the first round and after each.
    validation_score_ : ndarray of shape (rounds + 1,)
        That of the rows kept aside, where there are any.
    feature_importances_ : ndarray of shape (p,)
        The share of each column in what all questions are worth.
    is_categorical_ : ndarray of shape (p,) or None
        Which columns hold categories; None where none does.
    seed_ : int
        What was drawn with, where anything was.
    n_iter_ : int
        Rounds made.
    ending_ : Ending
        Why the fit ended, with the trace of its rounds.
    certificate_ : Certificate
        The proof: leaves go as far as their rows say, no question is better than the one asked, the training loss never rises; on a sample
        of the rounds here, on all of them in ``certify``.

    See Also
    --------
    GradientBoostingClassifier : The same for classes.
    DecisionTreeRegressor : A single tree.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("diabetes").Xy()
    >>> model = qed.GradientBoostingRegressor(max_iter=20).fit(X, y)
    >>> bool(qed.certify(model, X, y)), bool((model.train_score_[1:] < model.train_score_[:-1]).all())
    (True, True)
    """

    compare_grid: ClassVar[Mapping[str, Any]] = BOOSTING_GRID
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "loss": choice("squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", kind="model"),
        "quantile": number(0, 1) | choice(None),
        **BOOSTING_PARAMETERS,
    }

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        quantile: float | None = None,
        learning_rate: float = 0.1,
        line_search: bool = False,
        max_iter: int = 100,
        max_leaf_nodes: int | None = 31,
        max_depth: int | None = None,
        min_samples_leaf: int = 20,
        l2_regularization: float = 0.0,
        max_features: Any = 1.0,
        max_bins: int = 255,
        subsample: float = 1.0,
        categorical_features: Any = None,
        monotonic_cst: Any = None,
        early_stopping: Any = "auto",
        validation_fraction: float | None = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.quantile = quantile
        self.learning_rate = learning_rate
        self.line_search = line_search
        self.max_iter = max_iter
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_features = max_features
        self.max_bins = max_bins
        self.subsample = subsample
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.random_state = random_state

    def _problem(self, rows: Rows) -> NumberProblem:
        return NumberProblem(rows, self)

    def _stage_answers(self, scores: np.ndarray, block: Block) -> dict[str, np.ndarray]:
        found = scores[:, 0].copy()
        if self.loss in OF_LOGARITHMS:
            np.exp(found, out=found)
        return {"predict": found.astype(block.X.dtype, copy=False)}

    def _predict(self, block: Block) -> np.ndarray:
        return self._stage_answers(self._scores(block), block)["predict"]
