r"""Newton's method for a root of a system of equations, :math:`F(w) = 0` with :math:`F: \mathbb{R}^d \to \mathbb{R}^d`.

Replace the function by its tangent at :math:`w`, and go to the root of that:

.. math:: F(w) + J(w)\,\Delta = 0, \qquad w \leftarrow w + \Delta.

Near a simple root the number of right digits doubles with every step; far from one the step may lead anywhere, so a
damped step is halved until :math:`\|F\|` falls. On :math:`F = \nabla f` this is Newton's method of minimisation, which
finds whatever kind of critical point is near. The proof of a root is a short step from a place around which the Newton
map contracts: where :math:`\|I - J(w)^{-1} J(u)\| \le q < 1` for all :math:`u` within :math:`\|\Delta\| / (1 - q)` of
:math:`w`, Banach's theorem puts exactly one root among these :math:`u`; the certificate looks at a sample of them. The
cost of a step is :math:`O(d^3)` and a Jacobian, which is :math:`2d` evaluations when it is found by differences.

Deuflhard (2011), Newton Methods for Nonlinear Problems, chapter 2.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.base.random import generator
from qed.base.running.drive import usual_advice, warn_if_unproven
from qed.base.running.steps import Ending, Halt, Reason, Rule, Step
from qed.base.saving.known import savable
from qed.optim.functions import derivatives
from qed.optim.solvers.task import Beginning, Minimisation, Task

NEIGHBOURS = 8
CONTRACTION = 0.5

System = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Root:
    """Where a search for a root ended.

    Attributes
    ----------
    point : float or ndarray of shape (d,)
        The best point found; a number when the start was one.
    residual : float
        The length of the function there.
    ending : Ending
        Why the search ended, with its trace.
    certificate : Certificate
        What holds at the point, computed from the function alone.
    """

    point: Any
    residual: float
    ending: Ending = field(repr=False)
    certificate: Certificate = field(repr=False)


@savable
@dataclass(frozen=True)
class RootNewton:
    """The steps of Newton's method for a root.

    Parameters
    ----------
    damped : bool
        Halve each step until the function gets shorter.
    scale : float
        The size of change that matters where the point is near zero.

    Examples
    --------
    >>> from itertools import islice
    >>> steps = RootNewton(damped=False).steps(lambda w: w**2 - 2, lambda w: np.diag(2 * w), np.array([1.0]))
    >>> [float(step.point[0].round(6)) for step in islice(steps, 4)]
    [1.0, 1.5, 1.416667, 1.414216]
    """

    damped: bool = True
    scale: float = 1.0

    def steps(
        self, function: System, jacobian: System, point: np.ndarray, start: Step | None = None
    ) -> Generator[Step, None, Halt]:
        """Yield step after step; the objective is the length of the function, the gap the next step relative to the point."""
        if start is None:
            start = self._at(function, jacobian, point)
            yield start
        step = start
        while np.isfinite(step.move).all():
            moved = self._moved(function, step)
            if moved is None:
                return Halt(
                    Reason.STALLED, "No step along the Newton direction makes |F| smaller.", "Try another start."
                )
            step = self._at(function, jacobian, moved)
            yield step
        return Halt(Reason.DEGENERATE, f"The Jacobian is singular at {step.point}.", "Try another start.")

    def _at(self, function: System, jacobian: System, point: np.ndarray) -> Step:
        value = function(point)
        move = np.full(len(point), np.nan)
        if not value.any():
            move = np.zeros(len(point))
        elif np.isfinite(value).all():
            move = newton_move(jacobian(point), value)
        gap = float(np.linalg.norm(move)) / max(self.scale, float(np.linalg.norm(point)))
        return Step(float(np.linalg.norm(value)), gap if np.isfinite(gap) else np.inf, point=point, move=move)

    def _moved(self, function: System, step: Step) -> np.ndarray | None:
        if not self.damped:
            return step.point + step.move
        for halvings in range(60):
            share = 0.5**halvings
            moved = step.point + share * step.move
            if np.linalg.norm(function(moved)) <= (1 - 1e-4 * share) * step.objective:
                return moved
        return None


def find_root(
    function: Callable[[Any], Any],
    start: Any,
    jacobian: Callable[[Any], Any] | None = None,
    *,
    damped: bool = True,
    scale: float = 1.0,
    tol: float = 1e-10,
    max_iter: int = 100,
) -> Root:
    """Find a root of an equation, or of d equations for d unknowns.

    Parameters
    ----------
    function : callable
        Takes a number and gives one, when `start` is a number; else takes and gives arrays of shape (d,).
    start : float or array_like of shape (d,)
        Where to begin: the root found depends on it.
    jacobian : callable, optional
        The function's derivative, a number or an array of shape (d, d); by differences when missing.
    damped : bool
        Halve each step until the function gets shorter. False is the pure method.
    scale : float
        The size of change that matters where the root is near zero.
    tol : float
        The search ends when the next step is this short, relative to the point or to `scale`, if that is more.
    max_iter : int
        The most steps.

    Returns
    -------
    Root
        The root, with its certificate. When that does not hold, a warning says why.

    Examples
    --------
    >>> root = find_root(lambda w: w**2 - 2, 1.0)
    >>> round(root.point, 9), bool(root.certificate)
    (1.414213562, True)
    >>> circle_and_line = lambda w: np.array([w @ w - 25, w[0] - w[1] + 1])
    >>> find_root(circle_and_line, [1.0, 1.0]).point.round(10)
    array([3., 4.])
    """
    point = derivatives.as_point(start)
    value, slope = _system(function, jacobian, np.ndim(start) == 0, scale)
    if value(point).shape != point.shape or not np.isfinite(value(point)).all():
        raise InputError(
            f"The function must give {len(point)} finite numbers at the start {start!r}, as many as there are unknowns; "
            f"it gave {function(start)!r}."
        )
    method, rule = RootNewton(damped, scale), Rule(tol=tol, max_iter=max_iter)
    run = Minimisation(method, rule)
    run._run(Equations(value, slope, method, point))
    ending, certificate, found = run.ending_, run.certificate_, run.step_.point
    if ending.reason is Reason.CERTIFIED and not certificate:
        ending = replace(
            ending, reason=Reason.DEGENERATE, because="There is no simple root here: a multiple one, or none."
        )
    advice = usual_advice(ending, max_iter, "begin at root.point.", "Try another start.")
    warn_if_unproven("find_root", certificate, ending, advice)
    where = float(found[0]) if np.ndim(start) == 0 else found
    return Root(where, float(np.linalg.norm(value(found))), ending, certificate)


class Equations(Task):
    """A system of equations, with its derivatives, and where to begin."""

    def __init__(self, value: System, slope: System, method: RootNewton, start: np.ndarray) -> None:
        super().__init__(Beginning(start, float(np.linalg.norm(value(start)))))
        self.value, self.slope, self.method, self.start = value, slope, method, start

    def steps(self, start: Step | None) -> Iterator[Step]:
        return self.method.steps(self.value, self.slope, self.start, start)

    def prove(self, step: Step, tol: float) -> list[Claim]:
        return root_claims(self.value, self.slope, step.point, tol, self.method.scale)


def root_claims(function: System, jacobian: System, point: np.ndarray, tol: float, scale: float = 1.0) -> list[Claim]:
    """Claim that there is a root at a point: the function is short there, so is the Newton step, and the Newton map contracts."""
    slope, value = jacobian(point), function(point)
    size = max(scale, float(np.linalg.norm(point)))
    move = newton_move(slope, value) if value.any() else np.zeros(len(point))
    length, steepness = float(np.linalg.norm(value)), float(np.linalg.norm(slope)) * size
    residual = length / steepness if steepness > length else float(length > 0)
    reach = max(2 * float(np.linalg.norm(move)), derivatives.STEPS["forward"] * size)
    rays = generator(0, "root").standard_normal((NEIGHBOURS, len(point)))
    rays *= reach / np.linalg.norm(rays, axis=1, keepdims=True)
    changes = [newton_move(slope, slope - jacobian(point + ray)) for ray in rays] if np.isfinite(move).all() else []
    contraction = max((float(np.linalg.norm(change, 2)) for change in changes), default=np.inf)
    return [
        Claim("|F|, relative to |J| |w|", residual, tol),
        Claim("distance to the root, by the Newton step (relative)", float(np.linalg.norm(move)) / size, tol),
        Claim("contraction of the Newton map around the root", contraction, CONTRACTION),
    ]


def newton_move(jacobian: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Solve ``jacobian @ move = -value``; NaN where the matrix is singular.

    >>> newton_move(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 2.0]))
    array([-1. , -0.5])
    """
    try:
        return np.linalg.solve(jacobian, -value)
    except np.linalg.LinAlgError:
        return np.full(value.shape, np.nan)


def _system(function: Callable[[Any], Any], jacobian: Any, scalar: bool, scale: float) -> tuple[System, System]:
    """Give the function and its derivative as functions of arrays of shape (d,)."""

    def value(point: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return np.atleast_1d(np.asarray(function(float(point[0]) if scalar else point.copy()), dtype=np.float64))

    def slope(point: np.ndarray) -> np.ndarray:
        if jacobian is None:
            return derivatives.jacobian(value, point, "central", scale)
        found = np.asarray(jacobian(float(point[0]) if scalar else point.copy()), dtype=np.float64)
        if found.size != len(point) ** 2:
            raise InputError(f"The jacobian must be of shape {2 * point.shape}; it is of shape {found.shape}.")
        return found.reshape(2 * point.shape)

    return value, slope
