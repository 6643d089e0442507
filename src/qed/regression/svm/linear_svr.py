r"""Linear regression with support vectors: errors below :math:`\varepsilon` cost nothing, larger ones what is beyond it.

.. math:: \min_{w, b}\ \tfrac12 \|w\|^2 + C \sum_i s_i \max(0,\ |y_i - w^\top x_i - b| - \varepsilon)^q, \qquad q \in \{1, 2\}.

The constant is not penalised. Solved like the linear machine for classes, with two pieces for each row: :mod:`qed.optim.svm.linear`.

Drucker, Burges, Kaufman, Smola and Vapnik (1997), Support vector regression machines.
"""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, choice, number
from qed.base.models.roles import Regressor
from qed.base.running.steps import Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.linalg.affine import affine
from qed.optim.svm.linear import Hinge
from qed.optim.svm.linear_model import LINEAR_NO_EFFECT, LINEAR_PARAMETERS, LinearMachine, LinearMachineProblem


@takes("random_state", "verbose", **LINEAR_NO_EFFECT)
class LinearSVR(Regressor, LinearMachine):
    """A linear regression that does not look at small errors.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors up to this cost nothing.
    C : float, default=1.0
        What a unit of error beyond it costs.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        How errors are counted: as they are, or squared.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    tol : float, default=1e-6
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    max_iter : int, default=1000
        The most iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients.
    intercept_ : float
        The constant.
    smoothing_ : ndarray of shape (1,)
        How far the corner of the loss was rounded at the end: multipliers follow from it, and with them the dual objective.
        Zero on badly scaled tables, where the problem was solved on all rows at once: certify finds multipliers anew.
    primal_objective_, dual_objective_ : ndarray of shape (1,)
        Both objectives; the second is a bound from below for the first.
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
    >>> model = qed.LinearSVR(C=100.0).fit(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([1.0, 3.0, 5.0, 20.0]))
    >>> model.coef_.round(3), round(model.intercept_, 3)
    (array([2.]), 1.0)
    """

    attributes: ClassVar = {"coef_": floats("features"), "intercept_": floats()}
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "epsilon": number(0),
        "loss": choice("epsilon_insensitive", "squared_epsilon_insensitive"),
        **LINEAR_PARAMETERS,
    }
    coef_: np.ndarray
    intercept_: float

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self.epsilon = epsilon
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _problem(self, rows: Rows) -> LinearMachineProblem:
        problem = LinearMachineProblem(rows.cached(), self)
        hinge = Hinge(self.loss == "squared_epsilon_insensitive", True, float(self.epsilon))
        problem.linear = problem.made(self, problem.rows, hinge, np.empty(0), 1)
        return problem

    def _finish(self, problem: LinearMachineProblem, step: Step) -> None:
        coef, constant = self._kept(problem, step)
        self.coef_, self.intercept_ = coef[0], float(constant[0])

    def _planes(self) -> tuple[np.ndarray, np.ndarray]:
        return np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)

    def _answers(self, rows: Rows) -> dict[str, np.ndarray]:
        return {"predict": np.asarray(rows.map(self._predict))}

    def _predict(self, block: Block) -> np.ndarray:
        return affine(block.X, self.coef_, self.intercept_)
