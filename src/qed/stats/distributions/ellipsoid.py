r"""Level sets of a Gaussian density: ellipsoids along the eigenvectors of the covariance.

With :math:`\Sigma = V \Lambda V^\top`, :math:`f(z) = t` is :math:`(z - \mu)^\top \Sigma^{-1} (z - \mu) = c` for
:math:`c = -2 \ln\bigl(t\,(2\pi)^{k/2} \sqrt{\det\Sigma}\bigr)`: semi-axes :math:`\sqrt{c\lambda_i}\, v_i`, and nothing at all for a
density above the maximum, where :math:`c < 0`. The probability inside is that of a :math:`\chi^2_k` variable below :math:`c`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from qed.base.errors import InputError, ParameterError


@dataclass(frozen=True, eq=False)
class Ellipsoid:
    """An ellipsoid.

    Attributes
    ----------
    center : ndarray of shape (k,)
        The middle.
    radii : ndarray of shape (k,)
        The lengths of the semi-axes, the longest first.
    directions : ndarray of shape (k, k)
        Their directions, one a row.
    """

    center: np.ndarray
    radii: np.ndarray
    directions: np.ndarray

    @classmethod
    def of(
        cls, mean: np.ndarray, factor: np.ndarray, density: float | None, mass: float | None, distance: float | None
    ) -> Ellipsoid:
        """Make the contour of the Gaussian whose covariance has the Cholesky factor `factor`."""
        if sum(given is not None for given in (density, mass, distance)) != 1:
            raise ParameterError("A contour is given by one of density, mass and distance.")
        squared = _squared_distance(factor, density, mass, distance)
        _, radii, directions = np.linalg.svd(factor.T)
        first = np.take_along_axis(directions, np.abs(directions).argmax(axis=1)[:, None], axis=1)
        return cls(mean, np.sqrt(squared) * radii, directions * np.sign(first))

    @property
    def axes(self) -> np.ndarray:
        """The semi-axes as vectors, one a row."""
        return self.radii[:, None] * self.directions

    @property
    def is_sphere(self) -> bool:
        """Whether all semi-axes are equally long: the covariance is isotropic."""
        return bool(np.ptp(self.radii) <= 1e-12 * self.radii.max(initial=0.0))

    def points(self, n: int = 200) -> np.ndarray:
        """Give points along the curve, for drawing; only in two dimensions.

        Parameters
        ----------
        n : int
            How many; the first and the last are the same.
        """
        if len(self.center) != 2:
            raise InputError(f"Only an ellipse can be drawn as a curve, but this has {len(self.center)} dimensions.")
        angle = np.linspace(0, 2 * np.pi, n)
        return self.center + np.column_stack([np.cos(angle), np.sin(angle)]) @ self.axes


def _squared_distance(factor: np.ndarray, density: float | None, mass: float | None, distance: float | None) -> float:
    k = len(factor)
    if mass is not None:
        if not 0 < mass < 1:
            raise ParameterError(f"mass must be between 0 and 1, not {mass}.")
        return float(2 * special.gammaincinv(k / 2, mass))
    if distance is not None:
        if not (np.isfinite(distance) and distance >= 0):
            raise ParameterError(f"distance must be a finite number that is not negative, not {distance}.")
        return float(distance) ** 2
    if density is None or not (np.isfinite(density) and density > 0):
        raise ParameterError(f"density must be a positive number, not {density}.")
    peak = -0.5 * k * np.log(2 * np.pi) - np.log(np.diagonal(factor)).sum()
    squared = 2 * (peak - np.log(density))
    if squared < -1e-12:
        raise ParameterError(f"No point has the density {density:g}: the highest is {np.exp(peak):g}, at the mean.")
    return float(max(squared, 0.0))
