r"""Least squares from a Gram matrix: :math:`(S + \alpha I)\,w = b` with :math:`S = X^\top X,\ b = X^\top y`.

A Cholesky factorisation of the *equilibrated* matrix (:mod:`qed.linalg.cholesky`) solves it, and its condition estimate says how many
digits that costs: forming :math:`X^\top X` squares the condition number, so the answer has about
:math:`16 - 2\log_{10}\kappa(X)` of them. Callers compare `Solution.digits` with what they need and turn to a QR factorisation where it is
not enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from qed.base.numbers import EPS
from qed.linalg.cholesky import Cholesky, factor_in_place, reciprocal_condition
from qed.linalg.root import Root

# So many directions are few.
FEW = 64


@dataclass(slots=True)
class Solution:
    """Coefficients with what is known about them."""

    coef: np.ndarray  # (p, q): the solution; the shortest one where there are many
    rank: int  # how many columns are independent
    condition: float  # of the equilibrated design matrix (not of its Gram matrix), over its range
    digits: float  # about how many decimal digits of the coefficients are right


@dataclass(slots=True)
class Standing:
    """Where coefficients stand: all from which it follows how far they are above the minimum of ``||y - X w||^2 + alpha ||w||^2``."""

    coef: np.ndarray  # (p, q)
    gradient: np.ndarray  # (p, q): X'(y - X w) - alpha w
    noise: np.ndarray  # (p, q): how far that may be off
    alphas: np.ndarray  # (q,): the penalty of each output
    reach: np.ndarray  # (q,): the size of what the residuals are differences of
    enough: np.ndarray  # (q,): a bound below it need not be any sharper
    rank: int | None = None  # that of the columns, as a model without a penalty found it

    def of(self, outputs: np.ndarray) -> Standing:
        """Give where some of the outputs stand."""
        fields = ("coef", "gradient", "noise", "alphas", "reach", "enough")
        return replace(self, **{name: getattr(self, name)[..., outputs] for name in fields})


def equilibrate(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scale a Gram matrix to unit diagonal: give the scaled matrix and the length of each column.

    Columns of length zero keep a length of one, and a zero on the diagonal.
    """
    length = np.sqrt(np.maximum(gram.diagonal(), 0.0))
    length[~(length > 0)] = 1.0
    return gram / (length[:, None] * length), length


