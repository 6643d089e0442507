r"""Nonlinear least squares: the parameters of a curve of the user's.

.. math:: \min_w\ L(w) = \tfrac12 \sum_i s_i \bigl(y_i - f(x_i; w)\bigr)^2, \qquad \nabla L = -J^\top (y - F),

for any differentiable :math:`f`, with the weights :math:`s_i` of the rows. With independent Gaussian noise of one variance this is maximum
likelihood. Each step linearises :math:`f` and solves a linear problem by QR (:mod:`qed.optim.solvers.gauss_newton`), one or two passes of
:math:`O(nd^2)`; few dozens of steps are usual. There may be several minima: which one is found depends on the start, and the certificate
speaks of a local one. Near it the parameters are normally distributed, with covariance
:math:`\hat\sigma^2 (J^\top J)^{-1}` and :math:`\hat\sigma^2 = 2L / (n - d)`.

Bates and Watts (1988), Nonlinear Regression Analysis and Its Applications.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import each, floats, nothing, text
from qed.base.certificate import Claim
from qed.base.errors import InputError, NotAvailableError
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, anything, choice, integer, number
from qed.base.models.proof import restated
from qed.base.models.roles import Regressor
from qed.base.numbers import EPS, TINY, ratio
from qed.base.running.steps import Halt, Reason, Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.minimize import as_method
from qed.optim.solvers.gauss_newton import MOST_LOST, stationary
from qed.regression.nonlinear.rows import (
    Curve,
    CurveProblem,
    Function,
    RowResiduals,
    best_curve,
    check_company,
    check_slopes,
    some_rows,
)
from qed.regression.nonlinear.runs import Run, lowest, together
from qed.regression.nonlinear.written import as_written, starts_of
from qed.stats.inference.coefficients import Inference
from qed.stats.inference.spread import log_likelihood


class NonlinearLeastSquares(Regressor, Iterative):
    """The parameters of a function that fits best, in the sense of least squares.

    Parameters
    ----------
    function : callable
        ``function(X, w)`` predicts some rows, shape (n, p), with parameters `w`, an array of shape (d,): one number for each row, from
        that row alone. Written with NumPy's analytic functions (no ``abs`` or ``max``) it is differentiated to all digits. A function
        ``f(x, a, b, c)`` of two parameters or more, as SciPy's ``curve_fit`` takes it, is taken too: `x` is then the single column, or an
        array of shape (p, n).
    start : array-like of shape (d,), dict of str to float, several of either, or None
        Where to begin; None means ones, for a function that names its parameters. A dict names the parameters, in the order in
        which `w` has them. Of several starts (an array of shape (k, d) or a list of dicts) the one that leads to the lowest sum of
        squares is kept.
    jacobian : {"auto", "complex", "central", "forward"} or callable, default="auto"
        ``jacobian(X, w)``, the derivatives of the predictions, shape (n, d); or how to find them: by the complex step where the function
        takes complex numbers and by central differences where not ("auto"), or by one of these. Near the end the most precise of
        these takes over from differences. A function is compared with differences, and then trusted.
    method : {"levenberg-marquardt", "gauss-newton", "newton", "gradient"}, default="levenberg-marquardt"
        The first is the most robust. Gauss-Newton takes its steps undamped; Newton uses second derivatives, by differences; gradient
        descent needs parameters of similar size, and patience.
    tol : float, default=1e-10
        The fit ends when the cosine of the angle between the residuals and the tangent plane (the columns of the Jacobian) is at
        most this: every parameter is then within about ``tol * sqrt(n)`` standard errors of stationary.
    max_iter : int, default=5000
        The most iterations.

    Attributes
    ----------
    coef_ : ndarray of shape (d,)
        The parameters.
    parameter_names_ : tuple of str
        Their names; ``w0``, ``w1`` ... without any.
    cost_ : float
        Half the weighted sum of squared residuals.
    residual_variance_ : float or None
        The sum of squares over ``n - d``, with n the sum of the weights; None where nothing is left over.
    covariance_ : ndarray of shape (d, d) or None
        The covariance of the parameters; None where they are not determined.
    inference_ : Inference
        Standard errors, t and p values and intervals, for large samples.
    start_ : ndarray of shape (d,)
        The start that led to `coef_`.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof that this is a local minimum.

    Notes
    -----
    Minimises ``1/2 sum_i weight_i (y_i - function(x_i, w))^2``. A saved model can not hold a function (a file that could would be able
    to run code): before saving set it to None, and give it again after loading, with ``set_params``. To send the model to Dask workers
    or to other processes, define the function in a module.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> def cooling(X, w):
    ...     room, excess, rate = w
    ...     return room + excess * np.exp(-rate * X[:, 0])
    >>> minutes = np.arange(10.0)[:, None]
    >>> tea = np.array([90.2, 77.9, 67.4, 59.3, 52.2, 46.7, 41.8, 38.2, 35.1, 32.3])
    >>> model = qed.NonlinearLeastSquares(cooling, {"room": 20, "excess": 50, "rate": 0.1}).fit(minutes, tea)
    >>> print(model.inference_)
    10 rows, 3 coefficients, 7 degrees of freedom, sigma 0.133234
    <BLANKLINE>
              estimate  std. error           t       p>|t|       2.5 %      97.5 %
    room       20.4937    0.331137      61.889    7.55e-11     19.7107     21.2767
    excess     69.7307    0.296727         235    6.67e-15     69.0291     70.4324
    rate      0.196425  0.00198709     98.8507    2.86e-12    0.191726    0.201124
    <BLANKLINE>
    log-likelihood 7.7505, AIC -9.5009, BIC -8.5932
    >>> model.predict([[20.0]]).round(2)
    array([21.87])
    """

    attributes: ClassVar = {
        "parameter_names_": each(text(), "parameters"),
        "coef_": floats("parameters"),
        "start_": floats("parameters"),
        "cost_": floats(low=0),
        "residual_variance_": floats(low=0) | nothing(),
        "covariance_": floats("parameters", "parameters") | nothing(),
    }
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "function": Parameter("a function of X and w", callable, "model"),
        "start": anything("a number for each parameter"),
        "jacobian": choice("auto", "complex", "central", "forward") | Parameter("a function of X and w", callable),
        "method": choice("levenberg-marquardt", "gauss-newton", "newton", "gradient"),
        "tol": number(0),
        "max_iter": integer(1),
    }

    coef_: np.ndarray
    covariance_: np.ndarray | None

    def __init__(
        self,
        function: Function,
        start: Any = None,
        *,
        jacobian: Any = "auto",
        method: str = "levenberg-marquardt",
        tol: float = 1e-10,
        max_iter: int = 5000,
    ) -> None:
        self.function = function
        self.start = start
        self.jacobian = jacobian
        self.method = method
        self.tol = tol
        self.max_iter = max_iter

    def _rule(self) -> Rule:
        # The sum of squares is flat at its minimum, so digits are gained after it has come to rest; and while the best of several runs
        # rests, another may overtake it. Methods say themselves when no step helps.
        return replace(super()._rule(), patience=self.max_iter)

    def _problem(self, rows: Rows) -> CurveProblem:
        if rows.target_ndim > 1:
            raise InputError("NonlinearLeastSquares predicts one column, but the target has several.")
        problem = CurveProblem(rows.cached(), self, *starts_of(self.function, self.start), self._given(self.jacobian))
        few, first = some_rows(problem.rows), problem.starts[0]
        check_company(problem.curve, few, first)
        if callable(self.jacobian):
            check_slopes(problem.curve, few, first)
        elif self.jacobian == "auto":
            problem.curve = best_curve(problem.curve, few, first)
        return problem

    def _evidence(self, rows: Rows) -> CurveProblem:
        return CurveProblem(rows, self, *starts_of(self.function, self.start), self._given(self.jacobian))

    def _given(self, jacobian: Any) -> Curve:
        first = starts_of(self.function, self.start)[1][0]
        return Curve(as_written(self.function), as_written(jacobian), np.where(first == 0, 1.0, 1e-3 * np.abs(first)))

    def _steps(self, problem: CurveProblem, start: Step | None = None) -> Generator[Step, None, Halt]:
        objective, method = problem.residuals, as_method(self.method)
        before = [None] * len(problem.starts) if start is None else start.runs
        runs = [Run(objective, method, point, step) for point, step in zip(problem.starts, before)]
        if not any(run.is_finite for run in runs):
            raise self._nowhere(problem)
        if start is None:
            yield together(runs, self.tol)
        while True:
            moved = [run.advance() for run in runs if run.is_moving(self.tol)]
            if not any(moved):
                break
            yield together(runs, self.tol)
        best = lowest(runs)
        lost = best.undetermined()
        if lost.any():
            return Halt(Reason.DEGENERATE, self._lost(problem.names, lost), "Fix some of them, or begin elsewhere.")
        return best.halt or Halt(Reason.STALLED)

    def _nowhere(self, problem: CurveProblem) -> InputError:
        first = problem.starts[0]
        found = [row for row in problem.rows.each(problem.curve.first_bad, first) if row >= 0]
        where = f"for row {found[0]} (counted from 0)" if found else "in its sum of squares or its slopes"
        return InputError(
            f"NonlinearLeastSquares: the function is not finite at the start {first}, {where}. Begin elsewhere."
        )

    def _lost(self, known: Sequence[str], lost: np.ndarray) -> str:
        names = [repr(name) for name, gone in zip(known, lost) if gone]
        if len(names) == 1:
            return f"The parameter {names[0]} has no effect on the predictions."
        return f"The parameters {', '.join(names[:-1])} and {names[-1]} can not be told apart by these data."

    def _finish(self, problem: CurveProblem, step: Step) -> None:
        self.parameter_names_ = problem.names
        self.coef_ = np.array(step.point)
        self.start_ = problem.starts[step.run].copy()
        plane = problem.residuals.tangent(self.coef_)
        spare = plane.factor.weight - len(self.coef_)
        self.cost_ = plane.cost
        self.residual_variance_ = 2 * plane.cost / spare if spare > 0 else None
        self.covariance_ = None
        if self.residual_variance_ is not None and not plane.undetermined(self.coef_, problem.curve.scale).any():
            self.covariance_ = self.residual_variance_ * plane.covariance()

    def _predict(self, block: Block) -> np.ndarray:
        found = Curve(as_written(self.function), None, np.ones(1)).values(block.X, self.coef_)
        if not np.isfinite(found).all():
            row = int(np.flatnonzero(~np.isfinite(found))[0])
            raise InputError(
                f"NonlinearLeastSquares: the function gives {found[row]} for row {block.start + row} (counted from 0) with the fitted "
                "parameters: the row is outside of where the function is defined."
            )
        return found.astype(block.X.dtype)

    @property
    def inference_(self) -> Inference:
        """Standard errors, t and p values and intervals of the parameters, from the tangent plane: for large samples."""
        self._check_fitted()
        n, d = self.fingerprint_.weight, len(self.coef_)
        if self.covariance_ is None or self.residual_variance_ is None:
            raise NotAvailableError(
                f"Standard errors are not defined: {n:g} rows do not determine {d} parameters and the noise. {self.ending_}"
            )
        return Inference(
            self.coef_,
            self.covariance_,
            self.parameter_names_,
            degrees_of_freedom=n - d,
            n=n,
            sigma2=self.residual_variance_,
            residual=2 * self.cost_,
            log_likelihood=log_likelihood(n, 2 * self.cost_, None),
        )

    def _prove(self, problem: CurveProblem) -> list[Claim]:
        w = np.asarray(self.coef_, dtype=np.float64)
        curve = best_curve(self._given(self.jacobian), some_rows(problem.rows), w)
        return _claims(RowResiduals(problem.rows, curve), w, self.cost_, problem.starts, self.tol)

    def _restate(self, problem: CurveProblem) -> list[Claim]:
        w = np.asarray(self.coef_, dtype=np.float64)
        curve = best_curve(self._given(self.jacobian), some_rows(problem.rows), w)
        plane = RowResiduals(problem.rows, curve).tangent(w)
        spare = plane.factor.weight - len(w)
        variance = 2 * plane.cost / spare if spare > 0 else None
        began = min(float(np.abs(start - self.start_).max()) for start in problem.starts)
        claims = [
            restated("residual_variance_", self.residual_variance_, variance, slack=1e-9 + plane.noise(w)),
            Claim("start_ is one of the starts (difference)", began, 0.0),
        ]
        if variance is None or plane.undetermined(w, curve.scale).any():
            return [*claims, restated("covariance_", self.covariance_, None)]
        wanted = variance * plane.covariance()
        root = np.sqrt(np.maximum(wanted.diagonal(), TINY))
        # Slopes by differences have half the digits, and what is nearly undetermined has fewer still.
        slack = min(1e-4, 1e-7 / max(plane.spread, 1e-7))
        return [*claims, restated("covariance_", self.covariance_, wanted, scale=np.outer(root, root), slack=slack)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # as good as the user's function
        return tags


def _claims(objective: RowResiduals, w: np.ndarray, cost: float, starts: np.ndarray, tol: float) -> list[Claim]:
    """Claim that a fit is a local minimum, determined by the data, and no worse than its starts.

    Nothing is said about other minima: the lowest of all can not be told from a local one by looking near it.
    """
    plane = objective.tangent(w)
    if not plane.is_finite:
        return [Claim("cosine between residuals and tangent plane", np.inf, tol)]
    costs = (objective.rows.fold(objective.curve.cost, start) for start in starts)
    least = min(cost if np.isfinite(cost) else np.inf for cost in costs)
    blur = 4 * plane.length * plane.noise(w)
    apart = 0.0 if plane.unseen(w, objective.scale).any() else plane.spread
    blind = 16 * len(w) * EPS
    apart_by = max(abs(plane.cost - cost) - blur, 0.0)
    return [
        stationary(objective, w, tol),
        Claim("share of the curvature that the residuals take away", objective.curvature_lost(w), MOST_LOST),
        Claim("parameters can not be told apart (rounding over least effect)", blind / max(apart, blind / 2), 1.0),
        Claim("cost above that at the start (relative)", ratio(max(plane.cost - least - blur, 0.0), least), 1e-12),
        Claim("cost_ is that of the data (difference, relative)", ratio(apart_by, plane.cost), 1e-10),
    ]
