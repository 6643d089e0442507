r"""Kernels of the distance alone, which falls off from one.

.. math:: \text{Gaussian:}\quad k(x, z) = e^{-\gamma \|x - z\|^2} = e^{-\|x - z\|^2 / 2\sigma^2}, \qquad
          \text{Laplace:}\quad k(x, z) = e^{-\gamma \|x - z\|} = e^{-\|x - z\| / 2\sigma}.

A wide kernel (small :math:`\gamma`, large :math:`\sigma`) sees the broad shape of the data, a narrow one each point by
itself. Both are valid for every number of columns because they are Fourier transforms of densities (Bochner's theorem);
their feature maps are infinite.

Rasmussen and Williams (2006), Gaussian Processes for Machine Learning, section 4.2.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.errors import ParameterError
from qed.base.models.parameters import Parameter, choice, number
from qed.kernels.distances import half_squares, lost_by_gaussian
from qed.kernels.gram.gaussian import FAR_AWAY, WORTH_COMPILING, gaussian_tile
from qed.kernels.kernel import Kernel, checked, keep
from qed.kernels.tiles import Bound, Places, after

WIDTH = number(0, above=True) | Parameter("None", lambda value: value is None)


def _check_width(kernel: Any) -> None:
    """Keep gamma or sigma as a plain number; both at once say the same thing twice, or two things."""
    given = {name: checked(kernel, name, WIDTH) for name in ("gamma", "sigma")}
    if None not in given.values():
        raise ParameterError(
            f"{type(kernel).__name__}: give gamma or sigma, not both: gamma={kernel.gamma!r} and sigma={kernel.sigma!r}."
        )
    keep(kernel, **{name: None if value is None else float(value) for name, value in given.items()})


@dataclass(frozen=True, repr=False)
class RBF(Kernel):
    r"""The Gaussian kernel :math:`k(x, z) = e^{-\gamma \|x - z\|^2}`; ``Gaussian`` is another name for it.

    Parameters
    ----------
    gamma : float, optional
        The factor :math:`\gamma`; the default, when there is no `sigma`, is one over the number of columns.
    sigma : float, optional
        The width, :math:`\gamma = 1 / (2\sigma^2)`.

    Examples
    --------
    >>> import numpy as np
    >>> from qed.kernels import RBF
    >>> K = RBF(sigma=1.0)([[0.0], [1.0], [2.0]])
    >>> K.round(4)
    array([[1.    , 0.6065, 0.1353],
           [0.6065, 1.    , 0.6065],
           [0.1353, 0.6065, 1.    ]])
    >>> bool((RBF(gamma=0.5)([[0.0], [1.0], [2.0]]) == K).all())
    True
    """

    gamma: float | None = None
    sigma: float | None = None

    def __post_init__(self) -> None:
        _check_width(self)

    def _bind(self, X: Any, Z: Any) -> Bound:
        scale = self._scale(X.shape[1])
        if X.shape[0] * Z.shape[0] < WORTH_COMPILING:
            return half_squares(X, Z, scale, lambda out: np.exp(out, out=out))
        return half_squares(X, Z, scale, _exponentials, gaussian_tile)

    def _scale(self, p: int) -> float:
        if self.sigma is not None:
            scale = 1 / self.sigma
        else:
            scale = math.sqrt(2 * (1 / p if self.gamma is None else self.gamma))
        return scale

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])

    def lost(self, X: Any) -> float:
        """Bound what rounding does to the similarity of two rows of a checked table."""
        return lost_by_gaussian(X, self._scale(X.shape[1]))


Gaussian = RBF


@dataclass(frozen=True, repr=False)
class Laplace(Kernel):
    r"""The Laplace kernel :math:`k(x, z) = e^{-\gamma \|x - z\|}`.

    Parameters
    ----------
    gamma : float, optional
        The factor :math:`\gamma`; the default, when there is no `sigma`, is one over the number of columns.
    sigma : float, optional
        The width, :math:`\gamma = 1 / (2\sigma)`.
    norm : {2, 1}, default=2
        The distance: the Euclidean one, or the sum of absolute differences, which scikit-learn means by "laplacian".

    Examples
    --------
    >>> from qed.kernels import Laplace
    >>> Laplace(sigma=2.5)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.3679]])
    >>> Laplace(gamma=0.1, norm=1)([[0.0, 0.0]], [[3.0, 4.0]]).round(4)
    array([[0.4966]])
    """

    gamma: float | None = None
    sigma: float | None = None
    norm: int = 2

    def __post_init__(self) -> None:
        _check_width(self)
        keep(self, norm=int(checked(self, "norm", choice(1, 2))))

    def _bind(self, X: Any, Z: Any) -> Bound:
        if self.sigma is not None:
            gamma = 1 / (2 * self.sigma)
        else:
            gamma = 1 / X.shape[1] if self.gamma is None else self.gamma
        if self.norm == 2:
            return half_squares(X, Z, math.sqrt(2) * gamma, _decay_of_squares)
        return after(_absolute_differences(X, Z), lambda out: _decay(out, gamma))

    def _diagonal(self, X: Any) -> np.ndarray:
        return np.ones(X.shape[0])


def _exponentials(out: np.ndarray) -> None:
    """Turn numbers into their exponentials, by the kernel that is compiled already."""
    gaussian_tile(out, np.zeros(len(out)), np.zeros(out.shape[1]), 0.0, FAR_AWAY)


def _decay_of_squares(out: np.ndarray) -> None:
    """Turn ``-r^2`` into ``exp(-r)``."""
    np.negative(out, out=out)
    np.sqrt(out, out=out)
    _decay(out, 1.0)


def _decay(out: np.ndarray, gamma: float) -> None:
    out *= -gamma
    np.exp(out, out=out)


def _absolute_differences(X: Any, Z: Any) -> Bound:
    """Bind the sums of absolute differences; sparse tables are made dense some columns at a time."""
    from scipy.spatial.distance import cdist

    if isinstance(X, np.ndarray):

        def fill(rows: Places, columns: slice, out: np.ndarray) -> None:
            cdist(X[rows], Z[columns], "cityblock", out=out)

        return Bound(fill, extra=1)

    left, right = X.tocsc(), X.tocsc() if Z is X else Z.tocsc()

    def fill_sparse(rows: Places, columns: slice, out: np.ndarray) -> None:
        out[...] = 0.0
        width = max(1, min(out.shape))
        for start in range(0, X.shape[1], width):
            some = slice(start, min(start + width, X.shape[1]))
            out += cdist(left[rows, some].toarray(), right[columns, some].toarray(), "cityblock")

    return Bound(fill_sparse, held=2 * (X.nnz + Z.nnz) * 12, extra=6)
