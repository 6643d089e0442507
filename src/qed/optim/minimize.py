"""One door to every method: a function, a start, a method and a stopping rule give a `Minimum` with its proof.

``minimize`` runs the steps of a method with the one driver of qed, so that ``qed.watch`` (progress, trace, time
budget, checkpoint) and Ctrl-C work as on models, and an ending comes with its reason and advice. What it gives back
carries a certificate that is computed from the function and the point alone: a zero of the gradient is a *stationary*
point, and it is a minimum where the function is convex. Whoever wants to drive a method by hand takes its generator:
``for step in HeavyBall(0.03, 0.67).steps(f, start): ...``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import check_parameters, integer, number
from qed.base.running.drive import usual_advice, warn_if_unproven
from qed.base.running.steps import Ending, Halt, Reason, Rule, Step, noting
from qed.base.sources.layout import did_you_mean
from qed.base.visible import ShownAsText
from qed.optim.functions.derivatives import check_gradient
from qed.optim.functions.objective import Objective, as_vector
from qed.optim.solvers.method import Method
from qed.optim.solvers.task import Beginning, Minimisation, Task

METHODS = {
    "gradient": "gradient_descent.GradientDescent",
    "heavy ball": "momentum.HeavyBall",
    "nesterov": "momentum.Nesterov",
    "stochastic": "stochastic.StochasticGradient",
    "line search": "line_search.LineSearch",
    "coordinate": "coordinate.CoordinateDescent",
    "subgradient": "subgradient.Subgradient",
    "newton": "newton.Newton",
    "lbfgs": "lbfgs.LBFGS",
    "gauss-newton": "gauss_newton.GaussNewton",
    "levenberg-marquardt": "gauss_newton.LevenbergMarquardt",
    "proximal": "proximal.ProximalGradient",
    "reweighted": "reweighted.Reweighted",
}


@dataclass(frozen=True, repr=False)
class Minimum(ShownAsText):
    """Where a minimisation ended.

    Attributes
    ----------
    point : ndarray of shape (d,)
        The best point that was found.
    value : float
        The function there.
    gradient : ndarray of shape (d,)
        Its gradient there.
    start : ndarray of shape (d,)
        Where the run began.
    ending : Ending
        Why the run ended, with its trace. ``ending.last`` can be given to `minimize` as start, to go on.
    certificate : Certificate
        What holds at the point, computed from the function alone.
    method : Method
        What found it.
    """

    point: np.ndarray
    value: float
    gradient: np.ndarray = field(repr=False)
    start: np.ndarray = field(repr=False)
    ending: Ending = field(repr=False)
    certificate: Certificate = field(repr=False)
    method: Any = field(repr=False)

    def __str__(self) -> str:
        steps = "1 step" if self.ending.n_iter == 1 else f"{self.ending.n_iter} steps"
        point = np.array2string(self.point, precision=8, threshold=12, edgeitems=4, separator=", ")
        found = f"minimum {self.value:.10g} at {point}, after {steps} of {self.method}. {self.ending}"
        return f"{found}\n{self.certificate}"


def minimize(
    function: Any,
    start: Any,
    *,
    gradient: Callable[[np.ndarray], Any] | None = None,
    hessian: Callable[[np.ndarray], Any] | None = None,
    product: Callable[[np.ndarray, np.ndarray], Any] | None = None,
    method: Any = "lbfgs",
    tol: float = 1e-6,
    max_iter: int = 1000,
    stop: Rule | None = None,
    strong_convexity: float = 0.0,
    smoothness: float | None = None,
    check: bool = False,
) -> Minimum:
    """Minimise a function.

    Parameters
    ----------
    function : callable or Objective
        Takes an array of shape (d,), gives a number.
    start : array_like of shape (d,) or Step
        Where to begin; or the last step of an earlier run of the same problem (``minimum.ending.last``), to go on
        from there.
    gradient, hessian, product : callable, optional
        Its gradient and Hessian, and ``product(point, vector)``, the Hessian times a vector; by differences when missing.
    method : str or Method, default="lbfgs"
        A method, such as ``HeavyBall(step=0.03, momentum=0.67)``, or the name of one with its usual parameters.
    tol : float
        The run ends when the gradient is at most this, relative to the first one; with `strong_convexity` known, when
        the value is proven to be within this, relative, of its minimum.
    max_iter : int
        The most steps.
    stop : Rule, optional
        A whole stopping rule, in place of `tol` and `max_iter`.
    strong_convexity : float, optional
        A number m such that ``f - m/2 ||w||^2`` is convex, if one is known; 0 says nothing.
    smoothness : float, optional
        A number M such that the gradient changes by at most ``M`` times the way, if one is known.
    check : bool
        Compare the gradient with differences at the start first.

    Returns
    -------
    Minimum
        The best point, with its certificate. When that does not hold, a warning says what to change.

    Examples
    --------
    >>> from qed.optim import minimize
    >>> found = minimize(lambda w: (w[0] - 1) ** 2 + 10 * (w[1] - 2) ** 2, [0.0, 0.0], method="nesterov")
    >>> found.point.round(4), bool(found.certificate)
    (array([1., 2.]), True)
    """
    objective = _objective(function, gradient, hessian, product, strong_convexity, smoothness)
    method = as_method(method)
    rule = _rule(objective, tol, max_iter, stop)
    begun, first = _beginning(objective, start)
    if check:
        _check(objective, begun)
    value = objective.value(begun)
    if not np.isfinite(value):
        raise InputError(f"The function is {value} at the start {begun}: begin where it is finite.")
    run = Minimisation(method, rule)
    run._run(Descent(objective, method, begun, value), first)
    certificate, point = run.certificate_, run.ending_.step.point
    ending = _advised(objective, method, run.ending_, certificate)
    go_on = "give minimum.ending.last as start to go on from here."
    advice = usual_advice(ending, rule.max_iter, go_on, "A shorter step, or another method, may help.")
    warn_if_unproven(type(method).__name__, certificate, ending, advice)
    return Minimum(point, objective.value(point), objective.gradient(point), begun, ending, certificate, method)


def as_method(method: Any) -> Any:
    """Give a method itself, or the one that a name in `METHODS` stands for, with its usual parameters.

    >>> as_method("nesterov")
    Nesterov(step=None, momentum=None)
    """
    if not isinstance(method, str):
        if isinstance(method, type) or not hasattr(method, "steps"):
            raise ParameterError(
                f"method must be a name or a method, such as GradientDescent(step=0.1), not {method!r}."
            )
        return method
    if method not in METHODS:
        raise ParameterError(f"There is no method called {method!r}. {did_you_mean(method, METHODS)}")
    file, name = METHODS[method].split(".")
    return getattr(import_module(f"qed.optim.solvers.{file}"), name)()


class Descent(Task):
    """A function to be minimised by a method, from a start."""

    def __init__(self, objective: Objective, method: Method, start: np.ndarray, value: float) -> None:
        super().__init__(Beginning(start, value))
        self.objective, self.method, self.start = objective, method, start

    def steps(self, start: Step | None) -> Generator[Step, None, Halt]:
        """Give the steps of the method, each with the point where the run began, so that it can be taken up by itself."""
        steps = self.method.steps(self.objective, self.start, start)
        return noting(steps, lambda step: step.state.setdefault("origin", self.start))

    def prove(self, step: Step, tol: float) -> list[Claim]:
        return list(self.method.prove(self.objective, self.start, step, tol))


def _objective(function: Any, gradient: Any, hessian: Any, product: Any, convexity: float, smooth: Any) -> Objective:
    if not isinstance(function, Objective):
        return Objective(function, gradient, hessian, product, strong_convexity=convexity, smoothness=smooth)
    if (gradient, hessian, product, smooth) != (None, None, None, None) or convexity != 0:
        raise ParameterError(
            "An Objective brings its derivatives and constants along: give them to it, not to minimize."
        )
    return function


def _rule(objective: Objective, tol: float, max_iter: int, stop: Rule | None) -> Rule:
    # A gradient goes on shrinking for a while after the value has come to rest.
    patience = 100 if objective.knows("gradient") else 10
    rule = Rule(tol=tol, max_iter=max_iter, patience=patience) if stop is None else stop
    if not isinstance(rule, Rule):
        raise ParameterError(f"stop must be a Rule, such as Rule(tol=1e-8, seconds=10), not {stop!r}.")
    check_parameters(rule, {"tol": number(0), "max_iter": integer(1)})
    return rule


def _beginning(objective: Objective, start: Any) -> tuple[np.ndarray, Step | None]:
    """Give the point where the run began, and the step to go on from, if there is one."""
    if isinstance(start, Step):
        if "origin" not in start.state:
            raise InputError("This step is not of minimize: give a point, or the last step of a Minimum's ending.")
        return start.origin, start
    point = as_vector(start).copy()
    if not np.isfinite(point).all():
        raise InputError(
            f"The start must be finite; entry {int(np.flatnonzero(~np.isfinite(point))[0])} is not: {point}."
        )
    return point, None


def _check(objective: Objective, point: np.ndarray) -> None:
    claim = check_gradient(objective.value, objective.gradient, point)
    if not claim.holds:
        raise InputError(
            f"The gradient contradicts the function at {point}: its relative distance to the differences of the function is "
            f"{claim.value:.1e}, at most {claim.bound:.1e} is allowed. The gradient is {objective.gradient(point)}, the "
            f"differences give {Objective(objective.value).gradient(point)}."
        )


def _advised(objective: Objective, method: Method, ending: Ending, certificate: Certificate) -> Ending:
    """Add what the method itself has to say about an ending without a proof."""
    if certificate or ending.reason is Reason.INTERRUPTED or ending.advice or not hasattr(method, "advice"):
        return ending
    return replace(ending, advice=method.advice(objective, ending))
