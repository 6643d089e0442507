r"""What is minimised: a function with its derivatives, and a sum of many functions.

.. math:: \min_{w \in \mathbb{R}^d} f(w), \qquad f(w) = \frac1n \sum_{i=1}^n f_i(w)

An `Objective` bundles a function with its gradient, its Hessian and the products of the Hessian with a vector, and
fills in by differences what was not given (:mod:`qed.optim.functions.derivatives`): a gradient costs :math:`2d` values then, a
Hessian :math:`2d` gradients. It checks what the user's functions give back, so that a wrong shape is named where it
arises. What theory needs to know of the function, its strong convexity :math:`m` and its smoothness :math:`M`
(:math:`mI \preceq \nabla^2 f \preceq MI`), travels with it.

A `FiniteSum` can also be asked about some of its terms, which is all that stochastic methods do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.errors import InputError
from qed.base.models.parameters import check_parameters, choice, integer, number
from qed.base.running.steps import Step
from qed.optim.functions import derivatives

Terms = np.ndarray | slice
HALF_OF_THE_DIGITS = 2.0**-26


class Objective:
    """A function to be minimised, with its derivatives.

    Parameters
    ----------
    value : callable
        The function: takes an array of shape (d,), gives a number.
    gradient : callable, optional
        Its gradient: gives an array of shape (d,). By central differences when missing.
    hessian : callable, optional
        Its Hessian: gives an array of shape (d, d). By differences when missing.
    product : callable, optional
        ``product(point, vector)``, the product of the Hessian with a vector. From the Hessian, or by a difference of
        two gradients, when missing.
    strong_convexity : float
        A number m such that ``f - m/2 ||w||^2`` is convex, if one is known; 0 says nothing.
    smoothness : float, optional
        A number M such that the gradient changes by at most ``M`` times the way, if one is known.

    Examples
    --------
    >>> bowl = Objective(lambda w: w @ w)
    >>> bowl.value([3.0, 4.0]), bowl.gradient([3.0, 4.0]).round(6)
    (25.0, array([6., 8.]))
    >>> bowl.product([3.0, 4.0], [1.0, 0.0]).round(4)
    array([2., 0.])
    """

    def __init__(
        self,
        value: Callable[[np.ndarray], Any],
        gradient: Callable[[np.ndarray], Any] | None = None,
        hessian: Callable[[np.ndarray], Any] | None = None,
        product: Callable[[np.ndarray, np.ndarray], Any] | None = None,
        *,
        strong_convexity: float = 0.0,
        smoothness: float | None = None,
    ) -> None:
        self.strong_convexity, self.smoothness = strong_convexity, smoothness
        check_parameters(self, {"strong_convexity": number(0), "smoothness": number(0, above=True) | choice(None)})
        if smoothness is not None and strong_convexity > smoothness:
            raise InputError(
                f"strong_convexity is {strong_convexity:g} and smoothness {smoothness:g}: the least curvature can not be "
                "above the largest."
            )
        functions: dict[str, Any] = {"value": value, "gradient": gradient, "hessian": hessian, "product": product}
        for name, function in functions.items():
            if not callable(function) and (function is not None or name == "value"):
                raise InputError(f"The {name} of an objective must be a function, not {function!r}.")
        self._functions = {name: function for name, function in functions.items() if function is not None}
        self._last: dict[str, tuple[bytes, Any]] = {}

    @classmethod
    def of(cls, thing: Any) -> Objective:
        """Give `thing` itself when it is an objective, and the objective of a plain function otherwise."""
        return thing if isinstance(thing, Objective) else cls(thing)

    def knows(self, name: str) -> bool:
        """Say whether the ``"gradient"``, ``"hessian"`` or ``"product"`` was given, and is not found by differences."""
        return name in self._functions

    def value(self, point: Any) -> float:
        """Give the value of the function, which may be infinite or NaN far out."""
        found = np.asarray(self._call("value", as_vector(point)))
        if found.size != 1 or found.dtype.kind not in "biuf":
            raise InputError(
                f"The function must give one real number; it gave {_described(found)}. Sum over its terms, or use "
                "a least-squares method for a vector of residuals."
            )
        return float(found.reshape(())[()])

    def gradient(self, point: Any) -> np.ndarray:
        """Give the gradient, of shape (d,)."""
        point = as_vector(point)
        if not self.knows("gradient"):
            with np.errstate(over="ignore", invalid="ignore"):
                return derivatives.gradient(self._functions["value"], point)
        return _shaped("gradient", self._call("gradient", point), point.shape)

    def hessian(self, point: Any) -> np.ndarray:
        """Give the Hessian, of shape (d, d)."""
        point = as_vector(point)
        if self.knows("hessian"):
            return _shaped("hessian", self._call("hessian", point), 2 * point.shape)
        if self.knows("product"):
            return np.column_stack([self.product(point, unit) for unit in np.eye(len(point))])
        return derivatives.hessian(self._functions["value"], point, self._functions.get("gradient"))

    def product(self, point: Any, vector: Any) -> np.ndarray:
        """Give the product of the Hessian at `point` with `vector`, of shape (d,)."""
        point, vector = as_vector(point), as_vector(vector)
        if self.knows("product"):
            return _shaped("product", self._call("product", point, vector), point.shape)
        if self.knows("hessian") or not self.knows("gradient"):
            return self.hessian(point) @ vector
        return derivatives.hessian_product(self.gradient, point, vector)

    def at(self, point: np.ndarray, after: Step | None = None, **state: Any) -> Step:
        """Give the step of a method that has come to `point`, with the value, the gradient and the gap there.

        Parameters
        ----------
        point : ndarray of shape (d,)
            Where the method is.
        after : Step, optional
            The step before; None for the first.
        **state
            What else the method needs to go on from here.
        """
        value = self.value(point)
        gradient = self.gradient(point) if np.isfinite(value) else np.full(len(point), np.nan)
        first = (abs(value), float(np.linalg.norm(gradient))) if after is None else after.first
        number = 0 if after is None else after.number + 1
        gap = self.gap(point, value, gradient, first)
        return Step(value, gap, number, point=point, gradient=gradient, first=first, **state)

    @property
    def gap_says(self) -> str:
        """What the gap measures, in words."""
        if self.strong_convexity > 0:
            return "value above its minimum, at most (relative)"
        return "gradient, relative to that at the start"

    def gap(self, point: np.ndarray, value: float, gradient: np.ndarray, first: tuple[float, float]) -> float:
        """Say how far a point is from a proof that it is a minimum, relative.

        With strong convexity m known it is the bound ``||gradient||^2 / (2 m)`` on the value above its minimum,
        relative to the value. Otherwise there is no such bound, and it is the length of the gradient relative to that
        of the first one.

        Parameters
        ----------
        point, value, gradient
            Where, and what the function is there.
        first : tuple of float
            Size of the value and length of the gradient at the start. A value below half of the digits of the first
            one counts as large as that, since a minimum of zero is nothing to be relative to; and a gradient that is
            below that share of ``value / point`` as what rounding leaves.
        """
        length = float(np.linalg.norm(gradient))
        if length == 0:
            return 0.0
        if self.strong_convexity > 0:
            return length**2 / (2 * self.strong_convexity) / max(abs(value), HALF_OF_THE_DIGITS * first[0])
        size = max(1.0, float(np.linalg.norm(point)))
        return length / max(first[1], HALF_OF_THE_DIGITS * abs(value) / size)

    def _call(self, name: str, *args: np.ndarray) -> Any:
        """Call a user's function, but not twice in a row about the same point, as a search and the step after it would."""
        key, found = self._last.get(name, (b"", None))
        if len(args) == 1 and args[0].tobytes() == key:
            return found
        # A copy, since what a method holds must not change when a function works in place. Overflow is the driver's to tell.
        with np.errstate(over="ignore", invalid="ignore"):
            found = self._functions[name](*(arg.copy() for arg in args))
        if len(args) == 1:
            self._last[name] = args[0].tobytes(), np.array(found)
        return found


