r"""Two tables that share hidden causes: what is behind a correlation, if all is normal.

.. math:: \begin{bmatrix} X \\ Y \end{bmatrix} = \begin{bmatrix} A & B & 0 \\ 0 & C & D \end{bmatrix}
    \begin{bmatrix} Z_X \\ Z_J \\ Z_Y \end{bmatrix}, \qquad \Sigma_{xx} = AA^\top + BB^\top, \quad
    \Sigma_{yy} = CC^\top + DD^\top, \quad \Sigma_{xy} = BC^\top,

with independent standard normal causes, of X alone, of both, and of Y alone. Any covariance has such a story, and many. For two numbers
with correlation :math:`\rho` one is :math:`A = \sigma_x \sqrt{1 - |\rho|}`, :math:`B = \sigma_x \sqrt{|\rho|}`,
:math:`C = \sigma_y \operatorname{sign}(\rho) \sqrt{|\rho|}`, :math:`D = \sigma_y \sqrt{1 - |\rho|}`; canonical variables are pairs of
numbers that have nothing to do with other pairs, so :meth:`qed.CCA.latent` applies this to each.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.random import Seed, generator, seed_of


@dataclass(frozen=True, eq=False)
class SharedLatent:
    """A story of hidden causes behind two tables.

    Parameters
    ----------
    A : ndarray of shape (p, a)
        What the causes of X alone do to X.
    B : ndarray of shape (p, m)
        What the shared causes do to X.
    C : ndarray of shape (q, m)
        What the shared causes do to Y.
    D : ndarray of shape (q, d)
        What the causes of Y alone do to Y.

    Examples
    --------
    >>> from qed.reduction import SharedLatent
    >>> story = SharedLatent.of_numbers(2.0, 3.0, -0.25)
    >>> [round(float(part[0, 0]), 7) for part in (story.A, story.B, story.C, story.D)]
    [1.7320508, 1.0, -1.5, 2.5980762]
    >>> story.covariance()
    array([[ 4. , -1.5],
           [-1.5,  9. ]])
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray

    def __post_init__(self) -> None:
        parts = {name: np.asarray(getattr(self, name), dtype=np.float64) for name in "ABCD"}
        if any(part.ndim != 2 or not np.isfinite(part).all() for part in parts.values()):
            raise InputError("SharedLatent: A, B, C and D must be finite matrices.")
        A, B, C, D = parts.values()
        if len(A) != len(B) or len(C) != len(D) or B.shape[1] != C.shape[1]:
            shapes = ", ".join(f"{name} {part.shape}" for name, part in parts.items())
            raise InputError(
                f"SharedLatent: A and B need as many rows as X has columns, C and D as Y has, and B and C as many columns: {shapes}."
            )
        for name, part in parts.items():
            object.__setattr__(self, name, part)

    @classmethod
    def of_numbers(cls, sigma_x: float, sigma_y: float, rho: float) -> SharedLatent:
        """Tell the story of two numbers with these standard deviations and this correlation."""
        if not (sigma_x >= 0 and sigma_y >= 0 and -1 <= rho <= 1):
            raise ParameterError(
                f"SharedLatent needs sigma_x >= 0, sigma_y >= 0 and rho from -1 to 1, not {sigma_x}, {sigma_y} and {rho}."
            )
        own, shared = math.sqrt(1 - abs(rho)), math.sqrt(abs(rho))
        numbers = sigma_x * own, sigma_x * shared, sigma_y * math.copysign(shared, rho), sigma_y * own
        return cls(*(np.array([[number]]) for number in numbers))

    @property
    def matrix(self) -> np.ndarray:
        """The whole matrix, of shape (p + q, a + m + d)."""
        p, q, a, d = len(self.A), len(self.C), self.A.shape[1], self.D.shape[1]
        return np.block([[self.A, self.B, np.zeros((p, d))], [np.zeros((q, a)), self.C, self.D]])

    def covariance(self) -> np.ndarray:
        """Give the covariance of ``(x, y)``, of shape (p + q, p + q)."""
        return np.asarray(self.matrix @ self.matrix.T)

    def sample(self, n: int, random_state: Seed = None) -> tuple[np.ndarray, np.ndarray]:
        """Draw rows of both tables, of shapes (n, p) and (n, q).

        Parameters
        ----------
        n : int
            How many.
        random_state : None, int or NumPy generator
            The seed.
        """
        causes = generator(seed_of(random_state), "causes").standard_normal((int(n), self.matrix.shape[1]))
        rows = causes @ self.matrix.T
        return rows[:, : len(self.A)], rows[:, len(self.A) :]
