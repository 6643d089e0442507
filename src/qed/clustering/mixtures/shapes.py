r"""The four shapes that the covariances of a mixture can have, and what differs between them.

=========== =============== ====================================================
kind        shape           covariance of component j
=========== =============== ====================================================
full        (k, p, p)       any, one for each component
tied        (p, p)          any, the same for all
diag        (k, p)          columns are independent within a component
spherical   (k,)            the same variance along all directions
=========== =============== ====================================================

The *root* of a precision is a triangle :math:`U` with :math:`\Sigma^{-1} = U U^\top`, so that :math:`U^\top (x - \mu)` has the identity
as its covariance; for the last two kinds it is one over the standard deviation. Given the scatter :math:`S_j` and the weight
:math:`N_j` of each component, the likelihood is largest at :math:`S_j / N_j`; its mean over components, its diagonal, or
the mean of its diagonal. A regulariser is added to variances, and variances along axes below a floor are raised to it.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from qed.base.errors import DegenerateError, ParameterError
from qed.base.numbers import EPS

KINDS = ("full", "tied", "diag", "spherical")
# A variance this much above the floor, relative, is still on it: rounding put it there.
ON_FLOOR = 1e-9


def is_diagonal(kind: str) -> bool:
    """Say whether columns are independent within a component."""
    return kind in ("diag", "spherical")


def shape_of(kind: str, k: int, p: int) -> tuple[int, ...]:
    """Give the shape of the covariances of k components in p columns.

    >>> shape_of("tied", 3, 2), shape_of("diag", 3, 2)
    ((2, 2), (3, 2))
    """
    return {"full": (k, p, p), "tied": (p, p), "diag": (k, p), "spherical": (k,)}[kind]


def n_parameters(kind: str, k: int, p: int) -> int:
    """Count the free parameters of a mixture: weights that sum to one, means and covariances.

    >>> [n_parameters("full", k, 1) for k in (1, 2, 3)]
    [2, 5, 8]
    """
    triangle = p * (p + 1) // 2
    return k - 1 + k * p + {"full": k * triangle, "tied": triangle, "diag": k * p, "spherical": k}[kind]


def matrices(covariances: np.ndarray, kind: str, k: int, p: int) -> np.ndarray:
    """Give covariances of any kind as matrices, of shape (k, p, p)."""
    if kind == "full":
        return covariances
    if kind == "tied":
        return np.broadcast_to(covariances, (k, p, p))
    found = np.zeros((k, p, p))
    found[:, range(p), range(p)] = covariances if kind == "diag" else covariances[:, None]
    return found


def spread_like(variance: float, kind: str, k: int, p: int) -> np.ndarray:
    """Give covariances of a kind that are `variance` along all directions."""
    if kind == "spherical":
        return np.full(k, variance)
    if kind == "diag":
        return np.full((k, p), variance)
    return np.broadcast_to(variance * np.eye(p), shape_of(kind, k, p)).copy()


def roots_of(covariances: np.ndarray, kind: str) -> np.ndarray:
    """Give the roots of the precisions, of the shape of the covariances.

    Examples
    --------
    >>> roots_of(np.array([4.0, 0.25]), "spherical")
    array([0.5, 2. ])
    """
    if is_diagonal(kind):
        lost = np.argwhere(~(covariances > 0))
        if len(lost):
            raise _singular(int(lost[0][0]))
        return np.asarray(1 / np.sqrt(covariances))
    if kind == "tied":
        return _root(covariances, None)
    return np.array([_root(covariance, j) for j, covariance in enumerate(covariances)])


def _root(covariance: np.ndarray, component: int | None) -> np.ndarray:
    lower, failed = lapack.dpotrf(covariance, lower=1, clean=1)
    # What rounding alone keeps from being zero is no variance.
    if failed or not (lower.diagonal() ** 2 > 4 * len(lower) * EPS * covariance.diagonal()).all():
        raise _singular(component)
    return np.ascontiguousarray(lapack.dtrtri(lower, lower=1)[0].T)


def _singular(component: int | None) -> DegenerateError:
    where = "the common covariance" if component is None else f"the covariance of component {component}"
    return DegenerateError(
        f"GaussianMixture: {where} is singular: its rows lie in a plane, or there are too few of them. Increase reg_covar, give a "
        "covariance_floor, ask for fewer components, or for another covariance_type."
    )


def precisions_of(roots: np.ndarray, kind: str) -> np.ndarray:
    """Give the precisions, of the same shape, whose roots these are."""
    return np.asarray(roots**2 if is_diagonal(kind) else roots @ np.swapaxes(roots, -1, -2))


def covariances_from(precisions: np.ndarray, kind: str) -> np.ndarray:
    """Turn precisions into covariances, or say what is wrong with them."""
    if is_diagonal(kind):
        if not (precisions > 0).all():
            raise ParameterError(f"GaussianMixture: '{kind} precision' should be positive in precisions_init.")
        return np.asarray(1 / precisions)
    flipped = np.swapaxes(precisions, -1, -2)
    if not np.allclose(precisions, flipped) or not (np.linalg.eigvalsh(precisions) > 0).all():
        raise ParameterError(
            f"GaussianMixture: '{kind} precision' should be symmetric, positive-definite in precisions_init."
        )
    found = np.linalg.inv(precisions)
    return np.asarray((found + np.swapaxes(found, -1, -2)) / 2)


def estimated(scatter: np.ndarray, weight: np.ndarray, kind: str) -> np.ndarray:
    """Give the most likely covariances of components with such scatters and weights; zero where there is no weight.

    Scatters are matrices, of shape (k, p, p), or their diagonals, of shape (k, p), for kinds that need no more.
    """
    if kind == "tied":
        return np.asarray(scatter.sum(axis=0) / weight.sum())
    some = np.where(weight > 0, weight, 1.0)
    if kind == "spherical":
        return np.asarray(scatter.mean(axis=1) / some)
    return np.asarray(scatter / some.reshape(-1, *[1] * (scatter.ndim - 1)))


def raised(covariances: np.ndarray, kind: str, regulariser: float, floor: float) -> np.ndarray:
    """Add the regulariser to all variances, and raise those below the floor along their own axes.

    Examples
    --------
    >>> raised(np.array([[0.0, 2.0]]), "diag", 0.0, 0.5)
    array([[0.5, 2. ]])
    """
    if is_diagonal(kind):
        return np.maximum(covariances + regulariser, floor)
    found = covariances + regulariser * np.eye(covariances.shape[-1])
    if floor == 0:
        return found
    values, axes = np.linalg.eigh(found)
    low = values < floor
    if not low.any():
        return found
    lifted = np.where(low, floor - values, 0.0)
    return np.asarray(found + (axes * lifted[..., None, :]) @ np.swapaxes(axes, -1, -2))


def axes_of(covariances: np.ndarray, kind: str) -> np.ndarray:
    """Give the variances along the axes of each component, of shape (k, p) or, where it is shared by all, (1, p)."""
    if kind == "spherical":
        return covariances[:, None]
    return covariances if kind == "diag" else np.atleast_2d(np.linalg.eigvalsh(covariances))


def on_floor(covariances: np.ndarray, kind: str, k: int, p: int, regulariser: float, floor: float) -> np.ndarray:
    """Count the axes of each component whose variance is no more than floor and regulariser make it, of shape (k,).

    >>> on_floor(np.array([1e-6, 1.0]), "spherical", 2, 3, 1e-6, 0.0)
    array([3, 0])
    """
    # Twice the regulariser: rows vary no more than what was added.
    limit = max(2 * regulariser, floor) * (1 + ON_FLOOR)
    low = axes_of(covariances, kind) <= limit if limit > 0 else np.zeros((1, 1), dtype=bool)
    return np.broadcast_to(np.broadcast_to(low, (len(low), p)).sum(axis=1), (k,)).copy()
