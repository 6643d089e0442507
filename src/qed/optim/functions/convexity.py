r"""Is a function convex, strongly convex, smooth? Tests that find counterexamples.

A function is :math:`m`-strongly convex (convex, for :math:`m = 0`) when, for all :math:`u`, :math:`v` and
:math:`0 \le t \le 1`,

.. math::
    f(tu + (1-t)v) &\le t f(u) + (1-t) f(v) - \tfrac m2 t(1-t) \|v - u\|^2 && \text{(chord)} \\
    f(v) &\ge f(u) + \nabla f(u)^\top (v - u) + \tfrac m2 \|v - u\|^2 && \text{(tangent)} \\
    (\nabla f(v) - \nabla f(u))^\top (v - u) &\ge m \|v - u\|^2 && \text{(monotone gradient)} \\
    \nabla^2 f(u) &\succeq m I && \text{(Hessian)}

and these are equivalent. A function is :math:`M`-smooth when :math:`\|\nabla f(v) - \nabla f(u)\| \le M \|v - u\|`;
then :math:`-f` passes the four tests with :math:`-M` in the place of :math:`m`, and where :math:`f` is convex, that is
enough. So one set of tests serves all. Points are drawn from a box, and a violation found is a proof that the function
is not what it was held for, with its witness. *No violation proves nothing*: a sample refutes, it never proves. The
cost is a few evaluations per sample.

Boyd and Vandenberghe (2004), Convex Optimization, sections 3.1 and 9.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import ParameterError
from qed.base.visible import ShownAsText
from qed.optim.functions.derivatives import Function
from qed.optim.functions.sampled import Sampled, draw_pairs

TESTS = ("chord", "tangent", "monotone gradient", "Hessian")


@dataclass(frozen=True)
class Witness:
    """A counterexample.

    Attributes
    ----------
    test : str
        What it violates.
    first, second : ndarray of shape (d,)
        The points u and v; for the Hessian, v is u plus the direction in which it bends wrongly.
    t : float
        Where on the line between them, for the chord.
    violation : float
        By how much the inequality fails.
    """

    test: str
    first: np.ndarray
    second: np.ndarray
    t: float
    violation: float


@dataclass(frozen=True, repr=False)
class Findings(ShownAsText):
    """What a sample said about a property of a function. True when it found no violation, which is no proof.

    Attributes
    ----------
    held_for : str
        What the function was held for.
    certificate : Certificate
        A claim per test: the worst violation, relative to the terms of the inequality.
    witnesses : dict of str to Witness
        The worst counterexample of every test that found one.
    n_samples : int
        How many pairs of points were tried.
    """

    held_for: str
    certificate: Certificate
    witnesses: dict[str, Witness]
    n_samples: int

    def __bool__(self) -> bool:
        return not self.witnesses

    @property
    def verdict(self) -> str:
        if self:
            return f"No violation in {self.n_samples} samples: not refuted, and not proven, to be {self.held_for}."
        return f"Refuted: the function is not {self.held_for}."

    def __str__(self) -> str:
        table = str(self.certificate).rsplit("\n", 1)[0]
        return f"{table}\n{self.verdict}"


def check_convexity(
    function: Function,
    low: Any,
    high: Any,
    *,
    gradient: Function | None = None,
    hessian: Function | None = None,
    elementwise: bool = False,
    tests: Sequence[str] = TESTS,
    n_samples: int = 500,
    tol: float = 1e-9,
    random_state: Any = 0,
) -> Findings:
    """Look for a violation of convexity.

    Parameters
    ----------
    function : callable
        Takes an array of shape (d,), gives a number.
    low, high : float or array_like of shape (d,)
        The box from which points are drawn; infinite sides are explored up to a distance of a million.
    gradient, hessian : callable, optional
        The function's derivatives; found by differences where they are missing.
    elementwise : bool
        Test convexity in each coordinate with the others held fixed, which is less than convexity in all of them together.
    tests : sequence of {"chord", "tangent", "monotone gradient", "Hessian"}
        Which tests to make: only the chord makes sense for a function with kinks.
    n_samples : int
        How many pairs of points to try.
    tol : float
        Violations smaller than this, relative to the terms of the inequality, are put down to rounding.
    random_state : None, int or Generator
        Draws the points.

    Examples
    --------
    >>> print(check_convexity(lambda w: w @ w, [-1, -1], [1, 1]).verdict)
    No violation in 500 samples: not refuted, and not proven, to be convex.
    >>> saddle = lambda w: w[0] ** 2 + w[1] ** 2 - 4 * w[0] * w[1]
    >>> bool(check_convexity(saddle, [-1, -1], [1, 1], elementwise=True))
    True
    >>> found = check_convexity(saddle, [-1, -1], [1, 1])
    >>> found.verdict, sorted(found.witnesses)
    ('Refuted: the function is not convex.', ['Hessian', 'chord', 'monotone gradient', 'tangent'])
    """
    pairs = draw_pairs(low, high, n_samples, random_state, elementwise)
    sample = Sampled(*pairs, function, gradient, hessian, elementwise)
    return _found("convex in each coordinate" if elementwise else "convex", sample, _excesses(sample, 0.0, tests), tol)


def check_strong_convexity(
    function: Function,
    constant: float,
    low: Any,
    high: Any,
    *,
    gradient: Function | None = None,
    hessian: Function | None = None,
    tests: Sequence[str] = ("chord", "convex remainder", *TESTS[1:]),
    n_samples: int = 500,
    tol: float = 1e-9,
    random_state: Any = 0,
) -> Findings:
    r"""Look for a violation of strong convexity with the constant m.

    To the four tests of convexity comes that the remainder :math:`f(w) - \tfrac m2 \|w\|^2` is convex.

    Parameters
    ----------
    constant : float
        The constant m.
    function : callable
        Takes an array of shape (d,), gives a number.
    low, high : float or array_like of shape (d,)
        The box from which points are drawn; infinite sides are explored up to a distance of a million.
    gradient, hessian : callable, optional
        The function's derivatives; found by differences where they are missing.
    tests : sequence of {"chord", "tangent", "monotone gradient", "Hessian"}
        Which tests to make: only the chord makes sense for a function with kinks.
    n_samples : int
        How many pairs of points to try.
    tol : float
        Violations smaller than this, relative to the terms of the inequality, are put down to rounding.
    random_state : None, int or Generator
        Draws the points.

    Examples
    --------
    >>> hyperbola = lambda w: np.sqrt(w[0] ** 2 + 1)
    >>> (
    ...     bool(check_convexity(hyperbola, -np.inf, np.inf)),
    ...     bool(check_strong_convexity(hyperbola, 1e-3, -np.inf, np.inf)),
    ... )
    (True, False)
    """
    sample = Sampled(*draw_pairs(low, high, n_samples, random_state), function, gradient, hessian)
    return _found(f"{constant:g}-strongly convex", sample, _excesses(sample, constant, tests), tol)


def check_smoothness(
    function: Function,
    constant: float,
    low: Any,
    high: Any,
    *,
    gradient: Function | None = None,
    hessian: Function | None = None,
    tests: Sequence[str] = ("Lipschitz gradient", *TESTS),
    n_samples: int = 500,
    tol: float = 1e-9,
    random_state: Any = 0,
) -> Findings:
    """Look for a violation of smoothness with the constant M.

    The Lipschitz test is the definition. The other four follow from it, and imply it only where the function is convex.

    Parameters
    ----------
    constant : float
        The constant M.
    function : callable
        Takes an array of shape (d,), gives a number.
    low, high : float or array_like of shape (d,)
        The box from which points are drawn; infinite sides are explored up to a distance of a million.
    gradient, hessian : callable, optional
        The function's derivatives; found by differences where they are missing.
    tests : sequence of {"chord", "tangent", "monotone gradient", "Hessian"}
        Which tests to make: only the chord makes sense for a function with kinks.
    n_samples : int
        How many pairs of points to try.
    tol : float
        Violations smaller than this, relative to the terms of the inequality, are put down to rounding.
    random_state : None, int or Generator
        Draws the points.

    Examples
    --------
    >>> found = check_smoothness(lambda w: -5 * w @ w, 1.0, -1, 1)
    >>> list(found.witnesses)
    ['Lipschitz gradient']
    """
    sample = Sampled(*draw_pairs(low, high, n_samples, random_state), function, gradient, hessian)
    return _found(f"{constant:g}-smooth", sample, _excesses(sample, constant, tests, sign=-1.0), tol)


def _excesses(
    sample: Sampled, constant: float, tests: Sequence[str], sign: float = 1.0
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Give for each test by how much every pair fails it, and the size of the terms; `sign` -1 tests -f with -constant."""
    known = {
        "chord": _chord,
        "convex remainder": _remainder,
        "tangent": _tangent,
        "monotone gradient": _monotone,
        "Hessian": _hessian,
        "Lipschitz gradient": _lipschitz,
    }
    for name in tests:
        if name not in known:
            raise ParameterError(f"tests must be some of {', '.join(map(repr, known))}, not {name!r}.")
    return {name: known[name](sample, sign, sign * constant) for name in tests}


