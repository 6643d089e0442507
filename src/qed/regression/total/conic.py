r"""Fitting an ellipse, or another conic, to points in the plane.

.. math:: \min_w \|\Phi w - \mathbf 1\|^2, \qquad \phi(x) = (x_1^2,\ x_2^2,\ x_1 x_2,\ x_1,\ x_2),

least squares for the curve :math:`w^\top\phi(x) = 1`: linear in the coefficients, though not in the coordinates, with
no target but the constant one. The curve is an ellipse only where :math:`w_3^2 < 4 w_1 w_2`; noise can make it a
hyperbola, and the result says so. Because the constant is fixed, no curve through the origin can be described and the
fit is not invariant to moving the points: points on such a curve are reported. Columns are scaled to unit length before
a singular value decomposition solves the problem, at a cost of :math:`O(n)`.

Bookstein (1979), Fitting conic sections to scattered data.
"""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from qed.base.certificate import Certificate, Claim
from qed.base.errors import DegenerateError, DegenerateWarning, InputError, NotAvailableError
from qed.base.numbers import EPS, TINY
from qed.base.visible import ShownAsText

FLAT = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Conic(ShownAsText):
    """A curve w1 x1² + w2 x2² + w3 x1 x2 + w4 x1 + w5 x2 = 1.

    Attributes
    ----------
    coef : ndarray of shape (5,)
        The coefficients w, in that order.
    residual : float
        Length of the vector of algebraic distances (weighted) of the points it was fitted to.
    through_origin : bool
        Whether the points lie on a curve through the origin, which no such equation describes: `coef` is then the
        shortest of many that fit equally badly.
    certificate : Certificate or None
        The proof of the fit.
    """

    coef: np.ndarray
    residual: float = 0.0
    through_origin: bool = False
    certificate: Certificate | None = None

    @cached_property
    def _quadratic(self) -> np.ndarray:
        """The matrix A of the squares: the curve is ``x'Ax + b'x = 1``."""
        w1, w2, w3 = (float(w) for w in self.coef[:3])
        return np.array([[w1, w3 / 2], [w3 / 2, w2]])

    @cached_property
    def _axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of A."""
        return np.linalg.eigh(self._quadratic)

    @property
    def discriminant(self) -> float:
        """The number w3² - 4 w1 w2: negative for an ellipse, positive for a hyperbola, zero for a parabola."""
        w1, w2, w3 = (float(w) for w in self.coef[:3])
        return w3**2 - 4 * w1 * w2

    @cached_property
    def _level(self) -> float:
        """What is left of the right-hand side at the centre: the curve is ``z'Az = level`` about it."""
        return 1.0 - float(self.coef[3:] @ self._center) / 2

    @cached_property
    def _center(self) -> np.ndarray:
        return np.linalg.solve(self._quadratic, self.coef[3:] / -2)

    @cached_property
    def kind(self) -> str:
        """What the curve is: "ellipse", "hyperbola", "parabola", or "degenerate" (lines, a point, or nothing)."""
        values = self._axes[0]
        large = np.abs(values).max()
        if large == 0:
            return "degenerate"
        if np.abs(values).min() <= FLAT * large:
            along = self._axes[1][:, np.abs(values).argmin()] @ self.coef[3:]
            return "parabola" if abs(along) > FLAT * np.linalg.norm(self.coef[3:]) else "degenerate"
        if abs(self._level) <= FLAT * (1 + abs(1 - self._level)):
            return "degenerate"
        if values[0] * values[1] < 0:
            return "hyperbola"
        return "ellipse" if values[0] * self._level > 0 else "degenerate"

    @property
    def is_ellipse(self) -> bool:
        """Whether the curve is an ellipse."""
        return self.kind == "ellipse"

    @property
    def center(self) -> np.ndarray:
        """The centre of an ellipse or a hyperbola, of shape (2,)."""
        self._want("center", "ellipse", "hyperbola")
        return self._center

    @property
    def semi_axes(self) -> np.ndarray:
        """Half the lengths of the axes: the longer first, for a hyperbola the one that meets the curve first."""
        self._want("semi_axes", "ellipse", "hyperbola")
        return np.asarray(np.sqrt(np.abs(self._level / self._axes[0]))[self._order])

    @property
    def angle(self) -> float:
        """Angle of the first axis with the x1 direction, in radians, above -pi/2 and up to pi/2."""
        self._want("angle", "ellipse", "hyperbola")
        x1, x2 = self._axes[1][:, self._order[0]]
        angle = float(np.arctan2(x2, x1) if x1 > 0 or (x1 == 0 and x2 > 0) else np.arctan2(-x2, -x1))
        return angle if angle > -np.pi / 2 else np.pi / 2

    @property
    def _order(self) -> np.ndarray:
        return (
            np.argsort(-self._level / self._axes[0]) if self.kind == "hyperbola" else np.argsort(np.abs(self._axes[0]))
        )

    def points(self, n: int = 100) -> np.ndarray:
        """Give `n` points on the ellipse, in order, to draw it.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        ndarray of shape (n, 2)
        """
        self._want("points", "ellipse")
        t = 2 * np.pi * np.arange(n) / n
        first = np.array([np.cos(self.angle), np.sin(self.angle)])
        second = np.array([-first[1], first[0]])
        a, b = self.semi_axes
        return self.center + a * np.outer(np.cos(t), first) + b * np.outer(np.sin(t), second)

    def distance(self, points: Any) -> np.ndarray:
        """Give the algebraic distance w'phi(x) - 1 of points: zero on the curve, with a sign on either side.

        Parameters
        ----------
        points : array-like of shape (n, 2)
            The points.
        """
        return np.asarray(conic_features(points) @ self.coef - 1.0)

    def certify(self, points: Any, sample_weight: Any = None) -> Certificate:
        """Recompute the proof of the fit: the gradient of the sum of squared algebraic distances vanishes.

        Parameters
        ----------
        points, sample_weight
            What it was fitted to.
        """
        features, weight = _checked(points, sample_weight)
        return Certificate(_claims(features, weight, self.coef))

    def _want(self, what: str, *kinds: str) -> None:
        if self.kind not in kinds:
            raise NotAvailableError(
                f"The fitted curve has no {what}: it is not an ellipse but {_ARTICLE[self.kind]} (w3² - 4 w1 w2 = "
                f"{self.discriminant:.3g}). To draw it, take the contour of distance() at zero; to get an ellipse, "
                "add points around the missing part of it, or move the origin inside."
            )

    def __str__(self) -> str:
        w = ", ".join(f"{value:.6g}" for value in self.coef)
        lines = [f"{self.kind}: w = ({w}), residual {self.residual:.3g}"]
        if self.is_ellipse:
            (x1, x2), (a, b) = self.center, self.semi_axes
            lines.append(
                f"centre ({x1:.6g}, {x2:.6g}), semi-axes {a:.6g} and {b:.6g}, angle {np.degrees(self.angle):.4g}°"
            )
        else:
            lines.append(f"not an ellipse: w3² - 4 w1 w2 = {self.discriminant:.3g} for {_ARTICLE[self.kind]}")
        if self.through_origin:
            lines.append("the points lie on a curve through the origin, which this equation can not describe")
        return "\n".join(lines)


