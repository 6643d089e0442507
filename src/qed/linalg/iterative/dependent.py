r"""The shortest coefficients where columns of a sparse table follow from others, by conjugate gradients.

.. math:: (D^{-1} A^\top A D^{-1} + c\,QQ^\top)\,v = D^{-1} A^\top b, \qquad w = (I - NN^\top)\, D^{-1} v,

with columns of length one, an orthonormal basis :math:`Q` of their combinations that vanish, and one, :math:`N`, of the span of
:math:`D^{-1} Q`. A Cholesky factor with pivots of the products of the columns says which of them follow from which, and two corrections by
the rows themselves how, to the last digits: what is left of the combinations has to be rounding. The right-hand side is orthogonal to
them, so :math:`c\,QQ^\top` changes nothing but the rank, and with the mean of the other eigenvalues as :math:`c` neither the least of these
nor the largest. So random vectors bound the least (:mod:`qed.linalg.iterative.least_eigenvalue`), which proves how far the rank goes, and
how near the minimum is; how far the shortest of the solutions may have moved follows from that (Wedin, 1973).
"""

from __future__ import annotations

from functools import cached_property, partial

import numpy as np
from scipy.linalg import cho_solve, lapack, solve_triangular

from qed.base.engine import one_blas_thread
from qed.base.numbers import EPS
from qed.linalg.design import SparseDesign
from qed.linalg.iterative.conjugate import conjugate_gradients
from qed.linalg.iterative.least_eigenvalue import Distance, LeastEigenvalue, least_eigenvalue
from qed.linalg.normal import Solution, Standing, equilibrate, orthonormal
from qed.linalg.root import factor_rounding
from qed.linalg.wide import levers

# Conjugate gradients end when their residual is this small, relative to the right-hand side.
NEAR = 1e-12
# So many rows for each column are enough to bound eigenvalues.
ROWS_PER_COLUMN = 12
# Pivots below it are looked at: what they leave is far more than rounding of products, and corrections by the rows gain digits quickly.
PIVOT = 1e-9
# So many combinations of columns are multiplied out at a time.
STRIP = 64


