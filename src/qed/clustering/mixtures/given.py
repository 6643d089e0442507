"""Parameters of a mixture that a user gives: checked, with a sentence that says what is wrong."""

from typing import Any

import numpy as np

from qed.base.errors import ParameterError, shown
from qed.clustering.mixtures.shapes import shape_of, spread_like


def _array(name: str, given: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Give numbers of a shape."""
    try:
        found = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"GaussianMixture: {name} must be numbers of shape {shape}, not {shown(given)}.") from None
    if found.shape != shape:
        raise ParameterError(
            f"GaussianMixture: the parameter '{name}' should have the shape of {shape}, but got {found.shape}."
        )
    if not np.isfinite(found).all():
        raise ParameterError(f"GaussianMixture: {name} must not contain NaN or infinity.")
    return found


def checked_weights(given: Any, k: int) -> np.ndarray | None:
    """Check weights to begin with: none below zero, and one in all."""
    if given is None:
        return None
    found = _array("weights_init", given, (k,))
    if (found < 0).any() or (found > 1).any():
        raise ParameterError(
            "GaussianMixture: the parameter 'weights_init' should be in the range [0, 1], but got max value "
            f"{found.min():.5f}, min value {found.max():.5f}."
        )
    if not np.isclose(found.sum(), 1.0, atol=1e-8):
        raise ParameterError(
            f"GaussianMixture: the parameter 'weights_init' should be normalized, but got sum(weights) = {found.sum():.5f}."
        )
    return found / found.sum()


def checked_means(given: Any, k: int, p: int) -> np.ndarray | None:
    """Check means to begin with."""
    return None if given is None else _array("means_init", given, (k, p))


def checked_covariance(name: str, given: Any, kind: str, k: int, p: int) -> np.ndarray | None:
    """Check covariances, or precisions, of a kind; a number stands for that variance along all axes.

    >>> checked_covariance("covariance", 4.0, "diag", 2, 3)
    array([[4., 4., 4.],
           [4., 4., 4.]])
    """
    if given is None:
        return None
    if np.ndim(given) == 0 and name == "covariance":
        return spread_like(float(given), kind, k, p)
    return _array(name, given, shape_of(kind, k, p))
