"""How many random directions are enough, and directions of length one, each as likely as any other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from qed.base.errors import ParameterError
from qed.base.random import Seed, generator, seed_of


def johnson_lindenstrauss_min_dim(n_samples: ArrayLike, *, eps: ArrayLike = 0.1) -> Any:
    """Give the dimension in which random projections keep all squared distances of n rows up to a share of `eps`, most probably.

    Parameters
    ----------
    n_samples : int or array-like of int
        How many rows.
    eps : float or array-like of float, default=0.1
        The share, between 0 and 1.

    Examples
    --------
    >>> from qed.reduction import johnson_lindenstrauss_min_dim
    >>> int(johnson_lindenstrauss_min_dim(1_000_000, eps=0.5)), int(johnson_lindenstrauss_min_dim(1_000_000, eps=0.1))
    (663, 11841)
    """
    share, n = np.asarray(eps, dtype=np.float64), np.asarray(n_samples)
    if not ((share > 0) & (share < 1)).all():
        raise ParameterError(f"johnson_lindenstrauss_min_dim: eps must be between 0 and 1, got {eps!r}.")
    if not (n > 0).all():
        raise ParameterError(f"johnson_lindenstrauss_min_dim: n_samples must be above zero, got {n_samples!r}.")
    return (4 * np.log(n) / (share**2 / 2 - share**3 / 3)).astype(np.int64)


def random_directions(n_directions: int, n_features: int, random_state: Seed = None) -> np.ndarray:
    """Draw directions of length one, each as likely as any other, of shape (k, p).

    Parameters
    ----------
    n_directions : int
        How many.
    n_features : int
        The number of columns p.
    random_state : None, int or NumPy generator
        The seed.

    Examples
    --------
    >>> from qed.reduction import random_directions
    >>> np.linalg.norm(random_directions(3, 5, random_state=0), axis=1).round(12)
    array([1., 1., 1.])
    """
    drawn = generator(seed_of(random_state), "directions").standard_normal((int(n_directions), int(n_features)))
    return np.asarray(drawn / np.linalg.norm(drawn, axis=1)[:, None])
