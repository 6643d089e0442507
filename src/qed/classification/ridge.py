r"""Least squares as a classifier: a plane for each class, fitted to +1 on its rows and to -1 on all others.

.. math:: \min_{W, b}\ \sum_i s_i \|t_i - W x_i - b\|^2 + \alpha \|W\|_F^2, \qquad t_{ik} = 1 \text{ if } y_i = k, \text{ else } -1,
   \qquad \hat y(x) = \arg\max_k\,(w_k^\top x + b_k),

a ridge regression for each class, and a single one for two classes, whose scores are each other's negatives. Since
:math:`(g - t)^2 = (1 - t g)^2` for :math:`t = \pm 1`, it is the squared loss of the margin: a row that is right by far costs as much as one
that is wrong by far, which is what is wrong with it, and why there are logistic regression and support vector machines. Where a class
lies between two others its plane may win nowhere (it is masked). In return it has a closed form: one pass of :math:`O(np^2)` for any number
of classes, and all penalties of a search from one decomposition for each fold. With ``alpha=0`` it is the plain least-squares classifier;
with a penalty it is also called a least-squares support vector machine. Labels of which a row may have several (a column of zeros and ones
for each) are a plane each, whose sign decides.

Suykens and Vandewalle (1999), Least squares support vector machine classifiers; Hastie, Tibshirani and Friedman (2009), The Elements of
Statistical Learning, section 4.2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import booleans, of, text
from qed.base.certificate import Claim
from qed.base.engine import one_blas_thread, work
from qed.base.models.labels import class_factors, learn_classes, refuse_one_class
from qed.base.models.no_effect import RIDGE, takes
from qed.base.models.parameters import Parameter, boolean, class_weights, number
from qed.base.models.roles import OnePassClassifier
from qed.base.models.searching import Answer, Collected, Question, Table
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.classification.planes import LinearClassifier
from qed.classification.signs import SignedProblem, SignedSums, signed
from qed.linalg.row_space import in_row_space, is_wide
from qed.optim.least_squares.precise import lazy_factor
from qed.optim.least_squares.ridge import SquaredPenalty
from qed.optim.least_squares.ridge_basis import coefficients, intercepts
from qed.stats.moments import Moments

# So many scores of a search are held at a time: 32 megabytes.
MOST_SCORES = 1 << 22


@takes("copy_X", "max_iter", "tol", "random_state", **RIDGE)
class RidgeClassifier(SquaredPenalty, LinearClassifier, OnePassClassifier):
    """Classes by least squares towards +1 and -1, with a squared penalty.

    Parameters
    ----------
    alpha : float, default=1.0
        The weight of the penalty; larger means shorter coefficients, zero means plain least squares.
    fit_intercept : bool, default=True
        Whether to fit constants, which are not penalised.
    class_weight : None, "balanced" or dict, default=None
        By how much the rows of each class weigh more; "balanced" makes all classes weigh the same. Where rows have several labels,
        the factors of having or not having each are multiplied, and there is no dict.
    positive : bool, default=False
        Whether coefficients must not be negative (:mod:`qed.optim.least_squares.nonnegative`).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes; the numbers of the columns, where `y` has several.
    multilabel_ : bool
        Whether `y` was a matrix of zeros and ones, a column for each label; then ``predict`` gives such a matrix.
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        Coefficients of the scores: of the second of two classes, or of each of more, and of each label.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants; zero without ``fit_intercept``.
    n_iter_ : int
        One: the equations are solved, not approached.
    solver_ : str
        The way that was taken, in words: it is chosen by the shape of the table.
    statistic_ : SignedSums
        What the model remembers of its rows; ``partial_fit`` adds to it, also rows of new classes, ``forget`` takes away from it.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    Ridge : The regression behind it.
    LogisticRegression : A loss that leaves rows alone which are right by far, and probabilities.
    LinearSVC : The same, with a margin.

    Notes
    -----
    Minimises ``sum_i weight_i ||t_i - W x_i - b||^2 + alpha ||W||^2`` with targets +1 and -1, scikit-learn's objective. The scores are no
    probabilities. With an intercept those of more than two classes sum to ``2 - n_classes``, as the targets do.

    Examples
    --------
    >>> import qed
    >>> X, y = [[-1.5], [-1.0], [-0.5], [0.5], [1.0], [1.5]], ["left"] * 3 + ["right"] * 3
    >>> model = qed.RidgeClassifier(alpha=0).fit(X, y)
    >>> model.coef_.round(9), model.predict([[0.5]])
    (array([[0.85714286]]), array(['right'], dtype='<U5'))

    A row that is right by far pulls the boundary over one that is right by little:

    >>> model = qed.RidgeClassifier(alpha=0).fit([*X, [10.0]], [*y, "right"])
    >>> round(float(-model.intercept_[0] / model.coef_[0, 0]), 4), model.predict([[0.5]])
    (0.5196, array(['left'], dtype='<U5'))

    A row may have several labels, or none:

    >>> qed.RidgeClassifier(alpha=0).fit(X, [[1, 0], [1, 0], [1, 1], [0, 1], [0, 1], [0, 0]]).predict([[-2.0], [0.1]])
    array([[1, 0],
           [0, 1]])
    """

    problem_kind = SignedProblem
    passes = "two"
    statistic_parameters = ("class_weight",)
    attributes: ClassVar = {
        "solver_": text(),
        "multilabel_": booleans(),
        "statistic_": of(SignedSums, n_features="features", n_targets="planes"),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "alpha": number(0),
        "fit_intercept": boolean(),
        "class_weight": class_weights(),
        "positive": boolean(),
    }
    no_inference: ClassVar[str] = "its targets are signs, which no noise of constant variance makes"

    alpha: float

    def __init__(
        self, alpha: float = 1.0, *, fit_intercept: bool = True, class_weight: Any = None, positive: bool = False
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.positive = positive

    def _statistic(self, block: Block) -> SignedSums:
        return SignedSums.of(block, self.class_weight, type(self).__name__)

    def _needs_all(self) -> str:
        balanced = isinstance(self.class_weight, str)
        return "class_weight='balanced' weighs rows by how many there are of each class" if balanced else ""

    def _solve(self, problem: SignedProblem) -> None:
        if not problem.multilabel:
            refuse_one_class(type(self).__name__, problem.classes)
            class_factors(self.class_weight, problem.classes, np.ones(len(problem.classes)))
        coef, seen = self._minimum(problem.squares), problem.squares.statistic
        self.classes_, self.multilabel_, self.coef_ = problem.classes, problem.multilabel, np.ascontiguousarray(coef.T)
        self.intercept_ = seen.y_mean - seen.x_mean @ coef if self.fit_intercept else np.zeros(coef.shape[1])

    def _choose(self, block: Block) -> np.ndarray:
        return (self._decide(block) > 0).astype(np.int64) if self.multilabel_ else super()._choose(block)

    def _predicted_shape(self) -> tuple[int, ...]:
        return self.classes_.shape if self.multilabel_ else ()

    def _disagreement(self) -> str:
        if not self.multilabel_:
            return super()._disagreement()
        same = len(self.coef_) == len(self.classes_)
        return "" if same else f"coef_ has {len(self.coef_)} rows for {len(self.classes_)} labels"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @property
    def n_iter_(self) -> int:
        """How many steps were made: one, as the equations are solved, not approached."""
        self._check_fitted()
        return 1

    def _prove(self, problem: SignedProblem) -> list[Claim]:
        others = set(self.classes_.tolist()) ^ set(problem.classes.tolist())
        off = (
            len(others) or int((self.classes_ != problem.classes).sum()) or int(self.multilabel_ != problem.multilabel)
        )
        classes = Claim("classes are those of the target, in order (others)", float(off), 0.0)
        if off:
            return [classes]
        coef, intercept = (np.asarray(value, dtype=np.float64) for value in (self.coef_, self.intercept_))
        return [classes, *self._least(problem.squares, coef.T, intercept)]

    def _search(self, question: Question[Self]) -> Answer | None:
        scorers = question.asking(self, "predict", "decision_function")
        if (
            not scorers
            or question.rows.target_ndim == 2
            or any(one.positive or one.class_weight is not None for one in question.models)
        ):
            return None
        words = ""
        if is_wide(question.rows):
            narrow = in_row_space(question.rows) if all(one.alpha > 0 for one in question.models) else None
            if narrow is None:
                return None
            question, words = replace(question, rows=narrow), ", in the space of the rows"
        return (
            _FoldSearch(question, type(self).__name__).answer(self, scorers, words) if question.has_room(self) else None
        )


class _FoldSearch:
    """Scores of all penalties on all folds: one decomposition for each fold, from the sums of one pass."""

    def __init__(self, question: Question[RidgeClassifier], name: str) -> None:
        self.question = question
        self.classes, totals = learn_classes(question.rows, name)
        self.targets = signed(question.rows, self.classes, None, totals)

    def answer(self, model: RidgeClassifier, scorers: Sequence[str], words: str) -> Answer | None:
        """Fill the table; None where a training set lacks a class, whose models have fewer planes."""
        question = self.question
        weights = np.ones(len(question.target)) if question.weight is None else question.weight
        for fold in question.folds:
            chosen = question.folds.train(fold)
            if len(set(question.target[chosen[weights[chosen] > 0]].tolist())) < len(self.classes):
                return None
        parts: Collected[Moments] = question.folds.collect(self.targets, model, Moments.of)
        table = question.table(scorers)
        for _ in work(partial(self._fold, table, parts.training[fold], fold) for fold in question.folds):
            pass
        count = len({one.alpha for one in question.models})
        many = f", {count} alphas from one eigendecomposition each" if count > 1 else ""
        return table.answer(f"{question.folds.words} from the sums of 1 pass{many}{words}")

    def _fold(self, table: Table, moments: Moments, fold: int) -> None:
        question, factor = self.question, lazy_factor(self.question.folds.training(self.targets, fold))
        for centered in (True, False):
            members = [c for c, one in enumerate(question.models) if bool(one.fit_intercept) is centered]
            alphas = np.array([[question.models[c].alpha] * moments.n_targets for c in members])
            if not members:
                continue
            with one_blas_thread:
                coef = coefficients(moments, alphas, factor, centered=centered)
                planes = coef, intercepts(moments, coef, centered=centered)
                self._judge(table, fold, members, *planes, question.held_out(fold))
                if question.train_scores:
                    self._judge(table, fold, members, *planes, question.training(fold), train=True)

    def _judge(
        self,
        table: Table,
        fold: int,
        members: Sequence[int],
        coef: np.ndarray,
        intercept: np.ndarray,
        rows: Rows,
        *,
        train: bool = False,
    ) -> None:
        """Score the planes of some candidates, of shape (m, p, q), as many at a time as memory is spent on."""
        q = coef.shape[2]
        at_once = max(1, MOST_SCORES // (q * max(1, rows.count())))
        for first in range(0, len(members), at_once):
            some = slice(first, first + at_once)
            stacked = coef[some].transpose(1, 0, 2).reshape(coef.shape[1], -1)
            scores = np.asarray(rows.map(_scores, stacked, intercept[some].ravel())).reshape(rows.count(), -1, q)
            for place, candidate in enumerate(members[some]):
                own = scores[:, place, 0] if q == 1 else scores[:, place]
                number = (own > 0).astype(np.intp) if q == 1 else own.argmax(axis=1)
                answers = {"predict": self.classes[number], "decision_function": own, "classes_": self.classes}
                table.judge(candidate, fold, train=train, **answers)


def _scores(block: Block, coef: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    dtype = block.X.dtype
    return np.asarray(block.X @ coef.astype(dtype, copy=False)) + intercept.astype(dtype, copy=False)
