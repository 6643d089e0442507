r"""Kernel logistic regression: probabilities of classes from scores that are any function of a kernel's space.

.. math:: \min_{f, b}\ C \sum_i s_i\, \ell_i\bigl(f(x_i) + b\bigr) + \tfrac12 \|f\|^2, \qquad f(x) = \sum_i a_i\, k(x_i, x),

with the loss of logistic regression: one f for two classes, and one for each of more. The minimum has the form on the right (representer
theorem), with :math:`a_i = C s_i (e_{y_i} - p_i)`: a row pulls by what the model does not know of it. With :math:`K = \Phi \Phi^\top`
(pivoted Cholesky) it is a logistic regression on the columns of :math:`\Phi`, and Newton's method finds it. Its proof knows nothing of
:math:`\Phi`: all probabilities q that predict each class as often as it occurs give, with :math:`u_i = C s_i (e_{y_i} - q_i)`,

.. math:: F(a, b) - \min F \;\le\; C \sum_i s_i \operatorname{KL}(q_i \,\|\, p_i) + \tfrac12\, (a - u)^\top K\, (a - u),

and the model's own, with the best constants and a little of the classes' shares mixed in, make it nearly zero at the minimum. Memory for
:math:`n^2` numbers, :math:`n^3 / 3` operations once, and some products with :math:`\Phi` for each step.

Zhu and Hastie (2005), Kernel logistic regression and the import vector machine; Jaakkola and Haussler (1999), Probabilistic kernel
regression models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.linalg import lapack

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.models.estimator import Iterative
from qed.base.models.labels import class_factors, encode, learn_classes
from qed.base.models.parameters import Parameter, boolean, class_weights, integer, number
from qed.base.models.proof import restated
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Step
from qed.base.sources.block import Block, as_dense, copied, is_sparse, values_apart
from qed.base.sources.rows import ArrayRows, Rows
from qed.base.summary import Summary
from qed.classification.logistic.likelihood import Point
from qed.classification.logistic.smooth_likelihood import SmoothLikelihood
from qed.classification.logistic.softmax_classifier import SoftmaxClassifier
from qed.kernels.gram.compared import WIDTH_PARAMETERS, ComparedRows, WithWidth
from qed.kernels.gram.sums import combined
from qed.kernels.mercer import NotAKernelError
from qed.stats.classes.cross_entropy import cross_entropy, divergence, moved
from qed.stats.residual_sums import residuals

# Steps of Newton's for the constants of a proof.
LEVELLINGS = 4
# Rows whose scores are computed together to twice the digits.
TOGETHER = 256


class Judged(NamedTuple):
    """What is known of coefficients, relative to the objective.

    Attributes
    ----------
    gap, gap_rounding : float
        How far the objective can be above its minimum at most, and how much of that rounding may have made.
    pull, pull_rounding : float
        Half the weighted squares of what separates coefficients from what rows pull by, and the same of rounding.
    """

    gap: float
    gap_rounding: float
    pull: float
    pull_rounding: float


class KernelClasses(ComparedRows):
    """Rows with classes, compared by a kernel.

    Attributes
    ----------
    codes, strength : ndarray of shape (n,)
        The class numbers of the rows that count, and C times their weights.
    """

    def __init__(self, rows: Rows, model: KernelLogisticRegression, classes: np.ndarray | None = None) -> None:
        super().__init__(rows, model)
        self.classes, totals = learn_classes(self.rows, type(model).__name__)
        self.others = 0 if classes is None else int(not np.array_equal(self.classes, classes))
        self.factors = class_factors(model.class_weight, self.classes, totals)
        self.codes = encode(np.asarray(self.block.y)[self.present], self.classes)
        self.C, self.intercept, self.tol = float(model.C), bool(model.fit_intercept), float(model.tol)
        self.strength = self.C * self.factors[self.codes] * self.weight
        self.planes = 1 if len(self.classes) == 2 else len(self.classes)

    @cached_property
    def K(self) -> np.ndarray:
        """The Gram matrix of the rows that count."""
        return self.similarity.gram(self.X)

    @cached_property
    def likelihood(self) -> SmoothLikelihood:
        """The likelihood of the columns whose products are the Gram matrix."""
        rows = ArrayRows(_features(self.K), self.codes, self.weight)
        return SmoothLikelihood(rows, rows.fold(Summary.of), self.factors, self.C, self.intercept, True)

    def beginning(self) -> tuple[np.ndarray, np.ndarray]:
        """Begin with no slope, and the constants that are best then."""
        totals = np.bincount(self.codes, self.strength, len(self.classes))
        share = np.log(np.maximum(totals, TINY))
        constants = share[1:] - share[:1] if self.planes == 1 else share - share.mean()
        coef = np.zeros((self.planes, self.likelihood.rows.n_features))
        return coef, constants if self.intercept else np.zeros(self.planes)

    def best_near(self, point: Point, direction: np.ndarray) -> tuple[Judged, np.ndarray, np.ndarray]:
        """Give the better of two choices of coefficients, of shape (planes, n), and constants, with what is known of them.

        Far from the minimum they are what rows pull by at a point. These have other scores than the point, off by the slope times the
        curvature, which a large C makes large. To first order they can be corrected for a step of Newton's, and then have the very
        scores of the step's end.
        """
        features, (coef, constant) = self.likelihood.rows.array().X, self.likelihood.outside(direction)
        _, pull, chance, _ = self._dual(features @ point.coef.T + point.intercept)
        change = features @ coef.T + constant
        both = np.column_stack([np.zeros(len(change)), change]) if self.planes == 1 else change
        turned = moved(chance, both, self.strength)
        after = pull - (turned[:, 1:] if self.planes == 1 else turned).T
        places = ((after, point.intercept + constant), (pull, point.intercept))
        return min(((self.judge(*place), *place) for place in places), key=lambda found: found[0].gap)

    def _dual(self, scores: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """Give what probabilities that suit the dual say.

        That is their divergence from those of the scores, how they make each row pull, those of the scores, and the difference in a row.
        """
        both = np.column_stack([np.zeros(len(scores)), scores]) if self.planes == 1 else scores
        _, chance, residual = cross_entropy(both, self.codes)
        change = np.zeros_like(chance)
        if self.intercept:
            change = self._levelled(chance, residual)
            near = chance + change
            seen, often = np.bincount(self.codes, self.strength, len(self.classes)), self.strength @ near
            over = self.strength @ (residual + change)
            mixed = min(1.0, 2 * float((np.minimum(np.maximum(over, 0.0), often) / np.maximum(often, TINY)).max()))
            share = (mixed * often - over) / (mixed * seen.sum()) if mixed > 0 else often / seen.sum()
            change = change + mixed * (np.maximum(share, 0.0) - near)
        pull = -self.strength[:, None] * (residual + change)
        apart = float(self.strength @ divergence(chance, change).sum(axis=1))
        return apart, (pull[:, 1:] if self.planes == 1 else pull).T, chance, np.abs(change).sum(axis=1)

    def _levelled(self, chance: np.ndarray, residual: np.ndarray) -> np.ndarray:
        """Give by how much the best constants change the chances, so that each class is predicted as often as it occurs."""
        change, constants = np.zeros_like(chance), np.zeros(chance.shape[1])
        over = self.strength @ residual
        for _ in range(LEVELLINGS):
            near = chance + change
            curved = np.diag(self.strength @ near) - (self.strength[:, None] * near).T @ near
            tried = constants - np.linalg.lstsq(curved, over)[0]
            # In this form, what changes a chance little is known to all digits.
            with np.errstate(all="ignore"):
                turned = chance * np.expm1(tried - np.log1p(chance @ np.expm1(tried))[:, None])
            left = self.strength @ (residual + turned)
            if not np.abs(left).max() < np.abs(over).max():
                break
            change, constants, over = turned, tried, left
        return change

    def judge(self, dual: np.ndarray, intercept: np.ndarray) -> Judged:
        """Judge dual coefficients of shape (planes, n) and constants; where rounding hides too much, from scores to twice the digits."""
        found = self._judge(dual, intercept, self.K @ dual.T + intercept, 1.0)
        if found.gap > self.tol >= found.gap - found.gap_rounding:
            found = self._judge(dual, intercept, _to_twice_the_digits(self.K, dual, intercept), EPS)
        return found

    def _judge(self, dual: np.ndarray, intercept: np.ndarray, scores: np.ndarray, finer: float) -> Judged:
        """Judge them by their scores, which are sums that lost a `finer` share of what floats lose, and were rounded then."""
        image = scores - intercept
        both = np.column_stack([np.zeros(len(scores)), scores]) if self.planes == 1 else scores
        loss = float(self.strength @ cross_entropy(both, self.codes)[0])
        objective = max(loss + 0.5 * float((dual.T * image).sum()), TINY)
        apart, pull, _, change = self._dual(scores)
        off = dual - pull
        length, root = np.sqrt(max(float((off * (off @ self.K)).sum()), 0.0)), np.sqrt(self.K.diagonal().clip(0.0))
        each = EPS * (8 + np.sqrt(len(root)))
        lost = finer * each * (root * (np.abs(dual) @ root).max() + np.abs(intercept).max())
        lost += 8 * EPS * (1.0 + np.abs(scores).max(axis=1))
        noise = float((self.strength * lost) @ root) + np.sqrt(each) * float((np.abs(off) @ root).sum())
        # A divergence from chances of other scores is another one by the difference of the chances times that of the scores, and squares.
        rounding = noise * (length + 0.5 * noise) + float(self.strength @ (lost * (change + lost)))
        strength = np.maximum(self.strength, TINY)
        pulled, moved = np.sqrt((off**2 / strength).sum()), np.sqrt(len(dual) * float(self.strength @ lost**2))
        return Judged(
            *(np.array([apart + 0.5 * length**2 + rounding, rounding]) / objective).tolist(),
            *(np.array([pulled**2, (pulled + moved) ** 2 - pulled**2]) / (2 * objective)).tolist(),
        )


class KernelLogisticRegression(WithWidth, SoftmaxClassifier, Iterative):
    """Probabilities of two or more classes from scores in the space of a kernel.

    Parameters
    ----------
    C : float, default=1.0
        The weight of the data against the penalty; larger means a longer function.
    kernel : str, Kernel or callable, default="rbf"
        "linear", "poly", "rbf", "laplacian", "cosine", a kernel, a function of two rows, or "precomputed".
    degree : int, default=3
        The degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        The factor of "rbf", "laplacian" and "poly": one over the columns ("auto"), and over the variance of the table ("scale").
    coef0 : float, default=0.0
        The constant of "poly".
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    class_weight : None, "balanced" or dict, default=None
        Factors of the rows' weights by class.
    tol : float, default=1e-10
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    max_iter : int, default=100
        The most iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    dual_coef_ : ndarray of shape (1, n) or (n_classes, n)
        The coefficients of the training rows: of the second of two classes, or of each of more.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    X_fit_ : ndarray or sparse array of shape (n, p)
        The training rows; with a precomputed kernel, their similarities.
    gamma_ : float
        The factor of the kernel.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    See Also
    --------
    LogisticRegression : With coefficients of columns; the same fit as a linear kernel, for any number of rows.
    SVC : Needs few of the rows to predict, and has no probabilities.

    Notes
    -----
    Minimises ``C * sum_i weight_i loss_i + 0.5 * ||f||^2`` in the space of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), [0, 1, 1, 1, 0]
    >>> model = qed.KernelLogisticRegression(C=10.0, gamma=0.5).fit(X, y)
    >>> model.predict_proba([[2.0], [5.0]]).round(2)
    array([[0.07, 0.93],
           [0.78, 0.22]])
    >>> bool(model.certificate_)
    True
    """

    passes: ClassVar[str] = "in memory"
    sparse: ClassVar[bool] = True
    no_inference: ClassVar[str] = "its coefficients belong to rows, not to columns"
    attributes: ClassVar = {
        "dual_coef_": floats("planes", "rows"),
        "intercept_": floats("planes"),
        "X_fit_": floats("rows", "features", finite=False),  # rows of weight zero may hold anything
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": number(0, above=True),
        **WIDTH_PARAMETERS,
        "fit_intercept": boolean(),
        "class_weight": class_weights(),
        "tol": number(0),
        "max_iter": integer(1),
    }

    dual_coef_: np.ndarray
    intercept_: np.ndarray
    X_fit_: Any

    def __init__(
        self,
        C: float = 1.0,
        kernel: Any = "rbf",
        *,
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-10,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def _problem(self, rows: Rows) -> KernelClasses:
        return KernelClasses(rows, self)

    def _evidence(self, rows: Rows) -> KernelClasses:
        return KernelClasses(rows, self, self.classes_)

    def _steps(self, problem: KernelClasses, start: Step | None = None) -> Iterator[Step]:
        objective = problem.likelihood
        if start is not None:
            objective.recall(start.state)
        point = objective.at(*(problem.beginning() if start is None else (start.coef, start.intercept)))
        while True:
            noted: dict[str, Any] = objective.memory
            direction = objective.newton(point).direction
            if start is None:
                found, dual, constants = problem.best_near(point, direction)
                yield Step(
                    point.objective,
                    max(found.gap, found.pull),
                    coef=point.coef,
                    intercept=point.intercept,
                    dual=dual,
                    constants=constants,
                    **noted,
                )
            start = None
            point = objective.descend(point, direction)

    def _finish(self, problem: KernelClasses, step: Step) -> None:
        self.classes_, self.gamma_ = problem.classes, problem.gamma
        self.dual_coef_ = np.zeros((problem.planes, len(problem.block)))
        self.dual_coef_[:, problem.present] = step.dual
        self.intercept_ = step.constants
        self.X_fit_ = copied(problem.block.X)

    def _disagreement(self) -> str:
        planes, k = len(self.dual_coef_), len(self.classes_)
        return "" if k >= 2 and planes == (k if k > 2 else 1) else f"dual_coef_ has {planes} rows for {k} classes"

    def _decide(self, block: Block) -> np.ndarray:
        X, kept = block.X, self.X_fit_
        if self.similarity_is_given:
            scores = np.asarray(X @ self.dual_coef_.T) + self.intercept_
        else:
            if is_sparse(X) != is_sparse(kept):
                X, kept = (as_dense(one) for one in (X, kept))
            scores = combined(self._similarity, X, kept, self.dual_coef_.T) + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)

    def _prove(self, problem: KernelClasses) -> list[Claim]:
        dual, intercept = np.asarray(self.dual_coef_, dtype=np.float64), np.asarray(self.intercept_, dtype=np.float64)
        found = problem.judge(dual[:, problem.present], intercept)
        absent = np.delete(dual, problem.present, axis=1)
        return [
            Claim.within("objective above its minimum, at most (relative)", found.gap, self.tol, found.gap_rounding),
            Claim.within(
                "coefficients are what rows pull by (squares, relative)", found.pull, self.tol, found.pull_rounding
            ),
            Claim("rows without weight have no coefficient", float(np.abs(absent).max(initial=0.0)), 0.0),
            *([] if self.fit_intercept else [Claim("there is no constant", float(np.abs(intercept).max()), 0.0)]),
            Claim("classes are those of the target, in order (others)", float(problem.others), 0.0),
        ]

    def _restate(self, problem: KernelClasses) -> list[Claim]:
        return [
            restated("gamma_", self.gamma_, problem.gamma),
            Claim("X_fit_ are the rows of the table (others)", values_apart(self.X_fit_, problem.block.X), 0.0),
        ]


def _to_twice_the_digits(K: np.ndarray, dual: np.ndarray, intercept: np.ndarray) -> np.ndarray:
    """Give the scores of all rows, of shape (n, planes), as if they had been computed to twice the digits."""
    found, none = np.empty((len(K), len(dual))), np.zeros(len(K))
    for start in range(0, len(K), TOGETHER):
        some = slice(start, start + TOGETHER)
        for plane, (line, constant) in enumerate(zip(dual, intercept)):
            found[some, plane] = -residuals(K[some], none[some], line, constant).value
    return found


def _features(K: np.ndarray) -> np.ndarray:
    """Give columns whose products are a Gram matrix, but for rounding; a matrix that has none is refused."""
    n, size = len(K), float(K.diagonal().max(initial=0.0))
    lower, pivots, rank, _ = lapack.dpstrf(K, tol=EPS * size, lower=1)
    features = np.zeros((n, max(1, rank)))
    features[pivots - 1, :rank] = np.tril(lower)[:, :rank]
    probe = np.where(np.random.default_rng(0).random((n, 4)) < 0.5, -1.0, 1.0)
    off = np.abs(K @ probe - features @ (features.T @ probe)).max()
    if not off <= 16 * n**2.5 * EPS * size:
        raise NotAKernelError(
            "The similarities are not those of a kernel: their matrix has negative eigenvalues, so there is no space in which rows "
            "could be told apart. qed.kernels.check_gram shows a witness."
        )
    return features
