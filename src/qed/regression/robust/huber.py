r"""Huber's robust regression: squared loss for the rows near the plane, linear loss for the others.

.. math:: \min_{w, b, \sigma}\ \sum_i s_i \Bigl(\sigma + H_\varepsilon\bigl(\tfrac{r_i}{\sigma}\bigr)\,\sigma\Bigr) + \alpha \|w\|^2,
          \qquad r_i = y_i - x_i^\top w - b, \qquad
          H_\varepsilon(z) = \begin{cases} z^2 & |z| < \varepsilon \\ 2\varepsilon|z| - \varepsilon^2 & \text{else.} \end{cases}

A row further than :math:`\varepsilon\sigma` from the plane, an *outlier*, pulls at it with a bounded force. The scale
:math:`\sigma` is found with the plane, so that the fit does not depend on the units of the target; or it is given, and then the loss
is, up to the factor :math:`2/\sigma`, the course's :math:`\tfrac12 r^2` for :math:`|r| \le \delta` and
:math:`\delta|r| - \tfrac12\delta^2` beyond, with :math:`\delta = \varepsilon\sigma`. Newton's method on the joint convex problem
takes about ten passes of :math:`O(np)`, and :math:`O(p^2)` for each row that is no outlier.

Huber (1964), Robust estimation of a location parameter; Owen (2007), A robust hybrid of lasso and ridge regression.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from qed.base.attributes import booleans, floats
from qed.base.certificate import ALIKE, Claim
from qed.base.models.estimator import Iterative
from qed.base.models.no_effect import takes
from qed.base.models.parameters import Parameter, boolean, choice, integer, number
from qed.base.running.steps import Step
from qed.base.sources.rows import Rows
from qed.regression.linear.linear import LinearPredictor
from qed.regression.robust.columns import Plane
from qed.regression.robust.design import Design
from qed.regression.robust.problem import HuberProblem, is_outlier


@takes("warm_start")
class HuberRegressor(LinearPredictor, Iterative):
    """Linear regression that outliers in the target do not spoil.

    Parameters
    ----------
    epsilon : float, default=1.35
        From how many scales on a residual counts linearly; 1.35 keeps 95 % of the efficiency of least squares under Gaussian noise. At
        least one.
    max_iter : int, default=100
        The most iterations.
    alpha : float, default=0.0001
        The weight of the squared penalty.
    fit_intercept : bool, default=True
        Whether to fit a constant, which is not penalised.
    tol : float, default=1e-10
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    scale : "estimated" or float, default="estimated"
        The scale of the residuals: found with the plane, or given.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients.
    intercept_ : float
        The constant; zero without ``fit_intercept``.
    scale_ : float
        The scale that residuals are measured by. Where more rows lie on a plane exactly than `epsilon` allows for, it has no minimum
        above zero, and the least that is looked at is given: 1e-9 of the target's standard deviation.
    outliers_ : ndarray of shape (n,) of bool
        Which of the rows fitted to are further than ``epsilon * scale_`` from the plane: one byte a row.
    n_iter_ : int
        Iterations made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Minimises ``sum_i weight_i (scale + H((y_i - x_i'coef - intercept) / scale) scale) + alpha ||coef||^2``, scikit-learn's
    objective. With a given scale the course's ``sum_i huber_delta(r_i) + lambda ||w||^2`` has ``delta = epsilon * scale`` and
    ``alpha = 2 * lambda / scale``.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x = np.arange(10.0)[:, None]
    >>> y = 2 * x[:, 0] + np.tile([0.1, -0.1], 5)
    >>> y[9] = 100.0
    >>> model = qed.HuberRegressor(alpha=0.0).fit(x, y)
    >>> model.coef_.round(1), qed.LinearRegression().fit(x, y).coef_.round(1)
    (array([2.]), array([6.5]))
    >>> bool(model.outliers_[9]), bool(model.certificate_)
    (True, True)
    """

    multi_output: ClassVar[bool] = False
    attributes: ClassVar = {"scale_": floats(low=0), "outliers_": booleans("rows")}
    no_inference: ClassVar[str] = (
        "they would depend on how the outliers are spread, which nobody knows. Fit the model to bootstrap samples"
    )
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "epsilon": number(1, kind="model"),
        "max_iter": integer(1),
        "alpha": number(0),
        "fit_intercept": boolean(),
        "tol": number(0),
        "scale": choice("estimated", kind="model") | number(0, above=True),
    }

    def __init__(
        self,
        *,
        epsilon: float = 1.35,
        max_iter: int = 100,
        alpha: float = 0.0001,
        fit_intercept: bool = True,
        tol: float = 1e-10,
        scale: str | float = "estimated",
    ) -> None:
        self.epsilon = epsilon
        self.max_iter = max_iter
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.scale = scale

    def _problem(self, rows: Rows) -> HuberProblem:
        design = Design(rows.cached(), self, intercept=bool(self.fit_intercept), alpha=float(self.alpha))
        scale = None if isinstance(self.scale, str) else float(self.scale)
        return HuberProblem(design, float(self.epsilon), float(self.alpha), scale)

    def _steps(self, problem: HuberProblem, start: Step | None = None) -> Iterator[Step]:
        if start is None:
            point = problem.at(*problem.beginning())
        else:
            point = problem.at(Plane(start.coef, start.intercept), start.scale)
        while True:
            if start is None:
                relative, rounding = problem.gap(point)
                plane = point.plane
                gap = max(0.0, relative - min(rounding, problem.most_rounding(point)))
                yield Step(point.objective, gap, coef=plane.coef, intercept=plane.intercept, scale=point.scale)
            start = None
            point = problem.descend(point)

    def _finish(self, problem: HuberProblem, step: Step) -> None:
        self.coef_, self.intercept_, self.scale_ = step.coef, step.intercept, step.scale
        self.outliers_ = problem.rows.map(
            is_outlier, Plane(step.coef, step.intercept), float(self.epsilon) * step.scale
        )

    def _prove(self, problem: HuberProblem) -> list[Claim]:
        plane = Plane(np.asarray(self.coef_, dtype=np.float64), float(self.intercept_))
        point = problem.at(plane, float(self.scale_), curved=False)
        relative, rounding = problem.gap(point)
        left_out = problem.design.columns.claims(problem.rows)
        says = f"objective above its minimum, at most (relative){ALIKE if left_out else ''}"
        return [Claim.within(says, relative, self.tol, rounding, problem.most_rounding(point)), *left_out]

    def _restate(self, problem: HuberProblem) -> list[Claim]:
        plane = Plane(np.asarray(self.coef_, dtype=np.float64), float(self.intercept_))
        cut = float(self.epsilon) * float(self.scale_)
        # A row so near to the cut that rounding decides may be on either side of it.
        numbers, _ = problem.design.rounding(plane, float(np.abs(problem.design.total.y_mean).sum()))
        clear = [problem.rows.map(is_outlier, plane, cut + way * 64 * numbers) for way in (1.0, -1.0)]
        marked = np.asarray(self.outliers_)
        if marked.shape != clear[0].shape or marked.dtype != bool:
            return [Claim("rows that outliers_ tells wrongly", np.inf, 0.0)]
        wrong = (clear[0] & ~marked) | (~clear[1] & marked)
        return [Claim("rows that outliers_ tells wrongly", float(np.count_nonzero(wrong)), 0.0)]
