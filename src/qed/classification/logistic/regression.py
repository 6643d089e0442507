r"""Logistic regression: probabilities of classes from linear scores.

.. math:: \min_{w, b}\ C \sum_i s_i \log\bigl(1 + e^{-y_i (x_i^\top w + b)}\bigr) + \tfrac12 \|w\|^2, \qquad
          P(y = 1 \mid x) = \frac{1}{1 + e^{-(x^\top w + b)}},

for two classes (:math:`y_i = \pm 1`); for more, the cross-entropy of :math:`P(k \mid x) \propto e^{x^\top w_k + b_k}` with all
:math:`w_k` penalised, so that they sum to zero. The intercept is not penalised. Minus the first sum is the log-likelihood;
without the penalty (``C=None``) the fit maximises it, if the classes overlap: where a hyperplane separates them there is no
maximum, and the fit says so. Newton's method with Armijo's rule needs about six passes of :math:`O(np^2)`. Where rows are many, some of
them give the curvature and a pass is :math:`O(np)`; where they are fewer than the columns, the minimum is found in their coordinates; where
the Hessian is large, conjugate gradients solve with it. The course's :math:`\lambda \|w\|^2` is :math:`C = 1 / (2\lambda)`.

Cox (1958), The regression analysis of binary sequences.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import floats, nothing, text
from qed.base.certificate import Claim
from qed.base.errors import NotAvailableError
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import LOGISTIC, takes
from qed.base.models.parameters import Parameter, boolean, choice, class_weights, infinity, integer, number
from qed.base.models.searching import Answer, Question
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.rows import Rows
from qed.classification.logistic.claims import covariance_claim, likelihood_claims
from qed.classification.logistic.likelihood import centred
from qed.classification.logistic.problem import ClassProblem, fit_seconds, strength_and_share, tolerance
from qed.classification.logistic.search import path_search
from qed.classification.logistic.softmax_classifier import SoftmaxClassifier
from qed.classification.planes import LinearClassifier
from qed.stats.inference.coefficients import Inference


@takes("random_state", "verbose", "warm_start", "n_jobs", **LOGISTIC)
class LogisticRegression(LinearClassifier, SoftmaxClassifier, Iterative):
    """Probabilities of two or more classes from linear scores.

    Parameters
    ----------
    C : float or None, default=1.0
        The weight of the data against the penalty; larger means longer coefficients. None (or infinity) means no penalty.
    l1_ratio : float, default=0.0
        The share of the penalty that is on sizes: 0 for squares alone, 1 for sizes alone, which make coefficients zero, and in between
        for both (elastic net).
    penalty : {"deprecated", "l2", "l1", "elasticnet", None}, default="deprecated"
        The same in scikit-learn's older words: "l2" is ``l1_ratio=0``, "l1" is ``l1_ratio=1``, "elasticnet" takes `l1_ratio` as it is,
        and None is ``C=None``.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    class_weight : None, "balanced" or dict, default=None
        Factors of the rows' weights by class; "balanced" gives all classes the same total.
    tol : float, default=1e-7
        About how far coefficients may be off, as a share of their standard errors' size. Near a minimum the objective is flat, so the fit
        ends when the objective is proven to be within the square of this, relative, of its minimum; mostly it is much nearer, since
        the last step overshoots. With a share of sizes the gap of the dual problem proves it, and 1e-5 is the least.
    max_iter : int, default=100
        The most iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        Coefficients: of the second of two classes, or of each of more; those then sum to zero, if the penalty is one of squares.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    covariance_ : ndarray or None
        Without a penalty, the covariance of constants and coefficients, class by class; else None.
    inference_ : Inference
        Without a penalty, standard errors, z and p values and intervals.
    solver_ : str
        How the minimum was found: by what costs least for this shape.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Minimises ``C * sum_i weight_i loss_i + 0.5 * (1 - l1_ratio) * ||coef||^2 + l1_ratio * sum(|coef|)``, scikit-learn's objective.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x, y = np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]), [0, 0, 1, 0, 1]
    >>> model = qed.LogisticRegression(C=None).fit(x, y)
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[1.090426]]), array([-0.62269]))
    >>> model.predict_proba([[0.0]]).round(3)
    array([[0.651, 0.349]])
    >>> bool(model.certificate_)
    True
    """

    sparse = True
    attributes: ClassVar = {
        "coef_": floats("planes", "features"),
        "intercept_": floats("planes"),
        "covariance_": floats("terms", "terms") | nothing(),
        "solver_": text(),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "C": number(0, above=True) | choice(None) | infinity(),
        "l1_ratio": number(0, 1) | choice(None),
        "penalty": choice("deprecated", "l2", "l1", "elasticnet", None),
        "fit_intercept": boolean(),
        "class_weight": class_weights(),
        "tol": number(0),
        "max_iter": integer(1),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    compare_degrees: ClassVar[tuple[int, ...]] = (1, 2)
    compare_words: ClassVar[bool] = True

    coef_: np.ndarray
    intercept_: np.ndarray
    covariance_: np.ndarray | None
    solver_: str

    def __init__(
        self,
        C: float | None = 1.0,
        *,
        l1_ratio: float | None = 0.0,
        penalty: str | None = "deprecated",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-7,
        max_iter: int = 100,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.penalty = penalty
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    def _rule(self) -> Rule:
        return replace(super()._rule(), tol=tolerance(self))

    def _problem(self, rows: Rows) -> ClassProblem:
        return ClassProblem(rows.cached(), self)

    def _evidence(self, rows: Rows) -> ClassProblem:
        return ClassProblem(rows, self, self.classes_)

    def _steps(self, problem: ClassProblem, start: Step | None = None) -> Generator[Step, None, Halt]:
        objective = problem.objective
        secants = problem.secants(start)
        point = objective.at(*(problem.beginning() if start is None else problem.checked(start)))
        while True:
            noted = {**objective.memory, **({} if secants is None else secants._asdict())}
            if problem.is_small:
                # One step more costs next to nothing, and doubles the digits: weights and repeated rows agree to rounding.
                point = objective.beyond(point)
            newton = objective.newton(point, secants)
            if start is None:
                more = {**noted, "C": problem.C} if noted else {}
                yield Step(point.objective, newton.gap, coef=point.coef, intercept=point.intercept, **more)
            if point.separated is not None:
                return separation(problem.classes, point.separated)
            before, start = point, None
            point = objective.descend(point, newton.direction)
            secants = newton.learned(before, point)

    def _finish(self, problem: ClassProblem, step: Step) -> None:
        self.classes_ = problem.classes
        coef, intercept = step.coef, step.intercept
        if len(self.classes_) > 2:
            both = centred(np.column_stack([coef, intercept]))
            # Squares are least when the coefficients of all classes sum to zero; sizes ask for another choice.
            coef, intercept = both[:, :-1] if problem.l1_ratio == 0 else coef, both[:, -1]
        self.coef_, self.intercept_ = coef, intercept
        self.covariance_, self.solver_ = None, problem.solver
        if not problem.objective.penalised:
            self.covariance_ = problem.objective.covariance(problem.objective.at(coef, intercept))[0]

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        return fit_seconds(n_rows, n_columns, n_classes)

    def _search(self, question: Question[Self]) -> Answer | None:
        return path_search(self, question)

    @property
    def inference_(self) -> Inference:
        """Standard errors, z and p values and intervals of the coefficients; for large samples, and without a penalty only."""
        self._check_fitted()
        C, _ = strength_and_share(self.C, self.l1_ratio, self.penalty)
        if np.inf > C:
            raise NotAvailableError(
                f"Standard errors are not defined with C={self.C!r}: the penalty biases the coefficients towards zero. "
                "Fit with C=None for inference."
            )
        if self.class_weight is not None:
            raise NotAvailableError(
                "Standard errors are not defined with class_weight: it changes the likelihood. Fit with class_weight=None."
            )
        if self.covariance_ is None or self.ending_.reason is Reason.DEGENERATE:
            raise NotAvailableError(
                "Standard errors are not defined: the data leave the coefficients undetermined (separated classes, collinear "
                f"columns, too many of them, or values too small for their squares). {self.ending_}"
            )
        features = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        names = [*(["intercept"] if self.fit_intercept else []), *(str(name) for name in features)]
        if len(self.classes_) > 2:
            names = [f"{label}: {name}" for label in self.classes_.tolist() for name in names]
        values = np.hstack([self.intercept_[:, None], self.coef_]) if self.fit_intercept else self.coef_
        return Inference(
            values.ravel(),
            self.covariance_,
            tuple(names),
            n=self.fingerprint_.weight,
            has_intercept=bool(self.fit_intercept),
            log_likelihood=-self.ending_.step.objective,
        )

    def _prove(self, problem: ClassProblem) -> list[Claim]:
        objective, place = problem.objective, (np.asarray(self.coef_), np.asarray(self.intercept_))
        noted = self.ending_.step.objective
        claims = likelihood_claims(objective, problem.summary, problem.totals, *place, noted)
        if not objective.penalised and len(claims) > 1:
            claims.append(covariance_claim(objective, *place, self.covariance_))
        off = abs(self.n_iter_ - max(1, self.ending_.n_iter))
        return [
            *claims,
            Claim("iterations are as many as the fit noted (difference)", float(off), 0.0),
            Claim("classes are those of the target, in order (others)", float(problem.others), 0.0),
        ]


def separation(classes: np.ndarray, lead: np.ndarray) -> Halt:
    """Say that, and where, classes are separated, so that there is no maximum; `lead` is the least lead of each."""
    apart = [repr(label) for label, low in zip(classes.tolist(), lead) if low > 0]
    words = "The classes are separated by a hyperplane on which some rows lie: no finite maximum."
    if apart:
        words = f"Class {apart[-1]} is separated by a hyperplane: no finite maximum."
    return Halt(Reason.DEGENERATE, words, "Add a penalty, e.g. C=1.0.")
