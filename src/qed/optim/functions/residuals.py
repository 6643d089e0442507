r"""A sum of squares as an objective: :math:`f(w) = \tfrac12\|F(w)\|^2` for residuals :math:`F : \mathbb R^d \to \mathbb R^n`.

.. math:: \nabla f = J^\top F, \qquad \nabla^2 f = J^\top J + \sum_i F_i \nabla^2 F_i.

`SumOfSquares` asks for what depends on the rows, the tangent plane and a second difference, and gives the rest; `Residuals` gets those
from a function in memory. It is an `Objective`, so that any method can minimise it, and has besides what Gauss-Newton needs. The Hessian
comes from central differences of the gradient, :math:`2d` of them.

A stationary point is a local minimum if the residuals do not bend away all of the curvature: in coordinates in which
:math:`J^\top J` is the identity, :math:`\nabla^2 f = I - B`, and every eigenvalue of :math:`B` must be below one. Hamilton, Watts and
Bates (1982) call :math:`B` the effective residual curvature.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.optim.functions.derivatives import STEPS
from qed.optim.functions.objective import Objective, as_vector
from qed.optim.functions.slopes import SLOPE_ERRORS, best_method, slopes
from qed.optim.functions.tangent import Tangent

PROBE = 0.1
SHORT, CLEAR = 1e-3, 1e4
REMEMBERED = 4


class SumOfSquares(Objective):
    """Half a sum of squares, with what methods of least squares need of it.

    In a parameter near zero, a change of the size `scale` matters.
    """

    def __init__(self, scale: Any = 1.0) -> None:
        self.scale = scale
        self._tangents: dict[bytes, Tangent] = {}
        super().__init__(lambda w: self.tangent(w).cost, lambda w: self.tangent(w).gradient, self._hessian)

    @abstractmethod
    def _tangent(self, point: np.ndarray) -> Tangent:
        """Find the tangent plane at a point."""

    @property
    def slope_error(self) -> float:
        """The relative error of the slopes; zero where they have all digits."""
        return 0.0

    @abstractmethod
    def bend(self, point: np.ndarray, direction: np.ndarray) -> np.ndarray:
        """Give ``J'F''``, with the second derivative of the residuals along a direction."""

    @abstractmethod
    def gradients(self, points: np.ndarray) -> np.ndarray:
        """Give the gradients at several points, a row each."""

    def tangent(self, point: np.ndarray) -> Tangent:
        """Give the tangent plane at a point; the last few are remembered."""
        key = point.tobytes()
        found = self._tangents.get(key)
        if found is None:
            found = self._tangents[key] = self._tangent(point)
            if len(self._tangents) > REMEMBERED:
                del self._tangents[next(iter(self._tangents))]
        return found

    @property
    def gap_says(self) -> str:
        return "cosine of the angle between residuals and tangent plane"

    def gap(self, point: np.ndarray, value: float, gradient: np.ndarray, first: tuple[float, float]) -> float:
        """Say how far a point is from stationary: the cosine of the angle between residuals and tangent plane, beyond rounding."""
        return self.tangent(point).gap(point)

    def _hessian(self, point: np.ndarray) -> np.ndarray:
        steps = STEPS["central"] * np.maximum(np.abs(point), self.scale)
        found = self._bent(point, np.diag(steps)) / steps
        return (found + found.T) / 2

    def _bent(self, point: np.ndarray, moves: np.ndarray) -> np.ndarray:
        """Give the products of the Hessian with the columns of `moves`, by differences over them."""
        found = self.gradients(np.vstack([point + moves.T, point - moves.T]))
        half = len(found) // 2
        return (found[:half] - found[half:]).T / 2

    def curvature_lost(self, point: np.ndarray) -> float:
        """Give the largest share of the curvature that the residuals take away: below one at a strict local minimum."""
        plane = self.tangent(point)
        values, directions, _ = plane.axes(plane.lengths)
        unit = directions[:, plane.known] / values[plane.known]
        spare = max(plane.factor.weight - plane.n_parameters, 1.0)
        move = max(SHORT * plane.length / np.sqrt(spare), CLEAR * plane.noise(point))
        if not plane.known.any():
            return np.inf
        if move == 0:
            return 0.0
        with np.errstate(all="ignore"):
            bent = unit.T @ self._bent(point, move * unit) / move
        if not np.isfinite(bent).all():
            return np.inf
        return float(1.0 - np.linalg.eigvalsh((bent + bent.T) / 2)[0])


