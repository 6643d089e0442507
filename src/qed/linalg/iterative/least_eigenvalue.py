r"""A lower bound of the smallest eigenvalue of a symmetric matrix :math:`H` of which only products are known.

Draw a few normal vectors :math:`Z`, and solve :math:`HW \approx Z` roughly. What is left, :math:`R = Z - HW`, is a polynomial of H times
Z, with :math:`q_j(0) = 1` for each of the vectors. So a unit eigenvector :math:`v` has :math:`r_j^\top v = q_j(\lambda)\, z_j^\top v`, and

.. math:: \min_j |q_j(\lambda)| \;\le\; \frac{\|R^\top v\|}{\|Z^\top v\|} \;\le\; \frac{\|R\|}{\tau},

where :math:`\tau` is a length that :math:`Z^\top v`, whose square is :math:`\chi^2` for every :math:`v`, falls short of once in a
hundred million draws. The polynomials fall from one to zero between 0 and the first of their roots, which the steps tell: no
eigenvalue is below the place where the first of them falls below that share. A dozen products take the place of :math:`d^3/3` operations
for a factor. Conjugate residuals (Stiefel, 1955) find W: of all in their span they leave the least.
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
# The share that rounding may hide. Between zero and the first root no step enlarges what it left in another: it is thousands of times less.
HIDDEN = 1 / 16
# So often an interval is halved in search of a place.
HALVINGS = 16
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
    >>> 0.1 < found.bound < 2.0, 2.0 < found.condition <= 4.0
    (True, True)
    """
    left = generator(0, "least eigenvalue").standard_normal((len(within), VECTORS)) * within[:, None]
    seldom = float(np.sqrt(2 * gammaincinv(VECTORS / 2, CHANCE)))
    moved, before = 0.0, np.inf
    steps, ratios, lengths = [], [], [float(np.linalg.norm(left))]
    for iteration in range(max_iter):
        image = product(left)
        size = (left * image).sum(axis=0)
        ratio = size / before
        moved, before = image + ratio * moved, size
        square = (moved**2).sum(axis=0)
        if not (np.minimum(size, square) > 0).all():
            break
        step = size / square
        left = left - step * moved
        steps.append(step)
        ratios.append(ratio)
        missed = float(np.linalg.norm(left))
        if missed <= seldom / 4:
            roots = _roots(np.array(steps), np.array(ratios))
            condition = float(roots[:, -1].max() / roots[:, 0].min())
            return LeastEigenvalue(_falls_to(roots, missed / seldom + HIDDEN), condition, iteration + 1)
        lengths.append(missed)
        if not missed < lengths[max(0, iteration + 1 - PATIENCE)] / (2 if iteration + 1 >= PATIENCE else 1):
            break
    return LeastEigenvalue(0.0, np.inf, len(steps))


def _roots(steps: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    """Give the roots of each polynomial: the eigenvalues of the tridiagonal matrices that the steps stand for (Lanczos, 1950)."""
    diagonal = 1 / steps
    diagonal[1:] += ratios[1:] / steps[:-1]
    beside = np.sqrt(ratios[1:]) / steps[:-1]
    return np.array([eigvalsh_tridiagonal(*part) for part in zip(diagonal.T, beside.T)])


def _falls_to(roots: np.ndarray, share: float) -> float:
    """Give a place up to which the products of ``1 - place / root`` all stay above a share, by halving."""
    low, high = 0.0, float(roots.min())
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if (1 - middle / roots).prod(axis=1).min() >= share:
            low = middle
        else:
            high = middle
    return low


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