def factorised(matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Give the lower Cholesky factor of a symmetric matrix, and about one over its condition number: 0 where there is no factor."""
    lower = np.asfortranarray(np.tril(matrix))
    if not factor_in_place(lower):
        return lower, 0.0
    return lower, reciprocal_condition(lower, float(np.abs(matrix).sum(axis=0).max()))


def table_of(scatter: np.ndarray) -> np.ndarray:
    """Give a square table whose sums of squares and products are `scatter`."""
    scaled, length = equilibrate(scatter)
    value, vector = np.linalg.eigh(scaled)
    length[scatter.diagonal() <= 0] = 0.0
    return np.asarray(np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T * length)


def solve(gram: np.ndarray, right: np.ndarray, alpha: float = 0.0) -> Solution:
    """Solve ``(gram + alpha I) coef = right``, with the shortest solution where there are many.

    Parameters
    ----------
    gram : ndarray of shape (d, d)
        A symmetric positive semidefinite matrix.
    right : ndarray of shape (d, k)
        Right-hand sides, one a column.
    alpha : float, default=0.0
        What is added to the diagonal.

    Returns
    -------
    Solution
        The coefficients, with the rank, the condition number and the digits that they have.

    Examples
    --------
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([[1.0], [2.0], [2.0]])
    >>> solve(X.T @ X, X.T @ y, alpha=1.0).coef.ravel().round(12)
    array([0.8, 0.6])
    """
    return Normal(gram).solve(right, alpha)


class Normal:
    """A Gram matrix that is solved for several right-hand sides and factored once for each penalty.

    Entries of the matrix are off by no more than ``noise[j] * noise[k]``.

    Examples
    --------
    >>> normal = Normal(np.array([[3.0, 3.0], [3.0, 5.0]]))
    >>> normal.solve(np.array([[5.0], [6.0]]), alpha=1.0).coef.ravel().round(12)
    array([0.8, 0.6])
    """

    def __init__(self, gram: np.ndarray, noise: np.ndarray | None = None) -> None:
        self.gram = gram
        self.noise = np.zeros(len(gram)) if noise is None else noise
        self._factors: dict[float, Cholesky | None] = {}
        self._spectra: dict[float, Spectrum] = {}
        self._roots: dict[float, tuple[np.ndarray, Root | None]] = {}

    def factor(self, alpha: float) -> Cholesky | None:
        """Give the factor of ``gram + alpha I``; None where rounding leaves none."""
        if alpha not in self._factors:
            self._factors[alpha] = Cholesky.of(self.gram, alpha)
        return self._factors[alpha]

    def spectrum(self, alpha: float = 0.0) -> Spectrum:
        """Give the eigenvectors of ``gram + alpha I``, scaled to a diagonal of ones."""
        if alpha not in self._spectra:
            scaled, length = equilibrate(self.gram + alpha * np.eye(len(self.gram)))
            value, vector = eigh(scaled)
            self._spectra[alpha] = Spectrum(value, vector, length)
        return self._spectra[alpha]

    def vanishing(self, rank: int) -> np.ndarray:
        """Give the combinations of columns that are left out with a rank, of shape (p, m), constant columns apart."""
        varying = self.gram.diagonal() > 0
        seen = self.spectrum() if varying.all() else Normal(self.gram[np.ix_(varying, varying)]).spectrum()
        return seen.vanishing(varying, rank)

    @cached_property
    def lengths(self) -> np.ndarray:
        """The lengths of the columns of X, where the matrix is X'X."""
        return np.sqrt(np.maximum(self.gram.diagonal(), 0.0))

    def solve(self, right: np.ndarray, alpha: float = 0.0) -> Solution:
        """Solve ``(gram + alpha I) coef = right``; see the function `solve`."""
        factor = self.factor(alpha)
        if factor is not None:
            return Solution(factor.solve(right), len(self.gram), factor.condition, factor.digits)
        varying, factor = self.varying(alpha)
        if factor is None or varying.all():
            return self.spectrum(alpha).solve(right)
        coef = np.zeros(right.shape)
        coef[varying] = factor.solve(right[varying])
        return Solution(coef, int(varying.sum()), factor.condition, factor.digits)

    def excess(self, at: Standing) -> np.ndarray:
        """Bound by how much coefficients miss the minimum, for each output: ``g' (gram + alpha I)^+ g``.

        What rounding may have hidden of the gradient is counted in; where columns are so alike that their scatter can not tell them
        apart, nothing can be said.
        """
        alphas = sorted(set(at.alphas.tolist()))
        if len(alphas) == 1:
            return self._excess(at, alphas[0])
        result = np.empty(len(at.alphas))
        for alpha in alphas:
            result[at.alphas == alpha] = self._excess(at.of(at.alphas == alpha), alpha)
        return result

    def _excess(self, at: Standing, alpha: float) -> np.ndarray:
        if alpha > 0:
            # A penalty bends the error by at least itself in every direction: where that is enough, no factor has to be inverted.
            coarse = (np.linalg.norm(at.gradient, axis=0) + np.linalg.norm(at.noise, axis=0)) ** 2 / alpha
            if (coarse <= at.enough).all():
                return np.asarray(coarse)
        varying, root = self.root(alpha)
        if root is not None and len(root.length) == len(varying):
            return root.excess(at.gradient, at.noise, at.enough)
        gradient, noise, unknown = at.gradient[varying], at.noise[varying], (at.noise[~varying] > 0).any(axis=0)
        if root is None:
            found = np.where((np.abs(gradient) + noise > 0).any(axis=0), np.inf, 0.0)
        else:
            found = root.excess(gradient, noise, at.enough)
        return np.where(unknown, np.inf, found)

    def varying(self, alpha: float = 0.0) -> tuple[np.ndarray, Cholesky | None]:
        """Say which columns are more than a constant (all, with a penalty), and give the factor of these, or None."""
        factor = self.factor(alpha)
        if factor is not None or alpha > 0:
            return np.ones(len(self.gram), dtype=bool), factor
        varying = self.lengths > 0
        if varying.all():
            return varying, None
        return varying, Cholesky.of(self.gram[np.ix_(varying, varying)]) if varying.any() else None

    def root(self, alpha: float = 0.0) -> tuple[np.ndarray, Root | None]:
        """Say which columns are more than a constant, and give a root of their products where they are independent."""
        if alpha not in self._roots:
            varying, factor = self.varying(alpha)
            noise = self.noise if factor is self._factors[alpha] else self.noise[varying]
            self._roots[alpha] = varying, None if factor is None else Root.of_cholesky(factor, noise)
        return self._roots[alpha]

    def shortest_error(self, coef: np.ndarray, residual: np.ndarray, rank: int) -> float:
        """Say nothing: squares and products can not tell dependent columns from nearly dependent ones."""
        return 0.0 if rank == 0 and not self.noise.any() else float("inf")

    def outside(self, coef: np.ndarray, rank: int) -> float:
        """Give the share of the coefficients that lies where the columns, of this rank, say nothing."""
        seen = self.spectrum()
        basis, _ = np.linalg.qr(seen.vector[:, : len(coef) - rank] / seen.length[:, None])
        size = np.linalg.norm(coef)
        return float(np.linalg.norm(basis.T @ coef) / size) if size > 0 else 0.0

    def condition(self, rank: int) -> float | None:
        """Give the condition number of the columns scaled to equal length, over so many directions; None where digits are missing."""
        factor = self.factor(0.0) if rank == len(self.gram) else None
        if factor is not None and factor.digits > 4:
            return factor.condition
        value = self.spectrum().value[len(self.gram) - rank :]
        if len(value) == 0:
            return 1.0
        return float(np.sqrt(value[-1] / value[0])) if value[0] > 1e4 * len(self.gram) * EPS else None


class Spectrum(NamedTuple):
    """Eigenvalues, in rising order, and eigenvectors of a matrix scaled to a diagonal of ones, and the roots of the diagonal it had."""

    value: np.ndarray
    vector: np.ndarray
    length: np.ndarray

    def vanishing(self, varying: np.ndarray, rank: int) -> np.ndarray:
        """Give the combinations beyond a rank, of shape (p, m), of the columns that are `varying`; zeros for what is not known.

        The values may also be singular ones, of a root of the matrix.
        """
        m = max(len(self.value) - rank, 0)
        # What rounding put into a combination is no part of it: rows where nothing else is would be nothing but that.
        rounding = 64 * len(self.value) * EPS / max(float(self.value[m:].min(initial=1.0)), EPS)
        found = np.zeros((len(varying), m))
        found[varying] = np.where(np.abs(self.vector[:, :m]) > rounding, self.vector[:, :m], 0.0) / self.length[:, None]
        return found

    def solve(self, right: np.ndarray) -> Solution:
        """Solve without the eigenvectors that rounding can not tell from zero, and take the shortest solution."""
        value, vector, length = self
        kept = value > 4 * len(value) * EPS * max(value[-1], EPS)
        rank = int(kept.sum())
        inner = vector[:, kept] / value[kept] @ (vector[:, kept].T @ (right / length[:, None]))
        coef = shortest(inner / length[:, None], vector[:, ~kept] / length[:, None])
        spread = value[-1] / value[kept][0] if rank else 1.0
        return Solution(coef, rank, float(np.sqrt(spread)), float(-np.log10(EPS * spread)))


def shortest(coef: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Remove from `coef` its part in the span of the columns of `null`."""
    if null.shape[1] == 0:
        return coef
    basis = orthonormal(null)
    return coef - basis @ (basis.T @ coef)


def orthonormal(directions: np.ndarray) -> np.ndarray:
    """Give an orthonormal basis of the span of independent columns, of shape (p, m).

    A few are taken one by one, as Gram and Schmidt did, twice: reflections would leave rounding in entries that are far smaller than
    others, such as those of columns of large units.
    """
    if directions.shape[1] > FEW:
        return np.asarray(np.linalg.qr(directions)[0])
    basis = np.array(directions, dtype=np.float64)
    for k in range(basis.shape[1]):
        for _ in range(2):
            basis[:, k] /= np.linalg.norm(basis[:, k])
            basis[:, k] -= basis[:, :k] @ (basis[:, :k].T @ basis[:, k])
        basis[:, k] /= np.linalg.norm(basis[:, k])
    return basis
