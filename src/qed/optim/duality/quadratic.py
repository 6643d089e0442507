r"""A small convex quadratic program, solved with proof: a primal-dual interior-point method.

.. math:: \min_x \tfrac12 x^\top P x + q^\top x \quad\text{s.t.}\quad G x + s = h,\ s \ge 0,\ A x = b.

Newton's method is applied to the conditions of optimality with the products :math:`s_i \lambda_i` asked to be equal to a common number
that falls to zero, and each step is cut short before a slack or a multiplier turns negative. A first, greedy direction tells how far
that number may fall at once and corrects the second-order error (Mehrotra, 1992). A step costs :math:`O((m + d) d^2)`; ten to thirty
are needed whatever the size. Problems without a solution are told by two further ones that always have one: the least relaxation that
makes the constraints feasible, whose multipliers are Farkas' proof if it is positive, and the steepest flat direction that no
constraint forbids.

Nocedal and Wright (2006), Numerical Optimization, section 16.6.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgWarning, lu_factor, lu_solve

from qed.base.certificate import Certificate, Claim
from qed.base.models.parameters import integer, number
from qed.base.numbers import ratio
from qed.base.running.drive import usual_advice, warn_if_unproven
from qed.base.running.steps import Ending, Halt, Reason, Rule, Step
from qed.base.saving.known import savable
from qed.base.threads.blas import fitting
from qed.optim.duality.program import Program
from qed.optim.solvers.task import Beginning, Minimisation, Task

FARTHEST = 1e100


@dataclass(frozen=True)
class QuadraticMinimum:
    """Where a quadratic program ended.

    Attributes
    ----------
    status : {"optimal", "infeasible", "unbounded", "unknown"}
        What was proven.
    point : ndarray of shape (d,)
        The minimum; for an unbounded problem a feasible point, for an infeasible one the last that was looked at.
    value : float
        The objective there; infinity where nothing is feasible, minus infinity where there is no minimum.
    dual_value : float
        The lower bound that the multipliers give.
    multipliers : ndarray of shape (m,)
        Those of the inequalities: at the minimum, or of Farkas' proof that nothing is feasible.
    equality_multipliers : ndarray of shape (k,)
        Those of the equalities.
    direction : ndarray of shape (d,) or None
        For an unbounded problem, a direction along which the objective falls for ever.
    ending : Ending
        Why the steps ended, with their trace.
    certificate : Certificate
        The proof of the status.
    """

    status: str
    point: np.ndarray
    value: float
    dual_value: float
    multipliers: np.ndarray = field(repr=False)
    equality_multipliers: np.ndarray = field(repr=False)
    direction: np.ndarray | None = field(repr=False)
    ending: Ending = field(repr=False)
    certificate: Certificate = field(repr=False)


def solve_qp(
    P: ArrayLike | None,
    q: ArrayLike,
    G: ArrayLike | None = None,
    h: ArrayLike | None = None,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
) -> QuadraticMinimum:
    """Minimise ``x'Px/2 + q'x`` where ``Gx <= h`` and ``Ax = b``.

    Parameters
    ----------
    P : array_like of shape (d, d) or None
        The curvature, symmetric and positive semidefinite; None for a linear program.
    q : array_like of shape (d,)
        The slope at zero.
    G, h : array_like of shape (m, d) and (m,), optional
        The inequalities.
    A, b : array_like of shape (k, d) and (k,), optional
        The equalities.
    tol : float
        What is claimed is true up to this, relative to the sizes of what is added up.
    max_iter : int
        The most steps.

    Returns
    -------
    QuadraticMinimum
        The minimum with its multipliers, or the proof that there is none.

    Examples
    --------
    >>> nearest = solve_qp(np.eye(2), np.zeros(2), G=[[-1.0, 0.0]], h=[-1.0])
    >>> nearest.status, nearest.point.round(6) + 0, nearest.multipliers.round(6), bool(nearest.certificate)
    ('optimal', array([1., 0.]), array([1.]), True)
    >>> nothing = solve_qp(None, [0.0], G=[[1.0], [-1.0]], h=[0.0, -1.0])
    >>> nothing.status, nothing.multipliers.round(6)
    ('infeasible', array([0.5, 0.5]))
    """
    number(0).checked("tol", tol), integer(1).checked("max_iter", max_iter)
    program = Program.of(P, q, G, h, A, b)
    found = _run(program, Rule(tol=tol / 4, max_iter=max_iter, patience=8))
    if not found.certificate:
        found = _without_minimum(program, found, tol, max_iter) or found
    else:
        # The steps may have stalled at the last digit, with a proof all the same.
        found = replace(found, status="optimal", ending=replace(found.ending, reason=Reason.CERTIFIED))
    advice = usual_advice(
        found.ending, max_iter, "allow more steps.", "Scale the variables and constraints to similar sizes."
    )
    warn_if_unproven("solve_qp", found.certificate, found.ending, advice)
    return found


@savable
@dataclass(frozen=True)
class InteriorPoint:
    """The steps of the interior-point method."""

    def steps(self, program: Program, start: Step | None = None) -> Generator[Step, None, Halt]:
        """Yield step after step, from a point inside or from an earlier step."""
        x, s, above, equal = self._inside(program) if start is None else (start.x, start.s, start.above, start.equal)
        while True:
            if start is None:
                yield _step(program, x, s, above, equal)
            start = None
            moved = _newton(program, x, s, above, equal)
            if moved is None or np.abs(moved[0]).max(initial=0.0) > FARTHEST:
                return Halt(Reason.STALLED, "The next step leads out of what floating point can tell.")
            x, s, above, equal = moved

    def _inside(self, program: Program) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Begin where the constraints are met in the mean, with slacks and multipliers that are positive and of like size."""
        m, k = len(program.h), len(program.b)
        x, above, _ = _kkt_solve(program, np.ones(m), -program.q, program.b, program.h)
        x = np.zeros_like(program.q) if not np.isfinite(x).all() else x
        s = program.h - program.G @ x
        size = max(1e-3, float(np.abs(s).max(initial=0.0)), float(np.abs(above).max(initial=0.0)))
        push = 1.0 * size if m else 0.0
        s = np.where(s > 0.1 * push, s, push)
        return x, s, np.full(m, max(1e-8, float(np.abs(above).max(initial=0.0)) or 1.0)), np.zeros(k)


