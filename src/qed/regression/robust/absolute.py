r"""Least absolute deviations: the plane that halves the data, which outliers in the target hardly move.

.. math:: \min_{w, b}\ P(w, b) = \sum_i s_i\, |y_i - x_i^\top w - b| .

A linear program, solved here without a variable per row. The absolute value is smoothed to Huber's :math:`\rho_\delta / \delta`,
whose minimum Newton's method finds in a few passes; :math:`\delta` is made smaller and smaller, each time from where the last one
ended. At such a minimum :math:`\theta_i = \operatorname{clip}(r_i / \delta, -1, 1)` satisfies :math:`\sum_i s_i \theta_i (x_i, 1) = 0`.
That makes it a dual point: for every plane :math:`\sum s_i |r_i| \ge \sum s_i \theta_i r_i = \sum s_i \theta_i y_i`, so

.. math:: P(w, b) - \min P \le \sum_i s_i\, (|r_i| - \theta_i r_i) .

From some :math:`\delta` on, the rows with :math:`|r_i| \le \delta` are those that the solution goes through: then the plane through
them is exact, and :math:`\theta` proves it. The smoothed plane and :math:`\delta` are kept, so that anyone can recompute
:math:`\theta` and the proof from the data: :math:`p + 2` numbers in point of :math:`n`. A pass costs :math:`O(np)`; there are about
fifty.

Madsen and Nielsen (1993), A finite smoothing algorithm for linear l1 estimation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import ALIKE, MOST_ROUNDING, Claim
from qed.base.models.estimator import Iterative
from qed.base.models.parameters import Parameter, boolean, integer, number
from qed.base.numbers import EPS, TINY
from qed.base.running.steps import Rule, Step
from qed.base.sources.block import Block
from qed.base.sources.rows import Rows
from qed.optim.searches.downhill import downhill
from qed.regression.linear.linear import LinearPredictor
from qed.regression.robust.columns import Columns, Plane
from qed.regression.robust.design import Design, Direction
from qed.regression.robust.problem import EXACT
from qed.regression.robust.sums import HuberSums
from qed.stats.moments import Moments
from qed.stats.products import present_rows

SHRINK = 0.2
# The share of the tolerance that may be spent on equations which hold only nearly.
BALANCED = 0.1
MOST_NOISE = 1e-9


class LeastAbsoluteDeviations(LinearPredictor, Iterative):
    """Regression with the absolute loss: the conditional median.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit a constant.
    tol : float, default=1e-9
        The fit ends when the objective is proven to be within this, relative, of its minimum.
    max_iter : int, default=1000
        The most steps.

    Attributes
    ----------
    coef_ : ndarray of shape (p,)
        Coefficients. Where there are many solutions, one of them.
    intercept_ : float
        The constant; zero without ``fit_intercept``.
    smooth_coef_, smooth_intercept_, delta_ : ndarray of shape (p,), float, float
        The witness of the proof: the plane that minimises Huber's loss with this delta.
    n_iter_ : int
        Steps made.
    ending_ : Ending
        Why the fit ended, with the trace of its steps.
    certificate_ : Certificate
        The proof of the fit.

    Notes
    -----
    Minimises ``sum_i weight_i |y_i - x_i'coef - intercept|``. That is the course's absolute error times n, and twice the loss of
    scikit-learn's ``QuantileRegressor(quantile=0.5, alpha=0)`` times n.

    Examples
    --------
    >>> import numpy as np
    >>> import qed
    >>> x, y = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]]), np.array([0.0, 1.0, 2.0, 3.0, 100.0])
    >>> model = qed.LeastAbsoluteDeviations().fit(x, y)
    >>> model.predict([[4.0]]).round(9), qed.LinearRegression().fit(x, y).predict([[4.0]]).round(9)
    (array([4.]), array([61.6]))
    >>> bool(model.certificate_)
    True
    """

    multi_output: ClassVar[bool] = False
    attributes: ClassVar = {"smooth_coef_": floats("features"), "smooth_intercept_": floats(), "delta_": floats(low=0)}
    no_inference: ClassVar[str] = (
        "they would depend on the density of the noise at its median, which few rows tell. Fit the model to bootstrap samples"
    )
    parameters: ClassVar[Mapping[str, Parameter]] = {
        "fit_intercept": boolean(),
        "tol": number(0),
        "max_iter": integer(1),
    }

    def __init__(self, *, fit_intercept: bool = True, tol: float = 1e-9, max_iter: int = 1000) -> None:
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter

    def _problem(self, rows: Rows) -> Design:
        return Design(rows.cached(), self, intercept=bool(self.fit_intercept))

    def _rule(self) -> Rule:
        """Be patient: where there are many solutions, planes change for a while and their objective does not."""
        return replace(super()._rule(), patience=12)

    def _steps(self, design: Design, start: Step | None = None) -> Iterator[Step]:
        if start is None:
            plane = design.nearest(design.total)
            delta = design.deviation(plane) or 1.0
        else:
            plane, delta = Plane(start.ahead_coef, start.ahead_intercept), start.ahead_delta
        while True:
            smooth = Smoothed(design, plane, delta, design.at(plane, delta))
            while smooth.imbalance > BALANCED * self.tol and (lower := smooth.lower()) is not None:
                smooth = lower
                yield _step(
                    smooth, smooth.plane, smooth.sums.absolute, smooth.gap, ahead=smooth.plane, ahead_delta=delta
                )
            way = design.nearest(smooth.inside)
            plane = smooth.plane.moved(way, 1.0 - SHRINK)
            proof = Proof(design, smooth.plane.moved(way, 1.0), smooth.plane, delta)
            if proof.objective > smooth.sums.absolute:
                plane = smooth.plane
                proof = Proof(design, plane, plane, delta)
            delta *= SHRINK
            gap = max(0.0, proof.relative - min(proof.rounding, proof.most_rounding))
            yield _step(smooth, proof.plane, proof.objective, gap, ahead=plane, ahead_delta=delta)

    def _finish(self, design: Design, step: Step) -> None:
        self.coef_, self.intercept_ = step.coef, step.intercept
        self.smooth_coef_, self.smooth_intercept_, self.delta_ = step.smooth_coef, step.smooth_intercept, step.delta

    def _prove(self, design: Design) -> list[Claim]:
        plane = Plane(np.asarray(self.coef_, dtype=np.float64), float(self.intercept_))
        smooth = Plane(np.asarray(self.smooth_coef_, dtype=np.float64), float(self.smooth_intercept_))
        proof = Proof(design, plane, smooth, float(self.delta_))
        left_out = design.columns.claims(design.rows)
        says = f"objective above its minimum, at most (relative){ALIKE if left_out else ''}"
        return [Claim.within(says, proof.relative, self.tol, proof.rounding, proof.most_rounding), *left_out]


def _step(smooth: Smoothed, plane: Plane, objective: float, gap: float, ahead: Plane, ahead_delta: float) -> Step:
    """Make a step of a plane, its witness, and where to go on."""
    return Step(
        objective,
        gap,
        coef=plane.coef,
        intercept=plane.intercept,
        smooth_coef=smooth.plane.coef,
        smooth_intercept=smooth.plane.intercept,
        delta=smooth.delta,
        ahead_coef=ahead.coef,
        ahead_intercept=ahead.intercept,
        ahead_delta=ahead_delta,
    )


@dataclass(frozen=True)
class Smoothed:
    """A plane on the way to the minimum of Huber's loss."""

    design: Design
    plane: Plane
    delta: float
    sums: HuberSums

    @property
    def inside(self) -> Moments:
        """The moments of the rows that are nearer than delta."""
        return self.design.inside(self.sums, self.plane, self.delta)

    @property
    def imbalance(self) -> float:
        """By how much the equations of the minimum miss, as a share of the sum of absolute residuals."""
        level = self.sums.level / self.delta
        return 2 * self.design.imbalance(self.sums.pull / self.delta - self.design.centre * level, level)[0]

    @property
    def gap(self) -> float:
        """How far this plane itself is from the least sum of absolute residuals, at most, relative."""
        size = max(self.sums.absolute, TINY)
        return min(1.0, max(0.0, size - self.sums.product / self.delta) / size + self.imbalance)

    def slope(self, way: Direction) -> float:
        """Give the slope of Huber's loss along a way."""
        return -self.design.slope(self.sums.pull, self.sums.level, way)

    def lower(self) -> Smoothed | None:
        """Make a step of Newton's method; None where rounding leaves nothing to gain."""
        design, sums = self.design, self.sums
        way = design.direction(self.inside, sums.pull, sums.level)

        def at(step: float) -> Smoothed:
            plane = self.plane.moved(way.plane, step)
            return Smoothed(design, plane, self.delta, design.at(plane, self.delta))

        trial = design.trial(way, sums.absolute / sums.weight + self.delta)
        rounding = 4 * EPS * sums.loss
        found = downhill(
            at, lambda point: point.slope(way), self.slope(way), lambda point: point.sums.loss - sums.loss,
            noise=rounding, trial=trial, rounding=EPS * sums.loss,
        )  # fmt: skip
        if found is None:
            return None
        change = found.sums.loss - sums.loss
        balanced = found.imbalance < 0.5 * self.imbalance and change <= rounding
        return found if balanced or change < -rounding else None