_ARTICLE = {
    "ellipse": "an ellipse",
    "hyperbola": "a hyperbola",
    "parabola": "a parabola",
    "degenerate": "a degenerate conic (lines, a point or nothing)",
}


def conic_features(points: Any) -> np.ndarray:
    """Give the features (x1², x2², x1 x2, x1, x2) of points in the plane.

    >>> conic_features([[2.0, 3.0]])
    array([[4., 9., 6., 2., 3.]])
    """
    try:
        x = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise InputError(f"Points must be numbers: {problem}.") from None
    if x.ndim != 2 or x.shape[1] != 2:
        raise InputError(f"Points in the plane have two coordinates: wanted an array of shape (n, 2), not {x.shape}.")
    bad = np.flatnonzero(~np.isfinite(x).all(axis=1))
    if len(bad):
        raise InputError(f"Point number {bad[0]} has a missing or infinite coordinate: correct it or leave it out.")
    return np.column_stack([x[:, 0] ** 2, x[:, 1] ** 2, x[:, 0] * x[:, 1], x])


def fit_conic(points: Any, sample_weight: Any = None) -> Conic:
    """Fit the conic w1 x1² + w2 x2² + w3 x1 x2 + w4 x1 + w5 x2 = 1 to points by least squares.

    Parameters
    ----------
    points : array-like of shape (n, 2)
        At least five points.
    sample_weight : array-like of shape (n,), optional
        Weights; a weight of two means the same as the point twice.

    Returns
    -------
    Conic
        The curve, what it is, its centre and axes, and its certificate.

    Warns
    -----
    DegenerateWarning
        When the points lie on a curve through the origin.

    Examples
    --------
    >>> from qed.data.synthetic import ellipse
    >>> orbit = ellipse(40, semi_axes=(3, 1), center=(1, -0.5), angle=0.5)
    >>> print(fit_conic(orbit))
    ellipse: w = (2.8246, 7.12542, -6.69812, -8.99827, 13.8235), residual ...
    centre (1, -0.5), semi-axes 3 and 1, angle 28.65°
    """
    features, weight = _checked(points, sample_weight)
    scale = np.sqrt(weight)[:, None]
    if _conics_through(features[:, 3:], scale) > 1:
        raise DegenerateError(
            "More than one conic runs through all of these points (fewer than five of them differ, or most lie on a "
            "line): add points."
        )
    length = np.sqrt(weight @ features**2)
    length[length == 0] = 1.0
    through_origin = _rank(features * scale) < 5
    if through_origin:
        warnings.warn(
            "The points lie on a curve through the origin, which no equation w'phi(x) = 1 describes, or too far off to "
            "tell: move the origin, best into the middle of the points.",
            DegenerateWarning,
            stacklevel=2,
        )
        length[:] = 1.0
    cutoff = 5 * len(features) * EPS if through_origin else None
    coef = np.linalg.lstsq(features / length * scale, scale[:, 0], rcond=cutoff)[0] / length
    residual = float(np.linalg.norm((features @ coef - 1.0) * scale[:, 0]))
    return Conic(coef, residual, through_origin, Certificate(_claims(features, weight, coef)))