def least_of_columns(design: SparseDesign, most: int, added: np.ndarray | None = None) -> LeastEigenvalue:
    """Bound the eigenvalues of the products of columns of length one, and of what is `added`: the products of its rows, of shape (p, m).

    Some of the rows are tried first, as all together can only have larger eigenvalues; so many products may be taken at `most`.
    """
    (n, p), scale = design.X.shape, np.where(design.varying, design.lengths, 1.0)[:, None]

    def product(vectors: np.ndarray, every: int) -> np.ndarray:
        found = design.gram_times_four(vectors / scale, every) / scale
        return np.asarray(found if added is None else found + added @ (added.T @ vectors))

    found = LeastEigenvalue(0.0, np.inf, 0)
    for every in sorted({max(1, n // (ROWS_PER_COLUMN * p)), 1}, reverse=True):
        with one_blas_thread:
            found = least_eigenvalue(partial(product, every=every), design.varying, most)
        if found.bound > 0:
            break
    return found


class DependentColumns:
    """Equations for sparse columns of which some follow from others, as `combinations` of columns of length one, of shape (p, m), say."""

    def __init__(self, design: SparseDesign, target: np.ndarray, most: int, combinations: np.ndarray) -> None:
        self.design, self.target, self.most, self.combinations = design, target, most, combinations
        self.rank = int(design.varying.sum()) - combinations.shape[1]
        self.basis = orthonormal(combinations)
        self.products = 0

    @classmethod
    def of(cls, design: SparseDesign, target: np.ndarray, most: int, gram: np.ndarray) -> DependentColumns | None:
        """Look for them in the products of the columns; None where there are none, or where they are not dependent but nearly so."""
        combinations = _combinations(design, gram)
        if combinations is None:
            return None
        found = cls(design, target, most, combinations)
        size = np.linalg.norm(found.basis * np.hypot(1.0, found._offset)[:, None], axis=0).min()
        return found if found.left <= 16 * len(gram) * EPS * size and found.least.bound > 0 else None

    @cached_property
    def scale(self) -> np.ndarray:
        """The lengths of the columns, one where they are zero."""
        return np.where(self.design.varying, self.design.lengths, 1.0)

    @cached_property
    def _offset(self) -> np.ndarray:
        """The lengths that the means of the columns would have as columns, relative to their own."""
        return np.abs(self.design.center) * np.linalg.norm(self.design.root) / self.scale

    @cached_property
    def left(self) -> float:
        """How long the combinations are that vanish: rounding."""
        return float(np.sqrt(_products(self.design, self.basis)[1]))

    @cached_property
    def left_out(self) -> np.ndarray:
        """An orthonormal basis of the coefficients of which the rows say nothing, constant columns apart."""
        return orthonormal(self.combinations / self.scale[:, None])

    @cached_property
    def least(self) -> LeastEigenvalue:
        """What is known of the eigenvalues that are not zero."""
        return least_of_columns(self.design, self.most // 2, self._added)

    @property
    def _added(self) -> np.ndarray:
        return self.basis * np.sqrt(self.design.varying.sum() / max(1, self.rank))

    def solve(self) -> Solution | None:
        """Give the shortest solution; None where it is not found, or columns are too much alike to prove it."""
        right, coef, added = (
            self.design.back(self.target) / self.scale[:, None],
            np.zeros((len(self.scale), 0)),
            self._added,
        )

        def product(vector: np.ndarray) -> np.ndarray:
            found = self.design.gram_times(vector / self.scale) / self.scale
            return np.asarray(found + added @ (added.T @ vector))

        for column in (right - self.basis @ (self.basis.T @ right)).T:
            with one_blas_thread:
                found = conjugate_gradients(product, column, NEAR, self.most)
            if not found.residual <= NEAR:
                return None
            coef = np.column_stack([coef, found.solution / self.scale])
            self.products += found.iterations
        for _ in range(2):  # the second time for what rounding left
            coef = coef - self.left_out @ (self.left_out.T @ coef)
        return Solution(coef, self.rank, float(np.sqrt(self.least.condition)), -np.log10(NEAR))

    def excess(self, at: Standing) -> np.ndarray:
        """Bound by how much coefficients miss the least error: by the gradient, and the least eigenvalue that is not zero."""
        return np.asarray(self._far(at.gradient, at.noise) ** 2 * self.least.bound)

    def _far(self, gradient: np.ndarray, noise: np.ndarray) -> np.ndarray:
        varying = self.design.varying
        return Distance(self.design.lengths[varying], self.least.bound).far(gradient[varying], noise[varying])

    def outside(self, coef: np.ndarray) -> float:
        """Bound the share of the coefficients that lies where the rows say nothing."""
        size = float(np.linalg.norm(coef))
        return float(np.linalg.norm(self._outside(coef))) / size if size > 0 else 0.0

    def _outside(self, coef: np.ndarray) -> np.ndarray:
        still = np.linalg.norm(coef[~self.design.varying], axis=0)
        rounding = len(coef) * EPS * np.linalg.norm(coef, axis=0)
        return np.asarray(np.hypot(np.linalg.norm(self.left_out.T @ coef, axis=0), still) + rounding)

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray) -> float:
        """Bound the relative error of the shortest of the solutions, where residuals have such lengths.

        Rounding may have moved columns of length one by as much as it moves a QR factor: what that means for the directions that are left
        out, and for the solution, is said where singular values are known (:meth:`qed.linalg.wide.WideSystem.shortest_error`).
        """
        size, varying = np.linalg.norm(coef, axis=0), self.design.varying
        if not size.any():
            return 0.0
        least = float(np.sqrt(self.least.bound))
        moved = self.left + float(np.linalg.norm(factor_rounding(len(coef)) + 2 * EPS * self._offset[varying]))
        tilt = 2 * moved / least
        if not tilt < 0.5:
            return np.inf
        away = self.target - self.design.times(coef)
        missed = self._far(self.design.back(away), self.design.back_noise(away, coef, self.target))
        inner = coef * self.scale[:, None]
        beyond = self.basis.T @ inner
        within, beyond = (np.linalg.norm(part, axis=0) for part in (inner - self.basis @ beyond, beyond))
        off = missed + 2 * tilt * (2 * within + residual / least)
        gain, turn = levers(self.basis[varying].T, self.scale[varying], tilt)
        found = 2 * gain * (off + tilt * (within + beyond)) + turn * size + self._outside(coef)
        return float(np.divide(found, size, out=np.zeros_like(size), where=size > 0).max())


def _products(design: SparseDesign, vectors: np.ndarray) -> tuple[np.ndarray, float]:
    """Give ``A' A`` times vectors for columns of length one, of shape (p, m), and the sum of squares of A times them."""
    scale, found, square = np.where(design.varying, design.lengths, 1.0)[:, None], np.empty_like(vectors), 0.0
    for start in range(0, vectors.shape[1], STRIP):
        part = slice(start, start + STRIP)
        image = design.times(np.where(design.varying[:, None], vectors[:, part] / scale, 0.0))
        found[:, part] = design.back(image) / scale
        square += float((image**2).sum())
    return found, square


def _combinations(design: SparseDesign, gram: np.ndarray) -> np.ndarray | None:
    """Give what may vanish: for each column that seems to follow from others, these less that column."""
    varying = np.flatnonzero(design.varying)
    scaled = equilibrate(gram[np.ix_(varying, varying)])[0]
    with one_blas_thread:
        lower, order, rank, _ = lapack.dpstrf(np.asfortranarray(scaled), tol=PIVOT, lower=1)
        m = len(varying) - rank
        if not 0 < m <= rank:
            return None
        free, bound, triangle = varying[order[:rank] - 1], varying[order[rank:] - 1], lower[:rank, :rank]
        weights = solve_triangular(triangle, lower[rank:, :rank].T, lower=True, trans="T")
        found = np.zeros((len(gram), m))
        found[bound, np.arange(m)] = -1.0
        for _ in range(2):
            found[free] = weights
            weights = weights - cho_solve((triangle, True), _products(design, found)[0][free])
    # What rounding put into a combination is no part of it.
    found[free] = np.where(np.abs(weights) > 64 * len(varying) * EPS / triangle[-1, -1] ** 2, weights, 0.0)
    return found