class FiniteSum(Objective):
    """A mean of n functions, ``f = 1/n sum f_i``, that can be asked about some of them.

    Parameters
    ----------
    term : callable
        ``term(point, rows)`` gives the mean of the ``f_i`` over these rows. `rows` is an array of row numbers, or
        ``slice(None)`` for all: both can stand in ``X[rows]``.
    gradient : callable
        ``gradient(point, rows)`` gives the mean of their gradients, of shape (d,).
    n : int
        How many functions there are.
    strong_convexity : float
        A number m such that the mean less ``m/2 ||w||^2`` is convex, if one is known; 0 says nothing.
    smoothness : float, optional
        A number M such that the gradient of the mean changes by at most ``M`` times the way, if one is known.

    Examples
    --------
    >>> X, y = np.array([[1.0], [2.0], [3.0]]), np.array([2.0, 4.0, 6.0])
    >>> squares = FiniteSum(
    ...     lambda w, rows: ((X[rows] @ w - y[rows]) ** 2).mean(),
    ...     lambda w, rows: 2 * X[rows].T @ (X[rows] @ w - y[rows]) / len(y[rows]),
    ...     n=3,
    ... )
    >>> squares.value([2.0]), squares.gradient_of([0.0], np.array([0])), squares.gradient([0.0]).round(3)
    (0.0, array([-4.]), array([-18.667]))
    """

    def __init__(
        self,
        term: Callable[[np.ndarray, Terms], Any],
        gradient: Callable[[np.ndarray, Terms], Any],
        n: int,
        *,
        strong_convexity: float = 0.0,
        smoothness: float | None = None,
    ) -> None:
        self.n = n
        check_parameters(self, {"n": integer(1)})
        everything = slice(None)
        super().__init__(
            lambda point: term(point, everything),
            lambda point: gradient(point, everything),
            strong_convexity=strong_convexity,
            smoothness=smoothness,
        )
        self._gradient_of = gradient

    def gradient_of(self, point: Any, rows: Terms) -> np.ndarray:
        """Give the mean of the gradients of some of the functions."""
        point = as_vector(point)
        with np.errstate(over="ignore", invalid="ignore"):
            return _shaped("gradient", self._gradient_of(point.copy(), rows), point.shape)


