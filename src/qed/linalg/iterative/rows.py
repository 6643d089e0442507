r"""The shortest coefficients that fit all rows of a sparse table with fewer rows than columns, by conjugate gradients.

.. math:: w = A^\top u, \qquad A A^\top u = b.

Only products with the sparse rows are taken. Where random vectors bound the least eigenvalue of the products of the rows
(:mod:`qed.linalg.iterative.least_eigenvalue`), these are independent: the least error is zero, what is left of the residual tells how far
:math:`w` is from the shortest solution, and :math:`\|w - A^\top u\|` how far it leads out of the span of the rows. With centred rows
the roots :math:`\rho` of the weights are a null vector of :math:`A A^\top`, to which the target is orthogonal; one more term
:math:`\rho\rho^\top` makes the matrix definite and changes nothing else.
"""

from functools import cached_property

import numpy as np

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.linalg.design import SparseDesign
from qed.linalg.iterative.conjugate import conjugate_gradients
from qed.linalg.iterative.least_eigenvalue import LeastEigenvalue, least_eigenvalue
from qed.linalg.normal import Solution, Standing

# Conjugate gradients end when their residual is this small, relative to the target.
NEAR = 1e-12


class IterativeRows:
    """Equations for the rows of a sparse design, of which no matrix is formed; `most` products are as dear as the matrix."""

    def __init__(self, design: SparseDesign, target: np.ndarray, most: int, *, centered: bool) -> None:
        self.design, self.target, self.most, self.centered = design, target, most, centered
        self.rank = len(target) - centered
        self.products = 0

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns, one where they are zero."""
        return np.where(self.design.varying, self.design.lengths, 1.0)

    def _row_lengths(self, scale: np.ndarray) -> np.ndarray:
        """Give the lengths of the rows when columns are divided by `scale`."""
        X, center = self.design.X, np.where(self.design.varying, self.design.center, 0.0)
        inverse = np.where(self.design.varying, scale**-2.0, 0.0)
        squares = type(X)((np.square(X.data, dtype=np.float64), X.indices, X.indptr), shape=X.shape)
        square = squares @ inverse - 2 * (X @ (center * inverse)) + float((center**2 * inverse).sum())
        found: np.ndarray = self.design.root * np.sqrt(np.maximum(square, 0.0))
        return np.where(found > 0, found, 1.0)

    def _product(self, vectors: np.ndarray, length: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Multiply vectors by the products of rows of length one, of columns that were divided by `scale`."""
        flat = vectors.reshape(len(length), -1)
        back = self.design.back(flat / length[:, None])
        found = self.design.times(back / scale[:, None] ** 2) / length[:, None]
        if self.centered:
            unit = length * self.design.root
            unit /= np.linalg.norm(unit)
            found += np.outer(unit, unit @ flat)
        return np.asarray(found.reshape(vectors.shape))

    @cached_property
    def scaled_lengths(self) -> np.ndarray:
        """The lengths of the rows where columns have length one."""
        return self._row_lengths(self.lengths)

    @cached_property
    def least(self) -> LeastEigenvalue:
        """What is known of the eigenvalues of the products of rows, in columns and rows of length one."""
        length = self.scaled_lengths
        with one_blas_thread:
            return least_eigenvalue(
                lambda vectors: self._product(vectors, length, self.lengths), np.ones(len(length), bool), self.most // 3
            )

    @property
    def least_singular(self) -> float:
        """At most the least singular value of the design, over its rank."""
        shortest = self.scaled_lengths.min() * self.design.lengths[self.design.varying].min()
        return float(shortest * np.sqrt(self.least.bound))

    @cached_property
    def dual(self) -> np.ndarray | None:
        """The vectors u, of shape (n, q); None where iterations do not find them."""
        if not self.design.varying.any() or not self.least.bound > 0:
            return None
        none = np.ones(len(self.design.lengths))
        length, found = self._row_lengths(none), np.empty_like(self.target)
        for output, column in enumerate(self.target.T):
            with one_blas_thread:
                seen = conjugate_gradients(
                    lambda vector: self._product(vector, length, none), column / length, NEAR, self.most
                )
            if not seen.residual <= NEAR:
                return None
            found[:, output] = seen.solution / length
            self.products += seen.iterations
        return found

    def solve(self) -> Solution | None:
        """Give the shortest solution; None where rows are too much alike."""
        if self.dual is None:
            return None
        return Solution(self.design.back(self.dual), self.rank, float(np.sqrt(self.least.condition)), -np.log10(NEAR))

    def excess(self, at: Standing) -> np.ndarray:
        """Bound by how much coefficients miss the least error, which is zero."""
        away = np.linalg.norm(self.target - self.design.times(at.coef), axis=0)
        return np.asarray((away + self._noise(at.reach)) ** 2)

    def outside(self, coef: np.ndarray) -> float:
        """Bound the share of the coefficients that lies outside the span of the rows."""
        size = float(np.linalg.norm(coef))
        if size == 0 or self.dual is None:
            return 0.0 if size == 0 else np.inf
        rounding = (
            (len(coef) + len(self.target)) * EPS * np.linalg.norm(self.design.lengths) * np.linalg.norm(self.dual)
        )
        return float((np.linalg.norm(coef - self.design.back(self.dual)) + rounding) / size)

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray) -> float:
        """Bound the relative error of the shortest solution, where residuals have such lengths."""
        size = np.linalg.norm(coef, axis=0)
        reach = np.linalg.norm(self.target, axis=0) + self.design.lengths @ np.abs(coef)
        missed = (residual + self._noise(reach)) / self.least_singular
        share = np.divide(missed, size, out=np.where(missed > 0, np.inf, 0.0), where=size > 0)
        return float(share.max(initial=0.0)) + self.outside(coef)

    def _noise(self, reach: np.ndarray) -> np.ndarray:
        """Bound the rounding of residuals, sums of p products."""
        return np.asarray((len(self.design.lengths) + 4) * EPS * reach)
