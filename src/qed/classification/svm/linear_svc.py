r"""The linear support vector machine, on any number of rows.

.. math:: \min_{w, b}\ \tfrac12 \|w\|^2 + C \sum_i s_i \max(0,\ 1 - y_i (w^\top x_i + b))^q, \qquad q \in \{1, 2\},

one for each class against the rest where there are more than two. The constant is not penalised. Newton's method on the hinge with
its corner rounded less and less (:mod:`qed.optim.svm.linear`) reads the rows some twenty times at :math:`O(np)`, wherever they are.
With `penalty="l1"` the sum of the sizes of the coefficients takes the place of their squares (:mod:`qed.optim.svm.sparse_planes`).
With :math:`q = 2` every row inside the margin has slack in proportion to its multiplier; with :math:`q = 1` slack is sparser.
With `multi_class="crammer_singer"` there is one machine of all classes (:mod:`qed.optim.svm.joint`).

Cortes and Vapnik (1995), Support-vector networks; Mangasarian (2002), A finite Newton method for classification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from qed.base.attributes import Attributes, floats, integers, maybe
from qed.base.certificate import Claim
from qed.base.errors import ParameterError
from qed.base.models.labels import class_factors, coded, learn_classes
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice, class_weights
from qed.base.models.problem import emptied
from qed.base.models.searching import Answer, Question
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows
from qed.classification.planes import LinearClassifier
from qed.classification.svm.joint import JointMachineProblem, joint_claims, joint_steps
from qed.optim.svm.linear import Hinge
from qed.optim.svm.linear_model import (
    ENOUGH,
    LINEAR_NO_EFFECT,
    LINEAR_PARAMETERS,
    LinearMachine,
    LinearMachineProblem,
    step_at,
)
from qed.optim.svm.sparse_planes import sparse_measured, sparse_planes

# A plane takes about so many steps of Newton, each with the products of columns (of wide tables, as much as so many), at this speed.
NEWTON_STEPS, WIDE, SPEED = 12, 100, 1e10


class RestProblem(LinearMachineProblem):
    """One machine for each class against the rest; a single one for two classes."""

    def __init__(self, rows: Rows, model: LinearSVC, classes: np.ndarray | None = None) -> None:
        super().__init__(rows, model)
        found, totals = learn_classes(rows, type(model).__name__)
        self.classes, self.others = found, 0 if classes is None else int(not np.array_equal(found, classes))
        factors = class_factors(model.class_weight, found, totals)
        hinge = Hinge(model.loss == "squared_hinge", False, 0.0)
        outputs = 1 if len(found) == 2 else len(found)
        self.linear = self.made(model, emptied(coded(rows, found)), hinge, factors, outputs)


@takes(
    "random_state",
    "verbose",
    **LINEAR_NO_EFFECT,
)
class LinearSVC(LinearClassifier, LinearMachine):
    """Classes by the widest margin of a linear score.

    Parameters
    ----------
    C : float, default=1.0
        What a unit of slack costs.
    penalty : {"l2", "l1"}, default="l2"
        What is penalised: half the squared length of the coefficients, or the sum of their sizes, which makes many of them zero. The
        latter takes squared slack, and a table in memory.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        How slack is counted: squared, or as it is.
    multi_class : {"ovr", "crammer_singer"}, default="ovr"
        One machine for each class against the rest; or one of all classes, in which the own class of a row is to win by one from
        every other. The latter takes a table in memory, counts slack as it is, whatever `loss` says, and penalises constants like
        coefficients, both as in scikit-learn.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    class_weight : None, "balanced" or dict, default=None
        Factors of C by class.
    tol : float, default=1e-6
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    max_iter : int, default=1000
        The most iterations.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, p) or (n_classes, p)
        Coefficients: of the second of two classes, or of each of more against the rest.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The constants.
    smoothing_ : ndarray of shape (1,) or (n_classes,)
        How far the corner of the hinge was rounded at the end: multipliers follow from it, and with them the dual objective.
        Zero on badly scaled tables, where the problem was solved on all rows at once: certify finds multipliers anew.
    support_, dual_coef_ : ndarray of shape (n_support,) and (n_support, n_classes)
        Of the machine of all classes, in the place of ``smoothing_``: the rows that have multipliers, and these.
    primal_objective_, dual_objective_ : ndarray of shape (1,) or (n_classes,)
        Both objectives; the second is a bound from below for the first. One machine of all classes has one of each.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x = np.array([[-3.0], [-1.0], [0.5], [1.0], [3.0], [-0.2]])
    >>> model = qed.LinearSVC(loss="hinge", tol=1e-8).fit(x, [-1, -1, -1, 1, 1, 1])
    >>> model.coef_.round(4), model.primal_objective_.round(4)
    (array([[1.]]), array([3.2]))
    >>> bool(model.certificate_)
    True
    """

    attributes: ClassVar[Attributes] = {
        "smoothing_": maybe(floats("machines", low=0)),
        "support_": maybe(integers("support")),
        "dual_coef_": maybe(floats("support", "classes")),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        **LINEAR_PARAMETERS,
        "penalty": choice("l2", "l1"),
        "loss": choice("squared_hinge", "hinge"),
        "multi_class": choice("ovr", "crammer_singer"),
        "class_weight": class_weights(),
    }
    compare_grid: ClassVar[Mapping[str, Any]] = {"C": [0.01, 0.1, 1.0, 10.0]}
    compare_name: ClassVar[str] = "Linear support vector machine"
    compare_words: ClassVar[bool] = True

    def __init__(
        self,
        C: float = 1.0,
        *,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.C = C
        self.penalty = penalty
        self.loss = loss
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_iter = max_iter

    @classmethod
    def _seconds_on(cls, n_rows: int, n_columns: int, n_classes: int) -> float:
        planes = 1 if n_classes == 2 else n_classes
        return NEWTON_STEPS * planes * n_rows * n_columns * min(n_columns, WIDE) / SPEED

    @property
    def _is_joint(self) -> bool:
        return self.multi_class == "crammer_singer"

    def _problem(self, rows: Rows) -> Any:
        wrong = "multi_class='ovr'" if self._is_joint else "loss='squared_hinge'" if self.loss == "hinge" else ""
        if self.penalty == "l1" and wrong:
            raise ParameterError(f"LinearSVC: penalty='l1' goes with {wrong} only; give that, or penalty='l2'.")
        return (JointMachineProblem if self._is_joint else RestProblem)(rows.cached(), self)

    def _evidence(self, rows: Rows) -> Any:
        return (JointMachineProblem if self._is_joint else RestProblem)(rows, self, self.classes_)

    def _steps(self, problem: Any, start: Step | None = None) -> Iterator[Step]:
        if self._is_joint:
            yield from joint_steps(problem, start, self.tol)
        elif self.penalty == "l2":
            yield from super()._steps(problem, start)
        else:
            yield step_at(*sparse_planes(problem.linear, ENOUGH * self.tol, None if start is None else start.points))

    def _search(self, question: Question[Self]) -> Answer | None:
        return None if any(one._is_joint for one in question.models) else super()._search(question)

    def _measured(
        self, problem: LinearMachineProblem, coef: np.ndarray, constant: np.ndarray
    ) -> tuple[np.ndarray, ...]:
        if self.penalty == "l2":
            return super()._measured(problem, coef, constant)
        primal, dual, rounding = sparse_measured(problem.linear, coef, constant)
        return primal, dual, rounding, rounding

    def _finish(self, problem: Any, step: Step) -> None:
        self.classes_ = problem.classes
        if not self._is_joint:
            self.coef_, self.intercept_ = self._kept(problem, step)
            return
        planes = step.planes[1:] - step.planes[:1] if len(step.planes) == 2 else step.planes
        self.coef_, self.intercept_ = planes[:, :-1].copy(), planes[:, -1].copy()
        self.support_ = np.flatnonzero(step.multipliers.any(axis=1))
        self.dual_coef_ = step.multipliers[self.support_]
        self.primal_objective_, self.dual_objective_ = np.array([step.primal]), np.array([step.dual])

    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        return self.coef_, self.intercept_

    def _answers(self, rows: Rows) -> dict[str, np.ndarray]:
        scores = np.asarray(rows.map(self._decide))
        won = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        return {"predict": self.classes_[won], "decision_function": scores, "classes_": self.classes_}

    def _prove(self, problem: Any) -> list[Claim]:
        says = "classes are those of the target, in order (others)"
        own = joint_claims(self, problem) if self._is_joint else super()._prove(problem)
        return [*own, Claim(says, float(problem.others), 0.0)]