def _checked(points: Any, sample_weight: Any) -> tuple[np.ndarray, np.ndarray]:
    """Give features and weights of the points that weigh something."""
    features = conic_features(points)
    n = len(features)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise InputError(f"sample_weight must have one number for each of the {n} points, not shape {weight.shape}.")
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise InputError(f"sample_weight of point {bad[0]} is {weight[bad[0]]}: weights are finite and not negative.")
    chosen = weight > 0
    if chosen.sum() < 5:
        raise InputError(
            f"A conic has five coefficients, but there are only {chosen.sum()} points: give at least five."
        )
    return features[chosen], weight[chosen]


def _conics_through(points: np.ndarray, scale: np.ndarray) -> int:
    """Count the independent conics, with any constant, that run through all points; moving them changes nothing."""
    moved = points - points.mean(axis=0)
    moved = moved / max(np.abs(moved).max(), TINY)
    return 6 - _rank(np.column_stack([conic_features(moved), np.ones(len(moved))]) * scale)


def _rank(matrix: np.ndarray) -> int:
    """Count the independent columns, whatever their scale."""
    length = np.sqrt((matrix**2).sum(axis=0))
    values = np.linalg.svd(matrix / np.where(length > 0, length, 1.0), compute_uv=False)
    return int((values > max(matrix.shape) * EPS * values[0]).sum())


def _claims(features: np.ndarray, weight: np.ndarray, coef: np.ndarray) -> list[Claim]:
    """Claim that residuals are orthogonal to every feature, relative to the sizes of what is summed."""
    residual = 1.0 - features @ coef
    size = 1.0 + np.abs(features) @ np.abs(coef)
    length = np.sqrt(weight @ features**2)
    reach = np.where(length > 0, length, 1.0) * np.sqrt(weight @ size**2)
    slope = np.abs((weight * residual) @ features) / reach
    return [Claim("algebraic distances are orthogonal to every feature", float(slope.max()), 1e-12)]
