r"""Subgradient descent: for convex functions with kinks, with a lower bound that proves how good the answer is.

.. math:: f(z) \ge f(w) + g^\top (z - w) \ \text{for all } z, \qquad w^{t+1} = \Pi_C (w^t - \alpha_t g^t)

A vector :math:`g` with that inequality is a subgradient of :math:`f` at :math:`w`; for :math:`|w|` at 0 it is any
number in :math:`[-1, 1]`. The method goes against one of them and back into the set :math:`C`, if there is one, by
projection. It does not fall in every step, so the answer is the best iterate or an average; with a falling step both
converge. The same inequalities, averaged, are a model that lies below :math:`f` everywhere: its minimum over the ball
of radius :math:`R` around the start (or over everything, with strong convexity) is a lower bound of the minimum of
:math:`f`, so the gap is a proof. An iteration costs one subgradient; :math:`1/\epsilon^2` of them give an accuracy of
:math:`\epsilon`.

Shor (1985), Minimization Methods for Non-differentiable Functions; Bubeck (2015), Convex optimization, section 3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from qed.base.attributes import floats
from qed.base.certificate import Claim
from qed.base.models.parameters import Parameter, choice, number
from qed.base.numbers import EPS
from qed.base.running.steps import Step
from qed.base.saving.known import savable
from qed.optim.functions.objective import HALF_OF_THE_DIGITS, Objective, as_vector
from qed.optim.searches.step_rules import step_length, step_parameter
from qed.optim.solvers.method import Method, not_above_the_start


@dataclass(frozen=True)
class Subgradient(Method):
    """Subgradient descent, with projection and averaging.

    The objective's gradient gives any subgradient where the function has a kink.

    Parameters
    ----------
    step : float, StepRule, callable or None
        The step: a number, a function of the iteration t = 1, 2, ..., or a rule; ``RootDecay``, ``InverseDecay`` and
        ``Diminishing`` are made for this. By default
        ``R / (||g|| sqrt(t))``, with R the radius, or the length of the start if that is not known.
    radius : float, optional
        A bound of the distance from the start to a minimum. With it, or with strong convexity, the gap is a proof;
        without, there is none, and the run ends when the value no longer changes.
    average : {None, "uniform", "weighted"}
        Whether the answer is the best iterate, the mean of all, or the mean with weights 1, 2, 3, ...
    project : callable, optional
        Gives the point of the set that is nearest to a point.

    Examples
    --------
    >>> from itertools import islice
    >>> kinks = Objective(lambda w: abs(w).sum(), np.sign)
    >>> steps = list(islice(Subgradient(radius=4.0).steps(kinks, [3.0, -2.0]), 2000))
    >>> bool(min(step.objective for step in steps) < 0.05)
    True
    """

    step: Any = None
    radius: float | None = None
    average: str | None = None
    project: Callable[[np.ndarray], Any] | None = None

    parameters: ClassVar[Mapping[str, Parameter]] = {
        "step": step_parameter() | choice(None),
        "radius": number(0, above=True) | choice(None),
        "average": choice(None, "uniform", "weighted"),
        "project": Parameter("a function of the point", callable) | choice(None),
    }

    def begin(self, objective: Objective, point: np.ndarray) -> Step:
        """Begin at the point of the set that is nearest."""
        return self._at(objective, self._inside(point), None)

    def advance(self, objective: Objective, step: Step) -> Step:
        """Go against the subgradient, and back into the set."""
        return self._at(objective, self._inside(step.iterate - step.length * step.subgradient), step)

    def prove(self, objective: Objective, start: np.ndarray, step: Step, tol: float) -> list[Claim]:
        """Say how far the value can be above its minimum, by a model that lies below the function."""
        value, first = objective.value(step.point), objective.value(start)
        scale = max(abs(value), abs(first), 1e-300)
        low = max(step.model.at(z) - objective.value(z) for z in (start, step.point))
        slack = 1e-12 * (1 + abs(step.model.constant) / scale)
        return [
            not_above_the_start(value, first),
            Claim("model above the function it bounds (relative)", max(0.0, low) / scale, slack),
            Claim(
                "value above its minimum, at most (relative)", self._gap(objective, value, abs(first), step.model), tol
            ),
        ]

    def _at(self, objective: Objective, iterate: np.ndarray, after: Step | None) -> Step:
        t = 1 if after is None else after.number + 2
        value, slope = objective.value(iterate), objective.gradient(iterate)
        here = Step(value, None, t - 1, point=iterate, gradient=slope)
        model = LowerModel.empty(iterate, objective.strong_convexity) if after is None else after.model
        length = self._length(objective, here, model.origin)
        weight = {"uniform": 1.0, "weighted": float(t)}.get(self.average or "", length)
        model = model.with_cut(weight, iterate, value, slope)
        point = iterate if self.average is None else model.origin + model.mean
        answer = value if self.average is None else objective.value(point)
        first = abs(answer) if after is None else after.first
        gap = self._gap(objective, answer, first, model)
        state = {"iterate": iterate, "subgradient": slope, "length": length, "model": model, "first": first}
        return Step(answer, gap if np.isfinite(gap) else None, t - 1, point=point, **state)

    def _gap(self, objective: Objective, value: float, first: float, model: LowerModel) -> float:
        return max(0.0, value - model.lowest(self.radius)) / max(abs(value), HALF_OF_THE_DIGITS * first, 1e-300)

    def _length(self, objective: Objective, here: Step, origin: np.ndarray) -> float:
        if self.step is not None:
            return step_length(self.step, objective, here, -here.gradient)
        size = float(np.linalg.norm(here.gradient))
        radius = self.radius or float(np.linalg.norm(origin)) or 1.0
        return radius / float(size * np.sqrt(here.number + 1)) if size > 0 else radius

    def _inside(self, point: np.ndarray) -> np.ndarray:
        return point if self.project is None else as_vector(self.project(point.copy()))


@savable
@dataclass(frozen=True)
class LowerModel:
    r"""A weighted mean of subgradient inequalities: a linear, or with strong convexity m quadratic, function below a convex one.

    .. math:: f(z) \ge \sum_s \lambda_s \big[ f(w_s) + g_s^\top (z - w_s) + \tfrac m2 \|z - w_s\|^2 \big]

    Points are measured from the `origin`, the start.

    >>> cut = LowerModel.empty(np.array([2.0]), 0.0).with_cut(1.0, np.array([2.0]), 2.0, np.array([1.0]))
    >>> cut.at([0.0]), cut.lowest(radius=3.0)
    (0.0, -1.0)
    """

    attributes: ClassVar = {
        "origin": floats("parameters"),
        "slope": floats("parameters"),
        "mean": floats("parameters"),
    }
    origin: np.ndarray
    strong_convexity: float
    # The sum of the weights, and the weighted means of f(w_s) - g_s'w_s and of ||w_s||^2.
    weight: float
    constant: float
    square: float
    # (d,): the weighted means of the subgradients and of the points.
    slope: np.ndarray
    mean: np.ndarray

    @classmethod
    def empty(cls, origin: np.ndarray, strong_convexity: float) -> LowerModel:
        """Give the model without any inequality."""
        return cls(origin, strong_convexity, 0.0, 0.0, 0.0, np.zeros(len(origin)), np.zeros(len(origin)))

    def with_cut(self, weight: float, point: np.ndarray, value: float, slope: np.ndarray) -> LowerModel:
        """Add the inequality at a point."""
        total = self.weight + weight
        share, place = weight / total, point - self.origin

        def mixed(old: Any, new: Any) -> Any:
            return old + share * (new - old)

        return LowerModel(
            self.origin,
            self.strong_convexity,
            total,
            float(mixed(self.constant, value - slope @ place)),
            float(mixed(self.square, place @ place)),
            mixed(self.slope, slope),
            mixed(self.mean, place),
        )

    def at(self, point: Any) -> float:
        """Give the value of the model at a point."""
        place = as_vector(point) - self.origin
        bend = place @ place - 2 * self.mean @ place + self.square
        return float(self.constant + self.slope @ place + self.strong_convexity / 2 * bend)

    def lowest(self, radius: float | None) -> float:
        """Give the least value of the model: anywhere with strong convexity, else in the ball around the start."""
        if self.strong_convexity > 0:
            return self.at(self.origin + self.mean - self.slope / self.strong_convexity) - 4 * EPS * abs(self.constant)
        size = float(np.linalg.norm(self.slope))
        if size == 0:
            return self.constant
        return -np.inf if radius is None else self.constant - radius * size
