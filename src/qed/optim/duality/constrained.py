r"""Problems with constraints, seen from both sides.

.. math:: p^* = \min_x f_0(x)\ \text{ s.t. }\ f_i(x) \le 0,\ h_j(x) = 0, \qquad
   L(x, \lambda, \nu) = f_0(x) + \sum_i \lambda_i f_i(x) + \sum_j \nu_j h_j(x), \qquad
   g(\lambda, \nu) = \min_x L(x, \lambda, \nu).

For a feasible :math:`x` and :math:`\lambda \ge 0` the terms added to :math:`f_0` are not positive, so
:math:`g(\lambda, \nu) \le f_0(x)`: *weak duality*, whatever the functions are. The difference, the gap, bounds by how much :math:`x`
can be improved. :math:`g` is a minimum of functions that are affine in the multipliers, hence concave. For a convex problem (convex
:math:`f_i`, affine :math:`h_j`) with a point at which all :math:`f_i` that are not affine are negative (*Slater*), the best gap is
zero, and the five conditions of Karush, Kuhn and Tucker say where.

Boyd and Vandenberghe (2004), Convex Optimization, chapter 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from qed.base.certificate import Certificate, Claim
from qed.base.errors import InputError
from qed.optim.functions.derivatives import gradient, jacobian
from qed.optim.minimize import minimize

Function = Callable[[np.ndarray], ArrayLike]
Constraints = Function | Sequence[Function] | None


@dataclass(frozen=True)
class KKT:
    """How far a point and its multipliers are from the five conditions of Karush, Kuhn and Tucker: largest sizes, zero where all hold.

    Attributes
    ----------
    inequality : float
        The largest positive :math:`f_i(x)`.
    equality : float
        The largest :math:`|h_j(x)|`.
    sign : float
        The largest :math:`-\\lambda_i`.
    slackness : float
        The largest :math:`|\\lambda_i f_i(x)|`.
    stationarity : float
        The length of the gradient of the Lagrangian in x.
    """

    inequality: float
    equality: float
    sign: float
    slackness: float
    stationarity: float

    def certificate(self, tol: float = 1e-6) -> Certificate:
        """Claim that all five are at most `tol`. For a convex problem with affine equalities that makes the point optimal.

        Parameters
        ----------
        tol : float
            The most that each may be.
        """
        return Certificate(
            [
                Claim("inequalities are kept (largest excess)", self.inequality, tol),
                Claim("equalities are met (largest distance)", self.equality, tol),
                Claim("multipliers of inequalities are not negative (the most below zero)", self.sign, tol),
                Claim("multipliers belong to inequalities that are tight (largest product)", self.slackness, tol),
                Claim("the gradient of the Lagrangian vanishes (length)", self.stationarity, tol),
            ]
        )


class ConstrainedProblem:
    """A function to be minimised where some functions are at most zero and others zero.

    Parameters
    ----------
    objective : callable
        Takes an array of shape (d,), gives a number.
    inequalities, equalities : callable or sequence of callables, optional
        Functions of x that have to be at most zero, and zero: one that gives several numbers, or several that give one.
    inner : callable, optional
        Takes the multipliers of inequalities and of equalities and gives the point x at which the Lagrangian is least, where
        that is known in closed form.
    starts : sequence of array_like, optional
        Where to begin looking for that point otherwise; the least of what is found from all of them counts. For a Lagrangian that is
        not convex in x these have to reach its lowest valley.

    Examples
    --------
    >>> problem = ConstrainedProblem(lambda x: x[0] ** 2, lambda x: 1 - x, inner=lambda a, _: a / 2)
    >>> problem.lagrangian([3.0], [2.0]), problem.dual([2.0]), problem.gap([1.0], [2.0])
    (5.0, 1.0, 0.0)
    >>> problem.kkt([1.0], [2.0]).stationarity < 1e-6
    True
    >>> problem.worst([0.5]), problem.worst([2.0])
    (inf, 4.0)
    """

    def __init__(
        self,
        objective: Function,
        inequalities: Constraints = None,
        equalities: Constraints = None,
        *,
        inner: Callable[[np.ndarray, np.ndarray], ArrayLike] | None = None,
        starts: Sequence[ArrayLike] = (),
    ) -> None:
        self.objective, self.inequalities, self.equalities = objective, _joined(inequalities), _joined(equalities)
        self.inner, self.starts = inner, [_vector(start) for start in starts]

    def value(self, x: ArrayLike) -> float:
        """Give the objective at a point.

        Parameters
        ----------
        x : array_like of shape (d,)
            The point.
        """
        return float(np.asarray(self.objective(_vector(x))).reshape(()))

    def lagrangian(self, x: ArrayLike, multipliers: ArrayLike = (), equality_multipliers: ArrayLike = ()) -> float:
        """Give the Lagrangian.

        Parameters
        ----------
        x : array_like of shape (d,)
            The point.
        multipliers : array_like of shape (m,)
            Those of the inequalities.
        equality_multipliers : array_like of shape (n,)
            Those of the equalities.
        """
        point = _vector(x)
        first = _product(multipliers, self.inequalities(point), "inequalities")
        return self.value(point) + first + _product(equality_multipliers, self.equalities(point), "equalities")

    def worst(self, x: ArrayLike, tol: float = 0.0) -> float:
        """Give the largest Lagrangian over all multipliers: the objective where the point is feasible, else infinity.

        Parameters
        ----------
        x : array_like of shape (d,)
            The point.
        tol : float
            By how much a constraint may be missed.
        """
        point = _vector(x)
        kept = (self.inequalities(point) <= tol).all() and (np.abs(self.equalities(point)) <= tol).all()
        return self.value(point) if kept else np.inf

    def dual(self, multipliers: ArrayLike = (), equality_multipliers: ArrayLike = ()) -> float:
        """Give the dual function, the least Lagrangian over all points; minus infinity where a multiplier of an inequality is negative.

        Parameters
        ----------
        multipliers : array_like of shape (m,)
            Those of the inequalities.
        equality_multipliers : array_like of shape (n,)
            Those of the equalities.
        """
        above, equal = _vector(multipliers), _vector(equality_multipliers)
        if (above < 0).any():
            return -np.inf
        if self.inner is not None:
            return self.lagrangian(self.inner(above, equal), above, equal)
        if not self.starts:
            raise InputError(
                "The dual function needs to know where to look: give inner= or starts= to ConstrainedProblem."
            )

        def at(x: np.ndarray) -> float:
            return self.lagrangian(x, above, equal)

        return min(minimize(at, start, tol=1e-9).value for start in self.starts)

    def gap(self, x: ArrayLike, multipliers: ArrayLike = (), equality_multipliers: ArrayLike = ()) -> float:
        """Give by how much at most a feasible point could be improved: its objective less the dual function.

        Parameters
        ----------
        x : array_like of shape (d,)
            The point.
        multipliers : array_like of shape (m,)
            Those of the inequalities.
        equality_multipliers : array_like of shape (n,)
            Those of the equalities.
        """
        return self.value(x) - self.dual(multipliers, equality_multipliers)

    def kkt(self, x: ArrayLike, multipliers: ArrayLike = (), equality_multipliers: ArrayLike = ()) -> KKT:
        """Give the residuals of the five conditions of optimality, with gradients by differences.

        Parameters
        ----------
        x : array_like of shape (d,)
            The point.
        multipliers : array_like of shape (m,)
            Those of the inequalities.
        equality_multipliers : array_like of shape (n,)
            Those of the equalities.
        """
        point, above, equal = _vector(x), _vector(multipliers), _vector(equality_multipliers)
        slack, off = self.inequalities(point), self.equalities(point)
        _product(above, slack, "inequalities"), _product(equal, off, "equalities")
        slope = gradient(self.value, point)
        for functions, weight in ((self.inequalities, above), (self.equalities, equal)):
            if len(weight):
                slope = slope + weight @ jacobian(functions, point)
        return KKT(
            _most(slack), _most(np.abs(off)), _most(-above), _most(np.abs(above * slack)), float(np.linalg.norm(slope))
        )

    def slater(self, x: ArrayLike, affine: Sequence[int] = (), tol: float = 1e-12) -> Certificate:
        """Claim that a point is strictly feasible: with it, a convex problem has no gap.

        Parameters
        ----------
        x : array_like of shape (d,)
            The point.
        affine : sequence of int
            The inequalities that are affine, counted from zero: for these it is enough to be kept.
        tol : float
            By how much equalities may be missed.
        """
        point = _vector(x)
        values, off = self.inequalities(point), self.equalities(point)
        which = np.isin(np.arange(len(values)), affine)
        return Certificate(
            [
                Claim(
                    "inequalities that are not affine are kept strictly (largest)", _largest(values[~which]), -1e-300
                ),
                Claim("affine inequalities are kept (largest)", _largest(values[which]), 0.0),
                Claim("equalities are met (largest distance)", _most(np.abs(off)), tol),
            ]
        )


def _joined(constraints: Constraints) -> Callable[[np.ndarray], np.ndarray]:
    """Give constraints as one function of arrays."""
    if constraints is None:
        return lambda x: np.zeros(0)
    if callable(constraints):
        one = constraints
        return lambda x: np.atleast_1d(np.asarray(one(x), dtype=np.float64)).ravel()
    several = list(constraints)
    return lambda x: np.array([float(np.asarray(one(x)).reshape(())) for one in several])


def _vector(values: ArrayLike) -> np.ndarray:
    return np.atleast_1d(np.asarray(values, dtype=np.float64)).ravel()


def _product(multipliers: ArrayLike, values: np.ndarray, what: str) -> float:
    weight = _vector(multipliers)
    if weight.shape != values.shape:
        raise InputError(f"There are {len(values)} {what}, and {len(weight)} multipliers for them: give one for each.")
    return float(weight @ values)


def _most(values: np.ndarray) -> float:
    return float(np.max(values, initial=0.0)) if not np.isnan(values).any() else np.inf


def _largest(values: np.ndarray) -> float:
    return float(values.max()) if len(values) else -1.0
