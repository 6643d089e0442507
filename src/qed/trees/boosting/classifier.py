r"""Boosted trees that tell classes.

.. math:: P(y = k \mid x) = \frac{e^{F_k(x)}}{\sum_j e^{F_j(x)}}, \qquad F \text{ lowers } -\sum_i w_i \log P(y_i \mid x_i) .

Two classes have one score, the logarithm of their odds; several have one each, and a tree for each in every round. The exponential loss
:math:`e^{-yF}` of two classes is what AdaBoost lowers: it bounds the errors from above, and its score is half the logarithm of the odds.
How, and at what cost: see :mod:`qed.trees.boosting.model`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, softmax

from qed.base.certificate import Claim
from qed.base.models.checks import finite
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice
from qed.base.models.roles import Classifier
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.trees.boosting.model import BOOSTING_GRID, BOOSTING_NO_EFFECT, BOOSTING_PARAMETERS, GradientBoosting
from qed.trees.boosting.problem import ClassProblem


@takes(**BOOSTING_NO_EFFECT)
class GradientBoostingClassifier(Classifier, GradientBoosting):
    """Classes by trees that are added one after another.

    Parameters
    ----------
    loss : {"log_loss", "exponential"}, default="log_loss"
        What is lowered: minus the logarithm of the probability of the class, or, for two classes, the exponential loss.
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
        The columns in which the score may only rise (1) or only fall (-1), everything else being equal; for two classes it is that of the
        second. The others have a 0, or are not named.
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
    class_weight : None, "balanced" or dict, default=None
        By what factor the rows of each class weigh more.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    baseline_ : ndarray of shape (n_scores,)
        The scores before the first round.
    forest_ : Forest
        The nodes of all trees, those of one round together.
    n_trees_per_iteration_ : int
        How many scores there are: one for two classes, else one for each.
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
    GradientBoostingRegressor : The same for numbers.
    DecisionTreeClassifier : A single tree.

    Examples
    --------
    >>> import qed
    >>> X, y = qed.data.load("iris").Xy()
    >>> model = qed.GradientBoostingClassifier(max_iter=20).fit(X, y)
    >>> bool(qed.certify(model, X, y)), model.n_trees_per_iteration_, model.score(X, y) > 0.95
    (True, 3, True)
    """

    stage_answers: ClassVar[tuple[str, ...]] = ("predict", "predict_proba", "decision_function")
    compare_grid: ClassVar[Mapping[str, Any]] = BOOSTING_GRID
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "loss": choice("log_loss", "exponential", kind="model"),
        **BOOSTING_PARAMETERS,
        "class_weight": choice(None, "balanced") | Parameter("a dict", lambda value: isinstance(value, Mapping)),
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
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
        class_weight: Any = None,
    ) -> None:
        self.loss = loss
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
        self.class_weight = class_weight

    def _problem(self, rows: Rows) -> ClassProblem:
        return ClassProblem(rows, self)

    def _finish(self, problem: ClassProblem, step: Step) -> None:  # type: ignore[override]
        self.classes_ = problem.classes
        super()._finish(problem, step)

    def _decide(self, block: Block) -> np.ndarray:
        return self._scored(self._scores(block), block)

    def _scored(self, scores: np.ndarray, block: Block) -> np.ndarray:
        found = scores[:, 0] if scores.shape[1] == 1 else scores
        return found.astype(block.X.dtype)

    def _probabilities(self, block: Block) -> np.ndarray:
        return self._shares(self._scores(block), block)

    def _shares(self, scores: np.ndarray, block: Block) -> np.ndarray:
        """Give the probabilities that follow from scores."""
        if scores.shape[1] == 1:
            second = expit(scores * (2.0 if self.loss == "exponential" else 1.0))
            found = np.hstack([1.0 - second, second])
        else:
            found = softmax(scores, axis=1)
        return found.astype(block.X.dtype, copy=False)

    def _stage_answers(self, scores: np.ndarray, block: Block) -> dict[str, np.ndarray]:
        decided = self._scored(scores, block)
        place = (decided > 0).astype(np.intp) if decided.ndim == 1 else decided.argmax(axis=1)
        shares = self._shares(scores, block)
        return {
            "predict": self.classes_[place],
            "predict_proba": shares,
            "decision_function": decided,
            "classes_": self.classes_,
        }

    def staged_decision_function(self, X: Any) -> Iterator[np.ndarray]:
        """Give the scores of the classes after each round.

        Parameters
        ----------
        X : array-like or frame
            The features.

        Yields
        ------
        ndarray of shape (n,) or (n, n_classes)
            The scores of the model after one more round.
        """
        self._check_fitted()
        block = finite(self._open(X, reset=False), self).array()
        for scores in self._stages(block, range(1, self._rounds + 1)):
            yield self._scored(scores, block)

    def staged_predict_proba(self, X: Any) -> Iterator[np.ndarray]:
        """Give the probabilities of the classes after each round.

        Parameters
        ----------
        X : array-like or frame
            The features.

        Yields
        ------
        ndarray of shape (n, n_classes)
            The probabilities of the model after one more round.
        """
        self._check_fitted()
        block = finite(self._open(X, reset=False), self).array()
        for scores in self._stages(block, range(1, self._rounds + 1)):
            yield self._shares(scores, block)

    def _disagreement(self) -> str:
        classes, scores = len(self.classes_), len(self.baseline_)
        if classes < 2 or scores != (1 if classes == 2 else classes):
            return f"there are {classes} classes_ and {scores} scores in baseline_"
        return super()._disagreement()

    def _prove(self, problem: ClassProblem) -> list[Claim]:  # type: ignore[override]
        others = float(not np.array_equal(problem.classes, self.classes_))
        return [*super()._prove(problem), Claim("classes are those of the target, in order (others)", others, 0.0)]