def as_vector(point: Any) -> np.ndarray:
    """Give a point as an array of shape (d,) of float64; a number counts as an array of one."""
    if isinstance(point, np.ndarray) and point.ndim == 1 and point.dtype == np.float64:
        return point
    try:
        given = np.asarray(point)
        found = given.astype(np.float64) if given.dtype.kind in "biuf" else None
    except ValueError:
        found = None
    if found is None or found.ndim > 1 or found.size == 0:
        raise InputError(
            f"A point must be a vector of real numbers, not {_described(point)}. Give a matrix as W.ravel() and let the "
            "function begin with W = w.reshape(...)."
        )
    return found.reshape(-1)


def _shaped(name: str, found: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Give what a user's function gave as float64, or say that its shape is wrong."""
    array = np.asarray(found)
    if array.dtype.kind not in "biuf" or (array.shape != shape and not (array.size == 1 and set(shape) == {1})):
        raise InputError(
            f"The {name} must give real numbers of shape {shape}, as the point has; it gave {_described(found)}."
        )
    return np.array(array, dtype=np.float64).reshape(shape)


def _described(thing: Any) -> str:
    if isinstance(thing, np.ndarray):
        return f"an array of shape {thing.shape} and type {thing.dtype}"
    return repr(thing) if len(repr(thing)) < 60 else f"a {type(thing).__name__}"
