r"""Covariances as people give them: nothing, one variance, one for each row or coefficient, or a full matrix.

They are checked here, once, and turned into a root: noise of covariance :math:`LL^\top` becomes standard by
:math:`L^{-1}` (Cholesky, a triangular solve), and coefficients of prior covariance :math:`RR^\top` are
:math:`\mu + Rv` with standard :math:`v`. Which root is taken makes no difference to any solution. Noise must be
positive definite; a prior may be singular.
"""

from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from qed.base.errors import InputError, ParameterError
from qed.base.numbers import EPS
from qed.linalg.root import inverted

NO_WEIGHTS = (
    "sample_weight can not be combined with a full covariance matrix: a repeated row would need to know how its noise "
    "depends on that of the others. Repeat the row in the data and in the matrix, or give variances."
)
# So much may rounding do by a coarse bound, before the root is inverted to know better.
ENOUGH = 1e-9


class Whitening:
    """The change of coordinates ``L^-1`` that makes noise of covariance ``L L'`` independent with variance one.

    The covariance is None, a variance, one for each row, or a matrix; `name` is what to call it in messages.
    `deviations` are the standard deviations of independent noise, and None for a full matrix.

    >>> whiten = Whitening([4.0, 1.0], 2)
    >>> whiten(np.array([2.0, 3.0]))
    array([1., 3.])
    """

    def __init__(self, noise: Any, n: int, name: str = "noise") -> None:
        self._factor = _noise_factor(name, noise, n)
        self.deviations = self._factor if self._factor.ndim == 1 else None

    @cached_property
    def rounding(self) -> float:
        """What rounding does to what is whitened, relative to its length, at most: the condition of the root of a full matrix enters."""
        if self.deviations is not None:
            return 4 * EPS
        size = float(np.linalg.norm(self._factor))
        far = inverted(np.asfortranarray(self._factor), ENOUGH / (len(self._factor) * EPS * size))[0]
        return len(self._factor) * EPS * size * far

    def log_determinant(self, weight: np.ndarray | None = None) -> float:
        """Give the logarithm of the determinant of the covariance; a weight counts its row so many times."""
        diagonal = np.diagonal(self._factor) if self.deviations is None else self.deviations
        return float(2 * (np.log(diagonal) if weight is None else weight * np.log(diagonal)).sum())

    def __call__(self, values: np.ndarray) -> np.ndarray:
        """Whiten a vector, or every column of a matrix."""
        if self._factor.ndim == 2:
            return np.asarray(linalg.solve_triangular(self._factor, values, lower=True))
        return np.asarray((values.T / self._factor).T)


def _noise_factor(name: str, noise: Any, n: int) -> np.ndarray:
    """Give the lower triangular root of a covariance, or for independent rows their standard deviations."""
    covariance = _sized(name, 1.0 if noise is None else noise, n, "row")
    if covariance.ndim == 1:
        bad = np.flatnonzero(covariance <= 0)
        if len(bad):
            raise ParameterError(
                f"{name}: the variance of row {bad[0]} is {covariance[bad[0]]:g}, but a variance must be positive. "
                "A row that is known exactly has no finite weight: give it a small variance, or leave it out."
            )
        return np.asarray(np.sqrt(covariance))
    try:
        return np.linalg.cholesky(_symmetric(name, covariance))
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(covariance)[0]
        raise ParameterError(
            f"{name}: the covariance matrix is not positive definite (smallest eigenvalue {least:.3g}): some "
            "combination of rows would have no noise at all. Add a small multiple of the identity."
        ) from None


def root(name: str, covariance: Any, d: int) -> np.ndarray:
    """Give a matrix R with ``R R' = covariance``: triangular, or made of eigenvectors where the covariance is singular.

    The covariance is one variance, one for each of the d coefficients, or a full matrix.

    >>> root("prior", [4.0, 0.0], 2)
    array([[2., 0.],
           [0., 0.]])
    """
    values = _sized(name, covariance, d, "coefficient")
    if values.ndim == 1:
        bad = np.flatnonzero(values < 0)
        if len(bad):
            raise ParameterError(
                f"{name}: the variance of coefficient {bad[0]} is {values[bad[0]]:g}, which is negative."
            )
        return np.diag(np.sqrt(values))
    values = _symmetric(name, values)
    try:
        return np.linalg.cholesky(values)
    except np.linalg.LinAlgError:
        pass
    eigenvalues, vectors = np.linalg.eigh(values)
    if eigenvalues[0] < -d * EPS * max(eigenvalues[-1], 0.0):
        raise ParameterError(
            f"{name}: the covariance matrix has the negative eigenvalue {eigenvalues[0]:.3g}, so it is none: "
            "no variance of a combination of coefficients may be negative."
        )
    kept = np.where(eigenvalues > d * EPS * eigenvalues[-1], eigenvalues, 0.0)
    return vectors * np.sqrt(kept)


def location(name: str, mean: Any, d: int) -> np.ndarray:
    """Give the prior mean as a vector of `d` numbers."""
    values = numbers(name, mean)
    if values.ndim == 0:
        return np.full(d, float(values))
    if values.shape != (d,):
        raise ParameterError(
            f"{name} must be a number or one for each of the {d} coefficients, not of shape {values.shape}."
        )
    return values


def numbers(name: str, values: Any, error: type[InputError] = ParameterError) -> np.ndarray:
    """Give `values` as an array of finite numbers, or say under their name what they are instead."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise error(f"{name} must be numbers: {problem}.") from None
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        place = tuple(int(i) for i in bad[0])
        raise error(f"{name} must be finite numbers, but it has {array[place]} at {list(place) or 'its only place'}.")
    return array


def _sized(name: str, covariance: Any, size: int, unit: str) -> np.ndarray:
    """Give a covariance as variances or as a matrix, of the size that is wanted."""
    values = numbers(name, covariance)
    if values.ndim == 0:
        return np.full(size, float(values))
    if values.ndim > 2 or set(values.shape) != {size}:
        raise ParameterError(
            f"{name} must be a number, {size} variances (one for each {unit}) or a {size} x {size} matrix, "
            f"but it has shape {values.shape} and there are {size} {unit}s."
        )
    return values


def _symmetric(name: str, matrix: np.ndarray) -> np.ndarray:
    gap = np.abs(matrix - matrix.T)
    if (gap > 1e-10 * np.abs(matrix).max()).any():
        i, j = (int(k) for k in np.unravel_index(gap.argmax(), gap.shape))
        raise ParameterError(
            f"{name}: a covariance matrix is symmetric, but entry ({i}, {j}) is {matrix[i, j]:g} and entry "
            f"({j}, {i}) is {matrix[j, i]:g}."
        )
    return np.asarray((matrix + matrix.T) / 2)
