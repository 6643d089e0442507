r"""A sum of squares seen from one point: its tangent plane, as a triangle.

Around :math:`w` the residuals are :math:`F(w + \delta) \approx F + J\delta`. All that least squares needs of the :math:`n` rows of
:math:`J` and :math:`F` is the triangular factor of their QR decomposition,

.. math:: (J, F) = Q \begin{pmatrix} R & q \\ 0 & \rho \end{pmatrix}, \qquad
          \tfrac12\|F\|^2 = \tfrac12(\|q\|^2 + \rho^2), \qquad \nabla = J^\top F = R^\top q,

which is additive over blocks of rows (:class:`qed.stats.Factor`) and has not squared the condition number. The part :math:`q` of the
residuals lies in the plane that the columns of :math:`J` span; at a stationary point there is none, and :math:`\|q\|/\|F\|`, the
cosine of the angle between residuals and plane, says how far from that a point is, whatever the units of the parameters. (The largest
cosine with a single column, used by Moré, is never more.) Rounding leaves a :math:`q` of the size that moving each parameter by its
last digit would make.

Bates and Watts (1988), Nonlinear Regression Analysis and Its Applications, section 2.2; Moré (1978), The Levenberg-Marquardt algorithm.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.numbers import EPS
from qed.base.sources.block import Block
from qed.stats.factor import Factor


@dataclass(frozen=True, eq=False)
class Tangent:
    """The residuals and their Jacobian at a point, as a triangle; an additive statistic.

    >>> plane = Tangent.of(np.array([[1.0], [1.0]]), np.array([1.0, 3.0]))
    >>> round(plane.cost, 12), plane.gradient.round(12), plane.step().round(12)
    (5.0, array([4.]), array([-2.]))
    >>> round(plane.cosine, 6)
    0.894427
    """

    factor: Factor  # of the columns of the Jacobian, and the residuals as the target
    size: float  # the sum of squares of the numbers whose difference the residuals are, which rounding is relative to

    @classmethod
    def of(
        cls, jacobian: np.ndarray, residuals: np.ndarray, weight: np.ndarray | None = None, size: float | None = None
    ) -> Tangent:
        """Make the triangle of some rows."""
        with np.errstate(all="ignore"):
            own = float(residuals @ residuals) if size is None else size
            return cls(Factor.of(Block(jacobian, residuals, weight)), own)

    def __add__(self, other: Tangent) -> Tangent:
        return Tangent(self.factor + other.factor, self.size + other.size)

    @cached_property
    def triangle(self) -> np.ndarray:
        """The triangular factor, of shape (d + 1 or fewer, d + 1)."""
        return self.factor.uncentered()

    @property
    def n_parameters(self) -> int:
        return self.factor.n_features

    @cached_property
    def is_finite(self) -> bool:
        """Whether residuals and slopes are finite, and the squared length of the gradient too."""
        with np.errstate(all="ignore"):
            return bool(np.isfinite((self.triangle**2).sum() ** 2))

    @cached_property
    def length(self) -> float:
        """The length of the residuals."""
        return float(np.linalg.norm(self.triangle[:, -1])) if self.is_finite else np.inf

    @property
    def cost(self) -> float:
        """Half the sum of squares; infinite where anything is not finite."""
        return 0.5 * self.length**2

    @property
    def gradient(self) -> np.ndarray:
        """The gradient of the cost."""
        return self.triangle[:, :-1].T @ self.triangle[:, -1]

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns of the Jacobian."""
        return np.asarray(np.linalg.norm(self.triangle[:, :-1], axis=0))

    def axes(self, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Decompose the plane by singular values, with parameter j measured in units of ``1 / scale[j]``.

        Gives the singular values s; directions in parameter space, as columns, along which the residuals move by s, at
        right angles to each other; and the parts of the residuals along those.
        """
        d = self.n_parameters
        scale = np.where(scale > 0, scale, 1.0)
        U, values, V = np.linalg.svd(self.triangle[:d, :d] / scale, full_matrices=False)
        return values, V.T / scale[:, None], U.T @ self.triangle[:d, d]

    @cached_property
    def _own(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.axes(self.lengths)

    @cached_property
    def known(self) -> np.ndarray:
        """Which of the axes rounding can tell from directions in which nothing changes."""
        values = self._own[0]
        return np.asarray(values > 16 * self.n_parameters * EPS * values[:1])

    @property
    def spread(self) -> float:
        """The smallest singular value over the largest, with all columns of length one; zero where parameters are undetermined."""
        values = self._own[0]
        if len(values) < self.n_parameters or values[0] == 0:
            return 0.0
        return float(values[-1] / values[0])

    def step(self) -> np.ndarray:
        """Give the step of Gauss and Newton: the shortest, in units of the columns, to the lowest point of the tangent plane."""
        values, directions, parts = self._own
        return -directions[:, self.known] @ (parts[self.known] / values[self.known])

    @cached_property
    def inside(self) -> float:
        """The length of the part of the residuals that lies in the plane."""
        return float(np.linalg.norm(self._own[2][self.known]))

    @property
    def cosine(self) -> float:
        """The cosine of the angle between the residuals and the plane; zero where there are no residuals."""
        return self.inside / self.length if self.length > 0 else 0.0

    def noise(self, point: np.ndarray) -> float:
        """Estimate how much of the residuals is rounding: of the numbers they come from, and of the last digit of each parameter."""
        return EPS * float(np.sqrt(self.size) + self.lengths @ np.abs(point))

    def gap(self, point: np.ndarray) -> float:
        """Give the cosine, less what rounding explains of it."""
        if not self.is_finite:
            return np.inf
        beyond = max(self.inside - self.noise(point), 0.0)
        return beyond / self.length if beyond > 0 else 0.0

    def unseen(self, point: np.ndarray, scale: Any = 1.0) -> np.ndarray:
        """Say which parameters have no effect: changing one by all of its size moves the residuals no more than rounding does."""
        return np.asarray(self.lengths * np.maximum(np.abs(point), scale) <= self.noise(point))

    def undetermined(self, point: np.ndarray, scale: Any = 1.0) -> np.ndarray:
        """Say which parameters the residuals do not determine: those without effect, or with the same effect as others."""
        if not self.is_finite:
            return np.zeros(len(point), dtype=bool)
        d = self.n_parameters
        V = np.linalg.svd(self.triangle[:d, :d] / np.where(self.lengths > 0, self.lengths, 1.0))[2]
        free = V[int(self.known.sum()) :]
        return np.asarray(self.unseen(point, scale) | (np.abs(free) > 1e-3).any(axis=0))

    def covariance(self) -> np.ndarray:
        """Give the inverse of ``J'J``: the covariance of the parameters for residuals of variance one."""
        values, directions, _ = self._own
        root = directions / values
        return np.asarray(root @ root.T)