def _chord(s: Sampled, sign: float, m: float) -> tuple[np.ndarray, np.ndarray]:
    terms = s.f_between, s.t * s.f_u, (1 - s.t) * s.f_v, m / 2 * s.t * (1 - s.t) * s.distance**2
    return sign * (terms[0] - terms[1] - terms[2]) + terms[3], sum(map(np.abs, terms))


def _remainder(s: Sampled, sign: float, m: float) -> tuple[np.ndarray, np.ndarray]:
    between, u, v = (m / 2 * (points**2).sum(axis=1) for points in (s.between, s.u, s.v))
    excess = (sign * s.f_between - between) - s.t * (sign * s.f_u - u) - (1 - s.t) * (sign * s.f_v - v)
    return excess, sum(map(np.abs, (s.f_between, s.f_u, s.f_v, between, u, v)))


def _tangent(s: Sampled, sign: float, m: float) -> tuple[np.ndarray, np.ndarray]:
    rise, bend = (s.g_u * (s.v - s.u)).sum(axis=1), m / 2 * s.distance**2
    noise = s.gradient_noise * s.distance
    return sign * (s.f_u + rise - s.f_v) + bend - noise, sum(map(np.abs, (s.f_u, s.f_v, rise, bend)))


def _monotone(s: Sampled, sign: float, m: float) -> tuple[np.ndarray, np.ndarray]:
    change, bend = ((s.g_v - s.g_u) * (s.v - s.u)).sum(axis=1), m * s.distance**2
    terms = s.distance * (np.linalg.norm(s.g_u, axis=1) + np.linalg.norm(s.g_v, axis=1)) + np.abs(bend)
    return bend - sign * change - 2 * s.gradient_noise * s.distance, terms