class Proof:
    """How far a plane is from the least sum of absolute residuals, at most, by a smoothed plane as witness."""

    def __init__(self, design: Design, plane: Plane, smooth: Plane, delta: float) -> None:
        found = design.rows.fold(_proof_sums, plane, smooth, delta, design.columns)
        (target, self.objective, product, level, inside), pull = found[:5].tolist(), found[5:]
        eta, _ = design.imbalance(pull - design.centre * level, level)
        size = max(self.objective, TINY)
        # The bound, relative to the objective. No sum of sizes is below zero, so it never says more than one.
        self.relative = min(1.0, max(0.0, self.objective - product) / size + 2 * eta)
        numbers, equations = design.rounding(plane, target)
        # Where rows are inside, theta is a residual over delta: its rounding is that of the residual, so many times larger.
        theta = min(MOST_NOISE, numbers / design.total.weight / delta * inside / design.total.weight)
        # How much of it rounding can explain, and how much it may: little, unless there is next to no objective and rows are met exactly.
        self.rounding = 64 * (equations + numbers / size + theta)
        self.most_rounding = max(MOST_ROUNDING, EXACT * target / size)
        self.plane = plane


def _proof_sums(block: Block, plane: Plane, smooth: Plane, delta: float, columns: Columns) -> np.ndarray:
    """Give the sums of ``|y|``, ``|r|``, ``theta r``, ``theta``, of the weights inside, and of ``theta x``."""
    X, Y, weight = present_rows(block, target=True)
    weight = np.ones(len(Y)) if weight is None else weight
    both = np.asarray(X @ np.column_stack([plane.coef, smooth.coef]), dtype=np.float64)
    residual, smoothed = (Y - both - [plane.intercept, smooth.intercept]).T
    theta = weight * np.clip(smoothed / delta, -1.0, 1.0)
    inside = weight @ (np.abs(smoothed) < delta)
    sums = [weight @ np.abs(Y[:, 0]), weight @ np.abs(residual), theta @ residual, theta.sum(), inside]
    return np.append(sums, np.asarray(columns.read(X).T @ theta, dtype=np.float64))
