r"""A lower bound of the smallest eigenvalue of a symmetric matrix :math:`H` of which only products are known.

Draw a few normal vectors :math:`Z`, and solve :math:`HW \approx Z` roughly. A unit eigenvector :math:`v` has
:math:`Z^\top v = R^\top v + \lambda W^\top v` with what is left, :math:`R = Z - HW`; so, however W was found,

.. math:: \lambda \;\ge\; \frac{\|Z^\top v\| - \|R\|}{\|W\|} \;\ge\; \frac{\tau - \|R\|}{\|W\|},

where :math:`\tau` is a length that :math:`Z^\top v`, whose square is :math:`\chi^2` for every :math:`v`, falls short of once in a
hundred million draws. The bound is some thousand times too small, but costs a dozen products in the place of
:math:`d^3/3` operations for a factor,
and where equations were solved to eleven digits a thousand does not matter. Conjugate residuals (Stiefel, 1955) find W: of all in
their span they leave the least.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal
from scipy.special import gammaincinv

from qed.base.random import generator

# So many vectors are drawn, and this is how seldom all of them may miss a direction.
VECTORS, CHANCE = 4, 1e-8
# Where so many products do not halve what is left, some eigenvalue is zero or nearly so.
PATIENCE = 16


class LeastEigenvalue(NamedTuple):
    """What random vectors say of a matrix."""

    bound: float  # no eigenvalue is smaller; zero where that could not be shown
    condition: float  # the largest over the smallest eigenvalue, estimated from below
    products: int  # how many products with so many vectors it took


def least_eigenvalue(product: Callable[[np.ndarray], np.ndarray], within: np.ndarray, max_iter: int) -> LeastEigenvalue:
    """Bound the eigenvalues of a positive semidefinite matrix from below.

    The `product` gives ``H V`` for an array of shape (d, 4). Coordinates that are not `within` do not count: H is zero there.

    Examples
    --------
    >>> diagonal = np.linspace(2.0, 8.0, 50)[:, None]
    >>> found = least_eigenvalue(lambda vectors: diagonal * vectors, np.ones(50, dtype=bool), 30)
    >>> 1e-4 < found.bound < 2.0, 2.0 < found.condition <= 4.0
    (True, True)
    """
    left = generator(0, "least eigenvalue").standard_normal((len(within), VECTORS)) * within[:, None]
    seldom = float(np.sqrt(2 * gammaincinv(VECTORS / 2, CHANCE)))
    found, direction, moved, before = np.zeros_like(left), 0.0, 0.0, np.inf
    steps, ratios, lengths = [], [], [float(np.linalg.norm(left))]
    for iteration in range(max_iter):
        image = product(left)
        size = (left * image).sum(axis=0)
        ratio = size / before
        direction, moved, before = left + ratio * direction, image + ratio * moved, size
        square = (moved**2).sum(axis=0)
        if not (np.minimum(size, square) > 0).all():
            break
        step = size / square
        found, left = found + step * direction, left - step * moved
        steps.append(step)
        ratios.append(ratio)
        # Rounding is a hundred million times smaller than what is compared here.
        missed = float(np.linalg.norm(left))
        if missed <= seldom / 8:
            bound = (seldom - missed) / float(np.linalg.norm(found, 2))
            return LeastEigenvalue(bound, _condition(np.array(steps), np.array(ratios)), iteration + 1)
        lengths.append(missed)
        if not missed < lengths[max(0, iteration + 1 - PATIENCE)] / (2 if iteration + 1 >= PATIENCE else 1):
            break
    return LeastEigenvalue(0.0, np.inf, len(steps))


def _condition(steps: np.ndarray, ratios: np.ndarray) -> float:
    """Take the eigenvalues of the tridiagonal matrices that the steps stand for (Lanczos, 1950)."""
    diagonal = 1 / steps
    diagonal[1:] += ratios[1:] / steps[:-1]
    beside = np.sqrt(ratios[1:]) / steps[:-1]
    values = [eigvalsh_tridiagonal(*part) for part in zip(diagonal.T, beside.T)]
    return float(max(value[-1] for value in values) / min(value[0] for value in values))


@dataclass(frozen=True, eq=False)
class Distance:
    """How far coefficients are from the exact ones, by the lengths of the columns and the least eigenvalue of their scaled products.

    It says what a triangular root of the products says (:class:`qed.linalg.root.Root`), more coarsely.

    Examples
    --------
    >>> distance = Distance(np.array([2.0, 1.0]), 0.5)
    >>> distance.far(np.array([[2.0], [0.0]]), np.zeros((2, 1)))
    array([2.])
    """

    length: np.ndarray
    least: float
    off: float = 0.0

    def step(self, gradient: np.ndarray) -> np.ndarray:
        """Say nothing about the way to the minimum."""
        return np.zeros_like(gradient)

    def far(self, gradient: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """Bound the error of every coefficient times the length of its column, for each output."""
        scaled = [np.linalg.norm(part / self.length[:, None], axis=0) for part in (gradient, noise)]
        return np.asarray((scaled[0] + scaled[1]) / self.least)

    def bounds(
        self, gradient: np.ndarray, noise: np.ndarray, *, sharp: bool, toward: np.ndarray | None = None
    ) -> np.ndarray:
        """Bound how far every coefficient is from the minimum, of shape (p, q); or their combination `toward`."""
        far = self.far(gradient, noise)
        if toward is not None:
            return np.asarray(np.linalg.norm(toward / self.length) * far)
        return np.asarray(far / self.length[:, None])