def _lipschitz(s: Sampled, sign: float, m: float) -> tuple[np.ndarray, np.ndarray]:
    change, allowed = np.linalg.norm(s.g_v - s.g_u, axis=1), np.abs(m) * s.distance
    terms = np.linalg.norm(s.g_u, axis=1) + np.linalg.norm(s.g_v, axis=1) + allowed
    return change - allowed - 2 * s.gradient_noise, terms


def _hessian(s: Sampled, sign: float, m: float) -> tuple[np.ndarray, np.ndarray]:
    lowest = (sign * s.bends).min(axis=1)
    return m - lowest - s.hessian_noise, np.abs(s.bends).max(axis=1) + abs(m)


def _found(held_for: str, sample: Sampled, excesses: dict[str, tuple[np.ndarray, np.ndarray]], tol: float) -> Findings:
    claims, witnesses = [], {}
    for name, (excess, terms) in excesses.items():
        relative = np.divide(excess, terms, out=np.zeros_like(excess), where=terms > 0)
        claim = Claim(f"no violation found: {name}", max(0.0, float(relative.max())), tol)
        claims.append(claim)
        if not claim.holds:
            i = int(relative.argmax())
            second = sample.u[i] + sample.bent(i) if name == "Hessian" else sample.v[i]
            t = float(sample.t[i]) if name in ("chord", "convex remainder") else 0.0
            witnesses[name] = Witness(name, sample.u[i], second, t, float(excess[i]))
    return Findings(held_for, Certificate(claims), witnesses, len(sample.u))
