r"""Ridge regression for many penalties at once: a basis in which it is a matter of dividing.

With a basis :math:`B` in which error and penalty are both diagonal, :math:`B^\top S B = \mathrm{diag}(e)` and
:math:`B^\top B = \mathrm{diag}(c)`, every solution is a matter of dividing by :math:`e + \alpha c`:

.. math:: w_\alpha = (S_{xx} + \alpha I)^{-1} S_{xy} = B\,\mathrm{diag}\Big(\frac{1}{e + \alpha c}\Big) B^\top S_{xy},
   \qquad \mathrm{df}(\alpha) = \sum_i \frac{e_i}{e_i + \alpha c_i}.

The eigenvectors of :math:`S_{xx}` are such a basis (:math:`e` its eigenvalues, the squared singular values of
:math:`X`; :math:`c = 1`) and a precise one, unless the columns have very different units and the penalty is small; then
the eigenvectors that belong to columns of length one are taken (:math:`e = 1`). Cost: :math:`O(p^3)`, and :math:`O(p^2)` for each
penalty.

Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, section 3.4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from qed.base.numbers import EPS
from qed.linalg.normal import equilibrate, factorised
from qed.optim.least_squares.evidence import about_zero
from qed.optim.least_squares.precise import DIGITS_WANTED, LazyFactor, solve_precisely
from qed.stats.moments import Moments


@dataclass(frozen=True)
class Diagonal:
    """A basis in which error and penalty are both diagonal."""

    basis: np.ndarray  # (p, p): the basis vectors, as columns
    # (p,): what a unit step along each of them adds to the squared error and to the squared length.
    error: np.ndarray
    penalty: np.ndarray
    condition: float = 1.0  # by how much rounding was magnified in making the basis

    @classmethod
    def of_columns(cls, gram: np.ndarray) -> Diagonal:
        """Take the eigenvectors of the Gram matrix."""
        # NumPy's routine, unlike SciPy's, lets other threads run meanwhile: the folds of a search are solved side by side.
        value, vector = np.linalg.eigh(gram)
        return cls(vector, np.maximum(value, 0.0), np.ones(len(gram)))

    @classmethod
    def of_unit_columns(cls, gram: np.ndarray) -> Diagonal | None:
        """Take the eigenvectors of the penalty for columns of length one; None where columns are dependent."""
        scaled, length = equilibrate(gram)
        lower, reciprocal = factorised(scaled)
        if reciprocal <= 4 * len(gram) * EPS:
            return None
        inverse = solve_triangular(lower, np.eye(len(gram)), lower=True, check_finite=False)
        value, vector = np.linalg.eigh((inverse / length**2) @ inverse.T)
        basis = inverse.T @ vector / length[:, None]
        return cls(basis, np.ones(len(gram)), np.maximum(value, 0.0), 1 / reciprocal)

    def weights(self, alphas: np.ndarray) -> np.ndarray:
        """Give ``1 / (error + alpha penalty)``, a column for each penalty; zero where rounding hides the sum."""
        total = self.error[:, None] + self.penalty[:, None] * alphas
        floor = 4 * len(total) * EPS * self.error.max(initial=0.0)
        return np.asarray(np.divide(1.0, total, out=np.zeros_like(total), where=total > floor))

    def digits(self, alphas: np.ndarray) -> np.ndarray:
        """Give about how many decimal digits of the solution for each penalty are right."""
        total = self.error[:, None] + self.penalty[:, None] * alphas
        spread = total.max(axis=0) / np.maximum(total.min(axis=0), 1e-300)
        return np.asarray(-np.log10(EPS * np.maximum(spread, self.condition)))

    def coef(self, right: np.ndarray, alphas: np.ndarray) -> np.ndarray:
        """Give the solutions for all penalties, of shape (n_alphas, p, q)."""
        p, q = right.shape
        parts = self.weights(alphas)[:, :, None] * (self.basis.T @ right)[:, None, :]
        return np.asarray(self.basis @ parts.reshape(p, -1)).reshape(p, -1, q).transpose(1, 0, 2)


def diagonals(gram: np.ndarray, alphas: np.ndarray) -> list[tuple[Diagonal, np.ndarray, np.ndarray]]:
    """Give one or two bases, each with the penalties (their positions) that it serves best and its digits there.

    >>> ((first, places, digits),) = diagonals(np.diag([4.0, 1.0]), np.array([1.0, 3.0]))
    >>> first.weights(np.array([1.0, 3.0]))[-1], places
    (array([0.2       , 0.14285714]), array([0, 1]))
    """
    plain = Diagonal.of_columns(gram)
    found = plain.digits(alphas)
    poor = found < DIGITS_WANTED
    unit = Diagonal.of_unit_columns(gram) if poor.any() else None
    if unit is None:
        return [(plain, np.arange(len(alphas)), found)]
    other = unit.digits(alphas)
    better = poor & (other > found)
    choices = [(plain, np.flatnonzero(~better), found[~better]), (unit, np.flatnonzero(better), other[better])]
    return [choice for choice in choices if len(choice[1])]


def coefficients(moments: Moments, alphas: np.ndarray, factor: LazyFactor, *, centered: bool) -> np.ndarray:
    """Solve ridge regression for many settings of the penalty at once.

    For each setting there is one penalty per output; `factor` gives the R factor of the training rows, for where
    moments are too coarse. What is found, of shape (m, p, q), is what `Ridge` would find, to nine digits or as many as
    the data allow.
    """
    seen = moments if centered else about_zero(moments)
    values, places = np.unique(alphas, return_inverse=True)
    found = np.empty((len(values), *seen.xy.shape))
    for basis, chosen, digits in diagonals(seen.xx, values):
        found[chosen] = basis.coef(seen.xy, values[chosen])
        for k in chosen[digits < DIGITS_WANTED]:
            alpha = float(values[k])
            solution, _ = solve_precisely(seen, alpha, factor, centered=centered)
            found[k] = solution.coef
    if alphas.shape[1] == 1:
        return found[places.ravel()]
    outputs = np.arange(alphas.shape[1])
    return found[places.reshape(alphas.shape), :, outputs].transpose(0, 2, 1)


def intercepts(moments: Moments, coef: np.ndarray, *, centered: bool) -> np.ndarray:
    """Give the constants that go with coefficients of shape (m, p, q)."""
    return moments.y_mean - moments.x_mean @ coef if centered else np.zeros((len(coef), coef.shape[2]))