class _Quadratic(Task):
    """A quadratic program as a task of the driver."""

    def __init__(self, program: Program) -> None:
        super().__init__(
            Beginning(program.q, float(sum(np.abs(part).sum() for part in (program.P, program.G, program.h))))
        )
        self.program = program

    def steps(self, start: Step | None) -> Generator[Step, None, Halt]:
        return InteriorPoint().steps(self.program, start)

    def prove(self, step: Step, tol: float) -> list[Claim]:
        return self.program.claims(step.x, step.above, step.equal, 4 * tol)


def _run(program: Program, rule: Rule) -> QuadraticMinimum:
    """Solve a program in units in which its rows have length one, and take the answer back."""
    kept, names = _independent(program)
    run = Minimisation(InteriorPoint(), rule)
    with fitting(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", LinAlgWarning)
        run._run(_Quadratic(kept))
        step = _settled(kept, run.ending_.step)
    x, above, equal = step.x, step.above / kept.scale, names @ step.equal
    certificate = Certificate(program.claims(x, above, equal, 4 * rule.tol))
    value, bound = program.value(x), program.bound(x, above, equal)
    return QuadraticMinimum("unknown", x, value, bound, above, equal, None, run.ending_, certificate)


@dataclass(frozen=True)
class _Scaled(Program):
    scale: np.ndarray = field(default_factory=lambda: np.zeros(0))


def _independent(program: Program) -> tuple[_Scaled, np.ndarray]:
    """Give the program with inequalities of length one and equalities that are independent; and what takes their multipliers back."""
    lengths = np.linalg.norm(program.G, axis=1)
    scale = np.where(lengths > 0, lengths, 1.0)
    A, b, back = program.A, program.b, np.eye(len(program.b))
    if len(b):
        U, sizes, V = np.linalg.svd(A, full_matrices=False)
        rank = int((sizes > 1e-12 * sizes.max(initial=0.0)).sum())
        U, sizes, V = U[:, :rank], sizes[:rank], V[:rank]
        A, b, back = V, (U.T @ b) / sizes, U / sizes
    G, h = program.G / scale[:, None], program.h / scale
    return _Scaled(program.P, program.q, G, h, A, b, program.dip, scale), back


def _step(program: Program, x: np.ndarray, s: np.ndarray, above: np.ndarray, equal: np.ndarray) -> Step:
    claims = program.claims(x, above, equal, 0.0)
    gap = max(0.0, *(claim.value - claim.bound for claim in claims))
    # On the way constraints are not kept yet, so the objective says little: the best step is the one that is nearest to a proof.
    return Step(gap, gap, x=x, s=s, above=above, equal=equal)


def _newton(
    program: Program, x: np.ndarray, s: np.ndarray, above: np.ndarray, equal: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """Make one predictor-corrector step."""
    slope = -program.slope(x, above, equal)[0]
    off, slack = program.b - program.A @ x, program.h - program.G @ x - s
    m = len(s)

    def direction(target: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        dx, rise, de = _kkt_solve(program, above / s, slope, off, slack - target / np.where(above > 0, above, 1.0))
        ds = slack - program.G @ dx
        return dx, ds, rise, de

    dx, ds, da, de = direction(-s * above)
    if m:
        mean = float(s @ above) / m
        first, second = _room(s, ds), _room(above, da)
        ahead = float((s + first * ds) @ (above + second * da)) / m
        centre = (ahead / mean) ** 3 if mean > 0 else 0.0
        dx, ds, da, de = direction(centre * mean - s * above - ds * da)
    if not all(np.isfinite(part).all() for part in (dx, ds, da, de)):
        return None
    length = 0.995 * min(_room(s, ds, 1 / 0.995), _room(above, da, 1 / 0.995)) if m else 1.0
    tiny = np.finfo(np.float64).tiny
    return (
        x + length * dx,
        np.maximum(s + length * ds, tiny),
        np.maximum(above + length * da, tiny),
        equal + length * de,
    )


def _kkt_solve(
    program: Program, weight: np.ndarray, slope: np.ndarray, off: np.ndarray, slack: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Solve ``P dx + G' da + A' de = slope``, ``A dx = off`` and ``G dx - da / weight = slack``.

    The inequalities are eliminated, which costs digits where weights are large; two rounds of refinement on all equations bring them back.
    """
    P, G, A, d, k = program.P, program.G, program.A, len(program.q), len(program.b)
    H = P + G.T @ (weight[:, None] * G)
    # Sizes differ by many orders near the solution: in units in which the diagonal is one they do no harm.
    unit = 1 / np.sqrt(np.concatenate([np.where(np.diag(H) > 0, np.diag(H), 1.0), np.ones(k)]))
    K = unit[:, None] * np.block([[H, A.T], [A, np.zeros((k, k))]]) * unit
    dx, da, de = np.zeros(d), np.zeros(len(weight)), np.zeros(k)
    try:
        factor = lu_factor(K + np.diag(np.append(np.full(d, 1e-15), np.zeros(k))))
        for _ in range(3):
            missing = slack - G @ dx + da / weight
            right = np.concatenate([slope - P @ dx - G.T @ (da - weight * missing) - A.T @ de, off - A @ dx])
            more = unit * lu_solve(factor, unit * right)
            dx, de, da = dx + more[:d], de + more[d:], da + weight * (G @ more[:d] - missing)
    except (np.linalg.LinAlgError, ValueError):
        dx, da, de = (np.full(len(part), np.nan) for part in (dx, da, de))
    return dx, da, de


def _settled(program: Program, step: Step) -> Step:
    """Solve with the inequalities that look tight, whose multipliers outweigh their slacks, as equalities: exact where they are."""
    tight = step.above > step.s
    rows, d = np.vstack([program.G[tight], program.A]), len(program.q)
    K = np.block([[program.P, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
    right = np.concatenate([-program.q, program.h[tight], program.b])
    try:
        found = np.linalg.lstsq(K, right, rcond=None)[0]
        found += np.linalg.lstsq(K, right - K @ found, rcond=None)[0]
    except np.linalg.LinAlgError:
        return step
    above, size = np.zeros(len(program.h)), int(tight.sum())
    above[tight] = np.maximum(found[d : d + size], 0.0)
    tried = _step(program, found[:d], step.s, above, found[d + size :])
    return tried if tried.objective <= step.objective else step


def _room(values: np.ndarray, change: np.ndarray, most: float = 1.0) -> float:
    """Say how far one can go before a value turns negative."""
    falling = change < 0
    return min(most, float((-values[falling] / change[falling]).min(initial=np.inf)))


def _without_minimum(program: Program, last: QuadraticMinimum, tol: float, max_iter: int) -> QuadraticMinimum | None:
    """Prove that nothing is feasible, or that the objective falls for ever; None where neither is the case."""
    rule, d = Rule(tol=tol / 4, max_iter=max_iter, patience=8), len(program.q)
    above, equal, inside = _farkas(program, rule)
    claims = Certificate(program.infeasible_claims(above, equal, max(tol, 1e-6)))
    if claims:
        ending = replace(
            last.ending, reason=Reason.DEGENERATE, because="No point keeps all constraints.", advice="Relax them."
        )
        return replace(
            last, status="infeasible", value=np.inf, dual_value=np.inf, multipliers=above, equality_multipliers=equal,
            ending=ending, certificate=claims,
        )  # fmt: skip
    flat = np.linalg.eigh(program.P)
    basis = flat[1][:, flat[0] <= 1e-10 * max(float(flat[0].max(initial=0.0)), 1e-300)]
    if not basis.shape[1]:
        return None
    free = np.eye(d) @ basis
    box = np.vstack([program.G @ basis, free, -free])
    inner = Program.of(
        None, basis.T @ program.q, box, np.r_[np.zeros(len(program.h)), np.ones(2 * d)], *_or_none(program.A @ basis)
    )
    direction = basis @ _run(inner, rule).point
    kept = program.claims(inside, np.zeros(len(program.h)), np.zeros(len(program.b)), tol)[:2]
    proof = Certificate([*kept, *program.unbounded_claims(direction, max(tol, 1e-6))])
    if not proof:
        return None
    ending = replace(
        last.ending, reason=Reason.DEGENERATE, because="The objective falls for ever.", advice="Add constraints."
    )
    found = replace(last, point=inside, direction=direction, ending=ending, certificate=proof)
    return replace(found, status="unbounded", value=-np.inf, dual_value=-np.inf)


def _or_none(A: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    return (A, np.zeros(len(A))) if len(A) else (None, None)


def _farkas(program: Program, rule: Rule) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give the multipliers that come nearest to a proof that nothing is feasible, and the point that comes nearest to being so."""
    m, d = program.G.shape
    near = np.linalg.lstsq(program.A, program.b, rcond=None)[0] if len(program.b) else np.zeros(d)
    missed = program.b - program.A @ near
    if ratio(float(np.abs(missed).max(initial=0.0)), float(np.abs(program.b).max(initial=0.0))) > 1e-9:
        return np.zeros(m), -missed, near
    if not m:
        return np.zeros(0), np.zeros(len(program.b)), near
    size = np.linalg.norm(program.G, axis=1)
    size = np.where(size > 0, size, 1.0)
    relaxed = np.vstack([np.hstack([program.G / size[:, None], -np.ones((m, 1))]), np.append(np.zeros(d), -1.0)])
    least = max(1.0, float(np.abs(program.h / size).max()))
    A, b = (np.hstack([program.A, np.zeros((len(program.b), 1))]), program.b) if len(program.b) else (None, None)
    found = _run(Program.of(None, np.append(np.zeros(d), 1.0), relaxed, np.append(program.h / size, least), A, b), rule)
    above = found.multipliers[:m] / size
    total = float(above.sum()) or 1.0
    return above / total, found.equality_multipliers / total, found.point[:d]
