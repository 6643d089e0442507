r"""What a critical point is: minimum, maximum, saddle, or more than the second derivatives can tell.

Where :math:`\nabla f(w) = 0`, the eigenvalues of :math:`\nabla^2 f(w)` decide:

- all positive: a strict local minimum; all negative: a strict local maximum;
- some positive and some negative: a saddle, :math:`f(u) < f(w) < f(v)` with :math:`u` and :math:`v` as near as one likes;
- some zero and the others of one sign: undetermined. :math:`w^4`, :math:`w^3` and :math:`-w^4` all have :math:`f' = f'' = 0` at 0.

For undetermined points the Hessian is looked at nearby: were it positive semidefinite in a whole neighbourhood, the
point would be a local minimum. A sample of neighbours can suggest that, and can not prove it. Minima may also lie on
the boundary of a domain and at kinks, where none of this applies. The cost is :math:`O(d^3)` per neighbour.

Nocedal and Wright (2006), Numerical Optimization, section 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from qed.base.random import generator, seed_of
from qed.base.visible import ShownAsText
from qed.optim.functions.derivatives import STEPS, as_point, jacobian

NEIGHBOURS = 16


@dataclass(frozen=True, repr=False)
class CriticalPoint(ShownAsText):
    """What was found at a point.

    Attributes
    ----------
    kind : {"local minimum", "local maximum", "saddle", "undetermined", "not critical"}
        What the point is; minima and maxima are strict ones.
    suggests : {"local minimum", "local maximum", ""}
        For an undetermined point, what it is if the Hessian is everywhere nearby as it was at the neighbours tried.
    gradient_norm : float
        The length of the gradient.
    eigenvalues : ndarray of shape (d,)
        Of the Hessian, ascending.
    directions : ndarray of shape (d, d)
        Its eigenvectors, as columns: the function bends by the eigenvalue along each.
    """

    kind: str
    suggests: str
    gradient_norm: float
    eigenvalues: np.ndarray
    directions: np.ndarray

    def __str__(self) -> str:
        words = f"{self.kind}: |gradient| {self.gradient_norm:.2g}, eigenvalues {self.eigenvalues}"
        return f"{words}; the neighbours tried suggest a {self.suggests}" if self.suggests else words


def classify(
    point: Any,
    gradient: Callable[[np.ndarray], Any],
    hessian: Callable[[np.ndarray], Any] | None = None,
    *,
    tol: float = 1e-6,
    radius: float = 1e-3,
    random_state: Any = 0,
) -> CriticalPoint:
    """Say what kind of critical point a point is.

    Parameters
    ----------
    point : array_like of shape (d,)
        Where.
    gradient, hessian : callable
        Take an array of shape (d,). Without `hessian` it is found by differences of the gradient.
    tol : float
        An eigenvalue counts as zero when it is at most `tol` times the largest curvature at the point and its neighbours; the
        point counts as critical when that curvature bends the gradient to zero within `tol` times the point's size.
    radius : float
        How far the neighbours lie, relative to the point's size (or to 1, if that is more).
    random_state : None, int or Generator
        Draws the neighbours.

    Returns
    -------
    CriticalPoint
        What it is, with the eigenvalues and directions that say so.

    Examples
    --------
    >>> classify([0.0, 0.0], lambda w: np.array([2 * w[0], -2 * w[1]])).kind
    'saddle'
    >>> found = classify(0.0, lambda w: 4 * w**3, lambda w: 12 * w**2)
    >>> found.kind, found.suggests
    ('undetermined', 'local minimum')
    """
    point = as_point(point)
    size = max(1.0, float(np.linalg.norm(point)))
    bends = hessian or (lambda w: jacobian(gradient, w, "central"))

    def spectrum(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        matrix = np.asarray(bends(w), dtype=np.float64).reshape(len(w), len(w))
        return np.linalg.eigh((matrix + matrix.T) / 2)

    values, vectors = spectrum(point)
    rays = generator(seed_of(random_state), "neighbours").standard_normal((NEIGHBOURS, len(point)))
    rays *= radius * size / np.linalg.norm(rays, axis=1, keepdims=True)
    nearby = np.array([spectrum(point + ray)[0] for ray in rays])
    curvature = max(np.abs(values).max(), np.abs(nearby).max())
    length = float(np.linalg.norm(np.atleast_1d(gradient(point))))

    if hessian is None:  # differences see the third derivatives as well, a little
        tol = max(tol, (STEPS["central"] / radius) ** 2)
    allowed = tol * curvature
    kind = _kind(values, allowed) if length <= allowed * size else "not critical"
    suggests = _suggestion(nearby, allowed * radius) if kind == "undetermined" else ""
    return CriticalPoint(kind, suggests, length, values, vectors)


def _kind(values: np.ndarray, allowed: float) -> str:
    if values[0] > allowed:
        return "local minimum"
    if values[-1] < -allowed:
        return "local maximum"
    return "saddle" if values[0] < -allowed and values[-1] > allowed else "undetermined"


def _suggestion(nearby: np.ndarray, allowed: float) -> str:
    if (nearby >= -allowed).all():
        return "local minimum" if nearby.max() > allowed else ""
    return "local maximum" if (nearby <= allowed).all() else ""
