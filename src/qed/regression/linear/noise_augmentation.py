r"""Ridge regression by noisy copies of the data.

.. math:: \tilde X = \begin{pmatrix} X + Z_1 \\ \vdots \\ X + Z_r \end{pmatrix}, \quad Z \sim N(0, s^2), \qquad
   \frac1r \tilde X^\top \tilde X \to X^\top X + n s^2 I, \qquad \frac1r \tilde X^\top \tilde y \to X^\top y.

Ordinary least squares on r copies of every row, each with its own noise on the features and the same target, tends to
ridge regression with :math:`\lambda = n s^2`, with an error like :math:`1/\sqrt r`: a penalty is what not trusting
the features amounts to. (A text that takes :math:`s^2 = \lambda` gets ridge with :math:`n\lambda`.) A demonstration:
`Ridge` gives the limit at once. The copies are never kept; their Gram matrix is added up copy by copy,
:math:`O(rnd^2)` in :math:`O(nd)` memory.

Bishop (1995), Training with noise is equivalent to Tikhonov regularization.
"""

from typing import Any

import numpy as np

from qed.base.errors import InputError, ParameterError
from qed.base.models.parameters import integer, number
from qed.base.random import Seed, generator, seed_of
from qed.linalg.normal import solve


def noise_augmented_ridge(
    X: Any, y: Any, alpha: float = 1.0, repeats: int = 1000, *, variance: float | None = None, random_state: Seed = None
) -> np.ndarray:
    """Fit least squares (no intercept) to noisy copies of the rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        The features.
    y : array-like of shape (n,)
        The target.
    alpha : float, default=1.0
        The penalty of the ridge regression that this tends to.
    repeats : int, default=1000
        How many copies of every row.
    variance : float, optional
        The variance of the noise on every entry; the default is ``alpha / n``.
    random_state : int, optional
        The seed. Copy number c has the same noise however many copies there are.

    Returns
    -------
    ndarray of shape (d,)
        The coefficients.

    Examples
    --------
    >>> import qed
    >>> X, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0, 2.0])
    >>> found = noise_augmented_ridge(X, y, alpha=1.0, repeats=3000, random_state=0)
    >>> exact = qed.Ridge(alpha=1.0, fit_intercept=False).fit(X, y).coef_
    >>> bool(np.abs(found - exact).max() < 0.05)
    True
    """
    features, target = np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if features.ndim != 2 or target.shape != features.shape[:1] or not len(target):
        raise InputError(
            f"X must be a table and y one number per row, not of shapes {features.shape} and {target.shape}."
        )
    if not (np.isfinite(features).all() and np.isfinite(target).all()):
        raise InputError("X or y holds a value that is missing or infinite: drop those rows.")
    chosen = alpha / len(target) if variance is None else variance
    if not number(0).accepts(alpha) or not number(0).accepts(chosen) or not integer(1).accepts(repeats):
        raise ParameterError(
            f"alpha and variance must be numbers >= 0 and repeats at least 1, not {alpha!r}, {variance!r} and {repeats!r}."
        )
    seed, d = seed_of(random_state), features.shape[1]
    gram, right = np.zeros((d, d)), np.zeros(d)
    for copy in range(repeats):
        noisy = features + np.sqrt(chosen) * generator(seed, "noisy copy", copy).standard_normal(features.shape)
        gram += noisy.T @ noisy / repeats
        right += noisy.T @ target / repeats
    return solve(gram, right[:, None]).coef[:, 0]