class Residuals(SumOfSquares):
    """The objective of least squares, ``1/2 ||F(w)||^2``.

    Parameters
    ----------
    function : callable
        F: takes an array of shape (d,), gives the residuals, of shape (n,).
    jacobian : {"auto", "complex", "central", "forward"} or callable
        The Jacobian of F, of shape (n, d), or how to find it: by a complex step where that works ("auto"), or by differences.
    scale : float or array_like of shape (d,)
        The size of change that matters in a parameter near zero: steps of differences are relative to ``max(|w|, scale)``.

    Examples
    --------
    >>> from qed.optim import minimize
    >>> rosenbrock = Residuals(lambda w: np.array([10 * (w[1] - w[0] ** 2), 1 - w[0]]))
    >>> round(rosenbrock.value([-1.2, 1.0]), 10), rosenbrock.gradient([-1.2, 1.0]).round(10)
    (12.1, array([-107.8,  -44. ]))
    >>> found = minimize(rosenbrock, [-1.2, 1.0], method="levenberg-marquardt")
    >>> found.point.round(12), bool(found.certificate)
    (array([1., 1.]), True)
    """

    def __init__(self, function: Callable[[np.ndarray], Any], jacobian: Any = "auto", scale: Any = 1.0) -> None:
        if not callable(function):
            raise InputError(f"The residuals must be a function, not {function!r}.")
        if not callable(jacobian) and jacobian not in ("auto", "complex", "central", "forward"):
            raise ParameterError(
                f"jacobian must be 'auto', 'complex', 'central', 'forward' or a function, not {jacobian!r}."
            )
        self.function, self.jacobian = function, jacobian
        super().__init__(scale)

    def _values(self, point: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            found = np.asarray(self.function(point.copy()), dtype=np.float64)
        if found.ndim != 1:
            raise InputError(f"The residuals must be a vector; the function gave an array of shape {found.shape}.")
        return found

    def _slopes(self, point: np.ndarray) -> np.ndarray:
        if callable(self.jacobian):
            found = np.asarray(self.jacobian(point.copy()), dtype=np.float64)
            if found.ndim != 2 or found.shape[1] != len(point):
                raise InputError(
                    f"The jacobian must have a column for each of {len(point)} parameters; its shape is {found.shape}."
                )
            return found
        if self.jacobian == "auto":
            self.jacobian = best_method(self.function, point, self.scale)
        return slopes(self.function, point, self.jacobian, self.scale)

    @property
    def slope_error(self) -> float:
        return SLOPE_ERRORS.get(self.jacobian, 0.0)

    def _tangent(self, point: np.ndarray) -> Tangent:
        return Tangent.of(self._slopes(point), self._values(point))

    def bend(self, point: np.ndarray, direction: np.ndarray) -> np.ndarray:
        J, moved = self._slopes(point), self._values(point + PROBE * direction)
        return J.T @ second_difference(self._values(point), moved, J @ direction)

    def gradients(self, points: np.ndarray) -> np.ndarray:
        return np.array([self._slopes(as_vector(point)).T @ self._values(point) for point in points])


def second_difference(here: np.ndarray, moved: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Give the second derivative along a direction from values here and `PROBE` further, and the slope here."""
    with np.errstate(all="ignore"):
        return 2 / PROBE * ((moved - here) / PROBE - slope)
