r"""Gauss-Newton and Levenberg-Marquardt: least squares by a sequence of linear ones.

.. math:: \min_w \tfrac12\|F(w)\|^2, \qquad
          \delta = \arg\min_\delta \|F + J\delta\|^2 + \lambda\|D\delta\|^2, \qquad w \leftarrow w + \delta.

Without damping (:math:`\lambda = 0`) this is the method of Gauss and Newton: quadratic convergence where the residuals vanish, one step
where :math:`F` is linear, and no promise that the sum of squares falls. Levenberg and Marquardt damp the step until it does.
:math:`D` holds the largest lengths that the columns of :math:`J` have had (Moré), so the units of the parameters do not matter. In a
narrow, curved valley straight steps must be short; the *geodesic acceleration* of Transtrum and Sethna bends the step by the second
derivative of :math:`F` along it, for one more pass over the rows. Where the sum of squares can not tell two points apart any more,
because it is flat at its minimum and rounded, the angle between residuals and tangent plane decides. A step costs :math:`O(nd^2)`, by QR.

Moré (1978), The Levenberg-Marquardt algorithm; Transtrum and Sethna (2012), arXiv:1201.5885.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.certificate import Claim
from qed.base.errors import InputError
from qed.base.models.parameters import Parameter, boolean, choice, number
from qed.base.running.steps import Halt, Reason, Step
from qed.optim.functions.objective import Objective
from qed.optim.functions.residuals import SumOfSquares
from qed.optim.solvers.method import Method, not_above_the_start

LESS, MORE = 5.0, 3.0
TRIALS = 100
GAIN = 1e-4
TRUSTED = 0.9
BENT = 0.75
FLAT = 1e-10
MOST_LOST = 1 - 1e-3


class LeastSquaresMethod(Method):
    """What both methods share: they need residuals, and what they prove."""

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        return squares(objective, self).at(point)

    def claims(self, objective: Objective, start: np.ndarray, point: np.ndarray, tol: float) -> list[Claim]:
        """Say that the point is no higher than the start, stationary, and a local minimum."""
        sum_of_squares = squares(objective, self)
        lost = sum_of_squares.curvature_lost(point)
        return [
            not_above_the_start(objective.value(point), objective.value(start)),
            stationary(sum_of_squares, point, tol),
            Claim("share of the curvature that the residuals take away", lost, MOST_LOST),
        ]


def squares(objective: Objective, method: Any) -> SumOfSquares:
    """Give the objective, refused where it is no sum of squares."""
    if isinstance(objective, SumOfSquares):
        return objective
    raise InputError(
        f"{type(method).__name__} minimises sums of squares: give it qed.optim.Residuals(F), with F the function that gives the "
        "vector of residuals."
    )


def stationary(objective: SumOfSquares, point: np.ndarray, tol: float) -> Claim:
    """Claim that the residuals stand at right angles on the tangent plane, but for `tol`, rounding, and the error of the slopes.

    Slopes that are off by a share e turn the plane by up to e over its least singular value.
    """
    plane = objective.tangent(point)
    rounding = 4 * plane.noise(point) / plane.length if plane.length > 0 else 0.0
    turned = objective.slope_error / plane.spread if plane.spread > 0 else 0.0
    return Claim("cosine between residuals and tangent plane", plane.cosine, tol + rounding + min(turned, 1e-3))


@dataclass(frozen=True)
class GaussNewton(LeastSquaresMethod):
    """The method of Gauss and Newton: go to the lowest point of the tangent plane.

    Parameters
    ----------
    step : float
        The part of the way to go; less than 1 where whole steps jump too far.
    measure : {"angle", "cost", "parameters"}
        What `tol` is compared with: the cosine between residuals and tangent plane, the last relative change of the sum of squares, or
        the largest relative change of a parameter (`cost_change`, `largest_change`).

    Examples
    --------
    >>> from qed.optim import Residuals, minimize
    >>> sensors, ranges = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]), np.sqrt([2.0, 10.0, 5.0])
    >>> robot = Residuals(lambda w: np.sqrt(((w - sensors) ** 2).sum(axis=1)) - ranges)
    >>> found = minimize(robot, [2.0, 2.0], method=GaussNewton())
    >>> found.point.round(12), found.ending.n_iter <= 5
    (array([1., 1.]), True)
    """

    step: float = 1.0
    measure: str = "angle"

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "step": number(0, 1, above=True),
        "measure": choice("angle", "cost", "parameters"),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        first = super().begin(objective, point)
        if self.measure != "angle" and first.gap != 0:
            first.gap = np.inf
        return first

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        plane = squares(objective, self).tangent(step.point)
        if not plane.is_finite:
            return Halt(
                Reason.DIVERGED, "The residuals are not finite there.", "Begin nearer, or use LevenbergMarquardt."
            )
        move = self.step * plane.step()
        reached = objective.at(step.point + move, step)
        if self.measure == "cost":
            reached.gap = cost_change(step.objective, reached.objective)
        elif self.measure == "parameters":
            unseen = np.divide(plane.noise(step.point), plane.lengths, out=np.zeros(len(move)), where=plane.lengths > 0)
            reached.gap = largest_change(step.point, reached.point, unseen)
        return reached


@dataclass(frozen=True)
class LevenbergMarquardt(LeastSquaresMethod):
    """Gauss-Newton with as much damping as it takes for the sum of squares to fall.

    Parameters
    ----------
    damping : float
        The first damping, relative to the steepest direction.
    acceleration : bool
        Whether steps are bent by the second derivative along them, where the last ones were not as long as the linear model hoped.

    Examples
    --------
    >>> from qed.optim import Residuals, minimize
    >>> x = np.arange(5.0)
    >>> curve = Residuals(lambda w: w[0] * np.exp(w[1] * x) - 3 * np.exp(-0.5 * x))
    >>> minimize(curve, [1.0, 1.0], method=LevenbergMarquardt()).point.round(10)
    array([ 3. , -0.5])
    """

    damping: float = 1e-3
    acceleration: bool = True

    parameters: ClassVar[Mapping[str, Parameter]] = {"damping": number(0, above=True), "acceleration": boolean()}

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        nothing = np.zeros(len(point))
        return squares(objective, self).at(point, scale=nothing, damping=self.damping, ratio=0.0)

    def advance(self, objective: Objective, step: Step) -> Step | Halt:
        sum_of_squares = squares(objective, self)
        here = sum_of_squares.tangent(step.point)
        scale = np.maximum(step.scale, here.lengths)
        trial = _Trial(sum_of_squares, step.point, scale)
        damping, ratio = step.damping, step.ratio
        blur = 4 * here.length * here.noise(step.point)
        for _ in range(TRIALS):
            point = step.point + trial.move(damping, self.acceleration and ratio < TRUSTED)
            if (point == step.point).all():
                break
            reached = objective.at(point, step, scale=scale, damping=damping / LESS, ratio=0.0)
            hoped = trial.hoped(damping)
            gained = step.objective - reached.objective
            lower = hoped > blur and gained > GAIN * hoped
            if lower and not trial.loses(reached.point):
                reached.state["ratio"] = gained / hoped
                return reached
            if hoped <= 100 * blur and gained >= -blur and (reached.gap or 0.0) < (step.gap or 0.0):
                return reached
            damping, ratio = damping * MORE, 0.0
        return Halt(Reason.STALLED, "No step makes the sum of squares smaller.")


class _Trial:
    """The damped steps from one point, all from one decomposition."""

    def __init__(self, objective: SumOfSquares, point: np.ndarray, scale: np.ndarray) -> None:
        self.objective, self.point = objective, point
        self.scale = np.where(scale > 0, scale, 1.0)
        self.values, self.directions, self.parts = objective.tangent(point).axes(scale)

    def _along(self, damping: float) -> np.ndarray:
        return self.values * self.parts / (self.values**2 + damping)

    def hoped(self, damping: float) -> float:
        """Give by how much the cost would fall if the residuals were linear."""
        return 0.5 * float(self._along(damping) ** 2 @ (self.values**2 + 2 * damping))

    def move(self, damping: float, bent: bool) -> np.ndarray:
        straight = -self.directions @ self._along(damping)
        if not bent:
            return straight
        with np.errstate(all="ignore"):
            pull = self.directions.T @ self.objective.bend(self.point, straight)
            turn = -self.directions @ (pull / (self.values**2 + damping))
            short = 2 * np.linalg.norm(self.scale * turn) <= BENT * np.linalg.norm(self.scale * straight)
        return straight + turn / 2 if short else straight

    def loses(self, point: np.ndarray) -> bool:
        """Say whether a parameter that has an effect here has next to none there: from such a place nothing leads back."""
        return bool((self._flat(point) & ~self._flat(self.point)).any())

    def _flat(self, point: np.ndarray) -> np.ndarray:
        plane = self.objective.tangent(point)
        effect = plane.lengths * np.maximum(np.abs(point), self.objective.scale)
        return np.asarray(effect <= FLAT * plane.length + plane.noise(point))


def cost_change(before: float, after: float) -> float:
    """Give the relative change of a cost; none where both are zero, and 1 where it was zero and is not.

    Parameters
    ----------
    before, after : float
        The cost before a step and after it.

    Examples
    --------
    >>> cost_change(2.0, 1.5), cost_change(0.0, 0.0), cost_change(0.0, 1e-30)
    (0.25, 0.0, 1.0)
    """
    return _relative(abs(after - before), abs(before), abs(after))


def largest_change(before: Any, after: Any, unseen: Any = 0.0) -> float:
    """Give the largest relative change of a parameter, leaving out those that changed by no more than `unseen`.

    Parameters
    ----------
    before, after : array-like of shape (d,)
        The parameters before a step and after it.
    unseen : float or array-like of shape (d,), default=0.0
        What a parameter may change by and count as unchanged.

    Examples
    --------
    >>> largest_change([1.0, 0.0], [1.5, 0.0]), largest_change([0.0], [0.1]), largest_change([0.0], [1e-20], 1e-16)
    (0.5, 1.0, 0.0)
    """
    before, after = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    change = np.abs(after - before)
    change = np.where(change <= unseen, 0.0, change)
    return max(map(_relative, change, np.abs(before), np.abs(after)), default=0.0)


def _relative(change: float, before: float, after: float) -> float:
    """Divide by what was before or, where that was nothing, by what is now."""
    return float(change / (before or after)) if change > 0 else 0.0
